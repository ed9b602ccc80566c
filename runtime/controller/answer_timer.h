//===- answer_timer.h - The timer while hosts owe answers -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_ANSWER_TIMER_H_
#define RUNTIME_CONTROLLER_ANSWER_TIMER_H_

#include "runtime/controller/awaited_plans.h"
#include "runtime/controller/drains.h"
#include "runtime/controller/fetch_table.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/open_launches.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/store_log.h"
#include "runtime/controller/tick_timer.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/load_queue.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Starts the controller's timer while something waits for hosts or clients.
// Invariant: while a call waits for hosts, a timer runs; in a simulation this
// timer counts as an event only if the hosts that the call waits for have
// nothing to run. One owner calls it.
class AnswerTimer {
 public:
  // The tables with what waits. All of them must outlive the timer.
  struct Waits {
    const AwaitedPlans& plans;
    const ProgramTable& programs;
    const LaunchTable& launches;
    const StoreLog& stores;
    const FetchTable& fetches;
    const LoadQueue& loads;
    const Drains& drains;
    const OpenLaunches& open;
  };

  // All arguments must outlive the object. The timer sends kStallTick to
  // `owner`, after a part of `timeout_ns`.
  AnswerTimer(World* world, const Actor* owner, const Topology& topology,
              TimeNs timeout_ns, const Waits& waits, TickTimer* timer)
      : world_(*world),
        owner_(*owner),
        topology_(topology),
        timeout_ns_(timeout_ns),
        waits_(waits),
        timer_(*timer) {}

  // Starts the timer if anything waits and none runs. `counts`: true if the
  // timer must keep a simulation going in any case.
  void Arm(bool counts = false);
  // Returns true if a tick must look for stalled programs.
  bool LooksForStalls() const;
  // Returns true if a host has owed an answer for less than the timeout. Then
  // it may have missed a message, which a tick sends again.
  bool TickMayHelp(TimeNs now) const;

 private:
  // Returns true if a client's call waits for hosts none of which is in `busy`.
  bool CallWaits(const WaitSet& busy) const;

  World& world_;
  const Actor& owner_;
  const Topology& topology_;
  const TimeNs timeout_ns_;
  const Waits waits_;
  TickTimer& timer_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_ANSWER_TIMER_H_
