//===- plans.cc - Plans from clients and for hosts ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/controller/controller.h"

namespace pathways {
namespace {

// Largest number of programs of one load.
constexpr int kMaxTogether = 64;

}  // namespace

void Controller::OnLoad(uint32_t client, const proto::LoadRequest& load) {
  const ClientRequest request{client, load.request()};
  LoadTerms terms{load.has_wait_ns() ? load.wait_ns() : UINT64_MAX,
                  load.await_devices(),
                  {}};
  std::vector<PlanName> missing;
  auto add = [&](const proto::PlanName& plan, uint64_t slice) {
    LoadQueue::Program program{{{}, plan.bytes()}, nullptr, slice};
    if (!program.name.hash.Read(plan.hash())) return false;
    program.plan = context_.plans.Find(program.name.hash);
    if (program.plan == nullptr) missing.push_back(program.name);
    terms.programs.push_back(std::move(program));
    return true;
  };
  if (load.more_size() >= kMaxTogether) {
    return outbox_.Answer(request,
                          absl::InvalidArgumentError(absl::StrCat(
                              "the load has ", load.more_size() + 1,
                              " programs, expected at most ", kMaxTogether)));
  }
  bool are_named = add(load.plan(), load.slice());
  for (const proto::MoreProgram& more : load.more()) {
    are_named = are_named && add(more.plan(), more.slice());
  }
  if (!are_named) {
    return outbox_.Answer(request,
                          absl::InvalidArgumentError(
                              "the request does not name a plan by its hash"));
  }
  if (request.id == 0 || load_terms_.count(request) > 0 ||
      load_service_.IsLoading(request)) {
    return;  // nobody to answer, or a duplicate of a request
  }
  load_terms_[request] = std::move(terms);
  if (missing.empty()) return Load(request);
  AwaitedPlans::Outcome outcome;
  for (const PlanName& name : missing) {
    awaited_.Add(clock_.Now(), request, name, &outcome);
  }
  Apply(std::move(outcome));
}

void Controller::Load(ClientRequest request) {
  LoadTerms terms = std::move(load_terms_.extract(request).mapped());
  LoadQueue::Load load{request, std::move(terms.programs)};
  load.since = clock_.Now();
  if (terms.wait_ns < static_cast<uint64_t>(kNoDeadline - load.since)) {
    load.deadline = load.since + static_cast<TimeNs>(terms.wait_ns);
  }
  load.awaits_devices = terms.awaits_devices;
  // Slices of the client must not block its own programs.
  std::map<uint64_t, DeviceBytes> promised;
  for (LoadQueue::Program& program : load.programs) {
    if (program.slice != 0) continue;
    const Admission& admission = programs_.admission();
    program.slice = admission.OwnSlice(
        request.client, admission.NeedOf(*program.plan), &promised);
  }
  load_service_.Ask(std::move(load));
}

void Controller::OnPlanPart(uint32_t client, const proto::PlanPart& part) {
  AwaitedPlans::Outcome outcome;
  awaited_.Take(clock_.Now(), client, part, &outcome);
  Apply(std::move(outcome));
}

void Controller::OnPlanRequest(ActorId from,
                               const proto::PlanRequest& request) {
  const uint32_t process = context_.directory.Find(from)->index;
  programs_.Asked(clock_.Now(), process, request);
  ControlRef control = outbox_.New();
  AnswerPlanRequest(&context_.plans, request, control->mutable_plan_part());
  outbox_.Send(from, std::move(control));
}

void Controller::Apply(AwaitedPlans::Outcome outcome) {
  for (AwaitedPlans::Question& question : outcome.questions) {
    ControlRef control = outbox_.New();
    control->set_client(question.client);
    *control->mutable_plan_request() = std::move(question.request);
    outbox_.SendToClient(std::move(control));
  }
  for (AwaitedPlans::Ended& ended : outcome.ended) {
    const auto terms = load_terms_.find(ended.request);
    if (terms == load_terms_.end())
      continue;  // another plan of the load has failed
    if (!ended.status.ok()) {
      load_terms_.erase(terms);
      outbox_.Answer(ended.request, ended.status);
      continue;
    }
    bool are_here = true;
    for (LoadQueue::Program& program : terms->second.programs) {
      if (program.plan == nullptr && program.name == ended.name) {
        program.plan = ended.plan;
      }
      are_here &= program.plan != nullptr;
    }
    if (are_here) Load(ended.request);
  }
  answer_timer_.Arm();
}

}  // namespace pathways
