//===- in_flight_limiter.h - Who waits for launches to end ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_IN_FLIGHT_LIMITER_H_
#define RUNTIME_CLIENT_IN_FLIGHT_LIMITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/client_options.h"
#include "runtime/world/world.h"

namespace pathways {

// When threads that found no room for a launch look again. To wake one costs
// more than a launch does, so it is not woken for each that ends. Invariants:
// (1) who waits is told when fewer than half have not ended, whichever they
// are; (2) and when there has been room for kPatienceNs, however much: others
// may never end. Told, it may find that somebody else was quicker. One owner
// calls it, but for CanRetry, which is any thread's.
class InFlightLimiter {
 public:
  // About as long as it takes that half of them end, when they are short.
  static constexpr TimeNs kPatienceNs = 1'000'000;
  enum class Next {
    kNothing,
    kWake,   // those who wait may look
    kRearm,  // call OnTick after kPatienceNs
  };

  // For so many launches that have not ended.
  explicit InFlightLimiter(size_t bound = kMaxLaunches) : bound_(bound) {}

  bool IsThere(size_t unended) const { return unended < bound_; }
  // There is none: the caller waits until CanRetry of this.
  uint64_t Await() {
    awaited_ = true;
    return told_.load(std::memory_order_relaxed);
  }
  bool CanRetry(uint64_t turn) const {
    return told_.load(std::memory_order_seq_cst) != turn;
  }
  // A launch has ended, and so many have not.
  Next OnEnd(size_t unended) {
    if (!awaited_) return Next::kNothing;
    if (unended < (bound_ + 1) / 2) return Notify();
    if (ticking_ || !IsThere(unended)) return Next::kNothing;
    ticking_ = true;
    return Next::kRearm;
  }
  // What OnEnd asked for.
  Next OnTick(size_t unended) {
    ticking_ = false;
    return awaited_ && IsThere(unended) ? Notify() : Next::kNothing;
  }

 private:
  Next Notify() {
    awaited_ = false;
    told_.fetch_add(1, std::memory_order_seq_cst);
    return Next::kWake;
  }

  const size_t bound_;
  bool awaited_ = false, ticking_ = false;
  std::atomic<uint64_t> told_{0};
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_IN_FLIGHT_LIMITER_H_
