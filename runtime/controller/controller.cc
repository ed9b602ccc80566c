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
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/program/local_kind.h"
#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

std::unique_ptr<SchedulingPolicy> PolicyOf(ControllerOptions* options) {
  return options->policy != nullptr ? std::move(options->policy)
                                    : *MakePolicy(kPolicyNames[0]);
}

}  // namespace

Controller::Controller(RuntimeContext* context, ControllerOptions options)
    : ControlActor(context->world, &context->directory, &context->controls,
                   context->directory.controller()),
      context_(*context),
      lives_(context->directory),
      outbox_(context->world, &context->directory, &context->controls, &lives_),
      clock_(context->world, &timer_),
      awaited_(context, options.answer_timeout_ns),
      programs_(*context->topology, options.answer_timeout_ns, &objects_,
                context->spill),
      loads_(&programs_.admission()),
      grants_(PolicyOf(&options)),
      store_log_(*context->topology, options.answer_timeout_ns),
      fetch_table_(*context->topology, options.answer_timeout_ns),
      memory_(programs_.mutable_admission()->host_memory()),
      report_(*context->topology, clients_, programs_, launches_, grants_,
              objects_, loads_),
      quotas_(*context->topology, clients_, objects_, programs_.admission()),
      slices_(*context->topology, clients_, grants_, &programs_, &outbox_),
      drains_(*context->topology, lives_, objects_, clients_, &programs_,
              &outbox_, &clock_),
      questions_(context->directory, lives_, &outbox_, &clock_),
      open_(programs_, launches_, grants_, store_log_),
      stalls_(*context->topology, options.stall_timeout_ns, programs_, open_,
              &outbox_, &clock_,
              [this](uint32_t program, const absl::Status& why) {
                GiveUp(program, why);
              }),
      answer_timer_(
          context->world, this, *context->topology,
          std::min(options.stall_timeout_ns, options.answer_timeout_ns),
          {.plans = awaited_,
           .programs = programs_,
           .launches = launches_,
           .stores = store_log_,
           .fetches = fetch_table_,
           .loads = loads_,
           .drains = drains_,
           .open = open_},
          &timer_),
      stores_({.epochs = lives_,
               .loads = loads_,
               .objects = objects_,
               .memory = memory_,
               .log = store_log_,
               .drains = drains_,
               .outbox = outbox_,
               .clock = clock_,
               .timer = answer_timer_}),
      fetches_(context->directory.num_hosts(), {.objects = objects_,
                                                .table = fetch_table_,
                                                .stores = stores_,
                                                .outbox = outbox_,
                                                .clock = clock_,
                                                .timer = answer_timer_}),
      launch_reader_({.clients = clients_,
                      .programs = programs_,
                      .launches = launches_,
                      .objects = objects_,
                      .loads = loads_,
                      .quotas = quotas_,
                      .memory = memory_,
                      .clock = clock_}),
      grant_sender_({.topology = *context->topology,
                     .directory = context->directory,
                     .epochs = lives_,
                     .programs = programs_,
                     .launches = launches_,
                     .grants = grants_,
                     .store_log = store_log_,
                     .outbox = outbox_}),
      launch_service_({.world = *context->world,
                       .topology = *context->topology,
                       .clients = clients_,
                       .programs = programs_,
                       .objects = objects_,
                       .open = open_,
                       .reader = launch_reader_,
                       .launches = launches_,
                       .grants = grants_,
                       .sender = grant_sender_,
                       .stores = stores_,
                       .outbox = outbox_,
                       .clock = clock_,
                       .timer = answer_timer_}) {}

void Controller::NameEpochs(const PreparedPlan& plan,
                            proto::LoadProgram* load) const {
  for (int32_t host : plan.binding().hosts()) {
    if (lives_.restarts(host) == 0) continue;
    proto::HostEpoch* life = load->add_lives();
    life->set_host(static_cast<uint32_t>(host));
    life->set_restarts(lives_.restarts(host));
  }
}

void Controller::OnLocal(const LocalMessage& message) {
  if (message.kind == kDescribe) return OnDescribe(message);
  if (message.kind == kLoadDeadline) return OnLoadDeadline();
  if (message.kind == kClientsGone) {
    for (uint32_t i = 0; i < message.item; ++i) {
      OnClientGone(message.target + i);
    }
  }
  if (message.kind == kStallTick &&
      timer_.Tick(message.step, context_.world->Now())) {
    OnTick();
  }
}

