//===- credits_in_use.cc - Filled slots of buffers over time --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/credits_in_use.h"

#include <utility>

namespace pathways::trace {

CreditsInUse::UsesOfActions CreditsInUse::UsesOf(const proto::Plan& plan) {
  UsesOfActions uses(plan.actions_size());
  for (int e = 0; e < plan.edges_size(); ++e) {
    const proto::Edge& edge = plan.edges(e);
    if (edge.kind() != proto::CREDIT || edge.relation() == proto::ALL) continue;
    const proto::Action& to = plan.actions(edge.to());
    const proto::Action& from = plan.actions(edge.from());
    // The recv, not the send, writes a received buffer.
    const uint32_t writer =
        to.kind() == proto::SEND && edge.relation() == proto::PIECES
            ? to.peer()
            : edge.to();
    if (writer == edge.from()) continue;
    const bool is_carried =
        from.kind() == proto::FEED &&
        plan.interface().arguments(from.interface()).carried();
    const uint32_t number = static_cast<uint32_t>(e);
    uses[writer].push_back({number, true, false});
    uses[edge.from()].push_back({number, false, is_carried});
  }
  return uses;
}

int64_t CreditsInUse::ShardsOf(const TraceEvent& event,
                               const proto::Action& action) {
  if (event.Kind() == TraceKind::kMove) return 1;
  return static_cast<int64_t>(
      index_.ShardsOn(event.program, action.slice(), event.actor).size());
}

Counter CreditsInUse::Of(const std::string& name,
                         const std::vector<const TraceEvent*>& events) {
  // Each (program, edge) has its own counter, so that one whose events begin in
  // the middle of the log does not hide another.
  std::map<std::pair<uint32_t, uint32_t>, Steps> edges;
  for (const TraceEvent* e : events) {
    if (e->Kind() != TraceKind::kGang && e->Kind() != TraceKind::kMove) {
      continue;
    }
    const proto::Action* action = index_.action(*e);
    if (action == nullptr) continue;
    const int64_t shards = ShardsOf(*e, *action);
    auto [uses, is_new] = uses_.try_emplace(e->program);
    if (is_new) uses->second = UsesOf(*index_.plan(e->program));
    for (const Use& use : uses->second[e->target]) {
      // The feed of a carried argument reads what the previous firing wrote.
      if (use.is_carried && e->firing == 0) continue;
      edges[{e->program, use.edge}].Add(e->end(), use.takes ? shards : -shards);
    }
  }
  Steps all;
  for (const auto& [key, steps] : edges) {
    int64_t value = 0;
    for (const auto& [time, now] : steps.Values()) {
      all.Add(time, now - value);
      value = now;
    }
  }
  return {name, "credits", all.Values()};
}

}  // namespace pathways::trace
