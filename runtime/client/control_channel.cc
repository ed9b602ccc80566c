//===- control_channel.cc - A client's way to the controller --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/control_channel.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/base/wait_interrupt.h"
#include "runtime/controller/stall_detector.h"

namespace pathways {

ControlChannel::ControlChannel(ClientContext* context, ClientActor* actor,
                               std::string client)
    : context_(*context), actor_(*actor), client_(std::move(client)) {}

absl::Status ControlChannel::Connect(const ClientOptions& options) {
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        proto::ConnectRequest* connect = control->mutable_connect_request();
        connect->set_request(id);
        connect->set_name(client_);
        connect->set_weight(options.weight);
        connect->set_priority(options.priority);
        connect->set_quota_bytes(options.quota_bytes);
      });
  absl::Status waited = WaitFor(request->done, [&] {
    return absl::StrCat("the connection of client '", client_, "'");
  });
  if (waited.ok()) waited = request->TakeStatus();
  if (!waited.ok() && !closed_.exchange(true)) actor_.Detach(/*request=*/0);
  return waited;
}

std::optional<uint64_t> ControlChannel::BeginClose() {
  if (closed_.exchange(true)) return std::nullopt;
  uint64_t request;
  {
    MutexLock lock(&mutex_);
    request = ++actor_.numbers.request;
  }
  actor_.Detach(request);
  return request;
}

absl::Status ControlChannel::EndReason() const {
  if (context_.stopping.load()) return context_.ended;
  return absl::CancelledError(absl::StrCat("client '", client_, "' was closed",
                                           Tag(ErrorId::kClientClosed)));
}

void ControlChannel::Number(const ControlRef& control) {
  control->set_client(actor_.index());
  control->set_sequence(++actor_.numbers.sequence);
}

void ControlChannel::Send(ControlRef control, ActorId from) {
  RuntimeContext& runtime = *context_.runtime;
  const Directory& directory = runtime.directory;
  // A controller in another process needs the sender's address.
  if (from == kNoActor && directory.place(-1).process != runtime.process) {
    from = directory.client(actor_.index());
  }
  runtime.world->PassControl(from, directory.controller(),
                             std::move(control).Hand());
}

void ControlChannel::Post(ControlRef control, ActorId from) {
  Number(control);
  Send(std::move(control), from);
}

void ControlChannel::ReleaseObjects(absl::Span<const uint64_t> objects,
                                    ActorId from) {
  if (objects.empty()) return;
  ControlRef control = NewControl(proto::Control::kReleaseRequest);
  for (uint64_t object : objects) {
    control->mutable_release_request()->add_objects(object);
  }
  Post(std::move(control), from);
}

std::shared_ptr<Request> ControlChannel::Ask(Fill fill,
                                             std::shared_ptr<Request> request) {
  ControlRef control = NewControl();
  MutexLock lock(&mutex_);
  PostRequest(std::move(control), fill, request, kNoActor);
  return request;
}

std::shared_ptr<Request> ControlChannel::AskLocked(Fill fill, ActorId from) {
  auto request = std::make_shared<Request>();
  PostRequest(NewControl(), fill, request, from);
  return request;
}

std::shared_ptr<Request> ControlChannel::Find(uint64_t request) const {
  const auto found = requests_.find(request);
  return found == requests_.end() ? nullptr : found->second;
}

void ControlChannel::PostRequest(ControlRef control, Fill fill,
                                 std::shared_ptr<Request> request,
                                 ActorId from) {
  const uint64_t id = ++actor_.numbers.request;
  requests_.emplace(id, std::move(request));
  fill(id, &*control);
  Post(std::move(control), from);
}

absl::Status ControlChannel::WaitFor(Completion& done,
                                     absl::FunctionRef<std::string()> what) {
  return WaitForLimit(done, /*limit_ns=*/-1, what).status();
}

absl::StatusOr<bool> ControlChannel::WaitForLimit(
    Completion& done, int64_t limit_ns, absl::FunctionRef<std::string()> what) {
  done.Await();
  return WaitUntilLimit([&] { return done.load(); }, limit_ns, what);
}

absl::Status ControlChannel::WaitUntil(absl::FunctionRef<bool()> done,
                                       absl::FunctionRef<std::string()> what) {
  return WaitUntilLimit(done, /*limit_ns=*/-1, what).status();
}

absl::StatusOr<bool> ControlChannel::WaitUntilLimit(
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

absl::StatusOr<bool> ControlChannel::WaitUninterrupted(
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

absl::Status ControlChannel::AwaitOrCancel(
    Request& request, uint64_t number, absl::FunctionRef<std::string()> what) {
  absl::Status waited = WaitFor(request.done, what);
  if (waited.ok()) return request.TakeStatus();
  if (stopping()) return waited;
  // Cancels the request, since it may wait for memory that will never be free.
  ControlRef control = NewControl();
  control->mutable_load_cancel()->set_request(number);
  MutexLock lock(&mutex_);
  Post(std::move(control));
  return waited;
}

void ControlChannel::OnAnswer(const proto::Answer& answer) {
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = Find(answer.request());
    if (request == nullptr || request->done.load()) return;
    if (request->reports.has_value() && answer.code() == 0) {
      request->reports->Expect(answer.processes(), answer.asked_ns());
      if (!request->reports->complete()) return;
    }
    requests_.erase(answer.request());
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

void ControlChannel::OnCollected(const proto::Collected& collected) {
  const TimeNs now = context_.runtime->world->Now();
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = Find(collected.request());
    if (request == nullptr || !request->reports.has_value()) return;
    request->reports->Add(collected, now);
    if (!request->reports->complete()) return;
    requests_.erase(collected.request());
  }
  if (request->done.Set()) context_.runtime->world->Notify();
}

void ControlChannel::OnLoadWaits(const proto::LoadWaits& waits) {
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    request = Find(waits.request());
  }
  if (request != nullptr && request->on_waiting) {
    request->on_waiting(waits.why());
  }
}

}  // namespace pathways
