//===- leader_token.cc - Token of the thread that works -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/leader_token.h"

namespace pathways {

TimeNs LeaderToken::FirstTimer() const {
  const TimeNs* first = mailbox_.first_timer();
  return first == nullptr ? kNever : *first;
}

void LeaderToken::Park(absl::FunctionRef<TimeNs(TimeNs deadline)> limit_of) {
  uint32_t bell = mailbox_.bell();
  mailbox_.LieDown();
  TimeNs deadline = FirstTimer();
  TimeNs limit = mailbox_.empty() ? limit_of(deadline) : 0;
  if (limit == 0) return mailbox_.GetUp();
  deadline_.store(deadline, std::memory_order_seq_cst);
  parked_until_.store(deadline, std::memory_order_seq_cst);
  taken_.store(false, std::memory_order_seq_cst);
  while (true) {
    mailbox_.AwaitBell(bell, limit);
    bell = mailbox_.bell();
    if (Take()) return mailbox_.GetUp();
    // A follower holds the token and rings for the work that it leaves. The
    // follower writes deadline_ and then reads parked_until_; this thread
    // writes parked_until_ and then reads deadline_.
    do {
      deadline = deadline_.load(std::memory_order_seq_cst);
      limit = limit_of(deadline);
      if (limit == 0) {
        deadline = kNever;
        limit = -1;
      }
      parked_until_.store(deadline, std::memory_order_seq_cst);
    } while (limit >= 0 &&
             deadline != deadline_.load(std::memory_order_seq_cst));
  }
}

bool LeaderToken::TryTake() {
  if (taken_.load(std::memory_order_seq_cst) || !Take()) return false;
  mailbox_.GetUp();
  return true;
}

void LeaderToken::Leave(absl::FunctionRef<bool(TimeNs deadline)> is_due) {
  mailbox_.LieDown();
  const TimeNs deadline = FirstTimer();
  const bool is_left = !mailbox_.empty();
  deadline_.store(deadline, std::memory_order_seq_cst);
  taken_.store(false, std::memory_order_seq_cst);
  // From here on other threads may hold the token. A thread that was woken
  // before this found it taken.
  if (is_left || mailbox_.has_posted() || is_due(deadline) ||
      deadline < parked_until_.load(std::memory_order_seq_cst)) {
    mailbox_.Ring();
  }
}

}  // namespace pathways
