//===- fifo_policy.cc - Longest wait first --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/fifo_policy.h"

#include <algorithm>

namespace pathways {

size_t FifoPolicy::Choose(uint32_t, TimeNs,
                          absl::Span<const Candidate> candidates) {
  const auto first = std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.order < b.order; });
  return static_cast<size_t>(first - candidates.begin());
}

}  // namespace pathways
