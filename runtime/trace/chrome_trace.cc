//===- chrome_trace.cc - Traces as JSON for viewers -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/chrome_trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/trace/chrome_json.h"
#include "runtime/trace/credits_in_use.h"
#include "runtime/trace/device_tracks.h"
#include "runtime/trace/flows.h"
#include "runtime/trace/launch_tracks.h"
#include "runtime/trace/link_tracks.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace_counters.h"
#include "runtime/trace/tracks.h"

namespace pathways {
namespace {

using trace::TrackGroup;

// Builds the groups of a log one after another, which is also the order in
// which flows are numbered.
class Groups {
 public:
  explicit Groups(const TraceLog* log) : index_(log) {
    for (const TraceEvent& e : log->events) {
      // The executor records the memory of a device, which `other` names.
      events_[e.Kind() == TraceKind::kDeviceBytes ? e.other : e.actor]
          .push_back(&e);
    }
  }

  std::vector<TrackGroup> Make() {
    std::vector<TrackGroup> groups;
    if (index_.log().clocks.empty()) {
      AddIslands(&groups);
    } else {
      AddProcesses(&groups);
    }
    TrackGroup links = trace::LinkTracks(index_);
    if (!links.tracks.empty()) groups.push_back(std::move(links));
    return groups;
  }

 private:
  void AddIslands(std::vector<TrackGroup>* groups) {
    groups->push_back({"client", {}, {}});
    AddClient(&groups->back());
    std::map<int, TrackGroup> islands;
    ForEachActor([&](uint32_t id, const TraceActor& actor) {
      if (actor.island < 0) return;
      TrackGroup& island = islands[actor.island];
      if (actor.role == TraceActor::kScheduler) {
        island.name = actor.name;
        launches_.AddScheduler(id, "scheduler", &island);
      } else {
        AddHostActor(id, &island);
      }
    });
    for (auto& [number, island] : islands) groups->push_back(std::move(island));
  }

  void AddProcesses(std::vector<TrackGroup>* groups) {
    std::map<uint32_t, TrackGroup> processes;
    std::map<uint32_t, std::vector<std::string>> hosts;
    for (const ProcessClock& clock : index_.log().clocks) {
      TrackGroup& process = processes[clock.process];
      process.process = clock.process;
      process.clock_error = clock.error_ns;
    }
    ForEachActor([&](uint32_t id, const TraceActor& actor) {
      TrackGroup& process = processes[actor.process];
      if (actor.role == TraceActor::kController) {
        AddClient(&process);
      } else if (actor.role == TraceActor::kScheduler) {
        launches_.AddScheduler(id, actor.name + " scheduler", &process);
      } else {
        AddHostActor(id, &process);
      }
      if (actor.role == TraceActor::kExecutor) {
        hosts[actor.process].push_back(actor.name);
      }
    });
    for (auto& [number, process] : processes) {
      constexpr size_t kMostNamed = 4;
      std::vector<std::string>& names = hosts[number];
      const size_t more =
          names.size() > kMostNamed ? names.size() - kMostNamed : 0;
      names.resize(names.size() - more);
      process.name = absl::StrCat(
          "process ", number, ": ",
          names.empty() ? "controller" : absl::StrJoin(names, ", "));
      if (more > 0) absl::StrAppend(&process.name, " and ", more, " more");
      groups->push_back(std::move(process));
    }
  }

  // Calls `then` for each actor with a name, schedulers before devices.
  void ForEachActor(
      absl::FunctionRef<void(uint32_t, const TraceActor&)> then) const {
    const std::vector<TraceActor>& actors = index_.log().actors;
    for (uint32_t id = 0; id < actors.size(); ++id) {
      if (!actors[id].name.empty()) then(id, actors[id]);
    }
  }

  void AddClient(TrackGroup* group) {
    launches_.AddClient(group);
    group->counters = trace::StepsInFlight(index_);
  }

  // Adds the tracks of an executor or a device.
  void AddHostActor(uint32_t id, TrackGroup* group) {
    const TraceActor& actor = *index_.actor(id);
    const std::string& name = actor.name;
    const std::vector<const TraceEvent*>& events = events_[id];
    if (actor.role == TraceActor::kExecutor) {
      group->Add(
          trace::MemoryInUse(name + " memory", events, TraceKind::kHostBytes));
    } else if (actor.role == TraceActor::kDevice) {
      devices_.Add(name, events, group);
      group->Add(trace::MemoryInUse(name + " memory", events,
                                    TraceKind::kDeviceBytes));
      group->Add(credits_.Of(name + " credits in use", events));
    }
  }

  LogIndex index_;
  trace::Flows flows_;
  trace::LaunchTracks launches_{&index_, &flows_};
  trace::DeviceTracks devices_{&index_, &flows_};
  trace::CreditsInUse credits_{&index_};
  std::map<uint32_t, std::vector<const TraceEvent*>> events_;  // by actor
};

// Returns the names of all programs: "train (train.mlir), eval".
std::string ProgramsText(const TraceLog& log) {
  const LogIndex index(&log);
  std::string text;
  for (const auto& [program, plan] : log.programs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    index.ProgramName(program));
    if (!plan->header().source().empty()) {
      absl::StrAppend(&text, " (", plan->header().source(), ")");
    }
  }
  return text;
}

void PrintFacts(const TraceLog& log, const TraceFacts& facts,
                std::ostream& out) {
  out << "{\"producer\":\"pathways\",\"world\":"
      << (facts.simulated ? "\"sim\"" : "\"threads\"") << ",\"seed\":\""
      << facts.seed << "\",\"workers\":\"" << facts.workers
      << "\",\"topology\":" << trace::Json(facts.topology)
      << ",\"programs\":" << trace::Json(ProgramsText(log)) << ",\"events\":\""
      << log.events.size() << "\",\"events_dropped\":\"" << log.dropped
      << "\",\"complete_from_us\":\"" << trace::Us(log.begin)
      << "\",\"clocks\":[";
  const char* between = "";
  for (const ProcessClock& clock : log.clocks) {
    out << std::exchange(between, ",") << "{\"process\":" << clock.process
        << ",\"offset_ns\":" << clock.offset_ns
        << ",\"error_ns\":" << clock.error_ns << "}";
  }
  out << "]}";
}

}  // namespace

void WriteChromeTrace(const TraceLog& log, const TraceFacts& facts,
                      std::ostream* out) {
  std::vector<TrackGroup> groups = Groups(&log).Make();
  trace::KeepWholeFlows(&groups);
  *out << "{\"displayTimeUnit\":\"ns\",\"otherData\":";
  PrintFacts(log, facts, *out);
  *out << ",\n\"traceEvents\":[";
  trace::EventPrinter printer(out);
  for (TrackGroup& group : groups) printer.Print(std::move(group));
  if (log.dropped > 0) {
    printer.PrintNote(log.begin, "trace",
                      absl::StrCat(log.dropped,
                                   " older events were dropped; what is there "
                                   "is complete from here on"));
  }
  *out << "\n]}\n";
}

}  // namespace pathways
