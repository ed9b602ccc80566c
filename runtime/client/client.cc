//===- client.cc - One tenant of a cluster --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client.h"

#include <utility>

#include "runtime/client/traced_call.h"
#include "runtime/controller/stall_detector.h"
#include "runtime/executor/prepared_plan.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

// Handles of clients that are gone must not fit another one.
uint64_t NextOwner() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

absl::Status ToStatus(int32_t code, const std::string& message) {
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

}  // namespace

Client::Client(ClientContext* context, ClientActor* actor, std::string name)
    : context_(*context),
      actor_(*actor),
      name_(std::move(name)),
      owner_(NextOwner()),
      arrays_(name_, context->memory_bytes) {
  actor_.Listen([this](const proto::Control& control) { OnControl(control); },
                [this] { OnTick(); });
}

Client::~Client() { Close(); }

absl::Status Client::Connect() {
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_connect_request()->set_request(id);
        control->mutable_connect_request()->set_name(name_);
      });
  absl::Status waited = WaitFor(request->done, [&] {
    return absl::StrCat("the connection of client '", name_, "'");
  });
  if (waited.ok()) waited = request->status;
  if (!waited.ok() && !closed_.exchange(true)) actor_.Detach(/*request=*/0);
  return waited;
}

void Client::Close() {
  if (closed_.exchange(true)) return;
  uint64_t request;
  {
    MutexLock lock(&mutex_);
    request = ++actor_.numbers.request;
  }
  // Before it is sent: the answer may be there before Send returns.
  actor_.Detach(request);
  {
    MutexLock lock(&mutex_);
    ControlRef control = NewControl();
    proto::DisconnectRequest* disconnect =
        control->mutable_disconnect_request();
    disconnect->set_request(request);
    for (uint64_t object : holds_.Clear()) disconnect->add_objects(object);
    Number(control);
    Send(std::move(control));
  }
  context_.runtime->world->Notify();
}

void Client::Number(const ControlRef& control) {
  control->set_client(actor_.index());
  control->set_sequence(++actor_.numbers.sequence);
}

void Client::Send(ControlRef control, ActorId from) {
  RuntimeContext& runtime = *context_.runtime;
  runtime.world->PassControl(from, runtime.directory.controller(),
                             std::move(control).Hand());
}

std::shared_ptr<Request> Client::Ask(
    absl::FunctionRef<void(uint64_t id, proto::Control*)> fill,
    std::shared_ptr<Request> request) {
  ControlRef control = NewControl();
  MutexLock lock(&mutex_);
  const uint64_t id = ++actor_.numbers.request;
  requests_.Add(id, request);
  fill(id, &*control);
  Number(control);
  Send(std::move(control));
  return request;
}

void Client::OnControl(const proto::Control& control) {
  switch (control.kind_case()) {
    case proto::Control::kAnswer:
      return OnAnswer(control.answer());
    case proto::Control::kLaunchEnded:
      return OnLaunchEnded(control.launch_ended());
    case proto::Control::kCollected:
      return OnCollected(control.collected());
    default:
      return;
  }
}

void Client::OnAnswer(const proto::Answer& answer) {
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = requests_.Find(answer.request());
    if (request == nullptr || request->done.load()) return;
    if (request->reports.has_value() && answer.code() == 0) {
      request->reports->Expect(answer.processes());
      if (!request->reports->complete()) return;
    }
    requests_.Take(answer.request());
  }
  request->status = ToStatus(answer.code(), answer.message());
  request->program = answer.program();
  if (request->done.Set()) context_.runtime->world->Notify();
}

void Client::OnCollected(const proto::Collected& collected) {
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = requests_.Find(collected.request());
    if (request == nullptr || !request->reports.has_value()) return;
    request->reports->Add(collected);
    if (!request->reports->complete()) return;
    requests_.Take(collected.request());
  }
  if (request->done.Set()) context_.runtime->world->Notify();
}

absl::Status Client::WaitFor(Completion& done,
                             absl::FunctionRef<std::string()> what) {
  done.Await();
  return WaitUntil([&] { return done.load(); }, what);
}

