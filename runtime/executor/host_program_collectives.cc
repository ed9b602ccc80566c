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

#include "runtime/executor/host_program_builder.h"
#include "runtime/plan/tables.h"

namespace pathways {
void HostProgramBuilder::MakeGroups() {
  // Shapes first: steps point at them.
  size_t count = 0;
  for (const proto::Action& action : plan().actions()) {
    for (const proto::GangStep& step : action.steps()) {
      count += step.has_collective();
    }
  }
  out_.shapes.reserve(count);
  for (int a = 0; a < plan().actions_size(); ++a) {
    const proto::Action& action = plan().actions(a);
    for (int i = 0; i < action.steps_size(); ++i) {
      if (!action.steps(i).has_collective()) continue;
      const proto::Collective& c = action.steps(i).collective();
      const PreparedBuffer& source = p_.buffers()[c.source()];
      const PreparedBuffer& result = p_.buffers()[c.result()];
      CollectiveShape shape;
      shape.kind = c.kind();
      shape.reduction = c.reduction();
      shape.element = source.element;
      shape.element_bytes = source.element_bytes;
      const layout::ReductionTree tree(
          GroupAxes(p_.slices()[action.slice()].mesh, c));
      shape.size = tree.size();
      shape.dim = c.dim();
      shape.concat_dim = c.concat_dim();
      shape.shift = c.shift();
      shape.wrap = c.wrap();
      shape.source = source.shape;
      shape.result = result.shape;
      shape.Complete(tree);
      shape_of_[{a, i}] = out_.shapes.size();
      out_.shapes.push_back(std::move(shape));
      for (const auto& device : out_.devices) {
        if (device == nullptr) continue;
        for (int32_t shard : device->shards[action.slice()]) {
          AddGroupMember(a, i, action.slice(), c, shard);
        }
      }
    }
  }
}

void HostProgramBuilder::AddGroupMember(uint32_t action, uint32_t step,
                                        uint32_t slice,
                                        const proto::Collective& c,
                                        int32_t shard) {
  std::vector<int32_t> members = GroupOf(p_.slices()[slice].mesh, c, shard);
  auto [it, fresh] = out_.group_of.try_emplace(
      {action, step, static_cast<uint32_t>(members[0])},
      static_cast<uint32_t>(out_.groups.size()));
  if (!fresh) return;
  HostGroup group;
  group.action = action;
  group.step = step;
  const CollectiveShape& shape = out_.shapes[shape_of_[{action, step}]];
  group.bytes = shape.element_bytes;
  for (int64_t size : shape.source) group.bytes *= size;
  std::vector<std::pair<int, uint32_t>> order;  // (host, rank)
  std::map<uint32_t, std::vector<uint32_t>> locals;
  for (uint32_t r = 0; r < members.size(); ++r) {
    const Topology::Place place = PlaceOf(slice, members[r]);
    order.emplace_back(place.host, r);
    if (place.host == out_.host) locals[place.device].push_back(r);
  }
  std::sort(order.begin(), order.end());
  group.place.resize(members.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    group.place[order[i].second] = i;
    if (order[i].first == out_.host) {
      if (group.own_count++ == 0) group.own_begin = i;
    } else if (!group.remotes.empty() &&
               group.remotes.back().host == order[i].first) {
      ++group.remotes.back().count;
    } else {
      group.remotes.push_back({order[i].first, i, 1});
    }
  }
  for (auto& [device, ranks] : locals) {
    group.locals.push_back({device, /*met=*/0, std::move(ranks)});
  }
  group.here.assign(2 * members.size(), 0);
  group.members = std::move(members);
  if (group.remotes.empty() && group.locals.size() > 1) {
    group.meeting = std::make_unique<GroupMeeting>();
    std::map<uint32_t, std::vector<uint32_t>> cohorts;
    for (const HostGroup::Local& local : group.locals) {
      cohorts[host_actors_.cohorts[local.device]].push_back(local.device);
    }
    for (auto& [cohort, members] : cohorts) {
      group.meeting->cohorts.push_back(std::move(members));
    }
    group.meeting->counts.resize(cohorts.size());
    group.shared = shape.kind == proto::ALL_REDUCE;
  }
  group.at.resize(group.members.size());
  if (group.meeting == nullptr) {
    for (uint32_t r = 0; r < group.members.size(); ++r) {
      group.at[r] = group.place[r] * group.bytes;
    }
    group.slot_bytes = AlignBuffer(group.members.size() * group.bytes);
  } else {
    for (uint32_t c = 0; c < group.meeting->cohorts.size(); ++c) {
      for (const HostGroup::Local& local : group.locals) {
        if (CohortIn(group, local.device) != c) continue;
        for (uint32_t rank : local.ranks) {
          group.at[rank] = group.slot_bytes;
          group.slot_bytes += group.bytes;
        }
      }
      group.slot_bytes = AlignBuffer(group.slot_bytes);
    }
  }
  if (group.shared) group.result_bytes = AlignBuffer(group.bytes);
  group_at_.push_back(host_sum_.total());
  host_sum_.Add(group.slot_bytes, 2);
  host_sum_.Add(group.result_bytes, 2);
  out_.groups.push_back(std::move(group));
}

uint32_t HostProgramBuilder::CohortIn(const HostGroup& group, uint32_t device) {
  if (group.meeting == nullptr) return 0;
  uint32_t cohort = 0;
  for (; cohort < group.meeting->cohorts.size(); ++cohort) {
    const std::vector<uint32_t>& devices = group.meeting->cohorts[cohort];
    if (std::binary_search(devices.begin(), devices.end(), device)) break;
  }
  return cohort;
}

void HostProgramBuilder::MakeCollective(DeviceProgram* device, uint32_t a,
                                        uint32_t i) {
  const proto::Action& action = plan().actions(a);
  const proto::Collective& c = action.steps(i).collective();
  const std::vector<int32_t>& shards = device->shards[action.slice()];
  CollectiveTable table;
  table.shape = &out_.shapes[shape_of_[{a, i}]];
  table.member_begin = static_cast<uint32_t>(device->members.size());
  table.group_begin = static_cast<uint32_t>(device->groups_in.size());
  device->max_group = std::max<uint64_t>(device->max_group, table.shape->size);
  for (size_t k = 0; k < shards.size(); ++k) {
    const std::vector<int32_t> ranks =
        GroupOf(p_.slices()[action.slice()].mesh, c, shards[k]);
    CollectiveMember member;
    member.group = out_.group_of.at({a, i, static_cast<uint32_t>(ranks[0])});
    member.rank = static_cast<uint32_t>(
        std::find(ranks.begin(), ranks.end(), shards[k]) - ranks.begin());
    HostGroup& group = out_.groups[member.group];
    table.bytes = group.bytes;
    member.source = Slot(c.source(), device->device, k);
    member.result = Slot(c.result(), device->device, k);
    if (group.data != nullptr) {
      member.contribution = {group.contribution(0, member.rank),
                             group.slot_bytes, 2};
      member.combined = {group.result(0), group.result_bytes, 2};
    }
    member.has_combined = group.shared;
    device->members.push_back(member);
    if (std::any_of(device->groups_in.begin() + table.group_begin,
                    device->groups_in.end(), [&](const DeviceGroup& in) {
                      return in.group == member.group;
                    })) {
      continue;
    }
    for (HostGroup::Local& local : group.locals) {
      if (local.device != device->device) continue;
      local.met = static_cast<uint32_t>(device->groups_in.size());
    }
    device->groups_in.push_back(
        {member.group, CohortIn(group, device->device), group.meeting.get()});
  }
  table.member_end = static_cast<uint32_t>(device->members.size());
  table.group_end = static_cast<uint32_t>(device->groups_in.size());
  device->collectives.push_back(table);
}

}  // namespace pathways
