//===- controller.cc - The one controller of a cluster --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/controller.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

void Controller::SendTo(ActorId to, const proto::Control& control) {
  context_.world->SendControl(self(), to, control.SerializeAsString());
}

void Controller::SendToHosts(const Program& program,
                             const proto::Control& control) {
  const std::string bytes = control.SerializeAsString();
  for (int32_t host : program.plan->hosts()) {
    context_.world->SendControl(self(), context_.directory.executors[host],
                                bytes);
  }
}

Controller::Program* Controller::Find(uint32_t program, uint32_t incarnation) {
  if (program >= programs_.size() || programs_[program] == nullptr ||
      programs_[program]->incarnation != incarnation) {
    return nullptr;
  }
  return programs_[program].get();
}

Controller::Program* Controller::FindHandle(uint64_t handle,
                                            uint32_t* program) {
  for (uint32_t p = 0; p < programs_.size(); ++p) {
    if (programs_[p] != nullptr && programs_[p]->handle == handle) {
      *program = p;
      return programs_[p].get();
    }
  }
  return nullptr;
}

void Controller::OnMessage(ActorId, const Message& message) {
  if (message.kind != kStallTick) return;
  timer_armed_ = false;
  if (launches_.size() == 0) return;
  if (!in_round_) StartRound();
  ArmTimer();
}

