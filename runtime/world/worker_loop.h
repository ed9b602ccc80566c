//===- worker_loop.h - Order of a worker's work -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WORKER_LOOP_H_
#define RUNTIME_WORLD_WORKER_LOOP_H_

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/clock.h"
#include "runtime/world/delivery.h"
#include "runtime/world/leader_token.h"
#include "runtime/world/notifier.h"
#include "runtime/world/router.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/uplink.h"
#include "runtime/world/worker_set.h"

namespace pathways {

// Decides what a worker does next: which of its messages and timers it handles,
// and how it spins and sleeps without work. Each function is called by the
// thread that runs as the worker `self`.
class WorkerLoop {
 public:
  struct Times {
    TimeNs spin_ns = 0;  // real time that a worker without work spins
    // Rounds of a busy worker between two reads of the clock; a power of two.
    uint32_t rounds_per_clock = kRoundsPerClock;
  };

  // All pointers must outlive this object. `leader_token` is null if there are
  // no followers. Loops end once `stopping` is true.
  WorkerLoop(Times times, const WorldClock* clock, const ActorTable* actors,
             WorkerSet* workers, Router* router, Uplink* uplink,
             Notifier* notifier, LeaderToken* leader_token,
             const std::atomic<bool>* stopping)
      : delivery_(actors, router, uplink),
        num_workers_(workers->size()),
        clock_mask_(times.rounds_per_clock - 1),
        spin_ns_(times.spin_ns),
        stopping_(*stopping),
        clock_(*clock),
        workers_(*workers),
        router_(*router),
        uplink_(*uplink),
        notifier_(*notifier),
        leader_token_(leader_token),
        awake_(workers->size()) {}
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  // Works until the world stops.
  void Run(ThreadWorker& self);
  // Looks once for each kind of work and does it. Returns true if it found any.
  bool Round(ThreadWorker& self);
  // Spins until there is work, and returns true then. Returns false if there
  // was none for spin_ns, or if `is_over` returned true.
  bool Spin(ThreadWorker& self, absl::FunctionRef<bool()> is_over);

 private:
  // Handles messages from the worker itself; returns true if there were any.
  bool RunLocal(ThreadWorker& self);
  // Handles messages from other workers; returns true if there were any.
  bool RunRemote(ThreadWorker& self);
  // Returns true if bulk messages have waited long enough for turns.
  static bool BulkIsDue(ThreadWorker& self);
  // Handles one bulk message, if there is one.
  bool RunBulk(ThreadWorker& self);
  // Handles one kTurn message, which an actor sent to itself, if there is one.
  bool RunTurn(ThreadWorker& self);
  void TakePosted(ThreadWorker& self);
  bool FireTimers(ThreadWorker& self);
  // Spins and then sleeps until there is work.
  void Idle(ThreadWorker& self);
  void Sleep(ThreadWorker& self);
  // Returns true if a worker that may have work was last seen on this worker's
  // core. Spinning would then keep that worker from work that this one waits
  // for.
  bool SharesCore(ThreadWorker& self);

  Delivery delivery_;
  const int num_workers_;
  const uint32_t clock_mask_;
  const TimeNs spin_ns_;
  const std::atomic<bool>& stopping_;
  const WorldClock& clock_;
  WorkerSet& workers_;
  Router& router_;
  Uplink& uplink_;
  Notifier& notifier_;
  LeaderToken* const leader_token_;
  // Workers that do not sleep; counted if the uplink watches for idle times.
  alignas(kLineBytes) std::atomic<int> awake_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORKER_LOOP_H_
