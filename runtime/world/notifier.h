//===- notifier.h - Threads that wait for a condition -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_NOTIFIER_H_
#define RUNTIME_WORLD_NOTIFIER_H_

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/functional/function_ref.h"
#include "runtime/world/world.h"

namespace pathways {

// The condition variable of World::RunUntil and World::Notify. Thread-safe;
// Notify makes no system call when no thread sleeps. Invariant: a waiting
// thread evaluates its condition at first and after each Notify.
class Notifier {
 public:
  static constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

  // Waits until `done` or `stopping` is true or SteadyClock reaches `until`,
  // and returns the last value of `done`, which runs on the calling thread. The
  // thread that sets `stopping` must call Notify. The waiting thread polls for
  // `spin_ns` before it sleeps.
  bool Wait(absl::FunctionRef<bool()> done, const std::atomic<bool>& stopping,
            TimeNs spin_ns, TimeNs until = kNever);
  void Notify();
  // Returns true if a thread polls its condition and does not sleep yet.
  bool spinning() const {
    return spinning_.load(std::memory_order_relaxed) != 0;
  }
  // Returns true if a polling thread may be on this core. The place of a single
  // thread is known from its last poll; of several threads none is known.
  bool spinning_on(int core) const {
    const uint32_t threads = spinning_.load(std::memory_order_relaxed);
    return threads > 1 ||
           (threads == 1 && spins_on_.load(std::memory_order_relaxed) == core);
  }
  // Returns true if a thread sleeps or is about to.
  bool waiting() const { return waiters_.load(std::memory_order_relaxed) != 0; }
  // Returns true if a thread was woken and has not run since. It may be waiting
  // for the core of the calling thread.
  bool waking() const {
    return sleepers_.load(std::memory_order_relaxed) >= kOneWoken;
  }

 private:
  static constexpr uint64_t kOneWoken = uint64_t{1} << 32;

  void Sleep(uint32_t epoch, TimeNs limit_ns);

  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> waiters_{0};
  // Lower half: threads that sleep or are about to, and were not woken. Upper
  // half: threads that were woken and have not run since.
  std::atomic<uint64_t> sleepers_{0};
  std::atomic<uint32_t> spinning_{0};
  std::atomic<int> spins_on_{-1};  // core of the polling thread that moved last
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_NOTIFIER_H_
