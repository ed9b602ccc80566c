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

// The payloads that this process lends its peers, that they offer it, and that
// it awaits from them. Tokens are of the lender, for each peer from 1.
// Invariants: (1) each of these is handed out once, to whoever removes it, or
// to whoever removes its peer; (2) nothing is kept for a peer that is not
// there. Any thread.
class LentPayloads {
 public:
  // Of a peer that takes its time, or takes nothing.
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
  // What a peer leaves behind.
  struct Left {
    std::vector<Lent> lent;
    std::vector<Awaited> awaited;
  };

  void AddPeer(PeerId peer);
  // Of one that is not there: nothing.
  Left RemovePeer(PeerId peer);

  // The token; nullopt: the peer is not there.
  std::optional<uint64_t> Lend(PeerId peer, const Lent& lent);
  // The peer has answered an offer. Nullopt: that was answered before, or never
  // made.
  std::optional<Lent> TakeLent(PeerId peer, uint64_t token);

  // A number for an offer of the peer, from 1; nullopt: a second copy.
  std::optional<uint64_t> AddOffer(const Offer& offer);
  // It is answered. Nullopt: its peer has gone.
  std::optional<Offer> TakeOffer(uint64_t number);
  // False: the peer has gone.
  bool Await(PeerId peer, uint64_t token, const Awaited& awaited);
  std::optional<Awaited> TakeAwaited(PeerId peer, uint64_t token);

 private:
  struct Peer {
    uint64_t last_token = 0;
    SequenceWindow offered;  // tokens of its own
    absl::flat_hash_map<uint64_t, Lent> lent;
    absl::flat_hash_map<uint64_t, Awaited> awaited;
  };

  Mutex mutex_;
  absl::flat_hash_map<PeerId, Peer> peers_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_offer_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<uint64_t, Offer> offers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LENT_PAYLOADS_H_
