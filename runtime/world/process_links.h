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

// Most processes of a cluster: those with hosts, the controller's and those of
// clients.
inline constexpr uint32_t kMaxProcesses = 4096;

// A transport treats a larger payload as bulk: other messages may overtake it.
inline constexpr uint64_t kMaxCriticalBytes = 16 << 10;

// The links of a world of threads that is one of several processes: they carry
// its messages to actors of other processes and deliver messages from there.
// Invariants: (1) a message goes out or comes in only on the link of its far
// actor's process, so no process speaks for an actor of another one; (2) a peer
// without a link sends and receives only membership messages; (3) a process
// goes down once for each time it was linked, and nothing comes from it
// afterwards; (4) a lent or awaited payload goes back to its owner once, at the
// latest when its peer is down. Thread-safe. Must outlive the world; the
// transport must be stopped before both.
class ProcessLinks final : public TransportEvents {
 public:
  struct Listeners {
    // Called with a membership message of a peer, linked or not, on a thread of
    // the transport.
    std::function<void(PeerId, std::string_view bytes)> on_membership;
    // Called when a peer is gone that was linked to `process`, or to no process
    // yet. Runs on a thread of the transport.
    std::function<void(PeerId, std::optional<uint32_t> process,
                       const absl::Status& why)>
        on_down;
  };
  explicit ProcessLinks(Listeners listeners);

  // Sets the transport, whose events this object handles. Call before all
  // functions below.
  void Open(Transport* transport) { transport_ = transport; }
  // Returns the channel for the world's options. Messages that a worker sends
  // to a process at one go form one frame (wire.md).
  RemoteChannel remote_channel();
  // Sets the number of this process, its world, and the function that returns
  // the process of an actor; a negative result, or one of kMaxProcesses or
  // more, means that there is no such actor. Call before the first Link.
  void Place(uint32_t self, World* world,
             std::function<int64_t(ActorId)> process_of);

  // Dials like Transport::Dial. Also returns Unavailable if the connection was
  // made and has ended already.
  absl::StatusOr<PeerId> Dial(absl::string_view address,
                              absl::Duration timeout);
  // From now on sends messages for the process to this peer, which was dialed
  // or has dialed. Returns FailedPrecondition if the process or the peer has a
  // link, OutOfRange if there is no such process, and Unavailable if the peer
  // is gone.
  absl::Status Link(uint32_t process, PeerId peer);
  // Ends the link to a process, if there is one. Nothing more is sent there,
  // and messages that still come from there are dropped.
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

  // Returns the process of an actor of another process.
  std::optional<uint32_t> ProcessOf(ActorId actor) const;
  // Returns the peer to which messages for the actor go. Returns nullopt, and
  // counts it, if there is no link.
  std::optional<PeerId> PeerOf(ActorId actor);
  void Send(PeerId peer, const LinkFrame& frame, absl::Span<const char> bytes);
  void SendFrame(PeerId peer, Urgency urgency, absl::Span<const char> header,
                 absl::Span<const char> payload, uint64_t messages);
  // These functions implement World::Lend and the answers to Actor::OnOffer.
  bool Lend(ActorId from, ActorId to, const WireMessage& message,
            const LentPayloads::Lent& lent);
  void TakeOffer(uint64_t number, LocalId owner, const ReceiveBuffer& landing);
  void RefuseOffer(uint64_t number);
  void Answer(PeerId peer, LinkFrame::Kind kind, uint64_t token);
  void NotLanded(LocalId owner, LocalMessage landed);
  // Handle the peer's answers to offers of this process, and its offers.
  void OnAnswer(PeerId peer, LinkFrame::Kind kind, uint64_t token);
  void OnOffer(PeerId peer, const WireFrame& wire, uint64_t token);
  // Delivers the messages of a valid batch.
  void DeliverBatch(uint32_t process, absl::Span<const char> payload);
  // Returns true if `process` may send this message; counts it in either case.
  bool IsAllowed(uint32_t process, const WireFrame& wire);
  // Returns the process to which a peer is linked. For one peer, one thread may
  // call this at a time.
  std::optional<uint32_t> ProcessOfPeer(PeerId peer);

  const Listeners listeners_;
  Transport* transport_ = nullptr;
  // Fixed before the first link, and read only when there is one.
  uint32_t self_ = 0;
  World* world_ = nullptr;
  std::function<int64_t(ActorId)> process_of_;
  LentPayloads lent_;
  // The peer of each process, or kNoPeer.
  std::unique_ptr<std::atomic<uint32_t>[]> peer_of_;
  // Cache of ProcessOfPeer, indexed by the last bits of the peer's number.
  // Upper half: the peer; lower half: its process plus one; 0: empty. Entries
  // are written under the lock. Peer numbers are not reused, so an entry is
  // valid until the peer is unlinked.
  std::array<std::atomic<uint64_t>, 64> looked_up_{};
  mutable Mutex mutex_;
  // The peers that are up, and the process to which each is linked.
  absl::flat_hash_map<PeerId, std::optional<uint32_t>> peers_
      ABSL_GUARDED_BY(mutex_);
  // Number of threads in Dial, and, while there are any, the peers that went
  // down before Dial knew them.
  int dialing_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_set<PeerId> early_ ABSL_GUARDED_BY(mutex_);
  LinkCounters counters_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_PROCESS_LINKS_H_
