//===- sim_driver.h - Who runs a simulation ---------------------*- C++ -*-===//
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

// One thread at a time drives a simulation, that is, runs its events; this is
// where others leave what they want done. Invariants: (1) calls run one at a
// time, and no event runs beside one; (2) what was posted runs on a thread that
// drives, in the order posted; (3) nothing that is posted once Stop has
// returned, or was left then, ever runs. Owned by a SimWorld. Any thread, but
// for what needs the capability.
class ABSL_LOCKABLE SimDriver {
 public:
  // Whether this thread drives.
  bool IsThisThread() const {
    return driver_.load(std::memory_order_relaxed) ==
           std::this_thread::get_id();
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // From now until Finish this thread drives; waits for the one that does. Runs
  // first what was posted. Not from a thread that drives.
  void Start() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Finish() ABSL_UNLOCK_FUNCTION();
  // Runs what was posted, between two events.
  void RunPosted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    if (has_posted_.load(std::memory_order_acquire)) TakePosted();
  }

  // Leaves `call` to whoever drives next, or does already.
  void Post(std::function<void()> call);
  // Runs `call` before it returns: now, or when the thread that drives has
  // finished.
  void Run(absl::FunctionRef<void()> call);
  // Drops what was posted, and runs `clear` likewise; says at once that it is
  // stopped, so whoever drives finishes soon. More than once does no harm.
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
