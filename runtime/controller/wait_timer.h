//===- wait_timer.h - The timer of waiting loads and drains -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_WAIT_TIMER_H_
#define RUNTIME_CONTROLLER_WAIT_TIMER_H_

#include <algorithm>

#include "runtime/controller/drains.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/program/local_kind.h"
#include "runtime/resources/load_queue.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// Starts a timer for the next deadline of a waiting load or drain. Invariant:
// if there is a deadline, a timer fires then or earlier. One owner calls it.
class WaitTimer {
 public:
  // All arguments must outlive the object. The timer sends kLoadDeadline to
  // `owner`.
  WaitTimer(World* world, const Actor* owner, const LoadQueue& loads,
            const Drains& drains, HandlerClock* clock)
      : world_(*world),
        owner_(*owner),
        loads_(loads),
        drains_(drains),
        clock_(*clock) {}

  // Starts the timer unless one fires in time. Called when a deadline is new.
  void Arm() {
    const TimeNs next = std::min(loads_.NextDeadline(), drains_.NextDeadline());
    if (next >= due_) return;
    due_ = next;
    LocalMessage message;
    message.kind = kLoadDeadline;
    world_.SendAfter(owner_.local_id(), owner_.local_id(),
                     std::max<TimeNs>(0, next - clock_.Now()), message);
  }
  // Records that the timer has fired.
  void Fired() { due_ = kNoDeadline; }

 private:
  World& world_;
  const Actor& owner_;
  const LoadQueue& loads_;
  const Drains& drains_;
  HandlerClock& clock_;
  TimeNs due_ = kNoDeadline;  // time at which the timer fires
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_WAIT_TIMER_H_
