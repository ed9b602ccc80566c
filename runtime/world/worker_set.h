//===- worker_set.h - The workers of a world --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WORKER_SET_H_
#define RUNTIME_WORLD_WORKER_SET_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/thread_worker.h"

namespace pathways {

// Counters of one worker. The numbers may be of slightly different moments if
// they are read while it runs.
struct WorkerStats {
  uint64_t messages = 0;  // messages handled, hot and control
  uint64_t controls = 0;  // control messages, included in `messages`
  uint64_t remote = 0;    // included in `messages`: from other workers
  uint64_t outside = 0;   // messages from threads that are not workers
  uint64_t timers = 0;    // timers that became due
  uint64_t spins = 0;     // idle periods that ended while spinning
  uint64_t sleeps = 0;    // sleeps
  uint64_t wakes = 0;     // sleeping workers that this one woke
};

// The workers of a ThreadWorld, whose number is fixed, and the memory of the
// messages in their mailboxes. Any thread may call the functions, except
// DropAll.
class WorkerSet {
 public:
  static constexpr int kMaxWorkers = 256;

  // Opens the mailboxes of `size` workers, and a stage for each of them if
  // `open_stage` is not null. `seed` is that of their random numbers.
  WorkerSet(int size, uint64_t seed, const StageOpener& open_stage = nullptr);
  WorkerSet(const WorkerSet&) = delete;
  WorkerSet& operator=(const WorkerSet&) = delete;

  int size() const { return size_; }
  ThreadWorker& operator[](int index) { return workers_[index]; }
  const ThreadWorker& operator[](int index) const { return workers_[index]; }
  absl::Span<ThreadWorker> all() {
    return absl::MakeSpan(workers_.get(), size_);
  }
  // Returns the number of the worker for Placement::worker.
  int WorkerOf(int placed) const {
    const int worker = placed % size_;
    return worker < 0 ? worker + size_ : worker;
  }
  // Returns the worker as which this thread runs, or null if it does not run as
  // a worker of this set.
  ThreadWorker* Self() const {
    return this_worker != nullptr && this_worker->set == this ? this_worker
                                                              : nullptr;
  }

  // Adds `messages` (negative to subtract) to the number of messages that may
  // be under way at one time without an allocation.
  void Reserve(int64_t messages);
  void WakeAll();
  // See ThreadWorld::AtRest.
  bool AtRest() const;
  WorkerStats stats(int worker) const;
  // Drops all messages in the mailboxes. No thread may run as a worker.
  void DropAll();

 private:
  const int size_;
  BlockPool pool_;
  std::unique_ptr<ThreadWorker[]> workers_;
  std::atomic<int64_t> reserved_{0};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORKER_SET_H_
