//===- explain_import.cc - Report of imported operations ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/explain_import.h"

#include "absl/strings/str_cat.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {

std::string ImportText(const std::vector<ImportedText>& imported) {
  if (imported.empty()) return "the program was not imported\n";
  std::vector<std::vector<std::string>> rows = {{"op", "count", "became"}};
  for (const ImportedText& kind : imported) {
    std::string became;
    for (const auto& [name, count] : kind.became) {
      absl::StrAppend(&became, became.empty() ? "" : ", ", count, " ", name);
    }
    rows.push_back(
        {kind.op, absl::StrCat(kind.count), became.empty() ? "none" : became});
  }
  return absl::StrCat(TableText(rows), "\n");
}

}  // namespace pathways::pw_run
