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

// Bytes of a host's contributions above which a group is combined in place:
// about what one worker combines while two others meet.
constexpr int64_t kInPlaceBytes = 32 << 10;
// Upper bound on all contributions of a small group. Each worker reads those of
// the others and combines them in the time that it would wait for another one
// to do so.
constexpr uint64_t kSmallBytes = 4 << 10;

CollectiveShape ShapeOf(const proto::Collective& c,
                        const layout::ReductionTree& tree,
                        const PreparedBuffer& source,
                        const PreparedBuffer& result) {
  CollectiveShape shape;
  shape.kind = c.kind();
  shape.reduction = c.reduction();
  shape.element = source.element;
  shape.element_bytes = source.element_bytes;
  shape.size = tree.size();
  shape.dim = c.dim();
  shape.concat_dim = c.concat_dim();
  if (IsPermutation(c.kind())) shape.sources = PermuteSources(c, tree.size());
  shape.source = source.shape;
  shape.result = result.shape;
  shape.Complete(tree);
  return shape;
}

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

void HostProgramBuilder::MakeGroups() {
  // Make the shapes first: steps point at them.
  size_t count = 0;
  for (const proto::Action& action : plan().actions()) {
    for (const proto::GangStep& step : action.steps()) {
      count += step.has_collective();
    }
  }
  out_.shapes.reserve(count);
  for (int a = 0; a < plan().actions_size(); ++a) {
    const proto::Action& action = plan().actions(a);
    const uint32_t slice = action.slice();
    for (int i = 0; i < action.steps_size(); ++i) {
      if (!action.steps(i).has_collective()) continue;
      const proto::Collective& c = action.steps(i).collective();
      shape_of_[{a, i}] = out_.shapes.size();
      out_.shapes.push_back(ShapeOf(
          c, layout::ReductionTree(GroupAxes(p_.slices()[slice].mesh, c)),
          p_.buffers()[c.source()], p_.buffers()[c.result()]));
      const size_t first = out_.groups.size();
      first_group_of_[{a, i}] = static_cast<uint32_t>(first);
      for (const auto& device : out_.devices) {
        if (device == nullptr) continue;
        for (int32_t shard : device->shards[slice]) {
          AddGroup(a, i, slice, c, shard);
        }
      }
      PlaceGroups(first, slice, c);
    }
  }
}

void HostProgramBuilder::AddGroup(uint32_t action, uint32_t step,
                                  uint32_t slice, const proto::Collective& c,
                                  int32_t shard) {
  const layout::Mesh& mesh = p_.slices()[slice].mesh;
  const bool fresh =
      out_.group_of
          .try_emplace(
              {action, step,
               static_cast<uint32_t>(GroupPlaceOf(mesh, c, shard).first)},
              static_cast<uint32_t>(out_.groups.size()))
          .second;
  if (!fresh) return;
  HostGroup group;
  group.action = action;
  group.step = step;
  group.bytes = out_.shapes.back().source_bytes;
  group.members = GroupOf(mesh, c, shard);
  std::map<uint32_t, std::vector<uint32_t>> locals;
  for (uint32_t r = 0; r < group.members.size(); ++r) {
    const Topology::Place place = in_.PlaceOf(slice, group.members[r]);
    if (place.host == out_.host) locals[place.device].push_back(r);
  }
  for (auto& [device, ranks] : locals) {
    group.locals.push_back(
        {device, /*cohort=*/0, /*meeting=*/0, std::move(ranks)});
  }
  if (group.locals.size() > 1) group.meeting = MakeMeeting(&group);
  out_.groups.push_back(std::move(group));
}

std::unique_ptr<GroupMeeting> HostProgramBuilder::MakeMeeting(
    HostGroup* group) const {
  std::map<uint32_t, std::vector<HostGroup::Local*>> cohorts;
  for (HostGroup::Local& local : group->locals) {
    cohorts[host_actors_.cohorts[local.device]].push_back(&local);
  }
  std::vector<std::vector<uint32_t>> devices;
  for (const auto& [cohort, locals] : cohorts) {
    for (HostGroup::Local* local : locals) {
      local->cohort = static_cast<uint32_t>(devices.size());
    }
    std::vector<uint32_t>& of = devices.emplace_back();
    for (const HostGroup::Local* local : locals) of.push_back(local->device);
  }
  return std::make_unique<GroupMeeting>(std::move(devices));
}

void HostProgramBuilder::PlaceGroups(size_t first, uint32_t slice,
                                     const proto::Collective& c) {
  const CollectiveShape& shape = out_.shapes.back();
  auto is_large = [&](const HostGroup& group) {
    return group.num_own() * shape.source_bytes >= kInPlaceBytes;
  };
  auto is_spread = [](const HostGroup& group) {
    return group.num_own() < static_cast<int64_t>(group.members.size());
  };
  // Either all groups that span hosts are in place or none is. Otherwise a
  // device in several groups would wait for other hosts before it does the work
  // that those hosts may wait for.
  bool large_spread = false;
  for (size_t g = first; g < out_.groups.size(); ++g) {
    const HostGroup& group = out_.groups[g];
    large_spread |= is_spread(group) && is_large(group);
  }
  for (size_t g = first; g < out_.groups.size(); ++g) {
    HostGroup& group = out_.groups[g];
    const bool spread = is_spread(group);
    if (spread ? shape.kind == proto::ALL_REDUCE && large_spread
               : group.meeting == nullptr || is_large(group)) {
      group.in_place = std::make_unique<InPlaceGroup>();
      if (group.meeting != nullptr) {
        group.in_place->leaving = MakeMeeting(&group);
      }
      group.in_place->sources.resize(group.members.size());
      group.in_place->results.resize(group.members.size());
      group.in_place->operands.resize(group.members.size());
      group.in_place->outputs.resize(group.members.size());
    }
    group_at_.push_back(memory_.host_bytes());
    if (spread) {
      group.exchange = std::make_unique<ExchangeState>(
          ExchangeOf(slice, c, group, shape),
          Reducer(shape.reduction, shape.element));
      memory_.Reserve(AlignBuffer(group.exchange->slot_bytes()), 2);
    } else if (group.in_place == nullptr) {
      group.shared = shape.kind == proto::ALL_REDUCE;
      if (IsSmall(group, slice)) {
        group.small =
            FlagBarrierOf(group, slice, group.shared ? shape.result_bytes : 0);
        continue;
      }
      PlaceContributions(&group);
      memory_.Reserve(group.slot_bytes, 2);
      memory_.Reserve(group.result_bytes, 2);
    }
  }
}