void Controller::OnDescribe(const LocalMessage& message) {
  const std::unique_ptr<std::shared_ptr<StatusQuery>> query(
      static_cast<std::shared_ptr<StatusQuery>*>(message.payload));
  proto::ControllerStatus status = report_.Describe(clock_.Now());
  status.set_messages(messages_received());
  status.set_message_bytes(bytes_received());
  status.set_steps(steps_done());
  for (uint32_t h = 0; h < context_.directory.num_hosts(); ++h) {
    status.add_host_bytes(memory_.used(static_cast<int32_t>(h)));
    status.add_host_spilled_bytes(stores_.spilled(static_cast<int32_t>(h)));
  }
  MutexLock lock(&(*query)->mutex);
  (*query)->status = std::move(status);
  (*query)->answered.notify_all();
}

void Controller::OnMessage(ActorId from, ControlRef control) {
  if (!control->has_collect_request() && !control->has_settle_request() &&
      !control->has_objects_dropped()) {
    counters_.received.Add();
    counters_.bytes.Add(control->ByteSizeLong());
  }
  clock_.Begin();
  Handle(from, std::move(control));
  clock_.End();
}

void Controller::Handle(ActorId from, ControlRef control) {
  if (control->sequence() == 0) {
    const int32_t host = context_.directory.HostOfExecutor(from);
    if (host >= 0 && !lives_.IsNow(host, control->restarts())) return;
    return HandleHost(from, *control);
  }
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
    case proto::Control::kDevicesRequest:
      return drains_.AnswerAway({client, control->devices_request().request()});
    case proto::Control::kDrainRequest:
      return OnDrain(client, control->drain_request());
    case proto::Control::kLoadCancel:
      return OnLoadCancel(client, control->load_cancel());
    case proto::Control::kSlicesRequest:
      return OnSlices(client, control->slices_request());
    case proto::Control::kSliceRelease:
      programs_.mutable_admission()->GiveBack(client,
                                              control->slice_release().slice());
      return RetryLoads();
    case proto::Control::kUnloadRequest:
      return OnUnload(client, control->unload_request());
    case proto::Control::kLaunchRequest:
      return launch_service_.Launch(control->launch_request());
    case proto::Control::kCancelRequest:
      return launch_service_.Cancel(client, control->cancel_request());
    case proto::Control::kReleaseRequest:
      return stores_.ReleaseHeld(
          absl::MakeConstSpan(control->release_request().objects().data(),
                              control->release_request().objects_size()));
    case proto::Control::kSettleRequest:
      return stores_.Settle({client, control->settle_request().request()});
    case proto::Control::kFetchRequest:
      return fetches_.Begin(client, control->fetch_request());
    case proto::Control::kFetchEnd:
      return fetches_.Take(client, control->fetch_end());
    case proto::Control::kDiagnoseRequest:
      return OnDiagnose(client, control->diagnose_request());
    case proto::Control::kCollectRequest:
      return questions_.Ask(client, control->collect_request());
    default:
      return;
  }
}

void Controller::HandleHost(ActorId from, const proto::Control& control) {
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
      return launch_service_.Take(control.grant_done());
    case proto::Control::kReport:
      return stalls_.Take(control.report());
    case proto::Control::kFetchReport:
      return fetches_.Take(control.client(), control.fetch_report());
    case proto::Control::kObjectsDropped:
      if (stores_.Take(control.objects_dropped())) RetryLoads();
      return;
    case proto::Control::kWorkerLost:
      return OnWorkerLost(control.worker_lost());
    case proto::Control::kLongWorkSeen:
      return OnLongWork(control.long_work_seen());
    case proto::Control::kPlanPart:
      return OnPlanPart(control.client(), control.plan_part());
    case proto::Control::kPlanRequest:
      return OnPlanRequest(from, control.plan_request());
    default:
      return;
  }
}

void Controller::OnSlices(uint32_t client,
                          const proto::SlicesRequest& request) {
  absl::StatusOr<LoadQueue::Load> load =
      slices_.Read(clock_.Now(), client, request);
  if (!load.ok()) {
    return outbox_.Answer({client, request.request()}, load.status());
  }
  Ask(*std::move(load));
}

void Controller::OnDrain(uint32_t client, const proto::DrainRequest& drain) {
  if (!drains_.Take(client, drain)) return;
  if (!drain.undo()) {
    ArmLoadTimer();
    answer_timer_.Arm();
  }
  RetryLoads();
}

