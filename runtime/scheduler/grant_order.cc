//===- grant_order.cc - The one order of all grants -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/grant_order.h"

#include <algorithm>
#include <utility>

namespace pathways {
namespace {

// Largest number of steps of one grant while the time of a firing is not yet
// measured; at most twice as many may be open. The second one applies if the
// program is not alone on its groups.
constexpr uint64_t kMaxUnmeasuredSteps = 64;
constexpr uint64_t kMaxUnmeasuredShared = 8;

}  // namespace

void Grant::Reset() {
  launch = 0;
  program = 0;
  ticket = first = end = 0;
  previous.clear();
  running.Clear();
  estimate_ns = 0;
  time_ns = 0;
}

void GrantOrder::Launch::Reset() {
  program = 0;
  first = end = 0;
  cut_short = false;
  islands = {};
  tickets.clear();
}

void GrantOrder::Load(uint32_t id, uint32_t client, const FiringCost& cost,
                      absl::Span<const DeviceGroupTable::Device> devices) {
  Unload(id);
  Program& program = programs_[id];
  program.client = client;
  program.cost = cost;
  program.firing_ns = std::max(1.0, cost.total_ns);
  splits_.clear();
  groups_of_.Add(id, devices, &splits_);
  groups_.resize(groups_of_.size());
  for (const DeviceGroupTable::Split& split : splits_) {
    groups_[split.to] = groups_[split.from];
    groups_[split.to].changed = false;
    policy_->Split(split.from, split.to);
    Change(split.to);
  }
  for (uint32_t group : groups_of_.Of(id)) ++groups_[group].loaded[client];
}

void GrantOrder::Unload(uint32_t id) {
  auto found = programs_.find(id);
  if (found == programs_.end()) return;
  if (found->second.open_grants > 0) {
    for (uint64_t ticket : grants_.Ids()) {
      const Grant* grant = grants_.Find(ticket);
      if (grant != nullptr && grant->program == id) Forget(grant->launch);
    }
  }
  SetBusy(id, false);
  for (uint32_t group : groups_of_.Of(id)) {
    auto loaded = groups_[group].loaded.find(found->second.client);
    if (--loaded->second == 0) groups_[group].loaded.erase(loaded);
    // The remaining program may be alone now.
    Change(group);
  }
  groups_of_.Remove(id);
  programs_.erase(found);
}

void GrantOrder::Begin(uint64_t launch, uint32_t id, uint64_t steps,
                       absl::Span<const int32_t> islands, const Claim& claim,
                       TimeNs now) {
  Program& program = programs_[id];
  Launch& record = launches_.Insert(launch);
  record.program = id;
  record.first = program.next;
  record.end = program.next + steps;
  record.islands = islands;
  program.launch = launch;
  program.end = record.end;
  program.claim = claim;
  program.since = now;
  program.order = ++last_order_;
  if (islands.empty()) {
    nowhere_.push_back(id);
    return;
  }
  SetBusy(id, true);
  ChangeAll(id);
}

void GrantOrder::Inherit(uint64_t launch, const Claim& claim) {
  const Launch* record = launches_.Find(launch);
  if (record == nullptr) return;
  Program& program = programs_[record->program];
  if (program.launch == launch) program.claim.Inherit(claim);
}

void GrantOrder::CutShort(uint64_t launch, uint64_t steps) {
  Launch* record = launches_.Find(launch);
  if (record == nullptr || record->cut_short) return;
  Program& program = programs_[record->program];
  if (program.launch != launch || !program.waits()) return;
  record->cut_short = true;
  program.end = record->end =
      program.next + std::min(steps, program.end - program.next);
  ChangeAll(record->program);
}

void GrantOrder::Change(uint32_t group) {
  if (std::exchange(groups_[group].changed, true)) return;
  changed_.push_back(group);
}

void GrantOrder::ChangeAll(uint32_t program) {
  for (uint32_t group : groups_of_.Of(program)) Change(group);
}

uint32_t GrantOrder::CountBusy(const Group& group, uint32_t client) const {
  uint32_t count = 0;
  for (uint32_t id : group.busy) {
    const auto program = programs_.find(id);
    count += program != programs_.end() && program->second.client == client;
  }
  return count;
}

void GrantOrder::SetBusy(uint32_t id, bool busy) {
  Program& program = programs_[id];
  if (program.busy == busy) return;
  program.busy = busy;
  for (uint32_t number : groups_of_.Of(id)) {
    Group& group = groups_[number];
    if (busy) {
      if (CountBusy(group, program.client) == 0) {
        policy_->Begin(number, program.client);
      }
      group.busy.push_back(id);
      continue;
    }
    group.busy.erase(std::find(group.busy.begin(), group.busy.end(), id));
    if (CountBusy(group, program.client) == 0) {
      policy_->End(number, program.client);
    }
    Change(number);
  }
}

bool GrantOrder::IsAlone(uint32_t id) const {
  for (uint32_t number : groups_of_.Of(id)) {
    const Group& group = groups_[number];
    if (group.loaded.size() > 1 || group.busy.size() > 1) return false;
  }
  return true;
}

uint64_t GrantOrder::NextSteps(uint32_t id, const Program& program) const {
  const bool alone = IsAlone(id);
  const double scale = program.measured && program.cost.bottleneck_ns > 0
                           ? program.firing_ns / program.cost.bottleneck_ns
                           : 1;
  const double horizon_ns =
      alone ? static_cast<double>(horizon_ns_)
            : std::max(static_cast<double>(chunk_ns_),
                       kFillFactor * program.cost.fill_ns * scale);
  const uint64_t left = program.end - program.next;
  // The last grant of a launch that was cut short covers all that is left.
  if (launches_.Find(program.launch)->cut_short) {
    return program.open_grants < 2 ? left : 0;
  }
  // Two grants fill the horizon: one runs, the next one is queued after it.
  const double half = horizon_ns / 2 / program.firing_ns;
  uint64_t steps = half < 1                           ? 1
                   : half > static_cast<double>(left) ? left
                                                      : uint64_t(half);
  const uint64_t most = program.measured ? UINT64_MAX / 2
                        : alone          ? kMaxUnmeasuredSteps
                                         : kMaxUnmeasuredShared;
  steps = std::min({steps, left, most});
  if (program.open_grants < 2) return steps;
  const uint64_t open = program.open_firings + steps;
  const double open_ns = static_cast<double>(open) * program.firing_ns;
  return open <= 2 * most && open_ns <= horizon_ns ? steps : 0;
}

uint32_t GrantOrder::Choose(uint32_t number, TimeNs now, uint64_t* steps) {
  const Group& group = groups_[number];
  *steps = 0;
  // The policy first chooses among all waiting programs. If the chosen one can
  // get no grant now and the group has fewer than two open grants, the policy
  // chooses among those that can.
  for (const bool eligible : {false, true}) {
    candidates_.clear();
    offers_.clear();
    for (uint32_t id : group.busy) {
      const auto found = programs_.find(id);
      if (found == programs_.end() || !found->second.waits()) continue;
      const Program& program = found->second;
      const uint64_t count = NextSteps(id, program);
      if (eligible && count == 0) continue;
      candidates_.push_back({program.client, program.claim.priority,
                             program.claim.deadline, program.since,
                             program.order});
      offers_.emplace_back(id, count);
    }
    if (candidates_.empty()) return 0;
    const size_t best =
        candidates_.size() == 1 ? 0 : policy_->Choose(number, now, candidates_);
    const auto [id, count] = offers_[best];
    if (count == 0 && group.open_grants >= 2) return 0;
    if (count == 0) continue;
    const auto chosen = programs_.find(id);
    if (chosen == programs_.end()) return 0;
    const double open_ns =
        group.open_ns + static_cast<double>(count) * chosen->second.firing_ns;
    // A program that is alone on the group is limited by NextSteps only.
    if (group.busy.size() == 1 || group.open_grants < 2 ||
        open_ns <= static_cast<double>(chunk_ns_)) {
      *steps = count;
    }
    return id;
  }
  return 0;
}

const Grant* GrantOrder::Next(TimeNs now) {
  while (!nowhere_.empty()) {
    const uint32_t id = nowhere_.back();
    nowhere_.pop_back();
    const Program& program = programs_[id];
    if (program.waits()) return Give(id, program.end - program.next, now);
  }
  while (!changed_.empty()) {
    const uint32_t group = changed_.back();
    uint64_t steps = 0;
    const uint32_t id = Choose(group, now, &steps);
    if (steps > 0) return Give(id, steps, now);
    groups_[group].changed = false;
    changed_.pop_back();
  }
  return nullptr;
}

const Grant* GrantOrder::Give(uint32_t id, uint64_t steps, TimeNs now) {
  Program& program = programs_[id];
  Launch* launch = launches_.Find(program.launch);
  const uint64_t ticket = ++last_ticket_;
  Grant& grant = grants_.Insert(ticket);
  grant.launch = program.launch;
  grant.program = id;
  grant.ticket = ticket;
  grant.first = program.next;
  grant.end = program.next += steps;
  grant.estimate_ns = static_cast<double>(steps) * program.firing_ns;
  grant.running.Assign(launch->islands);
  for (int32_t island : launch->islands) {
    uint64_t& last = ticket_of_[island];
    grant.previous.emplace_back(island, last);
    last = ticket;
  }
  launch->tickets.push_back(ticket);
  ++program.open_grants;
  program.open_firings += steps;
  program.since = now;
  program.order = ++last_order_;
  for (uint32_t number : groups_of_.Of(id)) {
    Group& group = groups_[number];
    ++group.open_grants;
    group.open_ns += grant.estimate_ns;
    policy_->Charge(number, program.client, program.claim.weight,
                    grant.estimate_ns);
  }
  return &grant;
}

void GrantOrder::Return(const Grant& grant, int32_t island, double time_ns) {
  Program& program = programs_[grant.program];
  program.time_ns += time_ns;
  for (uint32_t number : groups_of_.Of(grant.program)) {
    if (groups_of_.IslandOf(number) != island) continue;
    Group& group = groups_[number];
    --group.open_grants;
    group.open_ns =
        group.open_grants == 0 ? 0 : group.open_ns - grant.estimate_ns;
    policy_->Charge(number, program.client, program.claim.weight,
                    time_ns - grant.estimate_ns);
    time_of_[program.client] += time_ns;
    Change(number);
  }
}

bool GrantOrder::Done(uint64_t ticket, int32_t island, TimeNs time_ns) {
  Grant* grant = grants_.Find(ticket);
  if (grant == nullptr || !grant->running.Erase(island)) return false;
  Return(*grant, island, static_cast<double>(time_ns));
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
  const uint32_t id = grant.program;
  Program& program = programs_[id];
  --program.open_grants;
  program.open_firings -= grant.end - grant.first;
  grants_.Erase(ticket);
  ChangeAll(id);
  if (program.open_grants == 0 && !program.waits()) SetBusy(id, false);
}

void GrantOrder::Forget(uint64_t launch) {
  const Launch* record = launches_.Find(launch);
  if (record == nullptr) return;
  const uint32_t id = record->program;
  const auto found = programs_.find(id);
  if (found == programs_.end()) return launches_.Erase(launch);
  Program& program = found->second;
  if (program.launch == launch) {
    program.launch = 0;
    program.end = program.next;
  }
  for (uint64_t ticket : record->tickets) {
    const Grant& grant = *grants_.Find(ticket);
    for (int32_t island : grant.running.Members()) {
      Return(grant, island, grant.estimate_ns);
    }
    Close(ticket);
  }
  if (program.open_grants == 0 && !program.waits()) SetBusy(id, false);
  launches_.Erase(launch);
}

uint64_t GrantOrder::next_firing(uint32_t program) const {
  auto found = programs_.find(program);
  return found == programs_.end() ? 0 : found->second.next;
}

bool GrantOrder::IsWaiting(uint32_t program) const {
  auto found = programs_.find(program);
  return found != programs_.end() && found->second.waits() &&
         found->second.open_grants == 0;
}

TimeNs GrantOrder::TimeOf(uint32_t client) const {
  auto found = time_of_.find(client);
  return found == time_of_.end() ? 0 : static_cast<TimeNs>(found->second);
}

TimeNs GrantOrder::TimeOfProgram(uint32_t program) const {
  auto found = programs_.find(program);
  return found == programs_.end() ? 0
                                  : static_cast<TimeNs>(found->second.time_ns);
}

}  // namespace pathways
