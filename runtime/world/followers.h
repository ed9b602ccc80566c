//===- followers.h - Threads that work while they wait ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_FOLLOWERS_H_
#define RUNTIME_WORLD_FOLLOWERS_H_

#include <atomic>

#include "absl/functional/function_ref.h"
#include "runtime/world/clock.h"
#include "runtime/world/leader_token.h"
#include "runtime/world/notifier.h"
#include "runtime/world/open_calls.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/uplink.h"
#include "runtime/world/worker_loop.h"
#include "runtime/world/worker_set.h"

namespace pathways {

// Threads that work in place of a world's only worker: while they wait in
// RunUntil, and at the end of a call (SendBatching). The thread that holds the
// leader token works; the worker's own thread and all followers compete for it.
// Any thread that is not a worker may call the functions.
class Followers {
 public:
  // All pointers must outlive this object. `spin_ns`: time that a waiting
  // thread polls for the token before it sleeps.
  Followers(TimeNs spin_ns, const WorldClock* clock, LeaderToken* leader_token,
            OpenCalls* calls, WorkerSet* workers, WorkerLoop* loop,
            Uplink* uplink, Notifier* notifier,
            const std::atomic<bool>* stopping)
      : spin_ns_(spin_ns),
        clock_(*clock),
        leader_token_(*leader_token),
        calls_(*calls),
        workers_(*workers),
        loop_(*loop),
        uplink_(*uplink),
        notifier_(*notifier),
        stopping_(*stopping) {}
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  // See SendBatching. A call of a worker has no effect.
  void BeginCall() {
    if (workers_.Self() == nullptr) calls_.Begin();
  }
  void EndCall();
  // Waits like Notifier::Wait, and works meanwhile.
  bool Wait(absl::FunctionRef<bool()> done, TimeNs until);

 private:
  class Visit;

  // Works as the worker until `done` returns true or there is no more work. The
  // caller holds the leader token.
  void Work(absl::FunctionRef<bool()> done);
  void WakeForPosted();

  const TimeNs spin_ns_;
  const WorldClock& clock_;
  LeaderToken& leader_token_;
  OpenCalls& calls_;
  WorkerSet& workers_;
  WorkerLoop& loop_;
  Uplink& uplink_;
  Notifier& notifier_;
  const std::atomic<bool>& stopping_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_FOLLOWERS_H_
