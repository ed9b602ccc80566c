//===- tick_timer.h - The one timer of a controller -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_TICK_TIMER_H_
#define RUNTIME_CONTROLLER_TICK_TIMER_H_

#include <algorithm>
#include <cstdint>

#include "runtime/world/world.h"

namespace pathways {

// Identifies the one timer of a controller that ticks, and records how late
// ticks were. Timers cannot be cancelled, so a timer that was replaced fires
// all the same and is recognized by its number. Invariants: (1) at most one
// timer ticks, the last one that was started, and only once; (2) whatever makes
// a tick late cannot make a deadline in DeadlineTime pass: this process may
// have been suspended, or its worker in a kernel, and messages that came in
// time may be queued after the tick. One owner calls it, and has the world keep
// the timers.
class TickTimer {
 public:
  // Returns true if a timer must be started. `counts`: true if the timer must
  // keep a simulation going.
  bool Needs(bool counts) const { return number_ == 0 || (counts && !counts_); }
  // Returns the number of the new timer; its message passes it to Tick.
  uint64_t Start(TimeNs due, bool counts) {
    due_ = due;
    counts_ = counts;
    return number_ = ++last_;
  }
  // Returns true if the timer with this number ticks; then none is pending.
  bool Tick(uint64_t number, TimeNs now) {
    if (number == 0 || number != number_) return false;
    number_ = 0;
    late_ += std::max<TimeNs>(now - due_, 0);
    return true;
  }
  // Returns the world's time minus the lateness of ticks, for deadlines.
  TimeNs DeadlineTime(TimeNs now) const { return now - late_; }

 private:
  uint64_t number_ = 0, last_ = 0;  // `number_`: the timer that ticks; 0: none
  TimeNs due_ = 0;
  bool counts_ = false;
  TimeNs late_ = 0;  // of all ticks together
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_TICK_TIMER_H_
