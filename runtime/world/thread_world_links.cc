//===- thread_world_links.cc - Messages that cross hosts --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>

#include "runtime/base/mutex.h"
#include "runtime/protocol/wire_kind.h"
#include "runtime/world/fault.h"
#include "runtime/world/link.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/thread_world.h"

namespace pathways {
namespace {

Lane LaneOf(const Envelope& envelope) {
  const bool is_wire =
      envelope.kind == Envelope::kWire || envelope.kind == Envelope::kOwned;
  return is_wire && IsBulk(envelope.As<WireBody>().message.kind) ? kBulkLane
                                                                 : kDirectLane;
}

}  // namespace

void ThreadWorld::SendAcross(Worker& self, const Envelope& envelope,
                             uint64_t bytes, const Fault& fault) {
  const bool kept_in_order =
      fault.kind == Fault::kDeliver || fault.kind == Fault::kDuplicate;
  const TimeNs time =
      options_.links
          ? Carry(self, envelope, kHeaderBytes + bytes, kept_in_order)
          : -1;
  if (fault.kind == Fault::kDeliver) return SendAt(self, time, envelope);
  faults_.fetch_add(1, std::memory_order_relaxed);
  if (fault.kind == Fault::kDrop) return Drop(envelope);
  const TimeNs later = Later(time < 0 ? Now() : time, fault.delay_ns);
  // Before the first copy goes out, and may be consumed.
  const Envelope kept = Keep(envelope);
  if (fault.kind == Fault::kDuplicate) {
    SendAt(self, time, envelope);
  } else {
    Drop(envelope);
  }
  SendAt(self, later, kept);
}

TimeNs ThreadWorld::Carry(Worker& self, const Envelope& envelope,
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
  // Looked at here, so that no message is put on a wire before an earlier one.
  const TimeNs time = wire.Carry(Now(), bytes, jitter);
  if (in_order) wire.last_arrival = time;
  return time;
}

void ThreadWorld::SendAt(Worker& self, TimeNs time, const Envelope& envelope) {
  const LocalId to{envelope.to};
  if (time < 0) return RouteAgain(self, envelope);
  Posted* carrier = new Posted{time, envelope};
  Route(self, LaneOf(envelope), Envelope::kLater, carrier, kNoActor, to);
}

// All bodies are copied whole, whatever they are.
void ThreadWorld::RouteAgain(Worker& self, const Envelope& envelope) {
  struct Body {
    alignas(8) std::byte bytes[sizeof(Envelope::body)];
  } body;
  std::memcpy(body.bytes, envelope.body, sizeof(body));
  Route(self, LaneOf(envelope), static_cast<Envelope::Kind>(envelope.kind),
        body, envelope.from, LocalId{envelope.to});
}

}  // namespace pathways
