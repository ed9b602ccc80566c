//===- delivery.h - Calls of the handlers of actors -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_DELIVERY_H_
#define RUNTIME_WORLD_DELIVERY_H_

#include "runtime/world/actor_table.h"
#include "runtime/world/envelope_body.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/router.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/uplink.h"

namespace pathways {

// Calls the handler of a message's receiver. Used by the thread that runs as
// the receiver's worker.
class Delivery {
 public:
  // All arguments must outlive this object.
  Delivery(const ActorTable* actors, Router* router, Uplink* uplink)
      : actors_(*actors), router_(*router), uplink_(*uplink) {}

  // Handles a message, and frees what its envelope owns. Returns true if a
  // handler ran. Staged messages do not wait for a handler that may run for
  // long.
  bool Deliver(ThreadWorker& self, Envelope& envelope) {
    if (self.staged && MayTakeLong(envelope)) [[unlikely]] {
      self.FlushStage();
    }
    Actor* actor = actors_.hot(envelope.to).actor;
    if (envelope.kind == Envelope::kLocal) {
      actor->OnLocal(envelope.As<LocalMessage>());
      return true;
    }
    if (envelope.kind == Envelope::kWire) {
      const WireBody& wire = envelope.As<WireBody>();
      actor->OnWire(envelope.from, wire.message, wire.payload);
      return true;
    }
    return DeliverRare(self, actor, envelope);
  }

 private:
  bool DeliverRare(ThreadWorker& self, Actor* actor, Envelope& envelope);

  const ActorTable& actors_;
  Router& router_;
  Uplink& uplink_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_DELIVERY_H_
