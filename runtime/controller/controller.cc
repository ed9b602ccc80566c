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
namespace {

absl::Status ToStatus(int32_t code, const std::string& message) {
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

}  // namespace

void Controller::SendTo(ActorId to, const proto::Control& control) {
  context_.world->SendControl(self(), to, control.SerializeAsString());
}

void Controller::SendToHosts(const PreparedPlan& plan,
                             const proto::Control& control) {
  const std::string bytes = control.SerializeAsString();
  for (int32_t host : plan.hosts()) {
    context_.world->SendControl(self(), context_.directory.executors[host],
                                bytes);
  }
}

void Controller::OnMessage(ActorId, const Message& message) {
  if (message.kind != kStallTick) return;
  timer_armed_ = false;
  if (launches_.size() == 0) return;
  if (!stalls_.in_round()) StartRound();
  ArmTimer();
}

void Controller::OnControl(ActorId, std::string_view bytes) {
  proto::Control control;
  if (!control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  counters_.received.Add();
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

void Controller::Answer(uint64_t request, const absl::Status& status,
                        uint64_t handle) {
  port_->Answer(request, status, handle);
}

void Controller::TellEnded(const LaunchEffects::End& end) {
  const proto::ReleaseRequest release =
      port_->LaunchEnded(end.launch, end.status, end.completed, end.poisoned);
  if (release.objects_size() > 0) OnRelease(release);
}

void Controller::OnLoad(const proto::LoadRequest& request) {
  std::shared_ptr<const PreparedPlan> plan =
      context_.plans.Find(request.plan());
  if (plan == nullptr) {
    return Answer(request.request(), absl::InternalError("no such plan"));
  }
  const absl::StatusOr<ProgramNext> next = programs_.Load(
      std::move(plan), request.plan(), request.client(), request.request());
  if (!next.ok()) {
    context_.plans.Remove(request.plan());
    return Answer(request.request(), next.status());
  }
  grants_.Restart(next->program);
  Proceed(*next);
}

void Controller::OnLoadReply(const proto::LoadReply& reply) {
  Proceed(programs_.Answered(ProgramTable::State::kLoading, reply.program(),
                             reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             ToStatus(reply.code(), reply.message())));
}

void Controller::OnUnload(const proto::UnloadRequest& request) {
  const absl::StatusOr<ProgramNext> next = programs_.Unload(
      request.program(), request.request(),
      launches_.Open(programs_.IdOf(request.program())).size());
  if (!next.ok()) return Answer(request.request(), next.status());
  Proceed(*next);
}

void Controller::OnStopReply(const proto::StopReply& reply) {
  Proceed(programs_.Answered(
      ProgramTable::State::kStopping, reply.program(), reply.incarnation(),
      static_cast<int32_t>(reply.host()), absl::OkStatus()));
}

void Controller::OnFreeReply(const proto::FreeReply& reply) {
  Proceed(programs_.Answered(
      ProgramTable::State::kFreeing, reply.program(), reply.incarnation(),
      static_cast<int32_t>(reply.host()), absl::OkStatus()));
}

void Controller::Proceed(const ProgramNext& next) {
  counters_.programs.Set(programs_.loaded());
  if (next.loaded != 0) context_.plans.Remove(next.loaded);
  if (next.kind == ProgramNext::kAnswer) {
    return Answer(next.request, next.status, next.handle);
  }
  if (next.kind != ProgramNext::kAsk) return;
  const ProgramTable::Program& program = programs_.at(next.program);
  proto::Control control;
  auto fill = [&](auto* message) {
    message->set_program(program.id);
    message->set_incarnation(program.incarnation);
  };
  switch (program.state) {
    case ProgramTable::State::kLoading:
      control.mutable_load_program()->set_plan(program.plan_id);
      fill(control.mutable_load_program());
      break;
    case ProgramTable::State::kStopping:
      fill(control.mutable_stop_program());
      break;
    default:
      fill(control.mutable_free_program());
      break;
  }
  SendToHosts(*program.plan, control);
}

void Controller::ArmTimer() {
  // A simulation notices by itself that nothing is left to happen.
  if (timer_armed_ || stall_timeout_ns_ <= 0 || context_.world->simulated()) {
    return;
  }
  timer_armed_ = true;
  Message message;
  message.kind = kStallTick;
  message.flags = kBackground;
  context_.world->SendAfter(self(), self(),
                            std::max<TimeNs>(stall_timeout_ns_ / 4, 1'000'000),
                            message);
}

std::vector<StallDetector::Subject> Controller::StallSubjects() const {
  std::vector<StallDetector::Subject> subjects;
  for (uint32_t p = 0; p < programs_.end(); ++p) {
    const std::vector<uint64_t>& open = launches_.Open(p);
    if (!programs_.Has(p) || open.empty()) continue;
    const LaunchTable::Launch& oldest = *launches_.Find(open.front());
    StallDetector::Subject subject;
    subject.program = p;
    subject.incarnation = programs_.at(p).incarnation;
    subject.plan = programs_.at(p).plan.get();
    subject.since = oldest.asked;
    subject.staging = !oldest.granted;
    subject.end = grants_.next_firing(p);
    for (uint64_t id : open) {
      const LaunchTable::Launch& launch = *launches_.Find(id);
      if (!launch.granted || launch.over) continue;
      subject.running = true;
      subject.first = grants_.Find(id)->first;
      break;
    }
    subjects.push_back(subject);
  }
  return subjects;
}

void Controller::StartRound() {
  const std::vector<StallDetector::Subject> subjects = StallSubjects();
  const uint64_t round = stalls_.Begin(subjects);
  for (const StallDetector::Subject& subject : subjects) {
    proto::Control control;
    control.mutable_query()->set_round(round);
    control.mutable_query()->set_program(subject.program);
    control.mutable_query()->set_incarnation(subject.incarnation);
    SendToHosts(*subject.plan, control);
  }
  if (stalls_.complete()) FinishRound();
}

void Controller::OnReport(const proto::Report& report) {
  stalls_.Add(report);
  if (stalls_.complete()) FinishRound();
}

void Controller::OnDiagnose(const proto::DiagnoseRequest& request) {
  stalls_.Force();
  diagnoses_.push_back(request.request());
  // The answers that are missing from a round were lost.
  stalls_.in_round() ? FinishRound() : StartRound();
}

void Controller::FinishRound() {
  const std::vector<StallDetector::Verdict> verdicts =
      stalls_.Finish(context_.world->Now(), StallSubjects());
  for (const StallDetector::Verdict& verdict : verdicts) {
    const absl::Status status = absl::DeadlineExceededError(
        absl::StrCat("program '", programs_.at(verdict.program).plan->name(),
                     "' does not go on: ", verdict.text));
    Proceed(programs_.Break(verdict.program, status));
    launches_.Abort(verdict.program, status, &effects_);
    Apply();
  }
  for (uint64_t request : std::exchange(diagnoses_, {})) {
    Answer(request, absl::OkStatus());
  }
}

}  // namespace pathways
