//===- leader_token.h - Token of the thread that works ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_LEADER_TOKEN_H_
#define RUNTIME_WORLD_LEADER_TOKEN_H_

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/functional/function_ref.h"
#include "runtime/world/mailbox.h"
#include "runtime/world/world.h"

namespace pathways {

// The right to work in place of a world's only worker. The worker's own thread
// gives the token up while it has nothing to do, for followers: threads that
// would otherwise wait for the worker (leader and followers, Schmidt et al.,
// Pattern-Oriented Software Architecture 2). Invariants: (1) at most one thread
// holds the token; (2) while no thread holds it, a message posted to the
// worker's mailbox, or a timer due there, makes the own thread take it; (3) a
// thread that wakes the mailbox while a follower holds the token has woken the
// own thread when the follower gives the token up. The own thread holds the
// token first.
class LeaderToken {
 public:
  explicit LeaderToken(Mailbox* mailbox) : mailbox_(*mailbox) {}

  // Sleeps like Mailbox::Sleep, but gives the token up meanwhile; before it
  // returns, it waits until followers have given the token back. Called by the
  // own thread, which must hold the token. `limit_of` returns how long to wait
  // for a timer due at a time, 0 if it is due now; it must not return 0 for
  // kNever, which means that there is no timer.
  void Park(absl::FunctionRef<TimeNs(TimeNs deadline)> limit_of);
  // Returns true if a follower wants the token.
  bool wanted() const { return wanting_.load(std::memory_order_relaxed) != 0; }

  // Called by a follower. Returns true if it now holds the token.
  bool TryTake();
  void BeginWait() { wanting_.fetch_add(1, std::memory_order_relaxed); }
  void EndWait() { wanting_.fetch_sub(1, std::memory_order_relaxed); }
  // Gives the token up. The own thread continues if there is a message or if
  // `is_due` returns true. `is_due` gets the deadline of the first timer, and
  // is called only once waking the mailbox wakes the own thread.
  void Leave(absl::FunctionRef<bool(TimeNs deadline)> is_due);

  static constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

 private:
  bool Take() { return !taken_.exchange(true, std::memory_order_seq_cst); }
  TimeNs FirstTimer() const;

  Mailbox& mailbox_;
  alignas(64) std::atomic<bool> taken_{true};
  std::atomic<uint32_t> wanting_{0};
  // Deadline of the first timer when the last holder gave the token up, and the
  // deadline for which the own thread wakes by itself.
  std::atomic<TimeNs> deadline_{kNever}, parked_until_{kNever};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LEADER_TOKEN_H_
