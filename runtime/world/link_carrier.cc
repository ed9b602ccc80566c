//===- link_carrier.cc - Faults and costs between hosts -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/link_carrier.h"

#include "runtime/world/envelope_body.h"

namespace pathways {

LinkCarrier::LinkCarrier(std::optional<LinkModels> links, FaultHook hook,
                         ControlFaultHook control_hook, const WorldClock* clock,
                         const ActorTable* actors, Router* router)
    : is_active_(links || hook || control_hook),
      has_links_(links.has_value()),
      hook_(std::move(hook)),
      control_hook_(std::move(control_hook)),
      clock_(*clock),
      actors_(*actors),
      router_(*router) {
  if (links) links_.emplace(*std::move(links));
}

bool LinkCarrier::Crosses(ActorId from, LocalId to) const {
  const LocalId sender = actors_.Find(from);
  return sender != kNobody &&
         actors_.hot(IndexOf(sender)).host != actors_.hot(IndexOf(to)).host;
}

void LinkCarrier::Send(ThreadWorker& self, ActorId from, ActorId to,
                       LocalId receiver, const WireBody& body) {
  Fault fault;
  if (hook_) fault = hook_(from, to, body.message);
  SendWith(fault, self, Envelope::Of(Envelope::kWire, body, from, receiver),
           body.payload.bytes);
}

void LinkCarrier::SendControl(ThreadWorker& self, ActorId from, ActorId to,
                              LocalId receiver, std::string bytes) {
  Fault fault;
  if (control_hook_) fault = control_hook_(from, to, bytes);
  const uint64_t size = bytes.size();
  auto* body = new std::string(std::move(bytes));
  SendWith(fault, self, Envelope::Of(Envelope::kControl, body, from, receiver),
           size);
}

void LinkCarrier::SendWith(const Fault& fault, ThreadWorker& self,
                           const Envelope& envelope, uint64_t bytes) {
  const bool kept_in_order =
      fault.kind == Fault::kDeliver || fault.kind == Fault::kDuplicate;
  const TimeNs time =
      has_links_ ? Carry(self, envelope, kHeaderBytes + bytes, kept_in_order)
                 : -1;
  if (fault.kind == Fault::kDeliver) return SendAt(self, time, envelope);
  faults_.fetch_add(1, std::memory_order_relaxed);
  if (fault.kind == Fault::kDrop) return DropEnvelope(envelope);
  const TimeNs later = Later(time < 0 ? clock_.Now() : time, fault.delay_ns);
  // The copy is made before the first message is sent and may be consumed.
  const Envelope kept = KeepEnvelope(envelope);
  if (fault.kind == Fault::kDuplicate) {
    SendAt(self, time, envelope);
  } else {
    DropEnvelope(envelope);
  }
  SendAt(self, later, kept);
}

TimeNs LinkCarrier::Carry(ThreadWorker& self, const Envelope& envelope,
                          uint64_t bytes, bool in_order) {
  const Placement from = actors_.PlaceOf(actors_.Find(envelope.from)),
                  to = actors_.PlaceOf(LocalId{envelope.to});
  MutexLock lock(&mutex_);
  Wire& wire = links_->Between(from, to);
  if (wire.model->free()) return -1;
  TimeNs jitter = 0;
  if (wire.model->jitter_ns != 0) {
    jitter = static_cast<TimeNs>(self.random.UpTo(wire.model->jitter_ns));
  }
  // The clock is read under the lock, so that no message is put on a wire
  // before an earlier one.
  const TimeNs time = wire.Carry(clock_.Now(), bytes, jitter);
  if (in_order) wire.last_arrival = time;
  return time;
}

void LinkCarrier::SendAt(ThreadWorker& self, TimeNs time,
                         const Envelope& envelope) {
  if (time < 0) return router_.Route(self, envelope);
  Posted* carrier = new Posted{time, envelope};
  router_.Route(self, QueueOf(envelope), Envelope::kLater, carrier, kNoActor,
                LocalId{envelope.to});
}

}  // namespace pathways
