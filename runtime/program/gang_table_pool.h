//===- gang_table_pool.h - Gang tables that devices share -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_GANG_TABLE_POOL_H_
#define RUNTIME_PROGRAM_GANG_TABLE_POOL_H_

#include <memory>
#include <vector>

#include "runtime/program/gang_tables.h"

namespace pathways {

// Lets devices with equal gangs share one table.
class GangTablePool {
 public:
  // Returns a table equal to `queue` that was made before, or else `queue`. If
  // all devices differ, comparing with every table gains nothing, so only the
  // newest kMaxCompared tables are candidates.
  std::shared_ptr<const GangTables> Share(GangTables queue);
  static constexpr size_t kMaxCompared = 8;

 private:
  std::vector<std::shared_ptr<const GangTables>> tables_;  // distinct
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_GANG_TABLE_POOL_H_
