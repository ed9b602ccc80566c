//===- mailbox.h - Queues and timers of one worker --------------*- C++ -*-===//
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

// A message posted by a thread that is not a worker, or the body of a kLater
// envelope.
struct Posted {
  TimeNs deadline;  // negative: not a timer
  Envelope envelope;
};

// Messages of one queue do not wait for those of another queue. Each message of
// kTurnQueue may take long to handle.
enum MailboxQueue { kDirectQueue, kBulkQueue, kTurnQueue, kNumQueues };

// The queues of one worker, its owner, and the state of its sleep. Each worker
// pushes messages into queues of its own here; other threads post messages to
// an inbox. Only the owner may call the other functions, except asleep and
// Wake. Invariants: (1) messages that one worker pushes into a queue, and
// messages that one thread posts, come out in order; (2) a push takes no lock,
// and no memory except blocks of the pool; (3) an owner that sleeps or is about
// to does not miss a message, if the thread that pushed it then calls Wake when
// asleep returns true. What the messages own stays here until DropAll.
class Mailbox {
 public:
  // Posts for which memory is reserved. The inbox grows when the owner does not
  // run for a while and a client continues to launch.
  static constexpr size_t kPostedAtOnce = 256;
  // Opens the queues for workers 0 to workers - 1, one of which is `owner`.
  void Open(BlockPool* pool, int owner, int workers);

  // Pushes a message from the worker `from`. The owner itself uses PushOwn,
  // which is faster.
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
  // Posts messages: the owner finds all of them or none. Wakes the owner,
  // unless `quietly` is true; then the caller must. Returns false, and keeps
  // nothing, if `closed` is true. The thread that sets `closed` then calls
  // DropAll, which drops all earlier posts.
  bool PostAll(absl::Span<const Posted> posted, const std::atomic<bool>& closed,
               bool quietly = false);
  bool Post(const Posted& posted, const std::atomic<bool>& closed,
            bool quietly = false) {
    return PostAll(absl::MakeConstSpan(&posted, 1), closed, quietly);
  }

  // Returns the first message from a worker, valid until Pop, or null if there
  // is none. For messages from the owner itself FrontOwn and PopOwn are faster.
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
  // Returns the posted messages, valid until the next call.
  const std::vector<Posted>& TakePosted();
  // Returns true if no message was pushed or posted.
  bool empty() const;

  void AddTimer(TimeNs deadline, const Envelope& envelope);
  // Returns the deadline of the first timer, or null if there is none.
  const TimeNs* first_timer() const {
    return timers_.empty() ? nullptr : &timers_.front().deadline;
  }
  bool TimerDue(TimeNs now) const {
    return !timers_.empty() && timers_.front().deadline <= now;
  }
  // Removes the earliest timer, which must exist. Timers of one deadline come
  // out in the order added.
  Envelope TakeTimer();

  // Sleeps until a thread wakes the owner, but at most for the time that
  // `timeout` returns; negative means no limit. `timeout` is called once Wake
  // has an effect. The owner does not sleep if `timeout` returns 0 or a message
  // has come.
  template <typename F>
  void Sleep(F timeout);
  // The parts of Sleep, for a thread that takes the place of a sleeping owner.
  // From LieDown to GetUp, Wake rings the bell. That ends an AwaitBell,
  // including one that begins later with a bell number read before the ring.
  void LieDown() { asleep_.store(1, std::memory_order_seq_cst); }
  void GetUp() { asleep_.store(0, std::memory_order_seq_cst); }
  uint32_t bell() const { return bell_.load(std::memory_order_seq_cst); }
  void AwaitBell(uint32_t bell, TimeNs limit) { FutexWait(bell_, bell, limit); }
  void Ring() {
    bell_.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(bell_, 1);
  }
  bool asleep() const { return asleep_.load(std::memory_order_seq_cst) != 0; }
  // Like asleep, but the value may be out of date.
  bool seems_asleep() const {
    return asleep_.load(std::memory_order_relaxed) != 0;
  }
  void Wake() {
    // If several threads want to wake the owner, one of them makes the system
    // call.
    if (asleep_.exchange(0, std::memory_order_seq_cst) != 0) Ring();
  }

  // Empties all queues with `drop`. Meanwhile no other thread may call anything
  // but Post and PostAll.
  void DropAll(void (*drop)(const Envelope& envelope));

 private:
  struct Timer {
    TimeNs deadline;
    uint64_t number;
    Envelope envelope;

    // Orders a heap with the earliest timer on top.
    bool operator<(const Timer& other) const {
      if (deadline != other.deadline) return deadline > other.deadline;
      return number > other.number;
    }
  };

  BlockPool* pool_ = nullptr;
  int owner_ = 0, workers_ = 0;
  LocalQueue own_[kNumQueues];
  std::unique_ptr<RemoteQueue[]> remote_[kNumQueues];  // by sending worker
  std::vector<Timer> timers_;                          // heap
  uint64_t next_timer_ = 0;
  std::vector<Posted> taken_;  // posts being handled; swaps memory with inbox_
  // Written by other threads.
  alignas(64) std::atomic<uint32_t> asleep_{0};  // 1: asleep or about to be
  std::atomic<uint32_t> bell_{0};                // number of rings
  alignas(64) std::atomic<bool> has_posted_{false};
  Mutex mutex_;
  std::vector<Posted> inbox_ ABSL_GUARDED_BY(mutex_);
};

// No wake-up is lost: a sender publishes its message and then reads `asleep_`;
// Sleep sets `asleep_` and then looks for messages. All four operations are
// sequentially consistent, so at least one side sees what the other did. The
// same holds for the inbox and for everything that `timeout` reads.
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
