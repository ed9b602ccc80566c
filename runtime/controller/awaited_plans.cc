//===- awaited_plans.cc - Loads whose plans clients send ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/awaited_plans.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

void AwaitedPlans::Ask(const Plan& plan, Outcome* outcome) {
  const Load& first = plan.loads.front();
  outcome->questions.push_back(
      {first.request.client, fetches_.Ask(first.name)});
}

void AwaitedPlans::Add(TimeNs now, ClientRequest request, const PlanName& name,
                       Outcome* outcome) {
  size_t open = 0;
  for (const auto& [hash, plan] : plans_) {
    for (const Load& load : plan.loads) {
      open += load.request.client == request.client;
    }
  }
  if (open >= kMaxAwaitedLoads) {
    outcome->ended.push_back(
        {request, name,
         absl::ResourceExhaustedError(absl::StrCat(
             "the client already has ", kMaxAwaitedLoads,
             " loads whose plans have not arrived, which is the limit")),
         nullptr});
    return;
  }
  Plan& plan = plans_[name.hash];
  plan.loads.push_back({request, name});
  if (plan.loads.size() > 1) return;
  plan.since = now;
  Ask(plan, outcome);
}

void AwaitedPlans::Take(TimeNs now, uint32_t client,
                        const proto::PlanPart& part, Outcome* outcome) {
  PlanHash hash;
  if (!hash.Read(part.hash())) return;
  auto found = plans_.find(hash);
  if (found == plans_.end()) return;
  Plan& plan = found->second;
  if (plan.loads.front().request.client != client) return;
  PlanFetches::Outcome taken = fetches_.Take(part);
  if (taken.ask) {
    plan.since = now;
    outcome->questions.push_back({client, std::move(taken.request)});
  }
  if (!taken.over) return;
  if (!taken.status.ok()) {
    Fail(now, found, client, taken.status, outcome);
    return;
  }
  for (const Load& load : plan.loads) {
    outcome->ended.push_back(
        {load.request, load.name, absl::OkStatus(), taken.plan});
  }
  plans_.erase(found);
}

AwaitedPlans::Plans::iterator AwaitedPlans::Fail(TimeNs now,
                                                 Plans::iterator plan,
                                                 uint32_t client,
                                                 const absl::Status& why,
                                                 Outcome* outcome) {
  fetches_.Drop(plan->first);
  std::vector<Load>& loads = plan->second.loads;
  std::erase_if(loads, [&](const Load& load) {
    if (load.request.client != client) return false;
    outcome->ended.push_back({load.request, load.name, why, nullptr});
    return true;
  });
  if (loads.empty()) return plans_.erase(plan);
  plan->second.since = now;
  Ask(plan->second, outcome);
  return ++plan;
}

void AwaitedPlans::Leave(TimeNs now, uint32_t client, Outcome* outcome) {
  for (auto plan = plans_.begin(); plan != plans_.end();) {
    std::vector<Load>& loads = plan->second.loads;
    const absl::Status why = absl::CancelledError("the client was closed");
    if (loads.front().request.client == client) {
      plan = Fail(now, plan, client, why, outcome);
      continue;
    }
    std::erase_if(
        loads, [&](const Load& load) { return load.request.client == client; });
    ++plan;
  }
}

void AwaitedPlans::Tick(TimeNs now, Outcome* outcome) {
  for (auto plan = plans_.begin(); plan != plans_.end();) {
    if (now - plan->second.since < timeout_ns_) {
      Ask(plan->second, outcome);
      ++plan;
      continue;
    }
    const uint32_t client = plan->second.loads.front().request.client;
    plan = Fail(now, plan, client,
                absl::DeadlineExceededError(
                    absl::StrCat("plan ", plan->first.Text(),
                                 " did not arrive: its client did not answer")),
                outcome);
  }
}

}  // namespace pathways
