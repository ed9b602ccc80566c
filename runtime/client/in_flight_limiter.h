//===- in_flight_limiter.h - Bound on launches in flight --------*- C++ -*-===//
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

#include "pathways/Options.h"
#include "runtime/world/world.h"

namespace pathways {

// Decides when threads that found no room for a launch check again. To wake a
// thread costs more than a launch does, so threads are not woken for each
// launch that ends. Invariants: (1) waiting threads are notified when fewer
// than half of the launches have not ended, whichever these are; (2) they are
// also notified when there has been any room for kPatienceNs, since the other
// launches may never end. A notified thread may find that another one was
// quicker. One owner calls it, except CanRetry, which any thread may call.
class InFlightLimiter {
 public:
  // About the time in which half of the launches end if they are short.
  static constexpr TimeNs kPatienceNs = 1'000'000;
  enum class Next {
    kNothing,
    kWake,   // waiting threads may check
    kRearm,  // call OnTick after kPatienceNs
  };

  // `bound`: the most launches that have not ended.
  explicit InFlightLimiter(size_t bound = kMaxLaunches) : bound_(bound) {}

  bool IsThere(size_t unended) const { return unended < bound_; }
  // Called if there is no room. The caller waits until CanRetry of the result.
  uint64_t Await() {
    awaited_ = true;
    return told_.load(std::memory_order_relaxed);
  }
  bool CanRetry(uint64_t turn) const {
    return told_.load(std::memory_order_seq_cst) != turn;
  }
  // Called when a launch has ended; `unended` launches have not.
  Next OnEnd(size_t unended) {
    if (!awaited_) return Next::kNothing;
    if (unended < (bound_ + 1) / 2) return Notify();
    if (ticking_ || !IsThere(unended)) return Next::kNothing;
    ticking_ = true;
    return Next::kRearm;
  }
  // Called when OnEnd asked for it.
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
