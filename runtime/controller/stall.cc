//===- stall.cc - Diagnosis of a stalled program --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

using Reports = std::map<uint32_t, proto::Report>;
using StuckShards = std::vector<const proto::StuckShard*>;

Stall Root(std::string text) {
  Stall stall;
  stall.kind = Stall::kRoot;
  stall.text = std::move(text);
  return stall;
}

// Returns true if all numbers in a host's report on a shard are in range for
// this program and topology.
bool IsSound(const proto::StuckShard& s, const PreparedPlan& plan,
             const Topology& topology) {
  if (s.action() >= static_cast<uint32_t>(plan.plan().actions_size())) {
    return false;
  }
  if (s.device() < 0 || s.device() >= topology.num_devices() ||
      (s.unheard() &&
       (s.unheard_edge() >= plan.edges().size() ||
        s.unheard_host() >= static_cast<uint32_t>(topology.num_hosts())))) {
    return false;
  }
  for (const proto::MissingEdge& missing : s.missing()) {
    if (missing.edge() >= plan.edges().size()) return false;
  }
  return true;
}

// Returns the shards with the smallest (firing, position).
StuckShards SmallestOf(const Reports& reports, const PreparedPlan& plan,
                       const Topology& topology) {
  StuckShards stuck;
  for (const auto& [host, report] : reports) {
    for (const proto::StuckShard& s : report.stuck()) {
      if (!IsSound(s, plan, topology)) continue;
      if (!stuck.empty()) {
        const auto least =
            std::make_tuple(stuck[0]->firing(), stuck[0]->action());
        const auto here = std::make_tuple(s.firing(), s.action());
        if (here > least) continue;
        if (here < least) stuck.clear();
      }
      stuck.push_back(&s);
    }
  }
  return stuck;
}

// Names of actions, hosts and shards in messages.
class Names {
 public:
  Names(const PreparedPlan& plan, const Topology& topology, StepNumbers numbers)
      : plan_(plan), topology_(topology), numbers_(numbers) {}

  std::string Action(uint32_t action) const {
    return absl::StrCat("'", plan_.plan().actions(action).name(), "'");
  }
  std::string Host(uint32_t host) const {
    return topology_.HostName(static_cast<int>(host));
  }
  std::string Shard(const proto::StuckShard& s) const {
    return absl::StrCat(Action(s.action()), " at step ",
                        numbers_.Of(s.firing()), ", shard ", s.shard(), " on ",
                        topology_.GlobalDeviceName(s.device()));
  }

 private:
  const PreparedPlan& plan_;
  const Topology& topology_;
  const StepNumbers numbers_;
};

// Finds a host that has finished its granted firings, but was not granted all.
std::optional<Stall> MissingGrant(const Reports& reports,
                                  const StuckShards& stuck, const Names& names,
                                  StepNumbers numbers, uint64_t end) {
  for (const auto& [host, report] : reports) {
    if (report.granted() >= end) continue;
    if (!stuck.empty() && stuck[0]->firing() < report.granted()) {
      return std::nullopt;
    }
    return Root(absl::StrCat(
        names.Host(report.host()), " was granted only the steps before ",
        numbers.Of(report.granted()), ", expected those before ",
        numbers.Of(end), ": a start or a grant was lost"));
  }
  return std::nullopt;
}

std::optional<Stall> MissingToken(const PreparedPlan& plan,
                                  const StuckShards& stuck,
                                  const Names& names) {
  for (const proto::StuckShard* s : stuck) {
    if (s->missing_size() == 0) continue;
    const proto::MissingEdge& missing = s->missing(0);
    const PreparedEdge& edge = plan.edges()[missing.edge()];
    return Root(absl::StrCat(names.Shard(*s), " waits for the ",
                             EdgeKindName(edge.kind), " edge from ",
                             names.Action(edge.from), " to ",
                             names.Action(edge.to), ": ", missing.arrived(),
                             " of ", missing.expected(), " tokens arrived"));
  }
  for (const proto::StuckShard* s : stuck) {
    if (!s->unheard()) continue;
    const PreparedEdge& edge = plan.edges()[s->unheard_edge()];
    return Root(absl::StrCat(
        names.Shard(*s), " is not prepared: ", names.Host(s->unheard_host()),
        " did not report that it enqueued ", names.Action(edge.from)));
  }
  return std::nullopt;
}

std::optional<Stall> BehindOthers(const StuckShards& stuck,
                                  const Names& names) {
  for (const proto::StuckShard* s : stuck) {
    if (!s->blocked() && !s->unfilled()) continue;
    Stall stall;
    stall.kind = Stall::kBlocked;
    stall.blocked_by = s->unfilled() ? s->unfilled_by() : s->blocked_program();
    stall.blocked_action = s->blocked_action();
    stall.text = names.Shard(*s);
    return stall;
  }
  // A shard in a late round may wait for a shard in an early one.
  const proto::StuckShard* first = nullptr;
  for (const proto::StuckShard* s : stuck) {
    if (s->in_collective() &&
        (first == nullptr ||
         s->collective_round() < first->collective_round())) {
      first = s;
    }
  }
  if (first != nullptr) {
    std::string text =
        absl::StrCat(names.Shard(*first), " waits in the collective of step ",
                     first->collective_step(), " for shards");
    for (uint32_t shard : first->absent()) absl::StrAppend(&text, " ", shard);
    if (first->absent_size() == 0) absl::StrAppend(&text, " of its group");
    return Root(std::move(text));
  }
  return std::nullopt;
}

}  // namespace

Stall ClassifyStall(const PreparedPlan& plan, const Topology& topology,
                    const std::map<uint32_t, proto::Report>& reports,
                    StepNumbers numbers, uint64_t end,
                    absl::Span<const int32_t> islands) {
  const Names names(plan, topology, numbers);
  for (int32_t host : plan.binding().hosts()) {
    if (reports.count(host)) continue;
    return Root(absl::StrCat(topology.HostName(host), " does not answer"));
  }
  const StuckShards stuck = SmallestOf(reports, plan, topology);
  if (auto stall = MissingGrant(reports, stuck, names, numbers, end)) {
    return *std::move(stall);
  }
  if (stuck.empty()) {
    std::string text = "all its actions are done, but";
    for (int32_t island : islands) {
      absl::StrAppend(&text, island == islands[0] ? " " : ", ",
                      topology.IslandName(island));
    }
    return Root(text + " did not announce the end");
  }
  if (auto stall = MissingToken(plan, stuck, names)) return *std::move(stall);
  for (const proto::StuckShard* s : stuck) {
    if (s->running()) return Stall();
  }
  if (auto stall = BehindOthers(stuck, names)) return *std::move(stall);
  Stall stall;
  stall.text = absl::StrCat(names.Shard(*stuck[0]), " is ready");
  return stall;
}

}  // namespace pathways
