//===- client.cc - One tenant of a cluster --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/base/wait_interrupt.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/client/traced_call.h"
#include "runtime/controller/stall_detector.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

// Returns a number that no client of this process had before, so handles of
// destroyed clients fit no other one.
uint64_t NextOwner() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Client::Client(ClientContext* context, ClientActor* actor, std::string name,
               const ClientOptions& options)
    : context_(*context),
      actor_(*actor),
      name_(std::move(name)),
      options_(options),
      owner_(NextOwner()),
      room_(static_cast<size_t>(options.run_ahead)),
      arrays_(name_, context->memory_bytes) {
  actor_.Listen([this](const proto::Control& control) { OnControl(control); },
                [this] { OnTick(); });
  if (context_.runtime->world->simulated()) return;
  reader_ = std::make_unique<FileReader>(actor_.FileTeller());
  actor_.transfers().ReadWith(reader_.get());
}

Client::~Client() {
  Close();
  if (reader_ != nullptr) actor_.transfers().StopReading(reader_.get());
}

absl::Status Client::Connect() {
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        proto::ConnectRequest* connect = control->mutable_connect_request();
        connect->set_request(id);
        connect->set_name(name_);
        connect->set_weight(options_.weight);
        connect->set_priority(options_.priority);
        connect->set_quota_bytes(options_.quota_bytes);
      });
  absl::Status waited = WaitFor(request->done, [&] {
    return absl::StrCat("the connection of client '", name_, "'");
  });
  if (waited.ok()) waited = request->TakeStatus();
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
  // Detach comes first, since the answer may arrive before Send returns.
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
  CallAll(context_.watchers.TakeOf(owner_), EndReason());
}

void Client::Number(const ControlRef& control) {
  control->set_client(actor_.index());
  control->set_sequence(++actor_.numbers.sequence);
}

void Client::Send(ControlRef control, ActorId from) {
  RuntimeContext& runtime = *context_.runtime;
  const Directory& directory = runtime.directory;
  // A controller in another process needs the sender's address.
  if (from == kNoActor && directory.place(-1).process != runtime.process) {
    from = directory.client(actor_.index());
  }
  runtime.world->PassControl(from, directory.controller(),
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
    case proto::Control::kPlanRequest:
      return OnPlanRequest(control.plan_request());
    case proto::Control::kLoadWaits:
      return OnLoadWaits(control.load_waits());
    case proto::Control::kDrainSeen:
      return OnDrainSeen(control.drain_seen());
    case proto::Control::kLongWorkSeen:
      if (context_.on_long_work) {
        context_.on_long_work(FromProto(control.long_work_seen()));
      }
      return;
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
      request->reports->Expect(answer.processes(), answer.asked_ns());
      if (!request->reports->complete()) return;
    }
    requests_.Take(answer.request());
  }
  request->status = StatusFromWire(answer.code(), answer.message());
  request->program = answer.program();
  request->more_programs.assign(answer.more_programs().begin(),
                                answer.more_programs().end());
  for (const proto::SliceGrant& slice : answer.slices()) {
    request->slices.emplace_back(
        slice.slice(),
        std::vector<int64_t>(slice.devices().begin(), slice.devices().end()));
  }
  request->devices.assign(answer.devices().begin(), answer.devices().end());
  if (request->done.Set()) context_.runtime->world->Notify();
}

void Client::OnCollected(const proto::Collected& collected) {
  const TimeNs now = context_.runtime->world->Now();
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = requests_.Find(collected.request());
    if (request == nullptr || !request->reports.has_value()) return;
    request->reports->Add(collected, now);
    if (!request->reports->complete()) return;
    requests_.Take(collected.request());
  }
  if (request->done.Set()) context_.runtime->world->Notify();
}

void Client::OnPlanRequest(const proto::PlanRequest& request) {
  ControlRef control = NewControl();
  control->set_client(actor_.index());
  AnswerPlanRequest(&context_.runtime->plans, request,
                    control->mutable_plan_part());
  Send(std::move(control), context_.runtime->directory.client(actor_.index()));
}

absl::Status Client::WaitFor(Completion& done,
                             absl::FunctionRef<std::string()> what) {
  done.Await();
  return WaitUntil([&] { return done.load(); }, what);
}

absl::Status Client::WaitUntil(absl::FunctionRef<bool()> done,
                               absl::FunctionRef<std::string()> what) {
  return WaitUntilLimit(done, /*limit_ns=*/-1, what).status();
}

