//===- load_requests.cc - Load requests of clients ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_requests.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace pathways {

void LoadRequests::Take(uint32_t client, const proto::LoadRequest& load) {
  const ClientRequest request{client, load.request()};
  Terms terms{load.has_wait_ns() ? load.wait_ns() : UINT64_MAX,
              load.await_devices(),
              {}};
  std::vector<PlanName> missing;
  auto add = [&](const proto::PlanName& plan, uint64_t slice) {
    LoadQueue::Program program{{{}, plan.bytes()}, nullptr, slice};
    if (!program.name.hash.Read(plan.hash())) return false;
    program.plan = uses_.plans.Find(program.name.hash);
    if (program.plan == nullptr) missing.push_back(program.name);
    terms.programs.push_back(std::move(program));
    return true;
  };
  if (load.more_size() >= kMaxTogether) {
    return uses_.outbox.Answer(
        request, absl::InvalidArgumentError(absl::StrCat(
                     "the load has ", load.more_size() + 1,
                     " programs, expected at most ", kMaxTogether)));
  }
  bool are_named = add(load.plan(), load.slice());
  for (const proto::MoreProgram& more : load.more()) {
    are_named = are_named && add(more.plan(), more.slice());
  }
  if (!are_named) {
    return uses_.outbox.Answer(
        request, absl::InvalidArgumentError(
                     "the request does not name a plan by its hash"));
  }
  if (request.id == 0 || terms_.count(request) > 0 ||
      uses_.loads.IsLoading(request)) {
    return;  // nobody to answer, or a duplicate of a request
  }
  if (missing.empty()) return Pass(request, std::move(terms));
  terms_[request] = std::move(terms);
  AwaitedPlans::Outcome outcome;
  for (const PlanName& name : missing) {
    uses_.awaited.Add(uses_.clock.Now(), request, name, &outcome);
  }
  Apply(std::move(outcome));
}

void LoadRequests::Pass(ClientRequest request, Terms terms) {
  LoadQueue::Load load{request, std::move(terms.programs)};
  load.since = uses_.clock.Now();
  if (terms.wait_ns < static_cast<uint64_t>(kNoDeadline - load.since)) {
    load.deadline = load.since + static_cast<TimeNs>(terms.wait_ns);
  }
  load.awaits_devices = terms.awaits_devices;
  // Slices of the client must not block its own programs.
  std::map<uint64_t, DeviceBytes> promised;
  for (LoadQueue::Program& program : load.programs) {
    if (program.slice != 0) continue;
    program.slice = uses_.admission.OwnSlice(
        request.client, uses_.admission.NeedOf(*program.plan), &promised);
  }
  uses_.loads.Ask(std::move(load));
}

void LoadRequests::Take(uint32_t client, const proto::PlanPart& part) {
  AwaitedPlans::Outcome outcome;
  uses_.awaited.Take(uses_.clock.Now(), client, part, &outcome);
  Apply(std::move(outcome));
}

void LoadRequests::Leave(uint32_t client) {
  std::erase_if(terms_,
                [&](const auto& one) { return one.first.client == client; });
  AwaitedPlans::Outcome outcome;
  uses_.awaited.Leave(uses_.clock.Now(), client, &outcome);
  Apply(std::move(outcome));
}

void LoadRequests::Tick() {
  AwaitedPlans::Outcome outcome;
  uses_.awaited.Tick(uses_.clock.Now(), &outcome);
  Apply(std::move(outcome));
}

void LoadRequests::Apply(AwaitedPlans::Outcome outcome) {
  for (AwaitedPlans::Question& question : outcome.questions) {
    ControlRef control = uses_.outbox.New();
    control->set_client(question.client);
    *control->mutable_plan_request() = std::move(question.request);
    uses_.outbox.SendToClient(std::move(control));
  }
  for (AwaitedPlans::Ended& ended : outcome.ended) {
    const auto found = terms_.find(ended.request);
    // Another plan of the load may have failed.
    if (found == terms_.end()) continue;
    if (!ended.status.ok()) {
      terms_.erase(found);
      uses_.outbox.Answer(ended.request, ended.status);
      continue;
    }
    bool are_here = true;
    for (LoadQueue::Program& program : found->second.programs) {
      if (program.plan == nullptr && program.name == ended.name) {
        program.plan = ended.plan;
      }
      are_here &= program.plan != nullptr;
    }
    if (are_here) {
      Pass(ended.request, std::move(terms_.extract(found).mapped()));
    }
  }
  uses_.timer.Arm();
}

}  // namespace pathways
