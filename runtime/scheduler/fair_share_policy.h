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

// Weighted fair sharing of the measured time of each group. A client's virtual
// time is the device time that it used, divided by its weight; the client with
// the smallest virtual time is next (start-time fair queueing: Goyal, Vin,
// Cheng, 1996). Invariants: (1) the virtual times of clients that always have
// work differ by at most two grants of each; (2) an idle client saves up no
// time: when it returns, it begins at the smallest virtual time of the busy
// clients, or at its own if that is larger. The programs of one client take
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
  // The clients that the group has had since it was last idle.
  using Group = std::vector<Share>;

  Group& At(uint32_t group);
  static Share& Find(Group& group, uint32_t client);

  std::vector<Group> groups_;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_FAIR_SHARE_POLICY_H_
