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
#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

// The request that stands for the end of a client: not one of its own.
constexpr uint64_t kLeaving = UINT64_MAX;

absl::Status ToStatus(int32_t code, const std::string& message) {
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

// What a firing takes if nothing overlaps.
TimeNs FiringCost(const PreparedPlan& plan) {
  constexpr uint64_t kUnknownNs = 1000;
  constexpr uint64_t kMaxNs = uint64_t{1} << 62;
  uint64_t cost_ns = 0;
  for (const proto::Action& action : plan.plan().actions()) {
    if (action.kind() != proto::GANG) continue;
    const uint64_t gang_ns =
        action.cost_ns() > 0 ? uint64_t(action.cost_ns()) : kUnknownNs;
    cost_ns = std::min(kMaxNs, cost_ns + std::min(kMaxNs, gang_ns));
  }
  return static_cast<TimeNs>(cost_ns);
}

}  // namespace

Controller::Controller(RuntimeContext* context,
                       const ControllerOptions& options)
    : ControlActor(context->world, &context->directory, &context->controls,
                   context->directory.controller()),
      context_(*context),
      options_(options),
      programs_(*context->topology, options.answer_timeout_ns),
      stalls_(*context->topology, options.stall_timeout_ns),
      stores_(*context->topology, options.answer_timeout_ns),
      fetches_(*context->topology, options.answer_timeout_ns),
      memory_(*context->topology) {}

void Controller::SendToHosts(const std::vector<int32_t>& hosts,
                             const ControlRef& control) {
  for (int32_t host : hosts) {
    SendControl(context_.directory.executor(host), control);
  }
}

void Controller::OnLocal(const LocalMessage& message) {
  // One that was followed by another timer does not count.
  if (message.kind == kStallTick && message.step == timer_) OnTick();
}

void Controller::OnMessage(ActorId, ControlRef control) {
  if (!control->has_collect_request() && !control->has_settle_request() &&
      !control->has_objects_dropped()) {
    counters_.received.Add();
    counters_.bytes.Add(control->ByteSizeLong());
  }
  if (control->sequence() == 0) return HandleHost(*control);
  const uint32_t client = control->client();
  clients_.Take(client, std::move(control),
                [this](proto::Control* next) { HandleClient(next); });
}

void Controller::HandleClient(proto::Control* control) {
  const uint32_t client = control->client();
  if (control->has_connect_request()) {
    return OnConnect(client, control->connect_request());
  }
  if (clients_.NameOf(client) == nullptr || clients_.IsLeaving(client)) return;
  if (!NameByIds(control)) return;
  switch (control->kind_case()) {
    case proto::Control::kDisconnectRequest:
      return OnDisconnect(client, control->disconnect_request());
    case proto::Control::kLoadRequest:
      return OnLoad(client, control->load_request());
    case proto::Control::kUnloadRequest:
      return OnUnload(client, control->unload_request());
    case proto::Control::kLaunchRequest:
      return OnLaunch(control->mutable_launch_request());
    case proto::Control::kReleaseRequest:
      return Release(
          absl::MakeConstSpan(control->release_request().objects().data(),
                              control->release_request().objects_size()));
    case proto::Control::kSettleRequest:
      return OnSettle(client, control->settle_request());
    case proto::Control::kFetchRequest:
      return OnFetch(client, control->fetch_request());
    case proto::Control::kFetchEnd:
      return EndFetch({client, control->fetch_end().request()});
    case proto::Control::kDiagnoseRequest:
      return OnDiagnose(client, control->diagnose_request());
    case proto::Control::kCollectRequest:
      return OnCollect(client, control->collect_request());
    default:
      return;
  }
}

void Controller::HandleHost(const proto::Control& control) {
  switch (control.kind_case()) {
    case proto::Control::kLoadReply:
      return OnLoadReply(control.load_reply());
    case proto::Control::kStopReply:
      return OnStopReply(control.stop_reply());
    case proto::Control::kFreeReply:
      return OnFreeReply(control.free_reply());
    case proto::Control::kLaunchReady:
      return OnLaunchReady(control.launch_ready());
    case proto::Control::kGrantDone:
      return OnDone(control.grant_done());
    case proto::Control::kReport:
      return OnReport(control.report());
    case proto::Control::kFetchReport:
      return OnFetchReport(control);
    case proto::Control::kObjectsDropped:
      return OnDropped(control.objects_dropped());
    case proto::Control::kWorkerLost:
      return OnWorkerLost(control.worker_lost());
    default:
      return;
  }
}

void Controller::SendToClient(ControlRef control) {
  const ActorId client = context_.directory.client(control->client());
  SendControl(client, std::move(control));
}

