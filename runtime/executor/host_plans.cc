//===- host_plans.cc - Loads that wait for their plans --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_plans.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pathways {

HostPlans::Outcome HostPlans::Want(uint32_t host,
                                   const proto::LoadProgram& load) {
  Outcome outcome;
  PlanName name{{}, load.plan().bytes()};
  if (!name.hash.Read(load.plan().hash())) return outcome;
  if (context_.plans.Find(name.hash) != nullptr) {
    proto::PlanArrived arrived;
    *arrived.mutable_load() = load;
    outcome.answers.push_back({host, std::move(arrived)});
    return outcome;
  }
  std::vector<Load>& loads = waiting_[name.hash];
  const bool is_new =
      std::none_of(loads.begin(), loads.end(), [&](const Load& one) {
        return one.host == host && one.load.program() == load.program() &&
               one.load.incarnation() == load.incarnation();
      });
  // Another load has requested the plan already. If that request or its answer
  // was lost, that load's host asks again.
  const bool is_others = is_new && !loads.empty();
  if (is_new) loads.push_back({host, load});
  if (!is_others) outcome.request = fetches_.Ask(name);
  return outcome;
}

HostPlans::Outcome HostPlans::Take(const proto::PlanPart& part) {
  Outcome outcome;
  PlanFetches::Outcome taken = fetches_.Take(part);
  if (taken.ask) outcome.request = std::move(taken.request);
  if (!taken.over) return outcome;
  PlanHash hash;
  hash.Read(part.hash());
  auto loads = waiting_.find(hash);
  if (loads == waiting_.end()) return outcome;
  for (Load& load : loads->second) {
    proto::PlanArrived arrived;
    *arrived.mutable_load() = std::move(load.load);
    arrived.set_code(static_cast<int>(taken.status.code()));
    arrived.set_message(std::string(taken.status.message()));
    outcome.answers.push_back({load.host, std::move(arrived)});
  }
  waiting_.erase(loads);
  return outcome;
}

}  // namespace pathways
