//===- thread_world_links.cc - Messages that cross hosts --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/mutex.h"
#include "runtime/world/envelope_body.h"
#include "runtime/world/fault.h"
#include "runtime/world/link.h"
#include "runtime/world/thread_world.h"

namespace pathways {
namespace {

// Most messages that are posted to a worker at one time. A batch (link_batch.h)
// has fewer.
constexpr size_t kMaxTogether = 128;

}  // namespace

UplinkStage* ThreadWorld::StageOf(ThreadWorker* self) const {
  return self == nullptr || self->polls ? nullptr : self->stage.get();
}

void ThreadWorld::SendFar(ActorId from, ActorId to, const WireMessage& message,
                          Payload payload) {
  ThreadWorker* self = workers_.Self();
  if (UplinkStage* stage = StageOf(self)) {
    self->staged = stage->Send(from, to, message, payload);
  } else if (options_.remote_channel.send) {
    options_.remote_channel.send(from, to, message, payload);
  } else {
    undelivered_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool ThreadWorld::LendTo(ActorId from, ActorId to, const WireMessage& message,
                         Payload payload, const LocalMessage& returned) {
  ThreadWorker* self = workers_.Self();
  if (payload.bytes < kMinLentBytes || payload.data == nullptr ||
      self == nullptr || self->polls || !Lends(to)) {
    Send(from, to, message, payload);
    return false;
  }
  if (const LocalId receiver = actors_.Find(to); receiver != kNobody) {
    LendNear(*self, {message, payload}, from, receiver, returned);
    return true;
  }
  // Messages sent so far must not wait for this large payload.
  self->FlushStage();
  return options_.remote_channel.lend(from, to, message, payload,
                                      actors_.Find(from), returned);
}

void ThreadWorld::LendNear(ThreadWorker& self, const WireBody& wire,
                           ActorId from, LocalId receiver,
                           const LocalMessage& returned) {
  auto* lent = new LentBody{wire, actors_.Find(from), returned};
  Route(self, QueueOf(wire.message), Envelope::kLent, lent, from, receiver);
}

bool ThreadWorld::Offer(ActorId from, ActorId to, const WireMessage& message,
                        uint64_t bytes, uint64_t offer) {
  const LocalId receiver = actors_.Find(to);
  if (receiver == kNobody) return false;
  const WireBody body{message, {reinterpret_cast<const void*>(offer), bytes}};
  const Posted posted = {-1,
                         Envelope::Of(Envelope::kOffer, body, from, receiver)};
  Arrive(actors_.hot(IndexOf(receiver)).worker,
         absl::MakeConstSpan(&posted, 1));
  return true;
}

void ThreadWorld::TakeOffer(Actor* actor, const Envelope& envelope) {
  const auto& [message, payload] = envelope.As<WireBody>();
  const auto offer = reinterpret_cast<uint64_t>(payload.data);
  const ReceiveBuffer landing =
      actor->OnOffer(envelope.from, message, payload.bytes);
  if (landing.memory == nullptr) {
    options_.remote_channel.refuse(offer);
  } else {
    options_.remote_channel.take(offer, LocalId{envelope.to}, landing);
  }
}

void ThreadWorld::SendControlFar(ActorId from, ActorId to, std::string bytes) {
  ThreadWorker* self = workers_.Self();
  if (UplinkStage* stage = StageOf(self)) {
    self->staged = stage->SendControl(from, to, std::move(bytes));
  } else if (options_.remote_channel.send_control) {
    options_.remote_channel.send_control(from, to, std::move(bytes));
  } else {
    undelivered_.fetch_add(1, std::memory_order_relaxed);
  }
}

void ThreadWorld::SendAll(absl::Span<const Arrival> arrivals) {
  Posted together[kMaxTogether];
  size_t count = 0;
  int worker = 0;
  for (const Arrival& one : arrivals) {
    const LocalId to = actors_.Find(one.to);
    if (to == kNobody) {
      SendFar(one.from, one.to, one.message, one.payload);
      continue;
    }
    const int next = actors_.hot(IndexOf(to)).worker;
    if (count == kMaxTogether || (count > 0 && next != worker)) {
      Arrive(worker, absl::MakeConstSpan(together, count));
      count = 0;
    }
    worker = next;
    together[count++] = {
        -1, KeepEnvelope(Envelope::Of(Envelope::kWire,
                                      WireBody{one.message, one.payload},
                                      one.from, to))};
  }
  if (count > 0) Arrive(worker, absl::MakeConstSpan(together, count));
}

void ThreadWorld::Arrive(int worker, absl::Span<const Posted> posted) {
  // Earlier messages for the worker are in its own queue or in its inbox. While
  // the inbox is empty, a worker that polls may put messages directly into its
  // own queue.
  ThreadWorker* self = workers_.Self();
  if (self != nullptr && self->index == worker && self->polls &&
      !self->mailbox.has_posted()) {
    self->stats.outside.Add(posted.size());
    for (const Posted& one : posted) RouteAgain(*self, one.envelope);
    return;
  }
  if (workers_[worker].mailbox.PostAll(posted, stopping_)) return;
  for (const Posted& one : posted) DropEnvelope(one.envelope);
}

void ThreadWorld::FlushBefore(ThreadWorker& self, Envelope& next) {
  if (MayTakeLong(next)) self.FlushStage();
}

void ThreadWorld::TakesLong() {
  ThreadWorker* self = workers_.Self();
  if (self != nullptr) self->FlushStage();
}

KernelGate* ThreadWorld::NewGate(ThreadWorker& worker) {
  auto* gate = new KernelGate;
  if (worker.stage != nullptr) {
    gate->CallBefore(
        [](void* worker) { static_cast<ThreadWorker*>(worker)->FlushStage(); },
        &worker);
  }
  return gate;
}

void ThreadWorld::SendAcross(ThreadWorker& self, const Envelope& envelope,
                             uint64_t bytes, const Fault& fault) {
  const bool kept_in_order =
      fault.kind == Fault::kDeliver || fault.kind == Fault::kDuplicate;
  const TimeNs time =
      options_.links
          ? Carry(self, envelope, kHeaderBytes + bytes, kept_in_order)
          : -1;
  if (fault.kind == Fault::kDeliver) return SendAt(self, time, envelope);
  faults_.fetch_add(1, std::memory_order_relaxed);
  if (fault.kind == Fault::kDrop) return DropEnvelope(envelope);
  const TimeNs later = Later(time < 0 ? Now() : time, fault.delay_ns);
  // The copy is made before the first message is sent and may be consumed.
  const Envelope kept = KeepEnvelope(envelope);
  if (fault.kind == Fault::kDuplicate) {
    SendAt(self, time, envelope);
  } else {
    DropEnvelope(envelope);
  }
  SendAt(self, later, kept);
}

TimeNs ThreadWorld::Carry(ThreadWorker& self, const Envelope& envelope,
                          uint64_t bytes, bool in_order) {
  const Placement from = actors_.PlaceOf(actors_.Find(envelope.from)),
                  to = actors_.PlaceOf(LocalId{envelope.to});
  MutexLock lock(&links_mutex_);
  Wire& wire = links_->Between(from, to);
  if (wire.model->free()) return -1;
  TimeNs jitter = 0;
  if (wire.model->jitter_ns != 0) {
    jitter = static_cast<TimeNs>(self.random.UpTo(wire.model->jitter_ns));
  }
  // The clock is read under the lock, so that no message is put on a wire
  // before an earlier one.
  const TimeNs time = wire.Carry(Now(), bytes, jitter);
  if (in_order) wire.last_arrival = time;
  return time;
}

void ThreadWorld::SendAt(ThreadWorker& self, TimeNs time,
                         const Envelope& envelope) {
  const LocalId to{envelope.to};
  if (time < 0) return RouteAgain(self, envelope);
  Posted* carrier = new Posted{time, envelope};
  Route(self, QueueOf(envelope), Envelope::kLater, carrier, kNoActor, to);
}

// The whole body is copied, whatever its type.
void ThreadWorld::RouteAgain(ThreadWorker& self, const Envelope& envelope) {
  struct Body {
    alignas(8) std::byte bytes[sizeof(Envelope::body)];
  } body;
  std::memcpy(body.bytes, envelope.body, sizeof(body));
  Route(self, QueueOf(envelope), static_cast<Envelope::Kind>(envelope.kind),
        body, envelope.from, LocalId{envelope.to});
}

}  // namespace pathways
