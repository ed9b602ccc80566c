//===- summary.cc - Utilization and waits of a run ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/tables.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"

namespace pathways {
namespace {

constexpr size_t kWaits = 3;
constexpr uint32_t kNone = UINT32_MAX;

bool IsFiring(const TraceEvent& e) {
  return e.Kind() == TraceKind::kGang || e.Kind() == TraceKind::kMove;
}
// Returns true for the launch of a client, or for the event of a scheduler,
// which counts if no client is traced.
bool IsLaunch(const TraceEvent& e) {
  return e.Kind() == TraceKind::kJoined ||
         (e.Kind() == TraceKind::kCall &&
          e.target == static_cast<uint32_t>(TraceCall::kLaunch));
}
TimeNs EndOf(const TraceEvent& e) { return static_cast<TimeNs>(e.value); }

class Summarizer {
 public:
  explicit Summarizer(const TraceLog& log) : log_(log), index_(&log) {}

  TraceSummary Run() {
    summary_.events_dropped = log_.dropped;
    summary_.begin = log_.begin;
    uint32_t last = kNone;
    bool has_launch = false;
    for (uint32_t i = 0; i < log_.events.size(); ++i) {
      const TraceEvent& e = event(i);
      if (log_.dropped == 0 && !has_launch && IsLaunch(e)) {
        summary_.begin = e.time;
        has_launch = true;
      }
      if (!IsFiring(e)) continue;
      Sort(i);
      if (last == kNone || EndOf(e) > EndOf(event(last))) last = i;
    }
    summary_.end = last == kNone ? summary_.begin
                                 : std::max(summary_.begin, EndOf(event(last)));
    AddDevices();
    if (last != kNone) AddPath(last);
    AddWaits();
    return std::move(summary_);
  }

 private:
  // Key of a firing: of a gang on a device, of any other action on a shard.
  using FiringKey = std::tuple<uint32_t, uint32_t, uint64_t, bool, uint64_t>;

  const TraceEvent& event(uint32_t i) const { return log_.events[i]; }

  void Sort(uint32_t i) {
    const TraceEvent& e = event(i);
    if (e.Kind() == TraceKind::kGang) {
      before_[i] = last_gang_.try_emplace(e.actor, kNone).first->second;
      last_gang_[e.actor] = i;
      firings_[{e.program, e.target, e.firing, true, e.actor}] = i;
      gangs_[{e.program, e.target, e.firing}].push_back(i);
    } else {
      firings_[{e.program, e.target, e.firing, false, e.item}] = i;
      moves_[{e.program, e.target, e.firing}].push_back(i);
    }
  }

  // Returns how much of [begin, end) is within the summarized time.
  TimeNs Within(TimeNs begin, TimeNs end) const {
    return std::max<TimeNs>(
        0, std::min(end, summary_.end) - std::max(begin, summary_.begin));
  }

  void AddDevices() {
    std::map<uint32_t, TraceSummary::Device> devices;
    for (const TraceEvent& e : log_.events) {
      const TimeNs ns = e.HasDuration() ? Within(e.time, EndOf(e)) : 0;
      switch (e.Kind()) {
        case TraceKind::kGang:
        case TraceKind::kMove:
          devices[e.actor].busy_ns += ns;
          break;
        case TraceKind::kMeet:
          devices[e.actor].busy_ns -= ns;
          [[fallthrough]];
        case TraceKind::kWait:
          devices[e.actor].waiting_ns += ns;
          break;
        default:
          break;
      }
    }
    for (auto& [id, device] : devices) {
      const TraceActor* actor = index_.actor(id);
      if (actor != nullptr) device.name = actor->name;
      // A gang that has not ended may already have waited for others.
      device.busy_ns = std::max<TimeNs>(0, device.busy_ns);
      summary_.devices.push_back(std::move(device));
    }
  }

  // Sets `latest` to the candidate if that ended later.
  void Later(uint32_t candidate, uint32_t* latest) const {
    if (candidate == kNone) return;
    if (*latest == kNone || EndOf(event(candidate)) > EndOf(event(*latest))) {
      *latest = candidate;
    }
  }
  // Calls Later for each shard's firing of an action in the log, which may lack
  // many shards.
  void LaterOfAll(uint32_t program, uint32_t action, uint64_t firing,
                  uint32_t* latest) const {
    const bool is_gang = index_.action(program, action)->kind() == proto::GANG;
    const auto& all = is_gang ? gangs_ : moves_;
    const auto found = all.find({program, action, firing});
    if (found == all.end()) return;
    for (uint32_t one : found->second) Later(one, latest);
  }
  uint32_t Find(uint32_t program, uint32_t action, uint64_t firing,
                int64_t shard) {
    const proto::Action* of = index_.action(program, action);
    const bool is_gang = of->kind() == proto::GANG;
    const uint64_t where =
        is_gang ? index_.DeviceOfShard(program, of->slice(), shard)
                : static_cast<uint64_t>(shard);
    auto found = firings_.find({program, action, firing, is_gang, where});
    return found == firings_.end() ? kNone : found->second;
  }

