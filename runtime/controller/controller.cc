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
      open_(programs_, launches_, grants_, store_log_),
      slices_(*context->topology, clients_, grants_, &programs_, &outbox_),
      drains_(*context->topology, lives_, objects_, clients_, &programs_,
              &outbox_, &clock_),
      questions_(context->directory, lives_, &outbox_, &clock_),
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
      wait_timer_(context->world, this, loads_, drains_, &clock_),
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
                       .timer = answer_timer_}),
      rounds_(lives_, programs_, &outbox_, &answer_timer_),
      load_service_({.topology = *context->topology,
                     .quotas = quotas_,
                     .clients = clients_,
                     .programs = programs_,
                     .plans = context->plans,
                     .queue = loads_,
                     .grants = grants_,
                     .memory = memory_,
                     .slices = slices_,
                     .rounds = rounds_,
                     .launches = launch_service_,
                     .stores = stores_,
                     .drains = drains_,
                     .outbox = outbox_,
                     .clock = clock_,
                     .timer = answer_timer_,
                     .deadlines = wait_timer_}),
      load_requests_({.plans = context->plans,
                      .awaited = awaited_,
                      .admission = programs_.admission(),
                      .loads = load_service_,
                      .outbox = outbox_,
                      .clock = clock_,
                      .timer = answer_timer_}),
      ends_({.topology = *context->topology,
             .clients = clients_,
             .open = open_,
             .programs = programs_,
             .launches = launch_service_,
             .loads = load_service_,
             .outbox = outbox_,
             .clock = clock_,
             .timer = answer_timer_}),
      client_service_({.objects = objects_,
                       .clients = clients_,
                       .grants = grants_,
                       .admission = *programs_.mutable_admission(),
                       .requests = load_requests_,
                       .loads = load_service_,
                       .drains = drains_,
                       .fetches = fetches_,
                       .programs = ends_,
                       .stores = stores_,
                       .outbox = outbox_}),
      stalls_(*context->topology, options.stall_timeout_ns, programs_, open_,
              &outbox_, &clock_,
              [this](uint32_t program, const absl::Status& why) {
                ends_.GiveUp(program, why);
              }) {}

