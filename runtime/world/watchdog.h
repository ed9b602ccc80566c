//===- watchdog.h - Finds kernels that do not return ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread looks at the gates of all workers at intervals. It counts looks
// rather than compare two readings of the clock: a process that was stopped and
// resumes has lost no worker.
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
  // Time in the gate after which a kernel is reported, once; 0: never.
  TimeNs report_ns = 0;
  // Time in the gate after which the thread of the kernel's worker is given up;
  // 0: never.
  TimeNs limit_ns = 0;
  // The following functions are called on the watchdog's thread and must not
  // wait for a worker. `ns` is the least time that the kernel has been in the
  // gate.
  std::function<void(const KernelCall& call, TimeNs ns)> on_long;
  // Returns the actors that die with a thread in this kernel: all actors that
  // may be half changed, and all actors of its worker, including the one whose
  // handler called the kernel.
  std::function<std::vector<LocalId>(const KernelCall& call)> victims;
  // Called when these actors are retired and the other actors of the worker run
  // again. May send.
  std::function<void(const KernelCall& call)> on_lost;
};

// Looks at the gates four times in the shorter of the two times, but at most
// once in a millisecond, so that a kernel is found at most a quarter of that
// time late. It looks while there are holders or a gate has a kernel in it;
// otherwise it sleeps and takes no time at all. Hold and Release may be called
// on any thread and take no lock. The destructor and Stop wait for a look in
// progress.
class Watchdog {
 public:
  // `gates` has the gate of each worker, which may change only inside
  // `give_up`. `give_up` is called at every look after the limit until it
  // returns true: the thread of `worker` was given up. `clock` is the world's.
  Watchdog(WatchOptions options, std::shared_ptr<Clock> clock,
           const std::vector<KernelGate*>* gates,
           std::function<bool(int worker, const KernelCall&)> give_up);
  ~Watchdog() { Stop(); }

  // Returns ResourceExhausted if the system refused the thread.
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
  // Looks at all gates. Returns true if any of them has a kernel in it.
  bool Look(TimeNs elapsed);
  void Wake();

  const WatchOptions options_;
  const std::shared_ptr<Clock> clock_;
  const std::vector<KernelGate*>& gates_;
  const std::function<bool(int, const KernelCall&)> give_up_;
  TimeNs interval_ = 0;
  std::vector<Seen> seen_;  // one per worker; used by the watchdog's thread
  std::thread thread_;
  int listener_ = 0;
  std::atomic<int64_t> holders_{0};
  // True while the thread looks at intervals; otherwise a holder wakes it.
  std::atomic<bool> awake_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> epoch_{0};  // word that the thread sleeps on
  std::atomic<uint64_t> looks_{0};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WATCHDOG_H_