  // Returns the firing that firing `i` waited for last: the source of its last
  // token, or the previous gang in its queue, whichever ended later. Returns
  // kNone if neither is known.
  uint32_t Before(uint32_t i) {
    const TraceEvent& e = event(i);
    uint32_t latest = kNone;
    if (e.Kind() == TraceKind::kGang) Later(before_[i], &latest);
    const proto::Edge* edge =
        e.other == kNoTraceEdge ? nullptr : index_.edge(e.program, e.other);
    const proto::Action* action = index_.action(e);
    if (edge == nullptr || action == nullptr || e.firing < edge->tokens()) {
      return latest;
    }
    const uint64_t firing = e.firing - edge->tokens();
    if (edge->relation() == proto::ALL) {
      LaterOfAll(e.program, edge->from(), firing, &latest);
      return latest;
    }
    const std::vector<int64_t> shards =
        e.Kind() == TraceKind::kGang
            ? index_.ShardsOn(e.program, action->slice(), e.actor)
            : std::vector<int64_t>{static_cast<int64_t>(e.item)};
    for (int64_t shard : shards) {
      for (int64_t source : Sources(e.program, *edge, shard)) {
        Later(Find(e.program, edge->from(), firing, source), &latest);
      }
    }
    return latest;
  }

  // Returns the shards of an edge's source that give tokens to `shard` of its
  // target. The relation must not be ALL.
  std::vector<int64_t> Sources(uint32_t program, const proto::Edge& edge,
                               int64_t shard) {
    const proto::Plan& plan = *index_.plan(program);
    const proto::Action& to = plan.actions(edge.to());
    std::vector<int64_t> sources;
    if (edge.relation() == proto::PIECES) {
      const bool is_data = edge.kind() == proto::DATA;
      const layout::Movement* movement =
          index_.movement(program, is_data ? edge.from() : edge.to());
      if (movement == nullptr) return sources;
      for (const layout::Piece& piece : is_data ? movement->PiecesInto(shard)
                                                : movement->PiecesFrom(shard)) {
        sources.push_back(is_data ? piece.source : piece.destination);
      }
      // A shard that receives nothing takes these tokens itself instead of its
      // send.
      if (!is_data && to.kind() != proto::SEND) sources.push_back(shard);
    } else {
      sources.push_back(shard);
    }
    return sources;
  }

