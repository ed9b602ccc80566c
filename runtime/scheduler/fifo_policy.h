//===- fifo_policy.h - Longest wait first -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_FIFO_POLICY_H_
#define RUNTIME_SCHEDULER_FIFO_POLICY_H_

#include "runtime/scheduler/policy.h"

namespace pathways {

// Grants in the order in which launches became ready. The next grant of a long
// launch comes after the launches that became ready in the meantime. So
// programs take turns, regardless of their client and of how long their grants
// take.
class FifoPolicy final : public SchedulingPolicy {
 public:
  size_t Choose(uint32_t group, TimeNs now,
                absl::Span<const Candidate> candidates) override;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_FIFO_POLICY_H_
