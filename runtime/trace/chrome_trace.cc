//===- chrome_trace.cc - Traces as JSON for viewers -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/chrome_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"
#include "runtime/trace/chrome_json.h"
#include "runtime/trace/credits_in_use.h"
#include "runtime/trace/event_text.h"
#include "runtime/trace/flows.h"
#include "runtime/trace/link_tracks.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace_counters.h"
#include "runtime/trace/tracks.h"

namespace pathways {
namespace {

using trace::Args;
using trace::EventPrinter;
using trace::Flows;
using trace::Json;
using trace::Lanes;
using trace::Slice;
using trace::Span;
using trace::Track;
using trace::TrackGroup;

class Writer {
 public:
  Writer(const TraceLog& log, const TraceFacts& facts, std::ostream* out)
      : log_(log), facts_(facts), index_(&log), out_(*out) {}

  void Write() {
    for (uint32_t i = 0; i < log_.events.size(); ++i) Sort(i);
    AddClient();
    std::map<int, std::vector<uint32_t>> islands;
    for (uint32_t id = 0; id < log_.actors.size(); ++id) {
      if (log_.actors[id].island >= 0) {
        islands[log_.actors[id].island].push_back(id);
      }
    }
    for (const auto& [island, actors] : islands) AddIsland(actors);
    TrackGroup links = trace::LinkTracks(index_);
    if (!links.tracks.empty()) groups_.push_back(std::move(links));
    KeepWholeFlows(&groups_);
    Print();
  }

 private:
  const TraceEvent& event(uint32_t i) const { return log_.events[i]; }

  // Puts event i where it is looked for.
  void Sort(uint32_t i) {
    const TraceEvent& e = event(i);
    switch (e.Kind()) {
      case TraceKind::kCall:
        calls_.push_back(i);
        break;
      case TraceKind::kRunEnded:
        run_ended_.emplace(e.other, e.time);
        break;
      case TraceKind::kJoined:
        joined_.try_emplace({e.actor, e.value}, i);
        launch_program_.try_emplace(TraceLaunch(e.value), i);
        break;
      case TraceKind::kGranted:
        if (granted_.try_emplace({e.actor, e.value}, i).second) {
          grants_[TraceLaunch(e.value)].push_back(i);
        }
        break;
      case TraceKind::kDone:
        done_.try_emplace({e.actor, e.value}, i);
        break;
      case TraceKind::kHostBytes:
      case TraceKind::kDeviceBytes:
        of_actor_[e.Kind() == TraceKind::kHostBytes ? e.actor : e.other]
            .push_back(&e);
        break;
      case TraceKind::kGang:
        gangs_[{e.actor, e.program}].push_back(i);
        [[fallthrough]];
      default:
        of_actor_[e.actor].push_back(&e);
    }
  }
  void AddClient() {
    TrackGroup group{"client", {}, {}};
    static const char* const kCalls[] = {"load", "launch", "await", "fetch"};
    Lanes calls, runs;
    for (uint32_t i : calls_) {
      const TraceEvent& e = event(i);
      std::string name = e.target < 4 ? kCalls[e.target] : "call";
      auto launch = launch_program_.find(e.other);
      const bool known = e.other != 0 && launch != launch_program_.end();
      if (known) {
        absl::StrAppend(&name, " ",
                        index_.ProgramName(event(launch->second).program));
      }
      Args args;
      if (e.other != 0) args.Add("launch", e.other);
      Slice slice = trace::SliceOf(e, "client", std::move(name), args);
      if (e.target == static_cast<uint32_t>(TraceCall::kLaunch)) {
        // One arrow to each island that granted it.
        for (uint32_t granted : grants_[e.other]) {
          if (event(granted).time < e.time) continue;
          slice.flows.push_back({flows_.NewTo(event(granted)), "launch", true});
        }
        auto ended = run_ended_.find(e.other);
        if (ended != run_ended_.end() && known) {
          runs.Add({Span(e.time, ended->second, "run",
                         trace::LaunchName(index_, event(launch->second)),
                         args.text()),
                    {}});
        }
      }
      calls.Add({std::move(slice), {}});
    }
    calls.Place("calls", &group.tracks);
    runs.Place("runs", &group.tracks);

    group.counters = trace::StepsInFlight(index_);
    groups_.push_back(std::move(group));
  }

  void AddIsland(const std::vector<uint32_t>& actors) {
    TrackGroup group;
    for (uint32_t id : actors) {
      const TraceActor& actor = log_.actors[id];
      switch (actor.role) {
        case TraceActor::kScheduler:
          group.name = actor.name;
          AddScheduler(id, &group);
          break;
        case TraceActor::kDevice:
          AddDevice(id, &group);
          break;
        case TraceActor::kExecutor:
          group.Add(trace::MemoryInUse(actor.name + " memory", of_actor_[id],
                                       TraceKind::kHostBytes));
          break;
        default:
          break;
      }
    }
    groups_.push_back(std::move(group));
  }

