//===- in_process_link.h - One connection inside a process ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_TESTING_IN_PROCESS_LINK_H_
#define RUNTIME_TRANSPORT_TESTING_IN_PROCESS_LINK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/base/steady_time.h"
#include "runtime/transport/transport.h"

namespace pathways {

// The two ends of a connection between two transports of one process.
// Thread-safe. Invariants: (1) bytes that one side sends wait here until the
// other side's Deliver takes them; (2) memory that a side expects or lends is
// touched only under the lock, and not after that side has ended; (3) handlers
// are called without the lock, those of one side one at a time. Shared by the
// two transports.
class InProcessLink {
 public:
  // The side that dialed, and the side that listened.
  enum Side { kDialed, kListened };

  InProcessLink(const TransportLimits& dialed, const TransportLimits& listened)
      : ends_{End{dialed}, End{listened}} {
    ends_[kListened].announce = true;
  }

  void Send(Side side, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload);
  void Expect(Side side, uint64_t token, void* memory, uint64_t bytes);
  // Returns false, without taking `*sent`, if the side has ended.
  bool Put(Side side, uint64_t token, absl::Span<const char> bytes,
           std::function<void()>* sent);
  uint64_t backlog(Side side) const;
  void Close(Side side);
  // Ends the link because the side's transport stops. Nothing more is delivered
  // to either side.
  void Leave(Side side);

  // Moves one message, or one piece of a payload, and reports it to `events`,
  // which know the other side as `peer`. Returns false if there was nothing to
  // move, or another thread is in this call.
  bool Deliver(Side side, PeerId peer, TransportEvents* events);
  // Returns true if OnPeerDown or Leave was called.
  bool has_ended(Side side) const;

 private:
  using Call = std::function<void(PeerId peer, TransportEvents* events)>;
  struct Message {
    std::string header, payload;
  };
  struct Lent {
    uint64_t token;
    absl::Span<const char> bytes;
    std::function<void()> sent;
    uint64_t moved = 0;
  };
  struct End {
    explicit End(const TransportLimits& l) : limits(l) {}
    TransportLimits limits;
    bool announce = false;  // OnPeerUp must still be called
    bool calling = false;   // a handler runs
    bool closing = false;
    bool ended = false;
    SteadyTime progress;  // last progress of its sends, while it closes
    std::optional<absl::Status> why;  // set: it is down, and OnPeerDown follows

    // Messages and payloads that it sent and the other side has not taken.
    std::deque<Message> critical, bulk;
    std::deque<Lent> lent;
    bool bulk_next = false;  // bulk messages and pieces take turns
    uint64_t bytes = 0;      // of all of these

    std::map<uint64_t, absl::Span<char>> expected;
    std::deque<std::function<void()>> sent;  // callbacks that must be called
  };

  // Returns the next notification of `side`, or null. Sets `*moved` to true if
  // bytes were moved.
  Call Next(Side side, bool* moved) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Call NextArrival(Side side, bool* moved)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Call NextPiece(Side side) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Call TakeMessage(std::deque<Message>* queue, End* from)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the connection because `side` violated the contract.
  void Break(Side side, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeDown(End* end, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishClosing(Side side) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool IsEmpty(const End& end) {
    return end.critical.empty() && end.bulk.empty() && end.lent.empty();
  }
  static Side Other(Side side) { return side == kDialed ? kListened : kDialed; }

  mutable Mutex mutex_;
  End ends_[2] ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TESTING_IN_PROCESS_LINK_H_
