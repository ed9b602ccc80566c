//===- handler_clock.h - The time while a message is handled ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_HANDLER_CLOCK_H_
#define RUNTIME_CONTROLLER_HANDLER_CLOCK_H_

#include "runtime/controller/tick_timer.h"
#include "runtime/world/world.h"

namespace pathways {

// The time of the controller. While a message is handled, the clock stands at
// the first time that the handler asked for, since asking the world costs as
// much as many steps of a launch. One owner calls it.
class HandlerClock {
 public:
  // Both must outlive the clock. `timer` knows how late ticks were.
  HandlerClock(World* world, const TickTimer* timer)
      : world_(*world), timer_(*timer) {}

  // Begin and End enclose the handler of a message.
  void Begin() { moment_ = kUnasked; }
  void End() { moment_ = kNoMessage; }

  // Returns the world's time.
  TimeNs WorldNow() {
    if (moment_ == kNoMessage) return world_.Now();
    if (moment_ == kUnasked) moment_ = world_.Now();
    return moment_;
  }
  // Returns the time to which deadlines refer.
  TimeNs Now() { return timer_.DeadlineTime(WorldNow()); }

 private:
  static constexpr TimeNs kNoMessage = -2, kUnasked = -1;

  World& world_;
  const TickTimer& timer_;
  TimeNs moment_ = kNoMessage;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_HANDLER_CLOCK_H_
