//===- process_links.h - A world's links to other processes -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_PROCESS_LINKS_H_
#define RUNTIME_WORLD_PROCESS_LINKS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/protocol/link_frame.h"
#include "runtime/transport/transport.h"
#include "runtime/world/lent_payloads.h"
#include "runtime/world/link_counters.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/world.h"

namespace pathways {

// Processes of a cluster: those with hosts, the controller's, those of clients.
inline constexpr uint32_t kMaxProcesses = 4096;

// A payload above this is bulk to a transport: others may overtake it.
inline constexpr uint64_t kMaxCriticalBytes = 16 << 10;

// What makes a world of threads one of several processes: carries its messages
// to actors elsewhere, and brings what they send. Invariants: (1) a message
// goes out or comes in on the link of its far actor's process alone, so nobody
// speaks for an actor of another process; (2) who is not linked says and hears
// nothing but Membership; (3) a process is down once for each time it was
// linked, and nothing comes from it after; (4) what is lent, or awaited, comes
// back to its owner once, at the latest when its peer is down. Any thread.
// Outlives the world; the transport is stopped before either goes.
class ProcessLinks final : public TransportEvents {
 public:
  struct Listeners {
    // Membership of a peer, linked or not. On a transport's thread.
    std::function<void(PeerId, std::string_view bytes)> on_membership;
    // A peer is gone, which was linked to this process, or to none yet.
    // Likewise.
    std::function<void(PeerId, std::optional<uint32_t> process,
                       const absl::Status& why)>
        on_down;
  };
  explicit ProcessLinks(Listeners listeners);

  // The transport that has this as its events; before all below.
  void Open(Transport* transport) { transport_ = transport; }
  // For the world's options. What a worker says in one go to a process goes as
  // one frame (wire.md).
  RemoteChannel remote_channel();
  // Before the first Link: which process this is, its world, and the process of
  // an actor: negative, or kMaxProcesses and more: nobody's.
  void Place(uint32_t self, World* world,
             std::function<int64_t(ActorId)> process_of);

  // As Transport::Dial; and Unavailable: it was there, and is gone.
  absl::StatusOr<PeerId> Dial(absl::string_view address,
                              absl::Duration timeout);
  // Messages to the process go to this peer, which was dialed or has dialed,
  // from now on. FailedPrecondition: one of the two has a link; OutOfRange:
  // there is no such process; Unavailable: the peer is gone.
  absl::Status Link(uint32_t process, PeerId peer);
  // Ends the link to a process, if there is one: nothing more goes there, and
  // what still comes from there is dropped.
  void Unlink(uint32_t process);
  void SendMembership(PeerId peer, std::string_view bytes);
  LinkStats stats() const { return counters_.Sum(); }

  void OnPeerUp(PeerId peer) override;
  void OnMessage(PeerId peer, absl::Span<const char> header,
                 absl::Span<const char> payload) override;
  void OnPayload(PeerId peer, uint64_t token) override;
  void OnPeerDown(PeerId peer, const absl::Status& why) override;

 private:
  class Stage;
  static constexpr uint32_t kNoPeer = UINT32_MAX;

  // Of a far actor.
  std::optional<uint32_t> ProcessOf(ActorId actor) const;
  // That the actor is spoken to by. Nullopt: there is no link; counted.
  std::optional<PeerId> PeerOf(ActorId actor);
  void Send(PeerId peer, const LinkFrame& frame, absl::Span<const char> bytes);
  void SendFrame(PeerId peer, Urgency urgency, absl::Span<const char> header,
                 absl::Span<const char> payload, uint64_t messages);
  // Of World::Lend and Actor::OnOffer.
  bool Lend(ActorId from, ActorId to, const WireMessage& message,
            const LentPayloads::Lent& lent);
  void TakeOffer(uint64_t number, LocalId owner, const ReceiveBuffer& landing);
  void RefuseOffer(uint64_t number);
  void Answer(PeerId peer, LinkFrame::Kind kind, uint64_t token);
  void NotLanded(LocalId owner, LocalMessage landed);
  // What came about payloads of this side, and of the other.
  void OnAnswer(PeerId peer, LinkFrame::Kind kind, uint64_t token);
  void OnOffer(PeerId peer, const WireFrame& wire, uint64_t token);
  // What came in one frame, whose batch is one.
  void DeliverBatch(uint32_t process, absl::Span<const char> payload);
  // Of what came, alone or in a batch. Counts it if not.
  bool IsAllowed(uint32_t process, const WireFrame& wire);
  // That a peer is linked to. Of one peer by one thread at a time.
  std::optional<uint32_t> ProcessOfPeer(PeerId peer);

  const Listeners listeners_;
  Transport* transport_ = nullptr;
  // Read when there is a link.
  uint32_t self_ = 0;
  World* world_ = nullptr;
  std::function<int64_t(ActorId)> process_of_;
  LentPayloads lent_;
  // By process: its peer, or kNoPeer.
  std::unique_ptr<std::atomic<uint32_t>[]> peer_of_;
  // What was looked up last, by the last bits of the peer: the peer, and in the
  // lower half its process and one; 0: nothing. Written under the lock. A
  // peer's number does not come again, so it stays true until the peer is
  // unlinked.
  std::array<std::atomic<uint64_t>, 64> looked_up_{};
  mutable Mutex mutex_;
  // Those that are up, and the process that each is linked to.
  absl::flat_hash_map<PeerId, std::optional<uint32_t>> peers_
      ABSL_GUARDED_BY(mutex_);
  // While anybody dials: those that went before Dial knew them.
  int dialing_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_set<PeerId> early_ ABSL_GUARDED_BY(mutex_);
  LinkCounters counters_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_PROCESS_LINKS_H_