void Controller::OnUnload(uint32_t client, const proto::UnloadRequest& unload) {
  const ClientRequest request{client, unload.request()};
  const absl::StatusOr<ProgramNext> next =
      programs_.Unload(clock_.Now(), unload.program(), request,
                       launches_.Open(programs_.IdOf(unload.program())).size());
  if (!next.ok()) return outbox_.Answer(request, next.status());
  Proceed(*next);
  // A program that was given up is already ending; now a call waits for that.
  answer_timer_.Arm();
}

void Controller::OnStopReply(const proto::StopReply& reply) {
  Proceed(programs_.Answered(clock_.Now(), ProgramTable::State::kStopping,
                             reply.program(), reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             absl::OkStatus()));
}

void Controller::OnFreeReply(const proto::FreeReply& reply) {
  Proceed(programs_.Answered(clock_.Now(), ProgramTable::State::kFreeing,
                             reply.program(), reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             absl::OkStatus()));
}

void Controller::Proceed(const ProgramNext& next) {
  counters_.programs.Set(programs_.loaded());
  if (next.kind == ProgramNext::kAnswer) {
    const uint32_t client = next.request.client;
    if (next.gone != 0) {
      context_.plans.Trim();
      grants_.Unload(next.program);
    }
    if (clients_.IsLeaving(client)) {
      if (next.handle != 0) LeaveProgram(client, next.handle);
    } else if (!IsPart(next)) {
      outbox_.Answer(next.request, next.status, next.handle);
    }
    if (next.gone == 0) return;
    std::vector<ClientAnswer> answers;
    clients_.RemoveProgram(client, next.gone, &answers);
    outbox_.AnswerAll(answers);
    drains_.AnswerComplete();
    return RetryLoads();
  }
  if (next.kind != ProgramNext::kAsk) {
    // No request waits for the end of the program, but drains and loads may.
    if (next.gone == 0) return;
    drains_.AnswerComplete();
    return RetryLoads();
  }
  const ProgramTable::Program* program = programs_.Find(next.program);
  if (program == nullptr) return;  // an earlier effect has ended it
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
  answer_timer_.Arm();
}

void Controller::OnLaunchReady(const proto::LaunchReady& ready) {
  if (const std::optional<uint32_t> program = launch_service_.Take(ready)) {
    GiveUp(*program, StatusFromWire(ready.code(), ready.message()));
  }
}

void Controller::OnLongWork(const proto::LongWorkSeen& seen) {
  const ProgramTable::Program* program =
      programs_.Find(programs_.IdOf(seen.incarnation()));
  if (program == nullptr) return;
  ControlRef control = outbox_.New();
  control->set_client(program->owner);
  *control->mutable_long_work_seen() = seen;
  outbox_.SendToClient(std::move(control));
}

void Controller::OnWorkerLost(const proto::WorkerLost& lost) {
  const Topology& topology = *context_.topology;
  const int32_t host = static_cast<int32_t>(lost.host());
  for (uint32_t device : lost.devices()) {
    if (device >= static_cast<uint32_t>(topology.num_host_devices(host))) {
      return;
    }
  }
  const absl::Status why = absl::DeadlineExceededError(
      absl::StrCat(lost.message(), Tag(ErrorId::kWorkerLost)));
  for (uint32_t program : programs_.Lose(
           host,
           absl::MakeConstSpan(lost.devices().data(), lost.devices_size()),
           why)) {
    GiveUp(program, why);
  }
  RetryLoads();
  if (context_.on_worker_lost) {
    context_.on_worker_lost(host, lives_.epoch(host), why);
  }
}

void Controller::GiveUp(uint32_t program, const absl::Status& why) {
  Proceed(
      programs_.Break(clock_.Now(), program, why, open_.BusyHosts(program)));
  launch_service_.Abort(program, why);
}

void Controller::OnDiagnose(uint32_t client,
                            const proto::DiagnoseRequest& request) {
  // If real time passes, a client cannot know that nothing will happen.
  if (!context_.world->simulated()) return;
  if (answer_timer_.TickMayHelp(clock_.Now())) {
    // A host that missed a message may hold up programs that the message does
    // not name: if it missed a stop, it keeps the grants of the stopped program
    // before those of others.
    answer_timer_.Arm(/*counts=*/true);
    return outbox_.Answer({client, request.request()}, absl::OkStatus());
  }
  stalls_.Diagnose({client, request.request()});
}

}  // namespace pathways