void Controller::Answer(ClientRequest request, const absl::Status& status,
                        uint64_t handle) {
  if (request.id == 0) return;
  ControlRef control = NewControl();
  control->set_client(request.client);
  proto::Answer* answer = control->mutable_answer();
  answer->set_request(request.id);
  answer->set_code(static_cast<int>(status.code()));
  answer->set_message(status.message().data(), status.message().size());
  answer->set_program(handle);
  SendToClient(std::move(control));
}

void Controller::TellEnded(const LaunchEffects::End& end) {
  ControlRef control = NewControl();
  control->set_client(ClientOf(end.launch));
  proto::LaunchEnded* ended = control->mutable_launch_ended();
  ended->set_launch(NumberOf(end.launch));
  ended->set_code(static_cast<int>(end.status.code()));
  ended->set_message(end.status.message().data(), end.status.message().size());
  ended->set_completed(end.completed);
  for (uint32_t result : end.poisoned) ended->add_poisoned(result);
  SendToClient(std::move(control));
}

void Controller::AnswerAll(const std::vector<ClientAnswer>& answers) {
  for (const ClientAnswer& answer : answers) {
    Answer(answer.request, answer.status);
  }
}

void Controller::OnConnect(uint32_t client,
                           const proto::ConnectRequest& request) {
  std::vector<ClientAnswer> answers;
  clients_.Connect({client, request.request()}, request.name(), &answers);
  AnswerAll(answers);
}

void Controller::OnDisconnect(uint32_t client,
                              const proto::DisconnectRequest& request) {
  std::vector<ClientAnswer> answers;
  const std::vector<uint64_t> programs =
      clients_.Leave({client, request.request()}, &answers);
  for (uint64_t handle : programs) LeaveProgram(client, handle);
  for (ClientRequest fetch : fetches_.OfClient(client)) EndFetch(fetch);
  Release(
      absl::MakeConstSpan(request.objects().data(), request.objects_size()));
  AnswerAll(answers);
}

void Controller::LeaveProgram(uint32_t client, uint64_t handle) {
  const uint32_t program = programs_.IdOf(handle);
  if (!launches_.Open(program).empty()) {
    GiveUp(program, absl::CancelledError(absl::StrCat(
                        "client '", *clients_.NameOf(client), "' was closed")));
  }
  // One that loads, or is being unloaded, says so when it is done.
  const absl::StatusOr<ProgramNext> next =
      programs_.Unload(Now(), handle, {client, kLeaving}, /*launches=*/0);
  if (next.ok()) Proceed(*next);
}

void Controller::OnCollect(uint32_t client,
                           const proto::CollectRequest& request) {
  ControlRef control = NewControl();
  control->set_client(client);
  control->mutable_collect()->set_request(request.request());
  control->mutable_collect()->set_trace(request.trace());
  const std::vector<uint32_t>& processes = context_.directory.processes();
  for (uint32_t process : processes) {
    SendControl(context_.directory.reporter(process), control);
  }
  ControlRef answer = NewControl();
  answer->set_client(client);
  answer->mutable_answer()->set_request(request.request());
  answer->mutable_answer()->set_processes(
      static_cast<uint32_t>(processes.size()));
  SendToClient(std::move(answer));
}

void Controller::OnLoad(uint32_t client, const proto::LoadRequest& load) {
  const ClientRequest request{client, load.request()};
  std::shared_ptr<const PreparedPlan> plan = context_.plans.Find(load.plan());
  if (plan == nullptr) {
    return Answer(request, absl::InternalError("no such plan"));
  }
  const absl::StatusOr<ProgramNext> next = programs_.Load(
      Now(), std::move(plan), load.plan(), *clients_.NameOf(client), request);
  if (!next.ok()) {
    context_.plans.Remove(load.plan());
    return Answer(request, next.status());
  }
  grants_.Restart(next->program, FiringCost(*programs_.at(next->program).plan));
  clients_.AddProgram(client, programs_.at(next->program).incarnation);
  Proceed(*next);
}

void Controller::OnLoadReply(const proto::LoadReply& reply) {
  const ProgramTable::Program* program =
      programs_.Find(reply.program(), reply.incarnation());
  const int32_t host = static_cast<int32_t>(reply.host());
  if (program != nullptr && reply.code() == 0 &&
      program->state == ProgramTable::State::kLoading &&
      program->waiting.Contains(host)) {
    memory_.AddProgram(program->incarnation, host, reply.memory_bytes());
  }
  Proceed(programs_.Answered(Now(), ProgramTable::State::kLoading,
                             reply.program(), reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             ToStatus(reply.code(), reply.message())));
}

void Controller::OnUnload(uint32_t client, const proto::UnloadRequest& unload) {
  const ClientRequest request{client, unload.request()};
  const absl::StatusOr<ProgramNext> next =
      programs_.Unload(Now(), unload.program(), request,
                       launches_.Open(programs_.IdOf(unload.program())).size());
  if (!next.ok()) return Answer(request, next.status());
  Proceed(*next);
}

