//===- launch_log.cc - Events of a log by launch --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/launch_log.h"

#include <algorithm>

namespace pathways::trace {

LaunchLog::LaunchLog(const TraceLog* log) : log_(*log) {
  for (const TraceEvent& e : log_.events) {
    switch (e.Kind()) {
      case TraceKind::kJoined:
      case TraceKind::kGranted:
      case TraceKind::kDone:
        AddOnIsland(e);
        break;
      case TraceKind::kRunEnded: {
        std::optional<TimeNs>& ended = launches_[e.other].ended;
        if (!ended.has_value()) ended = e.time;
        break;
      }
      case TraceKind::kGang:
        gangs_[{e.actor, e.program}].push_back(&e);
        break;
      default:
        break;
    }
  }
}

// Records an event; the first one of each kind counts.
void LaunchLog::AddOnIsland(const TraceEvent& event) {
  OnIsland& here = on_islands_[{event.actor, event.value}];
  Launch& launch = launches_[TraceLaunch(event.value)];
  switch (event.Kind()) {
    case TraceKind::kJoined:
      if (here.joined == nullptr) here.joined = &event;
      if (launch.joined == nullptr) launch.joined = &event;
      break;
    case TraceKind::kGranted:
      if (here.granted != nullptr) break;
      here.granted = &event;
      launch.granted.push_back(&event);
      break;
    default:
      if (here.done == nullptr) here.done = &event;
  }
}

std::vector<LaunchLog::OnIsland> LaunchLog::GrantedBy(
    uint32_t scheduler) const {
  std::vector<OnIsland> granted;
  for (auto at = on_islands_.lower_bound({scheduler, 0});
       at != on_islands_.end() && at->first.first == scheduler; ++at) {
    if (at->second.granted != nullptr) granted.push_back(at->second);
  }
  return granted;
}

const LaunchLog::Launch* LaunchLog::Find(uint32_t launch) const {
  auto found = launches_.find(launch);
  return found == launches_.end() ? nullptr : &found->second;
}

std::vector<const TraceEvent*> LaunchLog::FirstGangs(
    const TraceEvent& granted) const {
  const int island = log_.actors[granted.actor].island;
  const uint64_t begin = granted.firing, end = begin + granted.other;
  std::vector<const TraceEvent*> first;
  for (const auto& [key, gangs] : gangs_) {
    const auto& [device, program] = key;
    if (program != granted.program || log_.actors[device].island != island) {
      continue;
    }
    const auto at = std::lower_bound(gangs.begin(), gangs.end(), begin,
                                     [](const TraceEvent* e, uint64_t firing) {
                                       return e->firing < firing;
                                     });
    if (at == gangs.end() || (*at)->firing >= end ||
        (*at)->time + log_.ClockError(granted.actor, device) < granted.time) {
      continue;
    }
    first.push_back(*at);
  }
  return first;
}

}  // namespace pathways::trace
