//===- thread_worker.h - A worker of a ThreadWorld --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included only by the files of ThreadWorld.
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

// Rounds of a busy worker between two reads of the clock; a power of two.
inline constexpr uint32_t kRoundsPerClock = 32;

struct alignas(kLineBytes) ThreadWorld::Worker {
  ThreadWorld* world = nullptr;
  int index = 0;
  uint32_t rounds = 0;
  SplitMix random{0};
  // Place of the message that is being handled: its queue, and the worker that
  // sent it.
  MailboxQueue queue = kDirectQueue;
  int serving = 0;
  int next_bulk = 0;       // worker whose bulk message is handled next
  uint32_t quiet = 0;      // rounds since a message came from elsewhere
  uint32_t passed_by = 0;  // rounds since a bulk message was looked for
  bool turned = false;     // the last round handled a kTurn message
  TimeNs last_bulk = 0;    // last time that BulkIsDue allowed a bulk message
  bool polls = false;  // inside RemoteChannel::poll: sends for other processes
  // Polls without work since the worker last yielded its core.
  uint32_t not_yielded = 0;
  bool staged = false;  // the stage holds messages
  // Null if the remote_channel has no stages.
  std::unique_ptr<UplinkStage> stage;
  std::thread thread;  // changed only by the watchdog until that has ended
  // 1: the thread has ended, or was never started.
  std::atomic<uint32_t> ended{1};
  struct {
    Counter messages, controls, remote, outside, timers, spins, sleeps, wakes;
  } stats;
  // Odd while the worker rests: it has set its `asleep` flag, found no message
  // after that, and no timer is due. Changes whenever the worker begins or ends
  // to rest.
  std::atomic<uint64_t> rests{0};
  // Core on which the worker last had no work; -1 before. Other workers read
  // it.
  alignas(kLineBytes) std::atomic<int> core{-1};
  Mailbox mailbox;
};

// The worker as which this thread runs, or null. A worker's own thread sets it
// for its whole life, a follower for the time of its visit.
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
