//===- worker_threads.h - Threads of the workers ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WORKER_THREADS_H_
#define RUNTIME_WORLD_WORKER_THREADS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/clock.h"
#include "runtime/world/kernel_gate.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/watchdog.h"
#include "runtime/world/worker_loop.h"
#include "runtime/world/worker_set.h"

namespace pathways {

// The threads of a world's workers, and the supervision of the kernels that
// they run. A thread whose kernel exceeds its limit is given up, and another
// thread takes over its worker; see ThreadWorld. Invariant: at most one thread
// that was not given up runs as each worker.
class WorkerThreads {
 public:
  // All pointers must outlive this object. `on_start` is called on each
  // worker's first thread; it may be null. The stages of the workers must be
  // open. No thread looks at kernels if both times of `watch` are 0.
  WorkerThreads(std::function<void(int worker)> on_start, WatchOptions watch,
                const WorldClock* clock, ActorTable* actors, WorkerSet* workers,
                WorkerLoop* loop);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Starts a thread for each worker, and the watchdog. Returns
  // ResourceExhausted if the system refused a thread; the caller must then stop
  // the loop and call Join.
  absl::Status Start();
  // Waits until all threads have ended. The loop must have been stopped. May be
  // called again.
  void Join();

  // These do what the functions of KernelSupervisor promise.
  KernelGate* const* kernel_gate(int worker) {
    return &gates_[workers_.WorkerOf(worker)];
  }
  void ExpectKernels(int by);

  // Returns the number of threads that were given up.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  // Returns null if kernels are not watched.
  const Watchdog* watchdog() const { return watchdog_.get(); }

 private:
  // Runs the first thread of a worker.
  void Run(ThreadWorker& self);
  // Runs a thread that takes over a worker.
  void Resume(ThreadWorker& self);
  void Work(ThreadWorker& self);
  // Gives up the thread of a worker if it is still in `call`.
  bool GiveUp(int worker, const KernelCall& call);
  static KernelGate* NewGate(ThreadWorker& worker);

  const std::function<void(int worker)> on_start_;
  const WatchOptions watch_;
  const WorldClock& clock_;
  ActorTable& actors_;
  WorkerSet& workers_;
  WorkerLoop& loop_;
  std::vector<KernelGate*> gates_;  // one per worker; owned, unless given up
  std::unique_ptr<Watchdog> watchdog_;
  std::atomic<uint64_t> lost_{0};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORKER_THREADS_H_