  void AddScheduler(uint32_t id, TrackGroup* group) {
    Lanes lanes;
    for (auto at = granted_.lower_bound({id, 0});
         at != granted_.end() && at->first.first == id; ++at) {
      const auto& [key, i] = *at;
      const TraceEvent& e = event(i);
      auto joined = joined_.find(key);
      auto done = done_.find(key);
      const TimeNs begin =
          joined == joined_.end() ? e.time : event(joined->second).time;
      const TimeNs end =
          done == done_.end() ? log_.end : event(done->second).time;
      Args args;
      args.Add("launch", TraceLaunch(e.value));
      Lanes::Group group{Span(begin, end, "scheduler",
                              trace::LaunchName(index_, e), args.text()),
                         {}};
      if (begin < e.time) {
        group.inner.push_back(Span(begin, e.time, "scheduler", "held back"));
      }
      Slice granted = Span(e.time, end, "scheduler", "granted");
      if (const auto flow = flows_.To(e); flow.has_value()) {
        granted.flows.push_back({*flow, "launch", false});
      }
      for (uint32_t gang : FirstGangs(e)) {
        granted.flows.push_back({flows_.NewTo(event(gang)), "grant", true});
      }
      group.inner.push_back(std::move(granted));
      lanes.Add(std::move(group));
    }
    lanes.Place("scheduler", &group->tracks);
  }

  // Of the devices of a scheduler's island, the first gang (an event) of the
  // launch that it granted.
  std::vector<uint32_t> FirstGangs(const TraceEvent& granted) {
    std::vector<uint32_t> first;
    for (const auto& [key, gangs] : gangs_) {
      if (key.second != granted.program ||
          log_.actors[key.first].island != log_.actors[granted.actor].island) {
        continue;
      }
      const auto at =
          std::lower_bound(gangs.begin(), gangs.end(), uint64_t{granted.firing},
                           [&](uint32_t i, uint64_t firing) {
                             return event(i).firing < firing;
                           });
      if (at == gangs.end() || event(*at).time < granted.time ||
          event(*at).firing >= uint64_t{granted.firing} + granted.other) {
        continue;
      }
      first.push_back(*at);
    }
    return first;
  }

  void AddDevice(uint32_t id, TrackGroup* group) {
    const std::string& name = log_.actors[id].name;
    Track queue{name, {}}, moves{name + " transfers", {}};
    Lanes submitted;
    std::map<std::pair<uint32_t, uint32_t>, TimeNs> drained;
    const std::vector<const TraceEvent*>& events = of_actor_[id];
    for (const TraceEvent* event : events) {
      const TraceEvent& e = *event;
      if (e.Kind() == TraceKind::kDrained) {
        drained[{e.program, e.other}] = e.time;
      }
    }
    for (const TraceEvent* event : events) {
      const TraceEvent& e = *event;
      switch (e.Kind()) {
        case TraceKind::kGang: {
          Args args = trace::ActionArgs(&index_, e);
          if (const proto::Kernel* kernel = trace::KernelOf(index_, e);
              kernel != nullptr) {
            args.Add("kernel", kernel->name());
          }
          Slice slice =
              trace::SliceOf(e, "kernel", trace::ActionName(index_, e), args);
          if (const auto flow = flows_.To(e); flow.has_value()) {
            slice.flows.push_back({*flow, "grant", false});
          }
          queue.slices.push_back(std::move(slice));
          break;
        }
        case TraceKind::kWait:
          queue.slices.push_back(trace::SliceOf(
              e, "wait", absl::StrCat("wait: ", trace::ActionName(index_, e)),
              trace::ActionArgs(&index_, e)));
          break;
        case TraceKind::kKernel:
        case TraceKind::kCollective:
        case TraceKind::kMeet:
          queue.slices.push_back(StepSlice(e));
          break;
        case TraceKind::kMove:
          moves.slices.push_back(MoveSlice(e));
          break;
        case TraceKind::kSubmitted: {
          auto end = drained.find({e.program, e.other});
          Args args;
          args.Add("launch", e.other);
          submitted.Add(
              {Span(e.time, end == drained.end() ? log_.end : end->second,
                    "submit",
                    absl::StrCat(index_.ProgramName(e.program), ", firings ",
                                 uint64_t{e.firing}, " to ", e.value - 1),
                    args.text()),
               {}});
          break;
        }
        default:
          break;
      }
    }
    if (!queue.slices.empty()) group->tracks.push_back(std::move(queue));
    if (!moves.slices.empty()) group->tracks.push_back(std::move(moves));
    submitted.Place(name + " submitted", &group->tracks);
    group->Add(
        trace::MemoryInUse(name + " memory", events, TraceKind::kDeviceBytes));
    group->Add(credits_.Of(name + " credits in use", events));
  }

