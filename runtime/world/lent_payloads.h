//===- lent_payloads.h - Payloads that stay until asked for -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_LENT_PAYLOADS_H_
#define RUNTIME_WORLD_LENT_PAYLOADS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "runtime/base/mutex.h"
#include "runtime/protocol/sequence_window.h"
#include "runtime/transport/transport.h"
#include "runtime/world/world.h"

namespace pathways {

// The payloads that this process lends its peers, the offers that it got from
// peers, and the payloads that it awaits from them. The lender numbers its
// payloads with tokens, for each peer from 1. Invariants: (1) each entry is
// returned once, to the caller that removes it or that removes its peer; (2)
// nothing is kept for an unknown peer. Thread-safe.
class LentPayloads {
 public:
  // A payload lent to a peer that has not taken or refused it yet.
  struct Lent {
    Payload payload;
    LocalId owner = kNobody;
    LocalMessage returned;
  };
  struct Offer {
    PeerId peer{};
    uint64_t token = 0;
    uint64_t bytes = 0;
  };
  struct Awaited {
    LocalId owner = kNobody;
    LocalMessage landed;
    uint64_t bytes = 0;
  };
  // The entries of a removed peer.
  struct Left {
    std::vector<Lent> lent;
    std::vector<Awaited> awaited;
  };

  void AddPeer(PeerId peer);
  // Removes a peer and returns its entries in the order of their tokens;
  // returns none for an unknown peer.
  Left RemovePeer(PeerId peer);

  // Adds a lent payload and returns its token, or nullopt if the peer is
  // unknown.
  std::optional<uint64_t> Lend(PeerId peer, const Lent& lent);
  // Removes a lent payload because the peer has answered the offer. Returns
  // nullopt if the offer was answered before or never made.
  std::optional<Lent> TakeLent(PeerId peer, uint64_t token);

  // Adds an offer of a peer and returns its number, from 1. Returns nullopt if
  // the offer is a second copy or the peer is unknown.
  std::optional<uint64_t> AddOffer(const Offer& offer);
  // Removes an offer because it is answered. Returns nullopt if its peer has
  // gone.
  std::optional<Offer> TakeOffer(uint64_t number);
  // Adds a payload that was accepted from a peer. Returns false if the peer has
  // gone.
  bool Await(PeerId peer, uint64_t token, const Awaited& awaited);
  std::optional<Awaited> TakeAwaited(PeerId peer, uint64_t token);

 private:
  struct Peer {
    uint64_t last_token = 0;
    SequenceWindow offered;  // tokens of offers from the peer
    // Sorted by token, so that a peer that goes gives them back in one order.
    std::map<uint64_t, Lent> lent;
    std::map<uint64_t, Awaited> awaited;
  };

  Mutex mutex_;
  absl::flat_hash_map<PeerId, Peer> peers_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_offer_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<uint64_t, Offer> offers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LENT_PAYLOADS_H_
