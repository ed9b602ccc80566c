//===- deadline_policy.h - Earliest deadline first --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_DEADLINE_POLICY_H_
#define RUNTIME_SCHEDULER_DEADLINE_POLICY_H_

#include "runtime/scheduler/policy.h"

namespace pathways {

// Earliest deadline first (Liu and Layland, 1973), decided for each grant.
// Launches without a deadline come after all others and take turns. A launch
// whose deadline has passed keeps its rank; it is not ended.
class DeadlinePolicy final : public SchedulingPolicy {
 public:
  size_t Choose(uint32_t group, TimeNs now,
                absl::Span<const Candidate> candidates) override;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_DEADLINE_POLICY_H_