void Controller::OnLocal(const LocalMessage& message) {
  if (message.kind == kDescribe) return OnDescribe(message);
  if (message.kind == kLoadDeadline) return OnLoadDeadline();
  if (message.kind == kClientsGone) {
    for (uint32_t i = 0; i < message.item; ++i) {
      client_service_.Gone(message.target + i);
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
    return client_service_.Connect(client, control->connect_request());
  }
  if (clients_.NameOf(client) == nullptr || clients_.IsLeaving(client)) return;
  if (!NameByIds(control)) return;
  switch (control->kind_case()) {
    case proto::Control::kDisconnectRequest:
      return client_service_.Disconnect(client, control->disconnect_request());
    case proto::Control::kLoadRequest:
      return load_requests_.Take(client, control->load_request());
    case proto::Control::kDevicesRequest:
      return drains_.AnswerAway({client, control->devices_request().request()});
    case proto::Control::kDrainRequest:
      return OnDrain(client, control->drain_request());
    case proto::Control::kLoadCancel:
      return load_service_.Cancel({client, control->load_cancel().request()});
    case proto::Control::kSlicesRequest:
      return load_service_.Take(client, control->slices_request());
    case proto::Control::kSliceRelease:
      programs_.mutable_admission()->GiveBack(client,
                                              control->slice_release().slice());
      return load_service_.Retry();
    case proto::Control::kUnloadRequest:
      return ends_.Unload(client, control->unload_request());
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
      return load_service_.Take(control.load_reply());
    case proto::Control::kStopReply:
      return load_service_.Take(control.stop_reply());
    case proto::Control::kFreeReply:
      return load_service_.Take(control.free_reply());
    case proto::Control::kLaunchReady:
      return OnLaunchReady(control.launch_ready());
    case proto::Control::kGrantDone:
      return launch_service_.Take(control.grant_done());
    case proto::Control::kReport:
      return stalls_.Take(control.report());
    case proto::Control::kFetchReport:
      return fetches_.Take(control.client(), control.fetch_report());
    case proto::Control::kObjectsDropped:
      if (stores_.Take(control.objects_dropped())) load_service_.Retry();
      return;
    case proto::Control::kWorkerLost:
      return OnWorkerLost(control.worker_lost());
    case proto::Control::kLongWorkSeen:
      return OnLongWork(control.long_work_seen());
    case proto::Control::kPlanPart:
      return load_requests_.Take(control.client(), control.plan_part());
    case proto::Control::kPlanRequest:
      return OnPlanRequest(from, control.plan_request());
    default:
      return;
  }
}

void Controller::OnLoadDeadline() {
  wait_timer_.Fired();
  load_service_.Expire();
  drains_.Expire();
  wait_timer_.Arm();
  load_service_.Retry();
}

void Controller::OnDrain(uint32_t client, const proto::DrainRequest& drain) {
  if (!drains_.Take(client, drain)) return;
  if (!drain.undo()) {
    wait_timer_.Arm();
    answer_timer_.Arm();
  }
  load_service_.Retry();
}

void Controller::OnLaunchReady(const proto::LaunchReady& ready) {
  if (const std::optional<uint32_t> program = launch_service_.Take(ready)) {
    ends_.GiveUp(*program, StatusFromWire(ready.code(), ready.message()));
  }
}

void Controller::OnPlanRequest(ActorId from,
                               const proto::PlanRequest& request) {
  const uint32_t process = context_.directory.Find(from)->index;
  programs_.Asked(clock_.Now(), process, request);
  ControlRef control = outbox_.New();
  AnswerPlanRequest(&context_.plans, request, control->mutable_plan_part());
  outbox_.Send(from, std::move(control));
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
  const int32_t host = static_cast<int32_t>(lost.host());
  const absl::Status why = absl::DeadlineExceededError(
      absl::StrCat(lost.message(), Tag(ErrorId::kWorkerLost)));
  if (ends_.WorkerLost(lost, why) && context_.on_worker_lost) {
    context_.on_worker_lost(host, lives_.epoch(host), why);
  }
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

void Controller::OnTick() {
  WaitSet busy = open_.BusyHosts();
  // A disk takes time, too.
  for (int32_t host : stores_.TakeMoved().Members()) busy.Insert(host);
  load_requests_.Tick();
  for (const ProgramNext& next : programs_.Tick(clock_.Now(), busy)) {
    load_service_.Proceed(next);
  }

  // A kernel continues after its program was given up; in a simulation nothing
  // waits for it.
  if (!context_.world->simulated()) programs_.AddInterrupted(&busy);
  fetches_.Tick(busy);
  for (int32_t host : stores_.Tick(busy)) ends_.HostSilent(host);
  if (answer_timer_.LooksForStalls()) stalls_.Tick();
  answer_timer_.Arm();
}

void Controller::OnPeerDown(int32_t host, uint32_t epoch) {
  if (!lives_.Has(host) || !lives_.Down(host, epoch)) return;
  const uint32_t life = lives_.epoch(host);
  const std::string gone = GoneText(*context_.topology, host, life);
  objects_.HostGone(
      host, absl::UnavailableError(absl::StrCat("the values are lost: ", gone,
                                                Tag(ErrorId::kHostGone))));
  ends_.HostGone(host, life, gone);
  fetches_.HostGone(
      host, absl::UnavailableError(absl::StrCat(
                "values were not fetched: ", gone, Tag(ErrorId::kHostGone))));
  stores_.HostGone(host);
  questions_.ProcessGone(context_.directory.place(host).process);
  drains_.AnswerComplete();
  load_service_.Retry();
}

void Controller::OnPeerUp(int32_t host, uint32_t epoch) {
  if (!lives_.Has(host)) return;
  // The notices of epochs in between may be missing.
  if (epoch > lives_.epoch(host)) OnPeerDown(host, epoch - 1);
  if (lives_.Up(host, epoch)) programs_.HostUp(host);
  load_service_.Retry();
}

}  // namespace pathways
