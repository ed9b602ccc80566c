//===- launch_tracks.cc - Launches, by client and island ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/launch_tracks.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/trace/chrome_json.h"
#include "runtime/trace/event_text.h"

namespace pathways::trace {
namespace {

bool IsLaunch(const TraceEvent& call) {
  return call.target == static_cast<uint32_t>(TraceCall::kLaunch);
}

// Returns true if the program of a call is known.
bool HasName(const TraceEvent& call, const LaunchLog::Launch* launch) {
  return call.other != 0 && launch != nullptr && launch->joined != nullptr;
}

Args CallArgs(const TraceEvent& call) {
  Args args;
  if (call.other != 0) args.Add("launch", call.other);
  return args;
}

}  // namespace

void LaunchTracks::AddClient(TrackGroup* group) {
  TrackRows calls, runs;
  for (const TraceEvent& e : index_.log().events) {
    if (e.Kind() != TraceKind::kCall) continue;
    const LaunchLog::Launch* launch = launches_.Find(e.other);
    calls.Add({CallSlice(e, launch), {}});
    if (!IsLaunch(e) || !HasName(e, launch) || !launch->ended) continue;
    runs.Add({Span(e.time, *launch->ended, "run",
                   LaunchName(index_, *launch->joined), CallArgs(e).text()),
              {}});
  }
  calls.Place("calls", &group->tracks);
  runs.Place("runs", &group->tracks);
}

Slice LaunchTracks::CallSlice(const TraceEvent& call,
                              const LaunchLog::Launch* launch) {
  static const char* const kCalls[] = {"load", "launch", "await", "fetch"};
  std::string name = call.target < 4 ? kCalls[call.target] : "call";
  if (HasName(call, launch)) {
    absl::StrAppend(&name, " ", index_.ProgramName(launch->joined->program));
  }
  Slice slice = SliceOf(call, "client", std::move(name), CallArgs(call));
  if (!IsLaunch(call) || launch == nullptr) return slice;
  // One flow leads to each island that granted the launch.
  for (const TraceEvent* granted : launch->granted) {
    const TimeNs error = index_.log().ClockError(call.actor, granted->actor);
    if (granted->time + error < call.time) continue;
    slice.flows.push_back({flows_.NewTo(*granted), "launch", true});
  }
  return slice;
}

void LaunchTracks::AddScheduler(uint32_t scheduler, const std::string& name,
                                TrackGroup* group) {
  TrackRows rows;
  for (const LaunchLog::OnIsland& launch : launches_.GrantedBy(scheduler)) {
    rows.Add(Granted(launch));
  }
  rows.Place(name, &group->tracks);
}

// Returns the slices of a granted launch. If its beginning is not in the log,
// it starts at the grant; if its end is not, it lasts until the end of the log.
TrackRows::Group LaunchTracks::Granted(const LaunchLog::OnIsland& launch) {
  const TraceEvent& e = *launch.granted;
  const TimeNs begin = launch.joined == nullptr ? e.time : launch.joined->time;
  const TimeNs end =
      launch.done == nullptr ? index_.log().end : launch.done->time;
  Args args;
  args.Add("launch", TraceLaunch(e.value));
  TrackRows::Group group{
      Span(begin, end, "scheduler", LaunchName(index_, e), args.text()), {}};
  if (begin < e.time) {
    group.inner.push_back(Span(begin, e.time, "scheduler", "held back"));
  }
  Slice granted = Span(e.time, end, "scheduler", "granted");
  if (const std::optional<uint64_t> flow = flows_.To(e); flow.has_value()) {
    granted.flows.push_back({*flow, "launch", false});
  }
  for (const TraceEvent* gang : launches_.FirstGangs(e)) {
    granted.flows.push_back({flows_.NewTo(*gang), "grant", true});
  }
  group.inner.push_back(std::move(granted));
  return group;
}

}  // namespace pathways::trace
