//===- transport.h - Bytes between processes --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The narrow interface to the engines that move bytes between processes. It
// knows nothing of their meaning. Engines differ in how they move bytes
// (sockets, UCX, calls inside one process); one conformance suite defines what
// all of them must do.
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

// One connection to another process, from beginning to end. Numbers are unique
// in this process, ascend, and are never reused: a process that connects again
// is another peer.
enum class PeerId : uint32_t {};

// The two classes of messages. There is no order between messages of different
// classes.
enum class Urgency : uint8_t {
  kCritical,  // on its way when Send returns, unless the peer is slow
  // Sent in batches, when there are enough or nothing else to do; long ones in
  // pieces, which critical messages overtake.
  kBulk,
};

// Notifications of a transport to its user. Calls for one peer come one at a
// time, on whatever thread moves its bytes, and never inside a call of the user
// other than Poll; calls for different peers may come at the same time. A
// handler must not block. It may call the transport, except Dial, Poll and
// Stop.
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;

  // A process that dialed is connected. Not called for a peer that this side
  // dialed, whose messages may arrive before Dial has returned.
  virtual void OnPeerUp(PeerId peer) = 0;
  // A message has arrived: its header, and its payload. Both are valid only
  // during the call.
  virtual void OnMessage(PeerId peer, absl::Span<const char> header,
                         absl::Span<const char> payload) = 0;
  // All bytes of an expected payload have arrived. Its memory belongs to the
  // user again.
  virtual void OnPayload(PeerId peer, uint64_t token) = 0;
  // The last notification for a peer, also for one that this side closed:
  // memory that the peer expected is not touched any more, and lent memory is
  // not read any more. `why` is OK if this side closed the connection,
  // InvalidArgument if one of the two sides sent what it must not, else
  // Unavailable.
  virtual void OnPeerDown(PeerId peer, const absl::Status& why) = 0;
};

// A transport. Thread-safe. Invariants: (1) messages of one class to one peer
// arrive once, whole and in the order in which they were sent, or the peer goes
// down; (2) Send never waits for the peer: bytes that the peer cannot take yet
// are kept, and counted by backlog; (3) no byte that a peer sends can end this
// process or make it use memory beyond TransportLimits; the most that can
// happen is that the peer loses its connection.
class Transport {
 public:
  virtual ~Transport() = default;

  // Lets other processes dial `address`, in addition to earlier ones. Returns
  // the address for them to dial, with the port filled in if it was left open.
  // Returns InvalidArgument if it is no address of this engine, AlreadyExists
  // if it is in use, and PermissionDenied or Unavailable if the system refuses.
  // All errors name the address.
  virtual absl::StatusOr<std::string> Listen(absl::string_view address) = 0;
  // Connects to `address`, and waits until it is connected. Returns
  // DeadlineExceeded if there is no answer, Unavailable, at once, if no process
  // listens, and other errors as Listen does.
  virtual absl::StatusOr<PeerId> Dial(absl::string_view address,
                                      absl::Duration timeout) = 0;

  // Sends a message. Both parts may be empty, and are copied before Send
  // returns. A message to a peer that is down is dropped. If both parts
  // together exceed TransportLimits::max_message_bytes, the connection ends.
  virtual void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
                    absl::Span<const char> payload) = 0;

  // Provides memory for a payload of exactly `bytes` bytes that the peer is
  // going to send under `token`, a number that the user chooses and that is not
  // in use. The memory belongs to the transport until OnPayload or OnPeerDown.
  // The user must inform the peer, for instance in a message: a payload that is
  // not expected costs its sender the connection.
  virtual void Expect(PeerId peer, uint64_t token, void* memory,
                      uint64_t bytes) = 0;
  // Sends a payload that the peer expects, in pieces between which messages may
  // go. The bytes are lent until `sent` is called, which happens exactly once,
  // in the way of handlers, even if the peer goes down or is down already; or
  // until Stop.
  virtual void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
                   std::function<void()> sent) = 0;

  // Returns the number of bytes that were sent to the peer but not yet passed
  // to the system. 0 if all are passed on, or the peer is down.
  virtual uint64_t backlog(PeerId peer) const = 0;
  // Ends the connection after sending what is kept, but nothing that is sent
  // from now on. OnPeerDown follows, at the latest when the peer has taken
  // nothing for TransportLimits::close_timeout. Until then messages of the peer
  // still arrive.
  virtual void Close(PeerId peer) = 0;

  // Moves what can be moved now, on this thread. Returns false if there was
  // nothing. A thread of the transport does this when no other thread polls,
  // unless the engine documents that it has no thread. Any thread may call it,
  // and several at a time.
  virtual bool Poll() = 0;
  // Hint: no thread is going to poll for a while. The transport's own thread
  // takes over at once; without the hint it would notice after a moment.
  virtual void OnIdle() {}
  // Ends all connections without sending what is kept. No handler runs after
  // it, and none is called for peers that were up. Afterwards Listen and Dial
  // return Unavailable, and all other calls do nothing. Idempotent.
  virtual void Stop() = 0;
};

// Limits on what a peer can cause in this process.
struct TransportLimits {
  uint64_t max_message_bytes = uint64_t{64} << 20;  // header and payload
  // Largest piece of bulk; others may go between pieces.
  uint64_t piece_bytes = 64 << 10;
  absl::Duration close_timeout = absl::Seconds(5);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TRANSPORT_H_
