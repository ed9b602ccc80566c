//===- thread_worker.h - A worker of a ThreadWorld --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the files of ThreadWorld alone.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_THREAD_WORKER_H_
#define RUNTIME_WORLD_THREAD_WORKER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "runtime/base/counter.h"
#include "runtime/base/line_allocator.h"
#include "runtime/world/mailbox.h"
#include "runtime/world/mix.h"
#include "runtime/world/thread_world.h"

namespace pathways {

// Rounds of a busy worker between two looks at the clock, a power of two.
inline constexpr uint32_t kRoundsPerClock = 32;

inline MailboxQueue QueueOf(const LocalMessage& message) {
  return (message.flags & kTurn) != 0 ? kTurnQueue : kDirectQueue;
}

struct alignas(kLineBytes) ThreadWorld::Worker {
  ThreadWorld* world = nullptr;
  int index = 0;
  uint32_t rounds = 0;
  SplitMix random{0};
  // Where the message lies that is being handled: its queue, and the worker it
  // came from.
  MailboxQueue queue = kDirectQueue;
  int serving = 0;
  int next_bulk = 0;         // the worker whose bulk message comes next
  uint32_t quiet = 0;        // rounds since something came from elsewhere
  uint32_t passed_by = 0;    // rounds since one was looked for
  bool turned = false;       // the last round had a kTurn
  TimeNs last_bulk = 0;      // when one was looked for because of that
  bool polls = false;        // is in RemoteChannel::poll: it sends for others
  uint32_t not_yielded = 0;  // rounds without work since it let others run
  bool staged = false;       // the stage keeps something
  std::unique_ptr<UplinkStage> stage;  // null: the remote_channel has none
  std::thread thread;  // changed by the watchdog's alone, until that has ended
  std::atomic<uint32_t> ended{1};  // its thread, or there is none
  struct {
    Counter messages, controls, remote, outside, timers, spins, sleeps, wakes;
  } stats;
  // Odd while the worker rests: it found no message after it had lain down, and
  // no timer is due. Changes whenever it begins or ends to rest.
  std::atomic<uint64_t> rests{0};
  // Read by others: the core it was on when it last had no work; -1: none yet.
  alignas(kLineBytes) std::atomic<int> core{-1};
  Mailbox mailbox;
};

// The worker that this thread is, if it is one: for all its life, but where it
// is a follower's.
inline constinit thread_local void* this_worker = nullptr;

inline ThreadWorld::Worker* ThreadWorld::Self() const {
  Worker* worker = static_cast<Worker*>(this_worker);
  return worker != nullptr && worker->world == this ? worker : nullptr;
}

template <typename T>
void ThreadWorld::Route(Worker& self, MailboxQueue queue, Envelope::Kind kind,
                        const T& body, ActorId from, LocalId to) {
  const int32_t target = actors_.hot(IndexOf(to)).worker;
  if (target == self.index) {
    self.mailbox.PushOwn(queue, kind, body, from, to);
    return;
  }
  Mailbox& other = workers_[target].mailbox;
  other.Push(queue, self.index, kind, body, from, to);
  if (other.asleep()) {
    self.stats.wakes.Add(1);
    other.Wake();
  }
}

}  // namespace pathways

#endif  // RUNTIME_WORLD_THREAD_WORKER_H_
