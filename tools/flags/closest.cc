//===- closest.cc - Suggestions for misspelled names ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/flags/closest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace pathways::flags {
namespace {

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1,
                         diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Closest(absl::string_view name,
                    const std::vector<std::string>& names) {
  // Names come from a file, and the distance is quadratic.
  constexpr size_t kMaxLength = 256;
  std::string closest;
  if (name.size() > kMaxLength) return closest;
  size_t best = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string& candidate : names) {
    if (candidate.size() > kMaxLength) continue;
    size_t distance = EditDistance(name, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      closest = candidate;
    }
  }
  return closest;
}

std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& names) {
  const std::string closest = Closest(name, names);
  return closest.empty() ? "" : absl::StrCat("; did you mean '", closest, "'?");
}

}  // namespace pathways::flags
