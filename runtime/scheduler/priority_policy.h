//===- priority_policy.h - Strict priorities with aging ---------*- C++ -*-===//
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

// Strict priorities; launches of equal priority share by weight. Waiting
// launches of lower priority age: each kAgeNs of waiting counts as one level,
// and a launch whose aged priority exceeds the highest gets one grant. So a
// launch gets at least one grant each (difference of levels + 1) * kAgeNs,
// however busy the launches above it are.
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
  std::vector<size_t> index_;  // index of each of `best_` among the candidates
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_PRIORITY_POLICY_H_
