//===- run_guard.h - Gate for threads that can be shut ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_RUN_GUARD_H_
#define RUNTIME_TRANSPORT_RUN_GUARD_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Lets threads in until it is shut. Thread-safe. Invariants: (1) after Shut has
// returned, no thread is inside, and none gets in; (2) Enter takes no lock
// while the gate is open.
class RunGuard {
 public:
  // Returns false if the gate is shut. Otherwise the caller must call Leave.
  bool Enter() {
    if (!(state_.fetch_add(kOne) & kShut)) return true;
    Leave();
    return false;
  }
  void Leave() {
    if (state_.fetch_sub(kOne) != (kOne | kShut)) return;
    // Shut may be waiting. Its caller may destroy this object as soon as the
    // lock is free.
    MutexLock lock(&mutex_);
    empty_ = true;
    changed_.notify_all();
  }
  // Shuts the gate and waits until no thread is inside. Must not be called from
  // inside. Idempotent.
  void Shut() {
    if ((state_.fetch_or(kShut) & ~kShut) == 0) return;
    MutexLock lock(&mutex_);
    while (!empty_) changed_.wait(mutex_);
  }
  bool is_shut() const { return state_.load() & kShut; }

 private:
  static constexpr uint32_t kShut = 1;
  static constexpr uint32_t kOne = 2;  // one thread inside

  std::atomic<uint32_t> state_{0};
  Mutex mutex_;
  std::condition_variable_any changed_;
  // No thread is left since it was shut.
  bool empty_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_RUN_GUARD_H_
