//===- mailbox.h - What is under way to a worker ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_MAILBOX_H_
#define RUNTIME_WORLD_MAILBOX_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/world/futex.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/world.h"

namespace pathways {

// Sent by a thread that is not a worker; or, when a message is kept, what its
// envelope points to.
struct Posted {
  TimeNs deadline;  // negative: not a timer
  Envelope envelope;
};

// Messages of one queue do not stand behind those of another one. kTurnQueue:
// each may take long.
enum MailboxQueue { kDirectQueue, kBulkQueue, kTurnQueue, kNumQueues };

// The queues of one worker, its owner, and its sleep. A worker pushes messages
// into queues that are its own here, one in each queue; other threads post
// them. All else is the owner's but for asleep and Wake. Invariants: (1) what
// one worker pushes into a queue, and what one thread posts, comes out in
// order; (2) to push takes no lock and no memory but blocks of the pool; (3) an
// owner that sleeps, or is about to, does not miss what is pushed or posted, if
// who pushed then wakes whom he finds asleep. What envelopes own stays there
// until DropAll.
class Mailbox {
 public:
  // Memory is set aside for so many posts, as when the owner does not run for a
  // while and a client goes on with launches.
  static constexpr size_t kPostedAtOnce = 256;
  // For workers 0 to workers - 1, of which `owner` is one.
  void Open(BlockPool* pool, int owner, int workers);

  // By the worker `from`; by the owner itself PushOwn, which is faster.
  template <typename T>
  void Push(MailboxQueue queue, int from, Envelope::Kind kind, const T& body,
            ActorId sender, LocalId to) {
    if (from == owner_) {
      own_[queue].Push(*pool_, kind, body, sender, to);
    } else {
      remote_[queue][from].Push(*pool_, kind, body, sender, to);
    }
  }
  template <typename T>
  void PushOwn(MailboxQueue queue, Envelope::Kind kind, const T& body,
               ActorId sender, LocalId to) {
    own_[queue].Push(*pool_, kind, body, sender, to);
  }
  // The owner finds all of them or none, and is woken, unless who posts sees to
  // it (`quietly`). False: `closed` is true, and nothing was kept; DropAll by
  // who set it leaves nothing behind.
  bool PostAll(absl::Span<const Posted> posted, const std::atomic<bool>& closed,
               bool quietly = false);
  bool Post(const Posted& posted, const std::atomic<bool>& closed,
            bool quietly = false) {
    return PostAll(absl::MakeConstSpan(&posted, 1), closed, quietly);
  }

  // The first message from a worker, which stays valid until Pop; null: none.
  // From the owner itself FrontOwn and PopOwn are faster.
  Envelope* Front(MailboxQueue queue, int from) {
    return from == owner_ ? FrontOwn(queue)
                          : remote_[queue][from].Front(*pool_);
  }
  void Pop(MailboxQueue queue, int from) {
    if (from == owner_) {
      PopOwn(queue);
    } else {
      remote_[queue][from].Pop();
    }
  }
  Envelope* FrontOwn(MailboxQueue queue) { return own_[queue].Front(*pool_); }
  void PopOwn(MailboxQueue queue) { own_[queue].Pop(); }
  bool has_posted() const {
    return has_posted_.load(std::memory_order_seq_cst);
  }
  // What was posted, until the next call.
  const std::vector<Posted>& TakePosted();
  // Whether anything was pushed or posted.
  bool empty() const;

  void AddTimer(TimeNs deadline, const Envelope& envelope);
  // Null: there is none.
  const TimeNs* first_timer() const {
    return timers_.empty() ? nullptr : &timers_.front().deadline;
  }
  bool TimerDue(TimeNs now) const {
    return !timers_.empty() && timers_.front().deadline <= now;
  }
  // The earliest, of which there is one. Of those of one time the first added.
  Envelope TakeTimer();

  // Sleeps until somebody wakes the owner, for as long as `timeout` returns;
  // negative: no limit. Asked once Wake has an effect; when it returns 0, and
  // when there is a message, the owner does not sleep.
  template <typename F>
  void Sleep(F timeout);
  // What Sleep is made of, for who becomes the owner of one that sleeps. From
  // LieDown to GetUp Wake has an effect: a ring of the bell, which ends an
  // AwaitBell, also one that begins after, if its number is of before.
  void LieDown() { asleep_.store(1, std::memory_order_seq_cst); }
  void GetUp() { asleep_.store(0, std::memory_order_seq_cst); }
  uint32_t bell() const { return bell_.load(std::memory_order_seq_cst); }
  void AwaitBell(uint32_t bell, TimeNs limit) { FutexWait(bell_, bell, limit); }
  void Ring() {
    bell_.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(bell_, 1);
  }
  bool asleep() const { return asleep_.load(std::memory_order_seq_cst) != 0; }
  // asleep, perhaps of a moment ago.
  bool seems_asleep() const {
    return asleep_.load(std::memory_order_relaxed) != 0;
  }
  void Wake() {
    // Of several who want to, one makes the system call.
    if (asleep_.exchange(0, std::memory_order_seq_cst) != 0) Ring();
  }

  // Empties all with `drop`. No other thread is in here but to post.
  void DropAll(void (*drop)(const Envelope& envelope));

 private:
  struct Timer {
    TimeNs deadline;
    uint64_t number;
    Envelope envelope;

    // For a heap with the earliest on top.
    bool operator<(const Timer& other) const {
      if (deadline != other.deadline) return deadline > other.deadline;
      return number > other.number;
    }
  };

  BlockPool* pool_ = nullptr;
  int owner_ = 0, workers_ = 0;
  LocalQueue own_[kNumQueues];
  std::unique_ptr<RemoteQueue[]> remote_[kNumQueues];  // by sending worker
  std::vector<Timer> timers_;                          // a heap
  uint64_t next_timer_ = 0;
  std::vector<Posted> taken_;  // the inbox's memory, taken in turn
  // Written by others.
  alignas(64) std::atomic<uint32_t> asleep_{0};  // 1: or about to be
  std::atomic<uint32_t> bell_{0};                // how often it rang
  alignas(64) std::atomic<bool> has_posted_{false};
  Mutex mutex_;
  std::vector<Posted> inbox_ ABSL_GUARDED_BY(mutex_);
};

// No wake-up is lost: a sender publishes its message, then reads `asleep_`;
// this sets `asleep_`, then looks for messages. All four are sequentially
// consistent, so at least one of the two sees what the other did. The same
// holds for the inbox, and for what `timeout` looks at.
template <typename F>
void Mailbox::Sleep(F timeout) {
  const uint32_t number = bell();
  LieDown();
  if (empty()) {
    const TimeNs limit = timeout();
    if (limit != 0) AwaitBell(number, limit);
  }
  GetUp();
}

}  // namespace pathways

#endif  // RUNTIME_WORLD_MAILBOX_H_
