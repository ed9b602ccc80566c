//===- answer_timer.cc - The timer while hosts owe answers ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/answer_timer.h"

#include <algorithm>

#include "runtime/program/local_kind.h"

namespace pathways {

void AnswerTimer::Arm(bool counts) {
  const bool simulated = world_.simulated();
  counts |=
      simulated && CallWaits(WaitSet()) && CallWaits(waits_.open.BusyHosts());
  if (!counts && !waits_.programs.Waits() && waits_.plans.empty() &&
      waits_.stores.empty() && waits_.fetches.empty() && !LooksForStalls()) {
    return;
  }
  if (!timer_.Needs(counts)) return;
  const TimeNs delay = std::max<TimeNs>(timeout_ns_ / 4, 1'000'000);
  LocalMessage message;
  message.kind = kStallTick;
  message.step = timer_.Start(world_.Now() + delay, counts);
  // A timer that no call needs must not keep a simulation going. A simulation
  // gives up an unresponsive host when no other event is left.
  if (!counts) message.flags = kBackground;
  world_.SendAfter(owner_.local_id(), owner_.local_id(), delay, message);
}

bool AnswerTimer::LooksForStalls() const {
  // A simulation checks for stalls by itself when no event is left. But
  // deadlines of loads and drains are events.
  return waits_.launches.size() > 0 &&
         (!world_.simulated() || !waits_.loads.empty() ||
          !waits_.drains.empty());
}

bool AnswerTimer::TickMayHelp(TimeNs now) const {
  return waits_.programs.HasRecent(now) || waits_.stores.HasRecent(now) ||
         waits_.fetches.HasRecent(now);
}

bool AnswerTimer::CallWaits(const WaitSet& busy) const {
  if (!waits_.plans.empty() || waits_.programs.HasRequest(busy) ||
      waits_.fetches.HasRequest(busy) || waits_.stores.HasRequest(busy)) {
    return true;
  }
  // A host that has done all its numbered messages waits for a client.
  for (int32_t host = 0; host < topology_.num_hosts(); ++host) {
    if (!busy.Contains(host) && waits_.stores.Owes(host) &&
        (waits_.launches.Stages(host) || waits_.stores.HasUndone(host))) {
      return true;
    }
  }
  return false;
}

}  // namespace pathways
