//===- clock.h - Time for worlds made of threads ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ThreadWorld reads the time from a Clock, so that tests can control it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_CLOCK_H_
#define RUNTIME_WORLD_CLOCK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/world/world.h"

namespace pathways {

// A source of time, which never goes back. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the time in ns.
  virtual TimeNs Now() = 0;
  // Returns how many real nanoseconds to sleep until Now() may be `time`. A
  // negative result means that this is unknown; the clock then calls its
  // listeners when time moves.
  virtual TimeNs RealDelay(TimeNs time) = 0;
  // Adds a listener and returns its number. `listener` is called, on any thread
  // and perhaps often, after time moved in a way that RealDelay could not
  // foresee. It must not add or remove listeners. It is never called again once
  // RemoveListener has returned.
  virtual int AddListener(std::function<void()> listener) = 0;
  virtual void RemoveListener(int listener) = 0;
};

// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  TimeNs Now() override;
  TimeNs RealDelay(TimeNs time) override;
  int AddListener(std::function<void()>) override { return 0; }
  void RemoveListener(int) override {}
};

// A clock that moves only by Advance.
class ManualClock final : public Clock {
 public:
  TimeNs Now() override { return now_.load(); }
  TimeNs RealDelay(TimeNs) override { return -1; }
  int AddListener(std::function<void()> listener) override;
  void RemoveListener(int listener) override;
  // Moves time by `duration` ns (not at all if negative) and wakes sleeping
  // threads. Returns before the work that became due has run.
  void Advance(TimeNs duration);

 private:
  std::atomic<TimeNs> now_{0};
  Mutex mutex_;  // held while listeners run
  std::vector<std::pair<int, std::function<void()>>> listeners_
      ABSL_GUARDED_BY(mutex_);
  int next_listener_ ABSL_GUARDED_BY(mutex_) = 1;
};

// The time of a world, which begins at 0 when this object is made. Thread-safe.
class WorldClock {
 public:
  explicit WorldClock(std::shared_ptr<Clock> clock)
      : clock_(std::move(clock)), start_(clock_->Now()) {}

  TimeNs Now() const { return clock_->Now() - start_; }
  // Returns Clock::RealDelay of a time of this world.
  TimeNs RealDelay(TimeNs time) const {
    return clock_->RealDelay(time + start_);
  }
  // Returns the clock that this one reads.
  const std::shared_ptr<Clock>& source() const { return clock_; }

 private:
  const std::shared_ptr<Clock> clock_;
  const TimeNs start_;  // time of `clock_` when the world began
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_CLOCK_H_
