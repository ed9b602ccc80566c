//===- priority_policy.cc - Strict priorities with aging ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/priority_policy.h"

#include <algorithm>

namespace pathways {

size_t PriorityPolicy::Choose(uint32_t group, TimeNs now,
                              absl::Span<const Candidate> candidates) {
  int32_t top = candidates[0].priority;
  for (const Candidate& one : candidates) top = std::max(top, one.priority);
  const Candidate* oldest = nullptr;
  int64_t most = top;
  best_.clear();
  index_.clear();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (one.priority == top) {
      best_.push_back(one);
      index_.push_back(i);
      continue;
    }
    const int64_t aged =
        one.priority + std::max<TimeNs>(0, now - one.since) / kAgeNs;
    if (aged > most) {
      most = aged;
      oldest = &one;
    }
  }
  if (oldest != nullptr) return static_cast<size_t>(oldest - &candidates[0]);
  return index_[equals_.Choose(group, now, best_)];
}

}  // namespace pathways
