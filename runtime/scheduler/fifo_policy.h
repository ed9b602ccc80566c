//===- fifo_policy.h - Who has waited longest is next -----------*- C++ -*-===//
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

// Grants in the order in which launches were ready, and a long launch's next
// grant behind those that came meanwhile: programs take turns, whosever they
// are and however long their grants take.
class FifoPolicy final : public SchedulingPolicy {
 public:
  size_t Choose(uint32_t group, TimeNs now,
                absl::Span<const Candidate> candidates) override;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_FIFO_POLICY_H_
