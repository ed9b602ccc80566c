//===- notifier.cc - Threads that wait for a condition ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/notifier.h"

#include <sched.h>

#include <algorithm>
#include <climits>

#include "runtime/world/clock.h"
#include "runtime/world/futex.h"

namespace pathways {

bool Notifier::Wait(absl::FunctionRef<bool()> done,
                    const std::atomic<bool>& stopping, TimeNs spin_ns,
                    TimeNs until) {
  bool reached = false;
  SteadyClock real;
  // Being woken takes longer than many waits, so poll first.
  if (spin_ns > 0) {
    const TimeNs end = std::min(real.Now() + spin_ns, until);
    spins_on_.store(sched_getcpu(), std::memory_order_relaxed);
    spinning_.fetch_add(1, std::memory_order_relaxed);
    while (true) {
      reached = done();
      if (reached || stopping.load(std::memory_order_relaxed) ||
          real.Now() >= end) {
        break;
      }
      sched_yield();
      const int core = sched_getcpu();
      if (core != spins_on_.load(std::memory_order_relaxed)) {
        spins_on_.store(core, std::memory_order_relaxed);
      }
    }
    spinning_.fetch_sub(1, std::memory_order_relaxed);
    if (reached) return true;
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (true) {
    // The epoch is read before the condition: a Notify after that lets the wait
    // return.
    const uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
    const bool over = stopping.load(std::memory_order_seq_cst);
    reached = done();
    if (reached || over) break;
    const TimeNs left = until == kNever ? -1 : until - real.Now();
    if (until != kNever && left <= 0) break;
    Sleep(epoch, left);
  }
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
  return reached;
}

void Notifier::Notify() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  uint64_t sleepers = sleepers_.load(std::memory_order_relaxed);
  while (!sleepers_.compare_exchange_weak(
      sleepers, (sleepers / kOneWoken + sleepers % kOneWoken) * kOneWoken,
      std::memory_order_relaxed)) {
  }
  FutexWake(epoch_, INT_MAX);
}

void Notifier::Sleep(uint32_t epoch, TimeNs limit_ns) {
  sleepers_.fetch_add(1, std::memory_order_relaxed);
  FutexWait(epoch_, epoch, limit_ns);
  // If there are woken threads, this may release the place of another one; when
  // all are awake both numbers are 0.
  uint64_t sleepers = sleepers_.load(std::memory_order_relaxed);
  while (!sleepers_.compare_exchange_weak(
      sleepers, sleepers - (sleepers >= kOneWoken ? kOneWoken : 1),
      std::memory_order_relaxed)) {
  }
}

}  // namespace pathways