void Controller::OnControl(ActorId, std::string_view bytes) {
  proto::Control control;
  if (!control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  received_.Add();
  switch (control.kind_case()) {
    case proto::Control::kLoadRequest:
      return OnLoad(control.load_request());
    case proto::Control::kUnloadRequest:
      return OnUnload(control.unload_request());
    case proto::Control::kLaunchRequest:
      return OnLaunch(control.mutable_launch_request());
    case proto::Control::kDiagnoseRequest:
      return OnDiagnose(control.diagnose_request());
    case proto::Control::kLoadReply:
      return OnLoadReply(control.load_reply());
    case proto::Control::kStopReply:
      return OnStopReply(control.stop_reply());
    case proto::Control::kFreeReply:
      return OnFreeReply(control.free_reply());
    case proto::Control::kLaunchDone:
      return OnDone(control.launch_done());
    case proto::Control::kReport:
      return OnReport(control.report());
    case proto::Control::kStorePart:
      return OnStorePart(&control);
    case proto::Control::kLaunchReady:
      return OnLaunchReady(control.launch_ready());
    case proto::Control::kReleaseRequest:
      return OnRelease(control.release_request());
    case proto::Control::kObjectsDropped:
      return OnDropped(control.objects_dropped());
    case proto::Control::kFetchRequest:
      return OnFetch(control.fetch_request());
    case proto::Control::kPartData:
      return OnPartData(control.part_data());
    default:
      return;
  }
}

void Controller::OnLoad(const proto::LoadRequest& request) {
  auto program = std::make_unique<Program>();
  program->plan = context_.plans.Find(request.plan());
  program->plan_id = request.plan();
  if (program->plan == nullptr) {
    port_->Answer(request.request(), absl::InternalError("no such plan"), 0);
    return;
  }
  program->client = request.client();
  program->handle = ++next_handle_;
  program->incarnation = ++next_incarnation_;
  program->request = request.request();
  absl::Status admitted =
      admission_.Admit(program->handle, *program->plan, program->client);
  if (!admitted.ok()) {
    context_.plans.Remove(program->plan_id);
    port_->Answer(request.request(), admitted, 0);
    return;
  }
  uint32_t id = 0;
  while (id < programs_.size() && programs_[id] != nullptr) ++id;
  if (id == programs_.size()) programs_.emplace_back();
  for (int32_t host : program->plan->hosts()) program->waiting.insert(host);
  proto::Control control;
  proto::LoadProgram* load = control.mutable_load_program();
  load->set_program(id);
  load->set_incarnation(program->incarnation);
  load->set_plan(program->plan_id);
  programs_[id] = std::move(program);
  grants_.Restart(id);
  SendToHosts(*programs_[id], control);
  if (programs_[id]->waiting.empty()) FinishLoad(id);  // a plan without shards
}

void Controller::OnLoadReply(const proto::LoadReply& reply) {
  Program* program = Find(reply.program(), reply.incarnation());
  if (program == nullptr || program->state != Program::kLoading ||
      program->waiting.erase(reply.host()) == 0) {
    return;
  }
  if (reply.code() != 0 && program->error.ok()) {
    program->error = absl::Status(static_cast<absl::StatusCode>(reply.code()),
                                  reply.message());
  }
  if (program->waiting.empty()) FinishLoad(reply.program());
}

void Controller::FinishLoad(uint32_t id) {
  Program& program = *programs_[id];
  context_.plans.Remove(program.plan_id);
  if (!program.error.ok()) {
    Stop(id);  // answers when it is gone
    return;
  }
  program.state = Program::kReady;
  num_programs_.Add();
  port_->Answer(program.request, absl::OkStatus(), program.handle);
  program.request = 0;
}

void Controller::OnUnload(const proto::UnloadRequest& request) {
  uint32_t id = 0;
  Program* program = FindHandle(request.program(), &id);
  if (program == nullptr || program->state == Program::kLoading ||
      program->state == Program::kFreeing || program->request != 0) {
    port_->Answer(request.request(),
                  absl::FailedPreconditionError(absl::StrCat(
                      "program ", request.program(), " is not loaded")),
                  0);
    return;
  }
  if (!launches_.Open(id).empty()) {
    port_->Answer(
        request.request(),
        absl::FailedPreconditionError(absl::StrCat(
            "program '", program->plan->name(), "' still has ",
            launches_.Open(id).size(), " launches that have not ended")),
        0);
    return;
  }
  program->request = request.request();
  program->error = absl::OkStatus();
  switch (program->state) {
    case Program::kReady:
      Stop(id);
      break;
    case Program::kBroken:
      Free(id);
      break;  // was stopped when it broke
    default:
      break;  // is being stopped
  }
}

void Controller::Stop(uint32_t id) {
  Program& program = *programs_[id];
  program.state = Program::kStopping;
  program.waiting.clear();
  for (int32_t host : program.plan->hosts()) program.waiting.insert(host);
  proto::Control control;
  control.mutable_stop_program()->set_program(id);
  control.mutable_stop_program()->set_incarnation(program.incarnation);
  SendToHosts(program, control);
  if (program.waiting.empty()) FinishStop(id);
}

void Controller::OnStopReply(const proto::StopReply& reply) {
  Program* program = Find(reply.program(), reply.incarnation());
  if (program == nullptr || program->state != Program::kStopping ||
      program->waiting.erase(reply.host()) == 0) {
    return;
  }
  if (program->waiting.empty()) FinishStop(reply.program());
}

void Controller::FinishStop(uint32_t id) {
  if (programs_[id]->request == 0) {
    programs_[id]->state = Program::kBroken;  // until the client unloads it
    return;
  }
  Free(id);
}

void Controller::Free(uint32_t id) {
  Program& program = *programs_[id];
  program.state = Program::kFreeing;
  program.waiting.clear();
  for (int32_t host : program.plan->hosts()) program.waiting.insert(host);
  proto::Control control;
  control.mutable_free_program()->set_program(id);
  control.mutable_free_program()->set_incarnation(program.incarnation);
  SendToHosts(program, control);
  if (program.waiting.empty()) FinishFree(id);
}

void Controller::OnFreeReply(const proto::FreeReply& reply) {
  Program* program = Find(reply.program(), reply.incarnation());
  if (program == nullptr || program->state != Program::kFreeing ||
      program->waiting.erase(reply.host()) == 0) {
    return;
  }
  if (program->waiting.empty()) FinishFree(reply.program());
}

void Controller::FinishFree(uint32_t id) {
  const std::unique_ptr<Program> program = std::move(programs_[id]);
  admission_.Release(program->handle);
  // An error is that of a load, which never counted.
  if (program->error.ok()) num_programs_.Add(-1);
  port_->Answer(program->request, program->error, 0);
}

void Controller::Abort(uint32_t id, absl::Status status) {
  programs_[id]->error = status;
  Stop(id);
  launches_.Abort(id, status, &effects_);
  Apply();
}

}  // namespace pathways
