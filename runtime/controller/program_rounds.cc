//===- program_rounds.cc - Rounds of messages about programs --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_rounds.h"

#include "runtime/binding/plan_messages.h"

namespace pathways {

void ProgramRounds::Send(uint32_t id) {
  const ProgramTable::Program* program = programs_.Find(id);
  if (program == nullptr) return;
  auto name = [&](auto* message) {
    message->set_program(program->id);
    message->set_incarnation(program->incarnation);
  };
  outbox_.SendToHosts(program->waiting.Members(), [&](proto::Control* control) {
    switch (program->state) {
      case ProgramTable::State::kLoading:
        name(control->mutable_load_program());
        NamePlan(program->name,
                 control->mutable_load_program()->mutable_plan());
        NameEpochs(*program->plan, control->mutable_load_program());
        break;
      case ProgramTable::State::kStopping:
        name(control->mutable_stop_program());
        break;
      default:
        name(control->mutable_free_program());
        break;
    }
  });
  timer_.Arm();
}

void ProgramRounds::NameEpochs(const PreparedPlan& plan,
                               proto::LoadProgram* load) const {
  for (int32_t host : plan.binding().hosts()) {
    if (epochs_.restarts(host) == 0) continue;
    proto::HostEpoch* life = load->add_lives();
    life->set_host(static_cast<uint32_t>(host));
    life->set_restarts(epochs_.restarts(host));
  }
}

}  // namespace pathways
