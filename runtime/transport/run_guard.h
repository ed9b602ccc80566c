//===- run_guard.h - Threads inside, and an end of them ---------*- C++ -*-===//
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
// returned nobody is inside, and nobody gets in; (2) Enter costs no lock.
class RunGuard {
 public:
  // False: it is shut. Else Leave has to follow.
  bool Enter() {
    if (!(state_.fetch_add(kOne) & kShut)) return true;
    Leave();
    return false;
  }
  void Leave() {
    if (state_.fetch_sub(kOne) != (kOne | kShut)) return;
    // Shut may have gone to wait. Its caller may destroy this as soon as the
    // lock is free.
    MutexLock lock(&mutex_);
    empty_ = true;
    changed_.notify_all();
  }
  // Not from inside. Idempotent.
  void Shut() {
    if ((state_.fetch_or(kShut) & ~kShut) == 0) return;
    MutexLock lock(&mutex_);
    while (!empty_) changed_.wait(mutex_);
  }
  bool is_shut() const { return state_.load() & kShut; }

 private:
  static constexpr uint32_t kShut = 1;
  static constexpr uint32_t kOne = 2;  // a thread inside

  std::atomic<uint32_t> state_{0};
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool empty_ ABSL_GUARDED_BY(mutex_) = false;  // since it was shut
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_RUN_GUARD_H_
