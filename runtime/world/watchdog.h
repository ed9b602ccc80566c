//===- watchdog.h - Finds kernels that do not return ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that looks at the gates of all workers now and then. It counts looks
// rather than trust two readings of the clock: a process that was stopped and
// goes on has lost no worker.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WATCHDOG_H_
#define RUNTIME_WORLD_WATCHDOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "runtime/world/clock.h"
#include "runtime/world/kernel_gate.h"
#include "runtime/world/world.h"

namespace pathways {

struct WatchOptions {
  // A kernel is reported when it was in the gate for this long, once; 0: never.
  TimeNs report_ns = 0;
  // When a kernel was there for this long, its worker's thread is given up; 0:
  // never.
  TimeNs limit_ns = 0;
  // All are called on the watchdog's thread and must not wait for what a worker
  // does. `ns`: how long the kernel has been there at least.
  std::function<void(const KernelCall& call, TimeNs ns)> on_long;
  // The actors that die with a thread in this kernel: all that may be half
  // changed, and all of its worker, among them the one whose handler it is.
  std::function<std::vector<LocalId>(const KernelCall& call)> victims;
  // They are dead, and the others of the worker go on. May send.
  std::function<void(const KernelCall& call)> on_lost;
};

// Looks four times in the shorter of the two times, though at most once in a
// millisecond, so that a kernel is found a quarter of it late at most, while
// there are holders or a gate has a kernel in it; otherwise it sleeps and takes
// no time at all. Hold and Release may be called by any thread and take no
// lock; the destructor, and Stop, wait for a look that goes on.
class Watchdog {
 public:
  // `gates`: of the workers; each may change inside `give_up` only, which is
  // called at every look from the limit on until it says that `worker` was
  // given up. `clock` is the world's.
  Watchdog(WatchOptions options, std::shared_ptr<Clock> clock,
           const std::vector<KernelGate*>* gates,
           std::function<bool(int worker, const KernelCall&)> give_up);
  ~Watchdog() { Stop(); }

  // ResourceExhausted: the system refused the thread.
  absl::Status Start();
  void Stop();

  void Hold() {
    holders_.fetch_add(1, std::memory_order_seq_cst);
    if (!awake_.load(std::memory_order_seq_cst)) Wake();
  }
  void Release() { holders_.fetch_sub(1, std::memory_order_seq_cst); }

  uint64_t looks() const { return looks_.load(std::memory_order_acquire); }
  TimeNs interval() const { return interval_; }

 private:
  struct Seen {
    uint64_t number = 0;
    TimeNs age = 0;
    bool reported = false;
  };

  void Run();
  // Whether any gate has a kernel in it.
  bool Look(TimeNs elapsed);
  void Wake();

  const WatchOptions options_;
  const std::shared_ptr<Clock> clock_;
  const std::vector<KernelGate*>& gates_;
  const std::function<bool(int, const KernelCall&)> give_up_;
  TimeNs interval_ = 0;
  std::vector<Seen> seen_;  // by worker; of the watchdog's thread
  std::thread thread_;
  int listener_ = 0;
  std::atomic<int64_t> holders_{0};
  // Whether the thread looks by itself; if not, a holder wakes it.
  std::atomic<bool> awake_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> epoch_{0};  // what the thread sleeps on
  std::atomic<uint64_t> looks_{0};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WATCHDOG_H_