absl::Status Client::WaitUntil(absl::FunctionRef<bool()> done,
                               absl::FunctionRef<std::string()> what) {
  // So many diagnoses end at least one launch of some client, if there is one.
  constexpr int kMaxDiagnoses = 4096 * StallDetector::kAsks;
  World& world = *context_.runtime->world;
  auto over = [&] { return done() || stopping(); };
  for (int diagnoses = 0; !world.RunUntil(over); ++diagnoses) {
    if (stopping() || !world.simulated()) break;
    // What this waits for may wait for a launch that another thread has not
    // sent yet.
    context_.sending.AwaitNobody();
    if (world.RunUntil(over)) break;
    if (diagnoses == kMaxDiagnoses) {
      return absl::DeadlineExceededError(absl::StrCat(
          what(), " got no answer, and nothing is left to happen"));
    }
    std::shared_ptr<Request> diagnosis =
        Ask([](uint64_t id, proto::Control* control) {
          control->mutable_diagnose_request()->set_request(id);
        });
    diagnosis->done.Await();
    world.RunUntil([&] { return diagnosis->done.load() || over(); });
  }
  if (done()) return absl::OkStatus();
  return absl::CancelledError(
      context_.stopping.load()
          ? "the runtime was shut down"
          : absl::StrCat("client '", name_, "' was closed"));
}

absl::Status Client::WaitForRun(RunState& run) {
  return WaitFor(run.done, [&] { return run.Describe(); });
}

absl::StatusOr<ProgramHandle> Client::Load(PlanData plan) {
  TracedCall traced(this, TraceCall::kLoad);
  absl::Status checked = CheckPlan(plan);
  if (!checked.ok()) return checked;
  // What was released makes room.
  checked = AwaitReleases();
  if (!checked.ok()) return checked;
  RuntimeContext& runtime = *context_.runtime;
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> prepared =
      PreparedPlan::Create(std::move(plan), *runtime.topology, context_.kernels,
                           runtime.run_kernels);
  if (!prepared.ok()) return prepared.status();
  const uint64_t plan_id = runtime.plans.Add(*prepared);
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_load_request()->set_request(id);
        control->mutable_load_request()->set_plan(plan_id);
      });
  absl::Status waited = WaitFor(request->done, [&] {
    return absl::StrCat("the load of program '", (*prepared)->name(), "'");
  });
  if (!waited.ok()) return waited;
  if (!request->status.ok()) return request->status;
  auto program = std::make_shared<const LoadedProgram>(
      request->program, *prepared, runtime.run_kernels);
  MutexLock lock(&mutex_);
  programs_[request->program] = std::move(program);
  return ProgramHandle{request->program, owner_};
}

absl::Status Client::Discard(ProgramHandle handle) {
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      FindProgram(handle);
  if (!program.ok()) return program.status();
  MutexLock lock(&mutex_);
  if (programs_.erase(handle.id) == 0) return absl::OkStatus();
  discarded_.insert(handle.id);
  UnloadDiscarded(handle.id, kNoActor);
  return absl::OkStatus();
}

void Client::UnloadDiscarded(uint64_t program, ActorId from) {
  if (discarded_.count(program) == 0 || runs_.HasUnended(program)) return;
  discarded_.erase(program);
  ControlRef control = NewControl();
  const uint64_t id = ++actor_.numbers.request;
  unloads_.push_back(std::make_shared<Request>());
  requests_.Add(id, unloads_.back());
  control->mutable_unload_request()->set_request(id);
  control->mutable_unload_request()->set_program(program);
  Number(control);
  Send(std::move(control), from);
}

absl::Status Client::Unload(ProgramHandle handle) {
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      FindProgram(handle);
  if (!program.ok()) return program.status();
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_unload_request()->set_request(id);
        control->mutable_unload_request()->set_program(handle.id);
      });
  absl::Status waited = WaitFor(request->done, [&] {
    return absl::StrCat("the unload of program '", (*program)->name(), "'");
  });
  if (!waited.ok()) return waited;
  if (request->status.ok()) {
    MutexLock lock(&mutex_);
    programs_.erase(handle.id);
  }
  return request->status;
}

}  // namespace pathways