absl::StatusOr<bool> Client::WaitUntilLimit(
    absl::FunctionRef<bool()> done, int64_t limit_ns,
    absl::FunctionRef<std::string()> what) {
  WaitInterrupt* interrupt = WaitInterrupt::Current();
  if (interrupt == nullptr) return WaitUninterrupted(done, limit_ns, what);
  const int64_t limit =
      limit_ns < 0 ? std::numeric_limits<int64_t>::max() : limit_ns;
  for (int64_t waited = 0;; waited += WaitInterrupt::kPeriodNs) {
    const int64_t left = limit - waited;
    const int64_t slice = std::min(left, WaitInterrupt::kPeriodNs);
    absl::StatusOr<bool> ended = WaitUninterrupted(done, slice, what);
    if (!ended.ok() || *ended || slice == left) return ended;
    if (interrupt->Ask()) {
      return absl::CancelledError(
          absl::StrCat("the wait for ", what(), " was interrupted"));
    }
  }
}

absl::StatusOr<bool> Client::WaitUninterrupted(
    absl::FunctionRef<bool()> done, int64_t limit_ns,
    absl::FunctionRef<std::string()> what) {
  // Enough diagnoses to end at least one launch of some client, if there is
  // one.
  constexpr int kMaxDiagnoses = 4096 * StallDetector::kAsks;
  World& world = *context_.runtime->world;
  // `done` may hold only for a moment; the call returns OK if it ever did.
  bool was_done = false;
  auto over = [&] {
    was_done = was_done || done();
    return was_done || stopping();
  };
  for (int diagnoses = 0; !world.RunUntil(over, limit_ns); ++diagnoses) {
    if (stopping() || !world.simulated()) break;
    // The awaited event may depend on a launch that another thread has numbered
    // and not sent yet.
    context_.sending.AwaitNobody();
    if (world.RunUntil(over)) break;
    if (diagnoses == kMaxDiagnoses) {
      return absl::DeadlineExceededError(absl::StrCat(
          what(), " got no answer, and the simulation has no more events"));
    }
    std::shared_ptr<Request> diagnosis =
        Ask([](uint64_t id, proto::Control* control) {
          control->mutable_diagnose_request()->set_request(id);
        });
    diagnosis->done.Await();
    world.RunUntil([&] { return diagnosis->done.load() || over(); });
  }
  if (was_done || done()) return true;
  if (limit_ns >= 0 && !stopping()) return false;
  return EndReason();
}

absl::Status Client::EndReason() const {
  if (context_.stopping.load()) return context_.ended;
  return absl::CancelledError(absl::StrCat("client '", name_, "' was closed",
                                           Tag(ErrorId::kClientClosed)));
}

absl::Status Client::WaitForRun(RunState& run) {
  return WaitForRun(run, /*limit_ns=*/-1).status();
}

absl::StatusOr<bool> Client::WaitForRun(RunState& run, int64_t limit_ns) {
  run.done.Await();
  return WaitUntilLimit([&] { return run.done.load(); }, limit_ns,
                        [&] { return run.Describe(); });
}

void Client::OnLoadWaits(const proto::LoadWaits& waits) {
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = requests_.Find(waits.request());
  }
  if (request != nullptr && request->on_waiting) {
    request->on_waiting(waits.why());
  }
}

absl::StatusOr<ProgramHandle> Client::Load(PlanData plan,
                                           const LoadOptions& options) {
  std::vector<PlanData> plans;
  plans.push_back(std::move(plan));
  auto loaded = Load(std::move(plans), options);
  if (!loaded.ok()) return loaded.status();
  return loaded->front();
}

absl::Status Client::Discard(ProgramHandle handle) {
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      FindProgram(handle);
  if (!program.ok()) return program.status();
  MutexLock lock(&mutex_);
  if (programs_.erase(handle.id) == 0) return absl::OkStatus();
  discarded_.insert((*program)->handle());
  UnloadDiscarded((*program)->handle(), kNoActor);
  return absl::OkStatus();
}

void Client::UnloadDiscarded(uint64_t program, ActorId from) {
  if (discarded_.count(program) == 0 || runs_.OldestOf(program) != nullptr) {
    return;
  }
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
  absl::Status unloaded;
  if (!IsLost(**program)) unloaded = UnloadProgram(**program);
  if (unloaded.ok()) {
    program->reset();
    {
      MutexLock lock(&mutex_);
      programs_.erase(handle.id);
    }
    context_.runtime->plans.Trim();
  }
  return unloaded;
}

absl::Status Client::UnloadProgram(const LoadedProgram& program) {
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_unload_request()->set_request(id);
        control->mutable_unload_request()->set_program(program.handle());
      });
  absl::Status waited = WaitFor(request->done, [&] {
    return absl::StrCat("the unload of program '", program.name(), "'");
  });
  if (!waited.ok()) return waited;
  return request->TakeStatus();
}

}  // namespace pathways
