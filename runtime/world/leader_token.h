//===- leader_token.h - Who works for a world of one worker -----*- C++ -*-===//
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

// A worker's leader token, which its own thread leaves while it has nothing to
// do, for followers: threads that would otherwise wait for what it does (leader
// and followers, Schmidt et al., Pattern-Oriented Software Architecture 2).
// Invariants: (1) one thread has the leader token, or none; (2) when none has
// it, what was posted to the worker's mailbox, or is due there, has the own
// thread take it; (3) whoever wakes the mailbox while a follower has it has
// woken the own thread when that has left. The own thread has it first.
class LeaderToken {
 public:
  explicit LeaderToken(Mailbox* mailbox) : mailbox_(*mailbox) {}

  // By the own thread, which has the leader token: as Mailbox::Sleep, but
  // others may have the leader token meanwhile, and it waits for them at the
  // end. `limit_of`: how long until a time of timers, never 0 for `kNever`,
  // which is none; 0: now.
  void Park(absl::FunctionRef<TimeNs(TimeNs deadline)> limit_of);
  // Whether a follower would like to have it.
  bool wanted() const { return wanting_.load(std::memory_order_relaxed) != 0; }

  // By a follower. True: it has the leader token.
  bool TryTake();
  void BeginWait() { wanting_.fetch_add(1, std::memory_order_relaxed); }
  void EndWait() { wanting_.fetch_sub(1, std::memory_order_relaxed); }
  // The own thread goes on if there is a message, or if `is_due`, which is
  // asked once whoever wakes the mailbox wakes that, with the time of the first
  // timer.
  void Leave(absl::FunctionRef<bool(TimeNs deadline)> is_due);

  static constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

 private:
  bool Take() { return !taken_.exchange(true, std::memory_order_seq_cst); }
  TimeNs FirstTimer() const;

  Mailbox& mailbox_;
  alignas(64) std::atomic<bool> taken_{true};
  std::atomic<uint32_t> wanting_{0};
  // The first timer, as who had the leader token last has left it, and the one
  // for which the own thread wakes by itself.
  std::atomic<TimeNs> deadline_{kNever}, parked_until_{kNever};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LEADER_TOKEN_H_