  // Follows the critical path back from the last firing. If a gang waited in a
  // collective, only its time after the wait counts; the path continues with
  // the gang that arrived last.
  void AddPath(uint32_t last) {
    // Collectives of each gang's firing on each device, in order of time.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>,
             std::vector<uint32_t>>
        meets, arrivals;
    for (uint32_t i = 0; i < log_.events.size(); ++i) {
      const TraceEvent& e = event(i);
      if (e.Kind() != TraceKind::kMeet && e.Kind() != TraceKind::kCollective) {
        continue;
      }
      (e.Kind() == TraceKind::kMeet
           ? meets
           : arrivals)[{e.program, e.target, e.firing, e.actor}]
          .push_back(i);
    }
    std::map<std::pair<uint32_t, uint32_t>, TraceSummary::Share> shares;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, TraceSummary::Gap> gaps;
    std::set<std::pair<uint32_t, TimeNs>> seen;
    TimeNs on_path = 0;
    uint32_t at = last;
    TimeNs until = EndOf(event(last));
    bool is_new = true;  // false for the earlier part of a gang that waited
    while (at != kNone && until > summary_.begin &&
           seen.insert({at, until}).second) {
      const TraceEvent& e = event(at);
      TimeNs from = std::min(e.time, until);
      uint32_t next = kNone;
      TimeNs next_until = 0;
      // Finds the last wait for other devices that ended by `until`.
      if (auto found = meets.find({e.program, e.target, e.firing, e.actor});
          e.Kind() == TraceKind::kGang && found != meets.end()) {
        for (auto m = found->second.rbegin(); m != found->second.rend(); ++m) {
          const TraceEvent& meet = event(*m);
          if (EndOf(meet) > until) continue;
          // Finds the device that arrived last.
          for (uint32_t other : gangs_[{e.program, e.target, e.firing}]) {
            if (event(other).actor == e.actor) continue;
            for (uint32_t a : arrivals[{e.program, e.target, e.firing,
                                        event(other).actor}]) {
              const TraceEvent& arrival = event(a);
              if (arrival.item != meet.item || arrival.time > EndOf(meet) ||
                  arrival.time <= meet.time ||
                  (next != kNone && arrival.time <= next_until)) {
                continue;
              }
              next = other;
              next_until = arrival.time;
            }
          }
          if (next != kNone) from = EndOf(meet);
          break;
        }
      }
      TraceSummary::Share& share = shares[{e.program, e.target}];
      const TimeNs ns = until - std::max(from, summary_.begin);
      if (ns > 0) {
        share.ns += ns;
        on_path += ns;
      }
      share.firings += is_new;
      is_new = true;
      if (next == kNone) {
        next = Before(at);
        if (next != kNone) next_until = std::min(EndOf(event(next)), from);
      } else {
        is_new = event(next).target != e.target;
      }
      const TimeNs gap =
          std::max(from, summary_.begin) - std::max(next_until, summary_.begin);
      if (next != kNone && gap > 0) {
        TraceSummary::Gap& between =
            gaps[{e.program, event(next).target, e.target}];
        between.ns += gap;
        ++between.count;
      }
      at = next;
      until = next_until;
    }
    for (auto& [key, gap] : gaps) {
      const auto [program, from, to] = key;
      gap.program = index_.ProgramName(program);
      if (const auto* action = index_.action(program, from)) {
        gap.from = action->name();
      }
      if (const auto* action = index_.action(program, to)) {
        gap.to = action->name();
      }
      summary_.gaps.push_back(std::move(gap));
    }
    std::stable_sort(summary_.gaps.begin(), summary_.gaps.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    for (auto& [key, share] : shares) {
      const proto::Action* action = index_.action(key.first, key.second);
      share.program = index_.ProgramName(key.first);
      if (action != nullptr) {
        share.action = action->name();
        share.location = action->location();
      }
      summary_.path.push_back(std::move(share));
    }
    std::stable_sort(summary_.path.begin(), summary_.path.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    summary_.path_between_ns = summary_.wall_ns() - on_path;
  }

  void AddWaits() {
    // Waits by (program, edge or action, step); the step of an edge is kNone.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, TraceSummary::Wait>
        waits;
    for (const TraceEvent& e : log_.events) {
      const bool is_collective = e.Kind() == TraceKind::kMeet;
      if (!is_collective &&
          (e.Kind() != TraceKind::kWait || e.other == kNoTraceEdge)) {
        continue;
      }
      const proto::Action* to = index_.action(e);
      const proto::Edge* edge =
          is_collective ? nullptr : index_.edge(e.program, e.other);
      if (to == nullptr || (edge == nullptr && !is_collective)) continue;
      TraceSummary::Wait& wait =
          waits[{e.program, is_collective ? e.target : e.other,
                 is_collective ? static_cast<uint32_t>(e.item) : kNone}];
      const TimeNs ns = EndOf(e) - e.time;
      ++wait.count;
      wait.total_ns += ns;
      if (wait.count > 1 && ns <= wait.ns) continue;
      wait.ns = ns;
      wait.firing = e.firing;
      wait.is_collective = is_collective;
      wait.program = index_.ProgramName(e.program);
      wait.device = log_.actors[e.actor].name;
      wait.to = to->name();
      wait.to_location = to->location();
      if (is_collective) {
        wait.kind = CollectiveKindName(
            to->steps(static_cast<int>(e.item)).collective().kind());
        continue;
      }
      const proto::Action* from = index_.action(e.program, edge->from());
      wait.edge = e.other;
      wait.kind = EdgeKindName(edge->kind());
      wait.from = from->name();
      wait.from_location = from->location();
    }
    for (auto& [key, wait] : waits) summary_.waits.push_back(std::move(wait));
    std::stable_sort(summary_.waits.begin(), summary_.waits.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    if (summary_.waits.size() > kWaits) summary_.waits.resize(kWaits);
  }

  const TraceLog& log_;
  LogIndex index_;
  TraceSummary summary_;
  absl::flat_hash_map<FiringKey, uint32_t> firings_;
  // Events by (program, action, firing).
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::vector<uint32_t>>
      gangs_, moves_;
  // previous gang in its queue
  absl::flat_hash_map<uint32_t, uint32_t> before_;
  std::map<uint32_t, uint32_t> last_gang_;  // last gang so far, by device
};

}  // namespace

TraceSummary SummarizeTrace(const TraceLog& log) {
  return Summarizer(log).Run();
}

}  // namespace pathways