void HostProgramBuilder::PlaceContributions(HostGroup* group) {
  group->at.resize(group->members.size());
  std::vector<std::vector<const HostGroup::Local*>> cohorts(
      group->meeting->cohorts.size());
  for (const HostGroup::Local& local : group->locals) {
    cohorts[local.cohort].push_back(&local);
  }
  for (const std::vector<const HostGroup::Local*>& locals : cohorts) {
    for (const HostGroup::Local* local : locals) {
      for (uint32_t rank : local->ranks) {
        group->at[rank] = group->slot_bytes;
        group->slot_bytes += group->bytes;
      }
    }
    group->slot_bytes = AlignBuffer(group->slot_bytes);
  }
  if (group->shared) group->result_bytes = AlignBuffer(group->bytes);
}

bool HostProgramBuilder::IsSmall(const HostGroup& group, uint32_t slice) const {
  const auto has_one = [&](const HostGroup::Local& local) {
    return out_.devices[local.device]->shards[slice].size() == 1;
  };
  return group.members.size() * group.bytes <= kSmallBytes &&
         group.meeting->cohorts.size() <= FlagBarrier::kMaxCohorts &&
         std::all_of(group.locals.begin(), group.locals.end(), has_one);
}

FlagBarrier* HostProgramBuilder::FlagBarrierOf(const HostGroup& group,
                                               uint32_t slice,
                                               uint64_t result_bytes) {
  FlagBarrier*& known =
      small_of_[{slice, group.members, group.bytes, result_bytes}];
  if (known != nullptr) return known;
  std::vector<FlagBarrier::Members> cohorts(group.meeting->cohorts.size());
  for (const HostGroup::Local& local : group.locals) {
    cohorts[local.cohort].devices.push_back(local.device);
    cohorts[local.cohort].ranks.push_back(local.ranks[0]);
  }
  out_.flag_barriers.push_back(std::make_unique<FlagBarrier>(
      std::move(cohorts), group.bytes, result_bytes));
  known = out_.flag_barriers.back().get();
  small_at_.push_back(memory_.Reserve(known->memory_bytes()));
  return known;
}

std::shared_ptr<const layout::HostExchange> HostProgramBuilder::ExchangeOf(
    uint32_t slice, const proto::Collective& c, const HostGroup& group,
    const CollectiveShape& shape) {
  const bool members_combine = group.in_place != nullptr;
  // Programs often repeat a collective, so exchanges are shared.
  proto::Collective key = c;
  key.clear_source();
  key.clear_result();
  key.clear_reduction();
  std::shared_ptr<const layout::HostExchange>& known =
      exchanges_[{slice, group.members[0], shape.element, shape.source_bytes,
                  members_combine, key.SerializeAsString()}];
  if (known == nullptr) {
    std::vector<int32_t> hosts;
    for (int32_t shard : group.members) {
      hosts.push_back(in_.PlaceOf(slice, shard).host);
    }
    layout::ExchangeSpec spec =
        ExchangeSpecOf(p_.slices()[slice].mesh, c, shape.element,
                       shape.source_bytes, std::move(hosts));
    spec.members_combine = members_combine;
    known = std::make_shared<const layout::HostExchange>(
        layout::MakeExchange(spec, out_.host));
  }
  return known;
}

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
  const uint32_t first_group = first_group_of_.at({a, i});
  const std::vector<int32_t>& shards = device->shards[action.slice()];
  // Members on this device by group; ordered by shard.
  std::map<uint32_t, std::vector<uint32_t>> shards_in;
  for (size_t k = 0; k < shards.size(); ++k) {
    const GroupPlace place =
        GroupPlaceOf(p_.slices()[action.slice()].mesh, c, shards[k]);
    const uint32_t g =
        out_.group_of.at({a, i, static_cast<uint32_t>(place.first)});
    CollectiveMember member;
    member.group = g - first_group;
    member.rank = static_cast<uint32_t>(place.rank);
    const HostGroup& group = out_.groups[g];
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
    const HostGroup& group = out_.groups[first_group + g];
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
  table.shape = &out_.shapes[shape_of_[{a, i}]];
  table.first_group = first_group_of_.at({a, i});
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
    const HostGroup& group = out_.groups[table.first_group + member.group];
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
    HostGroup& group = out_.groups[table.first_group + of.group];
    group.locals[of.local].meeting = queue->num_meetings++;
  }
  queue->collectives.push_back(table);
}

}  // namespace pathways