void Controller::OnStopReply(const proto::StopReply& reply) {
  Proceed(programs_.Answered(Now(), ProgramTable::State::kStopping,
                             reply.program(), reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             absl::OkStatus()));
}

void Controller::OnFreeReply(const proto::FreeReply& reply) {
  Proceed(programs_.Answered(Now(), ProgramTable::State::kFreeing,
                             reply.program(), reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             absl::OkStatus()));
}

void Controller::Proceed(const ProgramNext& next) {
  counters_.programs.Set(programs_.loaded());
  if (next.loaded != 0) context_.plans.Remove(next.loaded);
  if (next.kind == ProgramNext::kAnswer) {
    const uint32_t client = next.request.client;
    if (!clients_.IsLeaving(client)) {
      Answer(next.request, next.status, next.handle);
    } else if (next.handle != 0) {
      LeaveProgram(client, next.handle);
    }
    if (next.gone == 0) return;
    memory_.FreeProgram(next.gone);
    std::vector<ClientAnswer> answers;
    clients_.RemoveProgram(client, next.gone, &answers);
    return AnswerAll(answers);
  }
  if (next.kind != ProgramNext::kAsk) return;
  const ProgramTable::Program& program = programs_.at(next.program);
  ControlRef control = NewControl();
  auto fill = [&](auto* message) {
    message->set_program(program.id);
    message->set_incarnation(program.incarnation);
  };
  switch (program.state) {
    case ProgramTable::State::kLoading:
      control->mutable_load_program()->set_plan(program.plan_id);
      fill(control->mutable_load_program());
      break;
    case ProgramTable::State::kStopping:
      fill(control->mutable_stop_program());
      break;
    default:
      fill(control->mutable_free_program());
      break;
  }
  SendToHosts(program.waiting.Members(), control);
  ArmTimer();
}

void Controller::OnWorkerLost(const proto::WorkerLost& lost) {
  const Topology& topology = *context_.topology;
  const int32_t host = static_cast<int32_t>(lost.host());
  for (uint32_t device : lost.devices()) {
    if (device >= static_cast<uint32_t>(topology.num_host_devices(host))) {
      return;
    }
  }
  const absl::Status why = absl::DeadlineExceededError(lost.message());
  for (uint32_t program : programs_.Lose(
           host,
           absl::MakeConstSpan(lost.devices().data(), lost.devices_size()),
           why)) {
    GiveUp(program, why);
  }
}

void Controller::GiveUp(uint32_t program, const absl::Status& why) {
  Proceed(programs_.Break(Now(), program, why));
  launches_.Abort(program, why, &effects_);
  Apply();
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
    subject.staging = !oldest.begun;
    if (subject.staging) subject.hosts = oldest.staging.Members();
    subject.end = grants_.next_firing(p);
    for (uint64_t id : open) {
      const LaunchTable::Launch& launch = *launches_.Find(id);
      if (!launch.begun || launch.over) continue;
      subject.running = true;
      subject.launch = id;
      subject.first = grants_.FindLaunch(id)->first;
      subject.islands = launch.running.Members();
      break;
    }
    subjects.push_back(subject);
  }
  return subjects;
}

void Controller::StartRound() {
  const std::vector<StallDetector::Subject> subjects = StallSubjects();
  stalls_.Begin(subjects);
  SendQueries(subjects);
  if (stalls_.complete()) FinishRound();
}

void Controller::SendQueries(
    absl::Span<const StallDetector::Subject> subjects) {
  for (const StallDetector::Subject& subject : subjects) {
    ControlRef control = NewControl();
    control->mutable_query()->set_round(stalls_.round());
    control->mutable_query()->set_program(subject.program);
    control->mutable_query()->set_incarnation(subject.incarnation);
    SendToHosts(stalls_.Awaited(subject.program), control);
  }
}

void Controller::OnReport(const proto::Report& report) {
  stalls_.Add(report);
  if (stalls_.complete()) FinishRound();
}

void Controller::OnDiagnose(uint32_t client,
                            const proto::DiagnoseRequest& request) {
  stalls_.Force();
  diagnoses_.push_back({client, request.request()});
  if (!stalls_.in_round()) return StartRound();
  // The questions or answers that are missing were lost.
  stalls_.AskAgain() ? SendQueries(StallSubjects()) : FinishRound();
}

void Controller::FinishRound() {
  const std::vector<StallDetector::Verdict> verdicts =
      stalls_.Finish(Now(), StallSubjects());
  for (const StallDetector::Verdict& verdict : verdicts) {
    const absl::Status status = absl::DeadlineExceededError(
        absl::StrCat("program '", programs_.at(verdict.program).plan->name(),
                     "' does not go on: ", verdict.text));
    GiveUp(verdict.program, status);
  }
  for (const ClientRequest& request : std::exchange(diagnoses_, {})) {
    Answer(request, absl::OkStatus());
  }
}

}  // namespace pathways
