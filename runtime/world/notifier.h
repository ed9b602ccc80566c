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

#include "absl/functional/function_ref.h"
#include "runtime/world/world.h"

namespace pathways {

// What World::RunUntil waits on and World::Notify moves. Any thread; to notify
// costs no system call when nobody sleeps. Invariant: a wait looks at its
// condition at first and after each Notify.
class Notifier {
 public:
  // Returns once `done`, which the calling thread runs, or `stopping` is true:
  // whether `done` was. Whoever sets `stopping` notifies then. The thread looks
  // again and again for `spin_ns` before it sleeps.
  bool Wait(absl::FunctionRef<bool()> done, const std::atomic<bool>& stopping,
            TimeNs spin_ns);
  void Notify();
  // Whether a thread waits that does not sleep yet.
  bool spinning() const {
    return spinning_.load(std::memory_order_relaxed) != 0;
  }
  // Whether one may be on this core: the only one is where it last looked, of
  // several nobody knows.
  bool spinning_on(int core) const {
    const uint32_t threads = spinning_.load(std::memory_order_relaxed);
    return threads > 1 ||
           (threads == 1 && spins_on_.load(std::memory_order_relaxed) == core);
  }
  // Whether those that spin have looked since the last Notify: the only one; of
  // several nobody knows.
  bool has_looked() const {
    return spinning_.load(std::memory_order_relaxed) == 1 &&
           looked_.load(std::memory_order_relaxed) ==
               epoch_.load(std::memory_order_relaxed);
  }
  // Whether one sleeps, or is about to.
  bool waiting() const { return waiters_.load(std::memory_order_relaxed) != 0; }
  // Whether a thread was woken that has not run since: perhaps it waits for the
  // core of the thread that asks.
  bool waking() const {
    return sleepers_.load(std::memory_order_relaxed) >= kOneWoken;
  }

 private:
  static constexpr uint64_t kOneWoken = uint64_t{1} << 32;

  void Sleep(uint32_t epoch);

  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> waiters_{0};
  // Those that sleep, or are about to; in the upper half those of them that
  // were woken.
  std::atomic<uint64_t> sleepers_{0};
  std::atomic<uint32_t> spinning_{0};
  std::atomic<uint32_t> looked_{0};  // epoch_, before the last one looked
  std::atomic<int> spins_on_{-1};    // where the last one was that has moved
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_NOTIFIER_H_
