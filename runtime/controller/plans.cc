//===- plans.cc - Plans from clients and for hosts ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <utility>

#include "absl/types/span.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/controller/controller.h"

namespace pathways {

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