  // A step of a gang.
  Slice StepSlice(const TraceEvent& e) {
    const std::string name = trace::StepName(index_, e);
    Args args;
    args.Add("firing", e.firing).Add("step", e.item);
    switch (e.Kind()) {
      case TraceKind::kMeet:
        return trace::SliceOf(e, "wait", "wait: others", args);
      case TraceKind::kCollective:
        return trace::SliceOf(e, "collective", name, args);
      default:
        return trace::SliceOf(e, "kernel", name, args);
    }
  }

  // A send, recv, feed or fetch, with arrows to and from other devices.
  Slice MoveSlice(const TraceEvent& e) {
    const proto::Action* action = index_.action(e);
    Slice slice = trace::SliceOf(
        e, action != nullptr ? ActionKindName(action->kind()) : "move",
        trace::ActionName(index_, e), trace::ActionArgs(&index_, e));
    if (action == nullptr) return slice;
    const bool is_send = action->kind() == proto::SEND;
    if (!is_send && action->kind() != proto::RECV) return slice;
    const uint32_t send = is_send ? e.target : action->peer();
    const layout::Movement* movement = index_.movement(e.program, send);
    if (movement == nullptr) return slice;
    const int64_t shard = static_cast<int64_t>(e.item);
    const proto::Action* peer = index_.action(e.program, action->peer());
    int64_t last = -1;  // a shard may send several pieces to another
    for (const layout::Piece& piece :
         is_send ? movement->PiecesFrom(shard) : movement->PiecesInto(shard)) {
      const int64_t other = is_send ? piece.destination : piece.source;
      if (other == last) continue;
      last = other;
      if (index_.DeviceOfShard(e.program, peer->slice(), other) == e.actor) {
        continue;
      }
      const PieceKey key{e.program, send, e.firing, is_send ? shard : other,
                         is_send ? other : shard};
      uint64_t& flow = pieces_[key];
      if (flow == 0) flow = flows_.New();
      slice.flows.push_back({flow, "piece", is_send});
    }
    return slice;
  }

  void Print() {
    out_ << "{\"displayTimeUnit\":\"ns\",\"otherData\":{"
         << "\"producer\":\"pathways\",\"world\":"
         << (facts_.simulated ? "\"sim\"" : "\"threads\"") << ",\"seed\":\""
         << facts_.seed << "\",\"workers\":\"" << facts_.workers
         << "\",\"topology\":" << Json(facts_.topology)
         << ",\"programs\":" << Json(ProgramsText()) << ",\"events\":\""
         << log_.events.size() << "\",\"events_dropped\":\"" << log_.dropped
         << "\",\"complete_from_us\":\"" << trace::Us(log_.begin)
         << "\"},\n\"traceEvents\":[";
    EventPrinter printer(&out_);
    for (TrackGroup& group : groups_) printer.Print(std::move(group));
    if (log_.dropped > 0) {
      printer.PrintNote(log_.begin, "trace",
                        absl::StrCat(log_.dropped,
                                     " older events were dropped; what is "
                                     "there is complete from here on"));
    }
    out_ << "\n]}\n";
  }
  std::string ProgramsText() const {
    std::string text;
    for (const auto& [program, plan] : log_.programs) {
      absl::StrAppend(&text, text.empty() ? "" : ", ",
                      index_.ProgramName(program));
      if (!plan->header().source().empty()) {
        absl::StrAppend(&text, " (", plan->header().source(), ")");
      }
    }
    return text;
  }

  // Of a movement: program, send, firing, source, destination.
  using PieceKey = std::tuple<uint32_t, uint32_t, uint64_t, int64_t, int64_t>;
  // (scheduler, launch).
  using LaunchKey = std::pair<uint32_t, uint64_t>;

  const TraceLog& log_;
  const TraceFacts& facts_;
  LogIndex index_;
  std::ostream& out_;
  std::vector<TrackGroup> groups_;
  // Events, in order of time.
  std::vector<uint32_t> calls_;
  std::map<uint32_t, std::vector<const TraceEvent*>> of_actor_;
  std::map<LaunchKey, uint32_t> joined_, granted_, done_;
  std::map<uint32_t, std::vector<uint32_t>> grants_;  // kGranted, by launch
  // By (device, program), so by firing too.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> gangs_;
  std::map<uint32_t, uint32_t> launch_program_;  // kJoined, by launch
  std::map<uint32_t, TimeNs> run_ended_;         // by launch
  trace::CreditsInUse credits_{&index_};
  Flows flows_;
  absl::flat_hash_map<PieceKey, uint64_t> pieces_;  // their flows
};

}  // namespace

void WriteChromeTrace(const TraceLog& log, const TraceFacts& facts,
                      std::ostream* out) {
  Writer(log, facts, out).Write();
}

}  // namespace pathways
