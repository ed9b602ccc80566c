//===- explain_import.h - Report of imported operations ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_EXPLAIN_IMPORT_H_
#define TOOLS_PW_RUN_EXPLAIN_IMPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pathways::pw_run {

// The operations of one kind in a module of StableHLO.
struct ImportedText {
  std::string op;
  int64_t count = 0;
  std::vector<std::pair<std::string, int64_t>> became;  // name, count
};

// Returns a table for people: a line for each kind, with the number of
// operations and what they became.
std::string ImportText(const std::vector<ImportedText>& imported);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_EXPLAIN_IMPORT_H_
