//===- plan_view.cc - Slices of a plan in a cluster -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/plan_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"

namespace pathways::pw_run {

std::string IslandsText(const proto::Slice& slice) {
  std::string text = absl::StrCat(slice.binding().island());
  for (const proto::IslandRun& run : slice.binding().more()) {
    absl::StrAppend(&text, ", ", run.island());
  }
  return text;
}

double FiringsOfStep(const proto::Plan& plan) {
  double firings = 0;
  for (const proto::Action& action : plan.actions()) {
    firings += static_cast<double>(NumShards(plan.slices(action.slice())));
  }
  return firings;
}

std::string RangesText(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) absl::StrAppend(&text, "-", numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string MeshText(const proto::Slice& slice) {
  std::string text;
  for (const proto::Axis& axis : slice.axes()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", axis.name(), "=",
                    axis.size());
  }
  return text.empty() ? "one device" : text;
}

std::string TableText(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  std::vector<bool> numeric;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (widths.size() <= c) {
        widths.push_back(0);
        numeric.push_back(true);
      }
      widths[c] = std::max(widths[c], rows[r][c].size());
      bool digit =
          !rows[r][c].empty() &&
          rows[r][c].find_first_not_of("0123456789") == std::string::npos;
      if (r > 0 && !digit) numeric[c] = false;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      std::string space(widths[c] - row[c].size(), ' ');
      absl::StrAppend(&line, c > 0 ? "  " : "", numeric[c] ? space : "", row[c],
                      numeric[c] ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string CountText(uint64_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace pathways::pw_run
