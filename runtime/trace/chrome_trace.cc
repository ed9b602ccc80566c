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

#include "absl/strings/str_cat.h"
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

// Makes the groups of a log, one after another: flows are numbered in this
// order.
class Groups {
 public:
  explicit Groups(const TraceLog* log) : index_(log) {
    for (const TraceEvent& e : log->events) {
      // A device's memory is counted by who gives it out.
      events_[e.Kind() == TraceKind::kDeviceBytes ? e.other : e.actor]
          .push_back(&e);
    }
  }

  std::vector<TrackGroup> Make() {
    std::vector<TrackGroup> groups;
    groups.push_back(Client());
    const std::vector<TraceActor>& actors = index_.log().actors;
    std::map<int, std::vector<uint32_t>> islands;
    for (uint32_t id = 0; id < actors.size(); ++id) {
      if (actors[id].island >= 0) islands[actors[id].island].push_back(id);
    }
    for (const auto& [island, ids] : islands) groups.push_back(Island(ids));
    TrackGroup links = trace::LinkTracks(index_);
    if (!links.tracks.empty()) groups.push_back(std::move(links));
    return groups;
  }

 private:
  TrackGroup Client() {
    TrackGroup client{"client", {}, {}};
    launches_.AddClient(&client);
    client.counters = trace::StepsInFlight(index_);
    return client;
  }

  TrackGroup Island(const std::vector<uint32_t>& actors) {
    TrackGroup island;
    for (uint32_t id : actors) {
      const std::string& name = index_.actor(id)->name;
      const std::vector<const TraceEvent*>& events = events_[id];
      switch (index_.actor(id)->role) {
        case TraceActor::kScheduler:
          island.name = name;
          launches_.AddScheduler(id, &island);
          break;
        case TraceActor::kExecutor:
          island.Add(trace::MemoryInUse(name + " memory", events,
                                        TraceKind::kHostBytes));
          break;
        case TraceActor::kDevice:
          devices_.Add(name, events, &island);
          island.Add(trace::MemoryInUse(name + " memory", events,
                                        TraceKind::kDeviceBytes));
          island.Add(credits_.Of(name + " credits in use", events));
          break;
        default:
          break;
      }
    }
    return island;
  }

  LogIndex index_;
  trace::Flows flows_;
  trace::LaunchTracks launches_{&index_, &flows_};
  trace::DeviceTracks devices_{&index_, &flows_};
  trace::CreditsInUse credits_{&index_};
  std::map<uint32_t, std::vector<const TraceEvent*>> events_;  // by actor
};

// "train (train.mlir), eval".
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
      << "\",\"complete_from_us\":\"" << trace::Us(log.begin) << "\"}";
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
