//===- stall.cc - Why a program does not go on ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"

namespace pathways {

Stall ClassifyStall(const PreparedPlan& plan, const Topology& topology,
                    const std::map<uint32_t, proto::Report>& reports,
                    uint64_t first, uint64_t end) {
  Stall stall;
  for (int32_t host : plan.hosts()) {
    if (reports.count(host)) continue;
    stall.kind = Stall::kRoot;
    stall.text = absl::StrCat(topology.HostName(host), " does not answer");
    return stall;
  }
  // The smallest (firing, position), with all its shards.
  std::vector<const proto::StuckShard*> stuck;
  for (const auto& [host, report] : reports) {
    for (const proto::StuckShard& s : report.stuck()) {
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
  const proto::Report* behind = nullptr;
  for (const auto& [host, report] : reports) {
    if (report.granted() < end && behind == nullptr) behind = &report;
  }
  if (behind != nullptr &&
      (stuck.empty() || stuck[0]->firing() >= behind->granted())) {
    if (behind->held()) {
      stall.kind = Stall::kBlocked;
      stall.blocked_by = behind->held_by();
      stall.text = absl::StrCat(
          "a launch at ", topology.HostName(static_cast<int>(behind->host())));
      return stall;
    }
    stall.kind = Stall::kRoot;
    stall.text =
        absl::StrCat(topology.HostName(static_cast<int>(behind->host())),
                     " was granted the steps before ",
                     behind->granted() < first ? 0 : behind->granted() - first,
                     " of ", end - first, " only: a start or a grant was lost");
    return stall;
  }
  if (stuck.empty()) {
    stall.kind = Stall::kRoot;
    stall.text = "all its actions are done, but the end was not announced";
    return stall;
  }
  const proto::Action& action = plan.plan().actions(stuck[0]->action());
  const int island = plan.slices()[action.slice()].island;
  auto who = [&](const proto::StuckShard& s) {
    return absl::StrCat("'", action.name(), "' at step ",
                        s.firing() < first ? 0 : s.firing() - first, ", shard ",
                        s.shard(), " on ",
                        topology.DeviceName(island, s.device()));
  };
  for (const proto::StuckShard* s : stuck) {
    if (s->missing_size() == 0) continue;
    const proto::MissingEdge& missing = s->missing(0);
    const PreparedEdge& edge = plan.edges()[missing.edge()];
    stall.kind = Stall::kRoot;
    stall.text = absl::StrCat(
        who(*s), " waits for the ", EdgeKindName(edge.kind), " edge from '",
        plan.plan().actions(edge.from).name(), "' to '",
        plan.plan().actions(edge.to).name(), "': ", missing.arrived(), " of ",
        missing.expected(), " tokens came");
    return stall;
  }
  for (const proto::StuckShard* s : stuck) {
    if (!s->unheard()) continue;
    const PreparedEdge& edge = plan.edges()[s->unheard_edge()];
    stall.kind = Stall::kRoot;
    stall.text =
        absl::StrCat(who(*s), " is not prepared: it waits to hear that ",
                     topology.HostName(static_cast<int>(s->unheard_host())),
                     " enqueued '", plan.plan().actions(edge.from).name(), "'");
    return stall;
  }
  for (const proto::StuckShard* s : stuck) {
    if (s->running()) return stall;
  }
  for (const proto::StuckShard* s : stuck) {
    if (!s->blocked()) continue;
    stall.kind = Stall::kBlocked;
    stall.blocked_by = s->blocked_program();
    stall.blocked_action = s->blocked_action();
    stall.text = who(*s);
    return stall;
  }
  for (const proto::StuckShard* s : stuck) {
    if (!s->in_collective()) continue;
    stall.kind = Stall::kRoot;
    stall.text = absl::StrCat(who(*s), " waits in the collective of step ",
                              s->collective_step(), " for shards");
    for (uint32_t shard : s->absent()) absl::StrAppend(&stall.text, " ", shard);
    if (s->absent_size() == 0) absl::StrAppend(&stall.text, " of its group");
    return stall;
  }
  stall.kind = Stall::kProgress;
  stall.text = absl::StrCat(who(*stuck[0]), " is ready");
  return stall;
}

}  // namespace pathways
