//===- device_report.cc - Report of a stuck device ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_report.h"

#include <algorithm>
#include <vector>

#include "runtime/device/value_moves.h"

namespace pathways {
namespace {

constexpr int kMaxReported = 8;

// The grant of a firing.
const HostGrant& GrantAt(const DeviceProgram& program, uint64_t firing) {
  auto it = program.active.begin();
  while (firing >= it->grant->end) ++it;
  return *it->grant;
}

// Returns the first firing of each entry that has not happened.
std::vector<uint64_t> NextFirings(const DeviceProgram& program,
                                  const GrantQueue& queue) {
  std::vector<uint64_t> next;
  next.reserve(program.entries.size());
  for (const Entry& entry : program.entries) next.push_back(entry.next);
  const std::vector<Gang>& gangs = program.queue->gangs;
  for (size_t g = 0; g < gangs.size(); ++g) {
    std::fill_n(next.begin() + gangs[g].first_entry, gangs[g].shards,
                queue.NextFiring(program, g));
  }
  return next;
}

// Reports the tokens that a firing of entry `i` misses.
void ReportTokens(const DeviceProgram& program, uint32_t i, uint64_t firing,
                  proto::StuckShard* stuck) {
  // A missing token that no edge accounts for is the host's.
  uint32_t unexplained = program.counts[program.EntryAt(i, firing)];
  for (uint32_t e = 0; e < program.in_edges.size(); ++e) {
    const InEdge& in = program.in_edges[e];
    if (in.entry != i) continue;
    const uint32_t tokens = program.TokensOf(e, firing);
    if (tokens == in.expected) continue;
    proto::MissingEdge* missing = stuck->add_missing();
    missing->set_edge(in.edge);
    missing->set_expected(in.expected);
    missing->set_arrived(tokens);
    unexplained -= in.expected - tokens;
  }
  stuck->set_unprepared(unexplained > 0);
}

void ReportFeed(const DeviceProgram& program, const Entry& entry,
                uint64_t firing, proto::StuckShard* stuck) {
  const FeedOp& op = program.feeds[entry.op];
  const HostLaunch& launch = *GrantAt(program, firing).launch;
  if (IsFilled(op, firing, launch)) return;
  stuck->set_unfilled(true);
  stuck->set_unfilled_by(launch.values.arguments[op.argument]->writer);
}

}  // namespace

void ReportDevice(const DeviceProgram& program, const GrantQueue& queue,
                  const HeadState& state, DeviceReport* out) {
  const std::vector<uint64_t> next = NextFirings(program, queue);
  uint64_t fired = program.fired;
  if (!queue.empty() && queue.head().program == &program) {
    for (size_t g = 0; g < queue.gang_index(); ++g) {
      fired += program.queue->gangs[g].shards;
    }
  }
  out->report.set_fired(fired);
  out->report.set_granted(program.granted);
  // Find the smallest (firing, position) that has not happened.
  uint64_t firing = UINT64_MAX;
  uint32_t action = 0;
  for (uint32_t i = 0; i < next.size(); ++i) {
    const uint32_t of = program.entries[i].action;
    if (next[i] < program.granted &&
        (next[i] < firing || (next[i] == firing && of < action))) {
      firing = next[i];
      action = of;
    }
  }
  for (uint32_t i = 0; i < next.size() && firing != UINT64_MAX; ++i) {
    const Entry& entry = program.entries[i];
    if (entry.action != action || next[i] != firing ||
        out->report.stuck_size() == kMaxReported) {
      continue;
    }
    proto::StuckShard* stuck = out->report.add_stuck();
    out->groups.push_back(UINT32_MAX);
    stuck->set_firing(firing);
    stuck->set_action(action);
    stuck->set_shard(entry.shard);
    stuck->set_device(state.global_device);
    ReportTokens(program, i, firing, stuck);
    if (entry.kind == proto::FEED) ReportFeed(program, entry, firing, stuck);
    if (entry.kind != proto::GANG || queue.empty()) continue;
    const GrantQueue::Head& head = queue.head();
    const Gang& gang = queue.gang();
    if (head.program == &program && head.next == firing &&
        gang.action == action) {
      stuck->set_running(state.running);
      if (state.in_meeting) {
        const uint32_t k = i - gang.first_entry;
        stuck->set_in_collective(true);
        stuck->set_collective_step(state.step);
        const GangTables& tables = *program.queue;
        const CollectiveTable& table =
            tables.collectives[tables.steps[gang.step_begin + state.step]
                                   .collective];
        out->groups.back() =
            table.first_group + program.members[table.member_begin + k].group;
      }
    } else if (stuck->missing_size() == 0) {
      stuck->set_blocked(true);
      stuck->set_blocked_program(head.program->program);
      stuck->set_blocked_action(gang.action);
      stuck->set_blocked_firing(head.next);
    }
  }
}

}  // namespace pathways
