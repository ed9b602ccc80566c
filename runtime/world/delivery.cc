//===- delivery.cc - Calls of the handlers of actors ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/delivery.h"

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/world/peer_watch.h"

namespace pathways {

bool Delivery::DeliverRare(ThreadWorker& self, Actor* actor,
                           Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::kOwned: {
      const WireBody& wire = envelope.As<WireBody>();
      actor->OnWire(envelope.from, wire.message, wire.payload);
      DropEnvelope(envelope);
      return true;
    }
    case Envelope::kOffer: {
      const auto& [message, payload] = envelope.As<WireBody>();
      const auto offer = reinterpret_cast<uint64_t>(payload.data);
      uplink_.Answer(offer, LocalId{envelope.to},
                     actor->OnOffer(envelope.from, message, payload.bytes));
      return true;
    }
    case Envelope::kLent: {
      std::unique_ptr<const LentBody> lent(envelope.As<LentBody*>());
      // If the handler stops the world, the message is dropped with the queue,
      // so its envelope must not own the body.
      envelope.kind = Envelope::kLocal;
      actor->OnWire(envelope.from, lent->wire.message, lent->wire.payload);
      router_.Route(self, QueueOf(lent->returned), Envelope::kLocal,
                    lent->returned, kNoActor, lent->owner);
      return true;
    }
    case Envelope::kLater: {
      // Messages of one sender come in the order of their times.
      std::unique_ptr<const Posted> posted(envelope.As<Posted*>());
      self.mailbox.AddTimer(posted->deadline, posted->envelope);
      return false;
    }
    case Envelope::kPeer: {
      const auto [peer, is_up] = envelope.As<PeerWatch::News>();
      actor->OnPeer({peer.host, peer.epoch, is_up});
      return true;
    }
    case Envelope::kBody: {
      ControlBody* const body = envelope.As<ControlBody*>();
      // If the handler stops the world, the message is dropped with the queue,
      // so its envelope must not own the body.
      envelope.kind = Envelope::kLocal;
      actor->OnControl(envelope.from, ReceivedControl(body));
      self.stats.controls.Add(1);
      return true;
    }
    default:
      break;
  }
  std::unique_ptr<const std::string> bytes(envelope.As<std::string*>());
  // If the handler stops the world, the message is dropped with the queue, so
  // its envelope must not own the body.
  envelope.kind = Envelope::kLocal;
  actor->OnControl(envelope.from, *bytes);
  self.stats.controls.Add(1);
  return true;
}

}  // namespace pathways
