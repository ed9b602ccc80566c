//===- fair_share_policy.h - Device time by weight --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_FAIR_SHARE_POLICY_H_
#define RUNTIME_SCHEDULER_FAIR_SHARE_POLICY_H_

#include <map>
#include <vector>

#include "runtime/scheduler/policy.h"

namespace pathways {

// Weighted fair share of each group's time, as it is measured. A client's
// virtual time is the device time that it had, over its weight; who has least
// is next (start-time fair queueing: Goyal, Vin, Cheng, 1996). Invariants: (1)
// of clients that always have work, virtual times differ by no more than two
// grants of each; (2) to be idle saves nothing: who comes back begins where the
// others are, or where it was if that is more. Programs of one client take
// turns.
class FairSharePolicy final : public SchedulingPolicy {
 public:
  size_t Choose(uint32_t group, TimeNs now,
                absl::Span<const Candidate> candidates) override;
  void Begin(uint32_t group, uint32_t client) override;
  void End(uint32_t group, uint32_t client) override;
  void Charge(uint32_t group, uint32_t client, double weight,
              double time_ns) override;
  void Split(uint32_t from, uint32_t to) override;
  void Forget(uint32_t client) override;

 private:
  struct Share {
    uint32_t client = 0;
    bool busy = false;
    double virtual_ns = 0;
  };
  // Of the clients that a group has had since it was idle.
  using Group = std::vector<Share>;

  Group& At(uint32_t group);
  static Share& Find(Group& group, uint32_t client);

  std::vector<Group> groups_;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_FAIR_SHARE_POLICY_H_
