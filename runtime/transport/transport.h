//===- transport.h - Bytes between processes --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The narrow seam to whatever moves bytes between processes: it knows nothing
// of what they mean. Engines differ in how they move them (sockets, UCX, a call
// inside one process); one conformance suite says what all of them do.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_TRANSPORT_H_
#define RUNTIME_TRANSPORT_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace pathways {

// One connection to another process, from its beginning to its end. Numbers are
// of this process, ascend, and are used once: who comes again is another peer.
enum class PeerId : uint32_t {};

// The two classes of messages. They keep no order between each other.
enum class Urgency : uint8_t {
  kCritical,  // is on its way when Send returns, unless the peer is behind
  kBulk,      // goes with others, when there are enough or nothing else to do;
              // a long one in pieces that let critical ones pass
};

// What a transport tells its user. Calls of one peer come one at a time, on
// whatever thread moves its bytes, and never inside a call of the user's other
// than Poll; those of several peers may come at once. A handler must not block;
// it may call the transport, but not Dial, Poll or Stop.
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;

  // A process that dialed is there. One that was dialed is not told; what it
  // sends may come before Dial has returned.
  virtual void OnPeerUp(PeerId peer) = 0;
  // A message as it was sent: header, and payload behind it. Both are there
  // during the call.
  virtual void OnMessage(PeerId peer, absl::Span<const char> header,
                         absl::Span<const char> payload) = 0;
  // All bytes of an expected payload are in their memory, which is the user's
  // again.
  virtual void OnPayload(PeerId peer, uint64_t token) = 0;
  // The last thing that is said of a peer, also of one that was closed here:
  // nothing of what it expected is touched any more, nothing that was lent is
  // read. `why`: OK when this side closed it; InvalidArgument: one of the two
  // sent what it must not; else Unavailable.
  virtual void OnPeerDown(PeerId peer, const absl::Status& why) = 0;
};

// Thread-safe. Invariants: (1) messages of one class to one peer arrive once
// and in the order sent, whole, or the peer goes down; (2) Send never waits for
// the peer: what it cannot take yet is kept, and counted by backlog; (3) no
// byte that a peer sends makes this process end or take memory beyond
// TransportLimits, it costs the peer its connection at most.
class Transport {
 public:
  virtual ~Transport() = default;

  // Lets others dial `address`, in addition to those before; returns what they
  // dial, where a port that was left open is filled in. InvalidArgument: not an
  // address of this engine. AlreadyExists: it is in use. PermissionDenied,
  // Unavailable: the system says no. All name the address.
  virtual absl::StatusOr<std::string> Listen(absl::string_view address) = 0;
  // Waits until there is a connection. DeadlineExceeded: nobody answered;
  // Unavailable: nobody is there, which is said at once; else as Listen.
  virtual absl::StatusOr<PeerId> Dial(absl::string_view address,
                                      absl::Duration timeout) = 0;

  // Both may be empty, and are copied before Send returns. To a peer that is
  // down: dropped. More than TransportLimits::max_message_bytes together end
  // the connection.
  virtual void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
                    absl::Span<const char> payload) = 0;

  // Names memory for a payload of exactly `bytes` that the peer is going to
  // send under `token`, a number of the user's that is not in use. The memory
  // is the transport's until OnPayload or OnPeerDown. The peer has to be told,
  // say in a message: a payload that nobody expects costs it its connection.
  virtual void Expect(PeerId peer, uint64_t token, void* memory,
                      uint64_t bytes) = 0;
  // Sends a payload that the peer expects, in pieces, beside messages. The
  // bytes are lent until `sent`, which is called once, as handlers are, also
  // when the peer goes down or is down already; or until Stop.
  virtual void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
                   std::function<void()> sent) = 0;

  // Bytes that were sent to the peer and are not with the system yet. 0: it is
  // drained, or down.
  virtual uint64_t backlog(PeerId peer) const = 0;
  // Sends what is kept, but nothing that is sent from now on, then ends the
  // connection. OnPeerDown follows, at the latest when the peer has taken
  // nothing for TransportLimits::close_timeout; until then what it sends comes.
  virtual void Close(PeerId peer) = 0;

  // Moves what can be moved now, on this thread; false: there was nothing. A
  // thread of the transport's own does it when nobody else does, unless the
  // engine says that it has none. Any thread, several at a time.
  virtual bool Poll() = 0;
  // Nobody is going to poll for a while: what comes is for the thread of the
  // transport's own, which would find out by itself after a moment.
  virtual void OnIdle() {}
  // Ends all connections, without sending what is kept; no handler runs after
  // it, and none is called for peers that were up. Listen and Dial then say
  // Unavailable, all else does nothing. Idempotent.
  virtual void Stop() = 0;
};

// What a peer may make this process do.
struct TransportLimits {
  uint64_t max_message_bytes = uint64_t{64} << 20;  // header and payload
  uint64_t piece_bytes = 64 << 10;  // of bulk, between which others may pass
  absl::Duration close_timeout = absl::Seconds(5);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TRANSPORT_H_
