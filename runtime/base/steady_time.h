//===- steady_time.h - Monotonic time ---------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_STEADY_TIME_H_
#define RUNTIME_BASE_STEADY_TIME_H_

#include <chrono>
#include <condition_variable>

#include "absl/time/time.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Time of the monotonic clock, for deadlines, timeouts, heartbeats and ages.
// The wall clock does not serve for these: when it is set, a deadline passes at
// once, or an hour late. Arithmetic saturates at Never().
class SteadyTime {
 public:
  // The start of the clock.
  constexpr SteadyTime() = default;

  static SteadyTime Now() {
    return SteadyTime(
        absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()));
  }
  // A deadline that never passes.
  static constexpr SteadyTime Never() {
    return SteadyTime(absl::InfiniteDuration());
  }
  bool is_never() const { return since_ == absl::InfiniteDuration(); }

  SteadyTime& operator+=(absl::Duration duration) {
    since_ += duration;
    return *this;
  }
  friend SteadyTime operator+(SteadyTime time, absl::Duration duration) {
    return time += duration;
  }
  friend absl::Duration operator-(SteadyTime a, SteadyTime b) {
    return a.since_ - b.since_;
  }
  friend bool operator==(SteadyTime a, SteadyTime b) {
    return a.since_ == b.since_;
  }
  friend bool operator<(SteadyTime a, SteadyTime b) {
    return a.since_ < b.since_;
  }
  friend bool operator>(SteadyTime a, SteadyTime b) { return b < a; }
  friend bool operator<=(SteadyTime a, SteadyTime b) { return !(b < a); }
  friend bool operator>=(SteadyTime a, SteadyTime b) { return !(a < b); }

 private:
  explicit constexpr SteadyTime(absl::Duration since) : since_(since) {}
  friend std::cv_status WaitUntil(std::condition_variable_any* changed,
                                  Mutex* mutex, SteadyTime until);

  absl::Duration since_;
};

// Waits until `changed` is notified or the time is `until`, even if the wall
// clock is set meanwhile. May wake up spuriously. The caller holds the lock.
inline std::cv_status WaitUntil(std::condition_variable_any* changed,
                                Mutex* mutex, SteadyTime until) {
  if (until.is_never()) {
    changed->wait(*mutex);
    return std::cv_status::no_timeout;
  }
  return changed->wait_until(*mutex,
                             std::chrono::steady_clock::time_point(
                                 absl::ToChronoNanoseconds(until.since_)));
}

}  // namespace pathways

#endif  // RUNTIME_BASE_STEADY_TIME_H_
