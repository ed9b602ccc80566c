//===- gang_table_pool.cc - Gang tables that devices share ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/gang_table_pool.h"

#include <algorithm>
#include <utility>

namespace pathways {

std::shared_ptr<const GangTables> GangTablePool::Share(GangTables queue) {
  const size_t first = tables_.size() - std::min(tables_.size(), kMaxCompared);
  for (size_t i = first; i < tables_.size(); ++i) {
    if (*tables_[i] == queue) return tables_[i];
  }
  tables_.push_back(std::make_shared<const GangTables>(std::move(queue)));
  return tables_.back();
}

}  // namespace pathways
