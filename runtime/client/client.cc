//===- client.cc - One tenant of a cluster --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/client/traced_call.h"

namespace pathways {

Client::Client(ClientContext* context, ClientActor* actor, std::string name,
               const ClientOptions& options)
    : context_(*context),
      actor_(*actor),
      owner_(std::move(name)),
      options_(options),
      channel_(context, actor, owner_.client()),
      arrays_(owner_.client(), context->memory_bytes),
      catalog_(&channel_, &owner_, &programs_, &runs_),
      slices_(&channel_, &owner_, context->runtime->topology, &catalog_),
      drains_(&channel_, context->runtime->topology),
      loader_(context, actor, &channel_, &catalog_, &slices_, &drains_),
      gate_(&channel_, &owner_, context->runtime->world, &programs_),
      array_reader_(&channel_, actor, context->runtime),
      store_(&channel_, &owner_, context->runtime, &array_reader_, &arrays_,
             &holds_),
      run_catalog_(context, &channel_, &owner_, &runs_, &arrays_, &holds_),
      launcher_({.context = context,
                 .actor = actor,
                 .channel = &channel_,
                 .owner = &owner_,
                 .gate = &gate_,
                 .store = &store_,
                 .reader = &array_reader_,
                 .programs = &programs_,
                 .runs = &runs_,
                 .arrays = &arrays_,
                 .holds = &holds_,
                 .run_memory = &run_memory_},
                static_cast<size_t>(options.run_ahead)),
      relocator_(&channel_, context->runtime->topology, &catalog_, &gate_,
                 &loader_, &drains_, &store_, &programs_),
      suspension_(&channel_, &owner_, context->runtime->world,
                  context->runtime->topology, &catalog_, &gate_, &loader_,
                  &drains_, &store_, &programs_),
      reports_(&channel_, context->runtime) {
  actor_.Listen([this](const proto::Control& control) { OnControl(control); },
                [this] { launcher_.OnTick(); });
  if (context_.runtime->world->simulated()) return;
  file_reader_ = std::make_unique<FileReader>(actor_.FileTeller());
  actor_.transfers().ReadWith(file_reader_.get());
}

Client::~Client() {
  Close();
  if (file_reader_ == nullptr) return;
  actor_.transfers().StopReading(file_reader_.get());
}

void Client::Close() {
  // The actor is detached before the request is sent, since the answer may
  // arrive before Post returns.
  const std::optional<uint64_t> request = channel_.BeginClose();
  if (!request.has_value()) return;
  {
    MutexLock lock(&channel_.mutex());
    ControlRef control = channel_.NewControl();
    proto::DisconnectRequest* disconnect =
        control->mutable_disconnect_request();
    disconnect->set_request(*request);
    for (uint64_t object : holds_.Clear()) disconnect->add_objects(object);
    channel_.Post(std::move(control));
  }
  context_.runtime->world->Notify();
  CallAll(context_.watchers.TakeOf(owner_.number()), channel_.EndReason());
}

void Client::OnControl(const proto::Control& control) {
  switch (control.kind_case()) {
    case proto::Control::kAnswer:
      return channel_.OnAnswer(control.answer());
    case proto::Control::kLaunchEnded:
      return launcher_.OnLaunchEnded(control.launch_ended());
    case proto::Control::kCollected:
      return channel_.OnCollected(control.collected());
    case proto::Control::kPlanRequest:
      return OnPlanRequest(control.plan_request());
    case proto::Control::kLoadWaits:
      return channel_.OnLoadWaits(control.load_waits());
    case proto::Control::kDrainSeen:
      return relocator_.OnDrainSeen(control.drain_seen());
    case proto::Control::kLongWorkSeen:
      if (context_.on_long_work) {
        context_.on_long_work(FromProto(control.long_work_seen()));
      }
      return;
    default:
      return;
  }
}

void Client::OnPlanRequest(const proto::PlanRequest& request) {
  ControlRef control = channel_.NewControl();
  control->set_client(actor_.index());
  AnswerPlanRequest(&context_.runtime->plans, request,
                    control->mutable_plan_part());
  channel_.Send(std::move(control),
                context_.runtime->directory.client(actor_.index()));
}

absl::Status Client::Connect() { return channel_.Connect(options_); }

absl::StatusOr<ClusterStats> Client::Stats() {
  const TimeNs now = context_.runtime->world->Now();
  absl::Status released = catalog_.AwaitReleases();
  if (!released.ok()) return released;
  absl::StatusOr<ClusterStats> stats = reports_.Stats();
  if (!stats.ok()) return stats;
  stats->now_ns = now;
  MutexLock lock(&channel_.mutex());
  stats->object_bytes += arrays_.bytes_used();
  return stats;
}

absl::StatusOr<ProgramHandle> Client::Load(PlanData plan,
                                           const LoadOptions& options) {
  std::vector<PlanData> plans;
  plans.push_back(std::move(plan));
  auto loaded = Load(std::move(plans), options);
  if (!loaded.ok()) return loaded.status();
  return loaded->front();
}

absl::StatusOr<std::vector<ProgramHandle>> Client::Load(
    std::vector<PlanData> plans, const LoadOptions& options) {
  absl::Status resumed = suspension_.AwaitResumed();
  if (!resumed.ok()) return resumed;
  return loader_.Load(std::move(plans), options);
}

absl::StatusOr<ProgramHandle> Client::Load(PlanData plan, SliceHandle slice,
                                           const LoadOptions& options) {
  absl::Status resumed = suspension_.AwaitResumed();
  if (!resumed.ok()) return resumed;
  return loader_.Load(std::move(plan), slice, options);
}

absl::StatusOr<std::shared_ptr<const PreparedPlan>> Client::PlanOf(
    ProgramHandle handle) {
  absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
  if (!program.ok()) return program.status();
  return std::shared_ptr<const PreparedPlan>(*program, &(*program)->plan());
}

absl::Status Client::Unload(ProgramHandle program) {
  absl::Status unloaded = catalog_.Unload(program);
  if (unloaded.ok()) context_.runtime->plans.Trim();
  return unloaded;
}

absl::StatusOr<RunHandle> Client::Launch(ProgramHandle program,
                                         LaunchArguments arguments,
                                         int64_t steps,
                                         const LaunchOptions& options) {
  if (options_.elastic) relocator_.MoveOffDrained(program);
  return launcher_.Launch(program, std::move(arguments), steps, options);
}

absl::StatusOr<bool> Client::AwaitFor(RunHandle run, int64_t limit_ns) {
  TracedCall traced(context_, actor_, TraceCall::kAwait, run.id);
  return run_catalog_.AwaitFor(run, limit_ns);
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle handle, int64_t index) {
  TracedCall traced(context_, actor_, TraceCall::kFetch, handle.id);
  absl::StatusOr<std::shared_ptr<RunState>> run =
      run_catalog_.AwaitResult(handle, index);
  if (!run.ok()) return run.status();
  const RunState::Result& result = (*run)->results[index];
  return array_reader_.Get({result.type, nullptr, result.placed},
                           absl::StrCat("run ", handle.id));
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle run,
                                        const std::string& result) {
  const absl::StatusOr<int64_t> index = run_catalog_.IndexOf(run, result);
  if (!index.ok()) return index.status();
  return Fetch(run, *index);
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle run, int64_t index) {
  const absl::StatusOr<std::optional<ArrayHandle>> kept =
      run_catalog_.Keep(run, index);
  if (!kept.ok()) return kept.status();
  if (kept->has_value()) return **kept;
  absl::StatusOr<HostArray> array = Fetch(run, index);  // no bytes
  if (!array.ok()) return array.status();
  return Put(*std::move(array));
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle run,
                                         const std::string& result) {
  const absl::StatusOr<int64_t> index = run_catalog_.IndexOf(run, result);
  if (!index.ok()) return index.status();
  return Keep(run, *index);
}

}  // namespace pathways
