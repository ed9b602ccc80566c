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

#include "runtime/binding/plan_messages.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/client/traced_call.h"
#include "runtime/plan/verify.h"

namespace pathways {

Client::Client(ClientContext* context, ClientActor* actor, std::string name,
               const ClientOptions& options)
    : context_(*context),
      actor_(*actor),
      owner_(std::move(name)),
      options_(options),
      channel_(context, actor, owner_.client()),
      catalog_(&channel_, &owner_, &programs_, &runs_),
      slices_(&channel_, &owner_, context->runtime->topology, &catalog_),
      drains_(&channel_, context->runtime->topology),
      loader_(context, actor, &channel_, &catalog_, &slices_, &drains_),
      gate_(&channel_, &owner_, context->runtime->world, &programs_),
      reports_(&channel_, context->runtime),
      array_reader_(&channel_, actor, context->runtime),
      run_catalog_(context, &channel_, &owner_, &runs_, &arrays_, &holds_),
      store_(&channel_, &owner_, context->runtime, &array_reader_, &arrays_,
             &holds_),
      relocator_(&channel_, context->runtime->topology, &catalog_, &gate_,
                 &loader_, &drains_, &store_, &programs_),
      suspension_(&channel_, &owner_, context->runtime->world,
                  context->runtime->topology, &catalog_, &gate_, &loader_,
                  &drains_, &store_, &programs_),
      launcher_(
          {context, actor, &channel_, &owner_, &gate_, &store_, &array_reader_,
           &programs_, &runs_, &arrays_, &holds_, &run_memory_},
          static_cast<size_t>(options.run_ahead)),
      arrays_(owner_.client(), context->memory_bytes) {
  actor_.Listen([this](const proto::Control& control) { OnControl(control); },
                [this] { launcher_.OnTick(); });
  if (context_.runtime->world->simulated()) return;
  file_reader_ = std::make_unique<FileReader>(actor_.FileTeller());
  actor_.transfers().ReadWith(file_reader_.get());
}

Client::~Client() {
  Close();
  if (file_reader_ != nullptr)
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

absl::Status Client::WaitUntil(absl::FunctionRef<bool()> done,
                               absl::FunctionRef<std::string()> what) {
  return channel_.WaitUntil(done, what);
}

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

absl::Status Client::WriteTrace(std::ostream* out) {
  return reports_.WriteTrace(out);
}

absl::StatusOr<TraceSummary> Client::Summarize() {
  return reports_.Summarize();
}

absl::StatusOr<proto::Profile> Client::Measure(const proto::Header& header) {
  return reports_.Measure(header);
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

absl::StatusOr<SliceHandle> Client::ReserveSlice(
    const SliceOptions& options, const std::vector<SliceHandle>& apart_from) {
  return slices_.Reserve(options, apart_from);
}

absl::StatusOr<std::vector<std::string>> Client::DevicesOf(SliceHandle slice) {
  return slices_.DevicesOf(slice);
}

absl::Status Client::ReleaseSlice(SliceHandle slice) {
  return slices_.Release(slice);
}

absl::StatusOr<std::shared_ptr<const PreparedPlan>> Client::PlanOf(
    ProgramHandle handle) {
  absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
  if (!program.ok()) return program.status();
  return std::shared_ptr<const PreparedPlan>(*program, &(*program)->plan());
}

absl::Status Client::Rebind(ProgramHandle program,
                            const RebindOptions& options) {
  return relocator_.Rebind(program, options);
}

absl::Status Client::Suspend(const std::string& folder) {
  return suspension_.Suspend(folder);
}

absl::Status Client::Resume(const RebindOptions& options) {
  return suspension_.Resume(options);
}

absl::StatusOr<RunHandle> Client::Launch(ProgramHandle program,
                                         LaunchArguments arguments,
                                         int64_t steps,
                                         const LaunchOptions& options) {
  if (options_.elastic) relocator_.MoveOffDrained(program);
  return launcher_.Launch(program, std::move(arguments), steps, options);
}

absl::Status Client::NotifyEnd(RunHandle run, RunWatchers::Callback callback) {
  return run_catalog_.NotifyEnd(run, std::move(callback));
}

absl::Status Client::Cancel(RunHandle run) { return run_catalog_.Cancel(run); }

absl::Status Client::Await(RunHandle run) {
  return AwaitFor(run, /*limit_ns=*/-1).status();
}

absl::StatusOr<bool> Client::AwaitFor(RunHandle run, int64_t limit_ns) {
  TracedCall traced(context_, actor_, TraceCall::kAwait, run.id);
  return run_catalog_.AwaitFor(run, limit_ns);
}

absl::StatusOr<std::vector<bool>> Client::AwayDevices() {
  return drains_.AwayDevices();
}

absl::Status Client::Drain(const std::vector<std::string>& names,
                           int64_t wait_ns) {
  return drains_.Drain(names, wait_ns, /*undo=*/false);
}

absl::Status Client::Undrain(const std::vector<std::string>& names) {
  return drains_.Drain(names, /*wait_ns=*/-1, /*undo=*/true);
}

absl::Status Client::Discard(ProgramHandle program) {
  return catalog_.Discard(program);
}

absl::Status Client::Unload(ProgramHandle program) {
  absl::Status unloaded = catalog_.Unload(program);
  if (unloaded.ok()) context_.runtime->plans.Trim();
  return unloaded;
}

}  // namespace pathways
