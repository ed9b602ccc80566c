//===- deadline_policy.cc - Earliest deadline first -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/deadline_policy.h"

#include <algorithm>
#include <tuple>

namespace pathways {

size_t DeadlinePolicy::Choose(uint32_t, TimeNs,
                              absl::Span<const Candidate> candidates) {
  const auto first = std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) {
        return std::tie(a.deadline, a.order) < std::tie(b.deadline, b.order);
      });
  return static_cast<size_t>(first - candidates.begin());
}

}  // namespace pathways
