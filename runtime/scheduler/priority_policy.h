//===- priority_policy.h - The highest priority is next ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_PRIORITY_POLICY_H_
#define RUNTIME_SCHEDULER_PRIORITY_POLICY_H_

#include <vector>

#include "runtime/scheduler/fair_share_policy.h"
#include "runtime/scheduler/policy.h"

namespace pathways {

// Strict priorities; among equals, fair shares by weight. Others age: each
// kAgeNs that a launch waits counts as one level of priority, and when that
// lifts it above the highest it has one grant. So it has one each (difference
// of levels + 1) * kAgeNs, however busy those above it are.
class PriorityPolicy final : public SchedulingPolicy {
 public:
  static constexpr TimeNs kAgeNs = 100'000'000;

  size_t Choose(uint32_t group, TimeNs now,
                absl::Span<const Candidate> candidates) override;
  void Begin(uint32_t group, uint32_t client) override {
    equals_.Begin(group, client);
  }
  void End(uint32_t group, uint32_t client) override {
    equals_.End(group, client);
  }
  void Charge(uint32_t group, uint32_t client, double weight,
              double time_ns) override {
    equals_.Charge(group, client, weight, time_ns);
  }
  void Split(uint32_t from, uint32_t to) override { equals_.Split(from, to); }
  void Forget(uint32_t client) override { equals_.Forget(client); }

 private:
  FairSharePolicy equals_;
  std::vector<Candidate> best_;
  std::vector<size_t> index_;  // of each of those
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_PRIORITY_POLICY_H_
