//===- thread_worker.h - A worker of a world of threads ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
#include "runtime/world/remote_channel.h"

namespace pathways {

// Rounds of a busy worker between two reads of the clock; a power of two.
inline constexpr uint32_t kRoundsPerClock = 32;

class WorkerSet;

// The state of one worker, which the objects of a ThreadWorld share. Only the
// thread that runs as the worker uses it, apart from the members for which this
// says otherwise.
struct alignas(kLineBytes) ThreadWorker {
  const WorkerSet* set = nullptr;  // the set that this worker belongs to
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
  // 1: the thread has ended, or was never started. Any thread may read it.
  std::atomic<uint32_t> ended{1};
  // Any thread may read the counters.
  struct {
    Counter messages, controls, remote, outside, timers, spins, sleeps, wakes;
  } stats;
  // Odd while the worker rests: it has set its `asleep` flag, found no message
  // after that, and no timer is due. Changes whenever the worker begins or ends
  // to rest. Any thread may read it.
  std::atomic<uint64_t> rests{0};
  // Core on which the worker last had no work; -1 before. Other workers read
  // it.
  alignas(kLineBytes) std::atomic<int> core{-1};
  Mailbox mailbox;

  // Sends the messages that the stage holds.
  void FlushStage() {
    if (!staged) return;
    staged = false;
    stage->Flush();
  }
};

// The worker as which this thread runs, or null.
inline constinit thread_local ThreadWorker* this_worker = nullptr;

// A scope in which this thread runs as a worker: the life of a worker's own
// thread, or the time for which a follower takes its place. The thread may also
// be a worker of another world outside of the scope.
class WorkerScope {
 public:
  explicit WorkerScope(ThreadWorker* self) : before_(this_worker) {
    this_worker = self;
  }
  ~WorkerScope() { this_worker = before_; }
  WorkerScope(const WorkerScope&) = delete;
  WorkerScope& operator=(const WorkerScope&) = delete;

 private:
  ThreadWorker* const before_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_THREAD_WORKER_H_
