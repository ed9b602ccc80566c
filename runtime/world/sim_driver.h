//===- sim_driver.h - The thread that runs a simulation ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_DRIVER_H_
#define RUNTIME_WORLD_SIM_DRIVER_H_

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Ensures that one thread at a time drives a simulation, that is, runs its
// events, and holds calls that other threads want to make. Invariants: (1)
// calls run one at a time, and no event runs during one; (2) posted calls run
// on a thread that drives, in the order posted; (3) a call that was posted
// after Stop returned, or had not run then, never runs. Owned by a SimWorld.
// Functions that need no capability may be called on any thread.
class ABSL_LOCKABLE SimDriver {
 public:
  // Returns true if this thread drives.
  bool IsThisThread() const {
    return driver_.load(std::memory_order_relaxed) ==
           std::this_thread::get_id();
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Makes this thread drive until Finish; waits for another thread that drives.
  // First runs the posted calls. Must not be called by a thread that drives.
  void Start() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Finish() ABSL_UNLOCK_FUNCTION();
  // Runs the posted calls, between two events.
  void RunPosted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    if (has_posted_.load(std::memory_order_acquire)) TakePosted();
  }

  // Leaves `call` to the thread that drives now or next.
  void Post(std::function<void()> call);
  // Runs `call` before it returns: at once if this thread drives, otherwise
  // when no thread drives.
  void Run(absl::FunctionRef<void()> call);
  // Drops the posted calls and runs `clear` as Run does. Sets stopped() first,
  // so that the driving thread finishes soon. May be called more than once.
  void Stop(absl::FunctionRef<void()> clear);

 private:
  void TakePosted();

  Mutex drive_;  // held by the thread that drives
  std::atomic<std::thread::id> driver_{};
  std::atomic<bool> stopped_{false};
  Mutex posted_mutex_;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(posted_mutex_);
  std::atomic<bool> has_posted_{false};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_DRIVER_H_
