//===- explain_reshard.cc - Routes of changes of layout -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/explain_reshard.h"

#include "absl/strings/str_cat.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {

std::string ReshardsText(const std::vector<ReshardText>& reshards) {
  if (reshards.empty()) return "no array changes its layout\n";
  std::string text;
  for (const ReshardText& reshard : reshards) {
    absl::StrAppend(&text, reshard.title, "\n");
    std::vector<std::vector<std::string>> rows = {{"taken", "route", "steps",
                                                   "ici bytes", "dcn bytes",
                                                   "peak bytes", "ns"}};
    for (const ReshardText::Route& route : reshard.routes) {
      // Estimates are marked with "~".
      const char* about = route.counted ? "" : "~";
      rows.push_back({rows.size() == 1 ? "yes" : "",
                      route.steps.empty() ? "none" : route.steps,
                      absl::StrCat(route.num_steps),
                      absl::StrCat(about, route.ici_bytes),
                      absl::StrCat(about, route.dcn_bytes),
                      absl::StrCat(route.peak_bytes), absl::StrCat(route.ns)});
    }
    absl::StrAppend(&text, TableText(rows), "\n");
  }
  return text;
}

}  // namespace pathways::pw_run
