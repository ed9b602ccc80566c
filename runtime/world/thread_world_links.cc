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
  return uplink_.Lend(*self, from, to, message, payload, actors_.Find(from),
                      returned);
}

void ThreadWorld::LendNear(ThreadWorker& self, const WireBody& wire,
                           ActorId from, LocalId receiver,
                           const LocalMessage& returned) {
  auto* lent = new LentBody{wire, actors_.Find(from), returned};
  router_.Route(self, QueueOf(wire.message), Envelope::kLent, lent, from,
                receiver);
}

bool ThreadWorld::Offer(ActorId from, ActorId to, const WireMessage& message,
                        uint64_t bytes, uint64_t offer) {
  const LocalId receiver = actors_.Find(to);
  if (receiver == kNobody) return false;
  const WireBody body{message, {reinterpret_cast<const void*>(offer), bytes}};
  router_.Arrive(Envelope::Of(Envelope::kOffer, body, from, receiver));
  return true;
}

void ThreadWorld::SendAll(absl::Span<const Arrival> arrivals) {
  Posted together[kMaxTogether];
  size_t count = 0;
  int worker = 0;
  for (const Arrival& one : arrivals) {
    const LocalId to = actors_.Find(one.to);
    if (to == kNobody) {
      uplink_.Send(workers_.Self(), one.from, one.to, one.message, one.payload);
      continue;
    }
    const int next = router_.WorkerOf(to);
    if (count == kMaxTogether || (count > 0 && next != worker)) {
      router_.Arrive(worker, absl::MakeConstSpan(together, count));
      count = 0;
    }
    worker = next;
    together[count++] = {
        -1, KeepEnvelope(Envelope::Of(Envelope::kWire,
                                      WireBody{one.message, one.payload},
                                      one.from, to))};
  }
  if (count > 0) router_.Arrive(worker, absl::MakeConstSpan(together, count));
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

}  // namespace pathways
