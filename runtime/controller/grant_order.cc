//===- grant_order.cc - The one order of all grants -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/grant_order.h"

#include <algorithm>

namespace pathways {
namespace {

// Of one grant while nobody knows what a firing really takes.
constexpr uint64_t kMaxUnmeasuredSteps = 64;

}  // namespace

void Grant::Reset() {
  launch = 0;
  program = 0;
  ticket = first = end = 0;
  previous.clear();
  running.Clear();
  time_ns = 0;
}

void GrantOrder::Launch::Reset() {
  program = 0;
  first = end = 0;
  islands = {};
  tickets.clear();
}

void GrantOrder::Restart(uint32_t program, TimeNs cost_ns) {
  programs_[program] = Program();
  programs_[program].firing_ns = std::max<double>(1, cost_ns);
}

void GrantOrder::Begin(uint64_t launch, uint32_t program, uint64_t steps,
                       absl::Span<const int32_t> islands) {
  Program& p = programs_[program];
  Launch& record = launches_.Insert(launch);
  record.program = program;
  record.first = p.next;
  record.end = p.next + steps;
  record.islands = islands;
  p.launch = launch;
  p.end = record.end;
}

uint64_t GrantOrder::NextSteps(const Program& program) const {
  const uint64_t left = program.end - program.next;
  // Two grants fill the horizon: one runs, the other one stands behind it.
  const double half = horizon_ns_ / 2.0 / program.firing_ns;
  uint64_t steps = half < 1 ? 1 : half > left ? left : uint64_t(half);
  if (!program.measured) steps = std::min(steps, kMaxUnmeasuredSteps);
  steps = std::min(steps, left);
  const double open_ns =
      static_cast<double>(program.open_firings + steps) * program.firing_ns;
  return program.open_grants < 2 || open_ns <= horizon_ns_ ? steps : 0;
}

const Grant* GrantOrder::Next(uint32_t program) {
  Program& p = programs_[program];
  Launch* launch = launches_.Find(p.launch);
  if (launch == nullptr || p.next == p.end) return nullptr;
  const bool nowhere = launch->islands.empty();
  const uint64_t steps = nowhere ? p.end - p.next : NextSteps(p);
  if (steps == 0) return nullptr;
  const uint64_t ticket = ++last_ticket_;
  Grant& grant = grants_.Insert(ticket);
  grant.launch = p.launch;
  grant.program = program;
  grant.ticket = ticket;
  grant.first = p.next;
  grant.end = p.next += steps;
  grant.running.Assign(launch->islands);
  for (int32_t island : launch->islands) {
    uint64_t& last = ticket_of_[island];
    grant.previous.emplace_back(island, last);
    last = ticket;
  }
  launch->tickets.push_back(ticket);
  ++p.open_grants;
  p.open_firings += steps;
  return &grant;
}

bool GrantOrder::Done(uint64_t ticket, int32_t island, TimeNs time_ns) {
  Grant* grant = grants_.Find(ticket);
  if (grant == nullptr || !grant->running.Erase(island)) return false;
  grant->time_ns = std::max(grant->time_ns, time_ns);
  if (!grant->running.empty()) return false;
  Program& program = programs_[grant->program];
  const double firing_ns =
      std::max(1.0, double(grant->time_ns) / double(grant->end - grant->first));
  program.firing_ns =
      program.measured ? (3 * program.firing_ns + firing_ns) / 4 : firing_ns;
  program.measured = true;
  std::vector<uint64_t>& tickets = launches_.Find(grant->launch)->tickets;
  tickets.erase(std::find(tickets.begin(), tickets.end(), ticket));
  Close(ticket);
  return true;
}

void GrantOrder::Close(uint64_t ticket) {
  const Grant& grant = *grants_.Find(ticket);
  Program& program = programs_[grant.program];
  --program.open_grants;
  program.open_firings -= grant.end - grant.first;
  grants_.Erase(ticket);
}

void GrantOrder::Forget(uint64_t launch) {
  const Launch* record = launches_.Find(launch);
  if (record == nullptr) return;
  for (uint64_t ticket : record->tickets) Close(ticket);
  Program& program = programs_[record->program];
  if (program.launch == launch) {
    program.launch = 0;
    program.end = program.next;
  }
  launches_.Erase(launch);
}

uint64_t GrantOrder::next_firing(uint32_t program) const {
  auto found = programs_.find(program);
  return found == programs_.end() ? 0 : found->second.next;
}

}  // namespace pathways
