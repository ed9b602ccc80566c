//===- host_program_collectives.cc - Collectives and their groups ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/plan/tables.h"
#include "runtime/program/host_program_builder.h"

namespace pathways {
namespace {

const HostGroup::Local& LocalOf(const HostGroup& group, uint32_t device) {
  return *std::lower_bound(
      group.locals.begin(), group.locals.end(), device,
      [](const HostGroup::Local& l, uint32_t d) { return l.device < d; });
}

// Returns the index of a device among those of its cohort in a group.
uint32_t PlaceInCohort(const HostGroup& group, uint32_t device) {
  if (group.meeting == nullptr) return 0;
  const std::vector<uint32_t>& cohort =
      group.meeting->cohorts[LocalOf(group, device).cohort];
  return static_cast<uint32_t>(
      std::lower_bound(cohort.begin(), cohort.end(), device) - cohort.begin());
}

}  // namespace

const HostProgramBuilder::Membership& HostProgramBuilder::MembershipOf(
    DeviceProgram* device, uint32_t a, uint32_t i) {
  const proto::Action& action = plan().actions(a);
  const proto::Collective& c = action.steps(i).collective();
  auto [known, fresh] = memberships_.try_emplace(
      {device->device, action.slice(),
       std::vector<std::string>(c.axes().begin(), c.axes().end())});
  Membership& in = known->second;
  if (!fresh) return in;
  in.member_begin = static_cast<uint32_t>(device->members.size());
  in.group_begin = static_cast<uint32_t>(device->groups_in.size());
  const uint32_t first_group = groups_.collectives.at({a, i}).first_group;
  const std::vector<int32_t>& shards = device->shards[action.slice()];
  // Members on this device by group; ordered by shard.
  std::map<uint32_t, std::vector<uint32_t>> shards_in;
  for (size_t k = 0; k < shards.size(); ++k) {
    const GroupPlace place =
        GroupPlaceOf(p_.slices()[action.slice()].mesh, c, shards[k]);
    const uint32_t g =
        groups_.group_of.at({a, i, static_cast<uint32_t>(place.first)});
    CollectiveMember member;
    member.group = g - first_group;
    member.rank = static_cast<uint32_t>(place.rank);
    const HostGroup& group = groups_.groups[g];
    if (group.exchange != nullptr) {
      const std::vector<int64_t>& own = group.exchange->plan().ranks;
      member.own = static_cast<uint32_t>(
          std::lower_bound(own.begin(), own.end(), place.rank) - own.begin());
    } else {
      member.own = PlaceInCohort(group, device->device);
    }
    device->members.push_back(member);
    shards_in[member.group].push_back(static_cast<uint32_t>(k));
  }
  for (const auto& [g, members] : shards_in) {
    const HostGroup& group = groups_.groups[first_group + g];
    const HostGroup::Local& local = LocalOf(group, device->device);
    DeviceGroup of;
    of.group = g;
    of.local = static_cast<uint32_t>(&local - group.locals.data());
    of.cohort = local.cohort;
    of.shards_begin = static_cast<uint32_t>(device->shards_in.size());
    device->shards_in.insert(device->shards_in.end(), members.begin(),
                             members.end());
    of.shards_end = static_cast<uint32_t>(device->shards_in.size());
    device->groups_in.push_back(of);
  }
  in.member_end = static_cast<uint32_t>(device->members.size());
  in.group_end = static_cast<uint32_t>(device->groups_in.size());
  return in;
}

void HostProgramBuilder::MakeCollective(DeviceProgram* device,
                                        GangTables* queue, uint32_t a,
                                        uint32_t i) {
  const proto::Collective& c = plan().actions(a).steps(i).collective();
  const Membership& in = MembershipOf(device, a, i);
  CollectiveTable table;
  table.shape = &groups_.shapes[groups_.collectives.at({a, i}).shape];
  table.first_group = groups_.collectives.at({a, i}).first_group;
  table.first_slot = static_cast<uint32_t>(queue->slots.size());
  table.first_meeting = queue->num_meetings;
  table.member_begin = in.member_begin;
  table.member_end = in.member_end;
  table.group_begin = in.group_begin;
  table.group_end = in.group_end;
  for (uint32_t m = in.member_begin; m < in.member_end; ++m) {
    const CollectiveMember& member = device->members[m];
    const int64_t k = m - in.member_begin;
    queue->slots.push_back(memory_.OffsetOf(c.source(), device->device, k));
    queue->slots.push_back(memory_.OffsetOf(c.result(), device->device, k));
    const HostGroup& group = groups_.groups[table.first_group + member.group];
    table.small |= group.small != nullptr;
    if (group.in_place == nullptr) continue;
    table.in_place = true;
    group.in_place->sources[member.rank] =
        memory_.RefOf(c.source(), device->device, k);
    group.in_place->results[member.rank] =
        memory_.RefOf(c.result(), device->device, k);
  }
  for (uint32_t g = in.group_begin; g < in.group_end; ++g) {
    const DeviceGroup& of = device->groups_in[g];
    HostGroup& group = groups_.groups[table.first_group + of.group];
    group.locals[of.local].meeting = queue->num_meetings++;
  }
  queue->collectives.push_back(table);
}

}  // namespace pathways
