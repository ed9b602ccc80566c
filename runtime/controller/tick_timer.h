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

// Which of a controller's timers is the one that ticks, and how late ticks
// were. A timer cannot be taken back, so one that is followed by another comes
// all the same and is told by its number. Invariants: (1) at most one timer
// ticks, the last one that was started, once; (2) deadlines in DeadlineTime
// are not missed by what made a tick late: this process was suspended, or its
// worker in a kernel, and what would have been in time may stand behind the
// tick. One owner calls it, and has the world keep the timers.
class TickTimer {
 public:
  // `counts`: it is a reason for a simulation to go on. False: one that will do
  // is on its way.
  bool Needs(bool counts) const { return number_ == 0 || (counts && !counts_); }
  // Returns the timer's number, which its message brings to Tick.
  uint64_t Start(TimeNs due, bool counts) {
    due_ = due;
    counts_ = counts;
    return number_ = ++last_;
  }
  // Whether the timer of this number ticks; then none is on its way.
  bool Tick(uint64_t number, TimeNs now) {
    if (number == 0 || number != number_) return false;
    number_ = 0;
    late_ += std::max<TimeNs>(now - due_, 0);
    return true;
  }
  // The world's time, without that by which ticks were late: for deadlines.
  TimeNs DeadlineTime(TimeNs now) const { return now - late_; }

 private:
  uint64_t number_ = 0, last_ = 0;  // of the one that ticks; 0: none
  TimeNs due_ = 0;
  bool counts_ = false;
  TimeNs late_ = 0;  // all of them
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_TICK_TIMER_H_
