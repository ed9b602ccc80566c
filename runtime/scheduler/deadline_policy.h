//===- deadline_policy.h - The earliest deadline is next --------*- C++ -*-===//
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

// Earliest deadline first (Liu and Layland, 1973), by grants; then those
// without a deadline, which take turns. A deadline that has passed is the
// earliest there is, and nothing more happens to it.
class DeadlinePolicy final : public SchedulingPolicy {
 public:
  size_t Choose(uint32_t group, TimeNs now,
                absl::Span<const Candidate> candidates) override;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_DEADLINE_POLICY_H_
