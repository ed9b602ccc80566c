//===- gang_builder.cc - Builder of a device's gang tables ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/gang_builder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/tables.h"
#include "runtime/program/edge_bases.h"

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

class GangMaker {
 public:
  GangMaker(const TableInputs& in, const ProgramMemory& memory,
            GroupTables* groups, DeviceProgram* device)
      : in_(in), memory_(memory), groups_(*groups), device_(*device) {}

  GangTables Make();

 private:
  // The device's members and groups of a collective, shared with all others
  // over the same axes of the slice.
  struct Membership {
    uint32_t member_begin = 0, member_end = 0, group_begin = 0, group_end = 0;
  };
  void MakeGang(uint32_t a);
  // Returns the index of the first coordinate of the device's shards.
  uint32_t CoordinatesOf(uint32_t slice);
  void MakeCollective(uint32_t a, uint32_t i);
  const Membership& MembershipOf(uint32_t a, uint32_t i);
  void FindMembers(uint32_t a, uint32_t i, Membership* in);

  const TableInputs& in_;
  const ProgramMemory& memory_;
  GroupTables& groups_;
  DeviceProgram& device_;
  GangTables queue_;
  std::map<uint32_t, uint32_t> coordinates_of_;  // by slice
  // Keyed by slice and axes.
  std::map<std::pair<uint32_t, std::vector<std::string>>, Membership>
      memberships_;
};

GangTables GangMaker::Make() {
  for (int a = 0; a < in_.plan.plan().actions_size(); ++a) {
    if (in_.action(a).kind() == proto::GANG &&
        device_.first_entry[a] != kNoEntry) {
      MakeGang(a);
    }
  }
  return std::move(queue_);
}

void GangMaker::MakeGang(uint32_t a) {
  const proto::Action& action = in_.action(a);
  const size_t num_shards = device_.shards[action.slice()].size();
  const ResolvedKernel* kernel =
      in_.plan.kernel(action.kernel(), in_.first_device() + device_.device);
  Gang gang;
  gang.action = a;
  gang.first_entry = device_.first_entry[a];
  gang.shards = static_cast<uint32_t>(num_shards);
  for (uint32_t k = 0; k < gang.shards; ++k) {
    gang.need += device_.entries[gang.first_entry + k].need;
  }
  gang.num_coordinates =
      static_cast<uint32_t>(in_.plan.slices()[action.slice()].mesh.size());
  gang.cost_ns = static_cast<TimeNs>(
      std::min<uint64_t>(action.cost_ns(), uint64_t{1} << 50));
  gang.first_coordinate = CoordinatesOf(action.slice());
  if (action.has_guard()) {
    gang.guard = static_cast<int32_t>(queue_.slots.size());
    gang.unless = action.guard().unless();
    for (size_t k = 0; k < num_shards; ++k) {
      queue_.slots.push_back(
          memory_.OffsetOf(action.guard().buffer(), device_.device, k));
    }
  }
  gang.step_begin = static_cast<uint32_t>(queue_.steps.size());
  for (int i = 0; i < action.steps_size(); ++i) {
    GangStepTable step;
    if (action.steps(i).has_run()) {
      const proto::GangStep::Run& run = action.steps(i).run();
      if (kernel != nullptr) step.function = kernel->segments[run.segment()];
      step.operands = static_cast<uint32_t>(run.buffers_size());
      step.first_slot = static_cast<uint32_t>(queue_.slots.size());
      device_.max_operands = std::max(device_.max_operands, step.operands);
      for (size_t k = 0; k < num_shards; ++k) {
        for (uint32_t buffer : run.buffers()) {
          queue_.slots.push_back(memory_.OffsetOf(buffer, device_.device, k));
        }
      }
    } else if (action.steps(i).has_collective()) {
      step.collective = static_cast<int32_t>(queue_.collectives.size());
      MakeCollective(a, static_cast<uint32_t>(i));
    } else {
      continue;
    }
    queue_.steps.push_back(step);
  }
  gang.step_end = static_cast<uint32_t>(queue_.steps.size());
  queue_.num_shards += gang.shards;
  queue_.gangs.push_back(gang);
}

uint32_t GangMaker::CoordinatesOf(uint32_t slice) {
  auto [first, fresh] = coordinates_of_.try_emplace(
      slice, static_cast<uint32_t>(device_.coordinates.size()));
  if (fresh) {
    const layout::Mesh& mesh = in_.plan.slices()[slice].mesh;
    for (int32_t shard : device_.shards[slice]) {
      for (int64_t c : layout::Coordinates(mesh, shard)) {
        device_.coordinates.push_back(static_cast<int32_t>(c));
      }
    }
  }
  return first->second;
}

void GangMaker::MakeCollective(uint32_t a, uint32_t i) {
  const proto::Collective& c = in_.action(a).steps(i).collective();
  const Membership& in = MembershipOf(a, i);
  const GroupTables::Collective& tables = groups_.collectives.at({a, i});
  CollectiveTable table;
  table.shape = &groups_.shapes[tables.shape];
  table.first_group = tables.first_group;
  table.first_slot = static_cast<uint32_t>(queue_.slots.size());
  table.first_meeting = queue_.num_meetings;
  table.member_begin = in.member_begin;
  table.member_end = in.member_end;
  table.group_begin = in.group_begin;
  table.group_end = in.group_end;
  for (uint32_t m = in.member_begin; m < in.member_end; ++m) {
    const CollectiveMember& member = device_.members[m];
    const int64_t k = m - in.member_begin;
    queue_.slots.push_back(memory_.OffsetOf(c.source(), device_.device, k));
    queue_.slots.push_back(memory_.OffsetOf(c.result(), device_.device, k));
    const HostGroup& group = groups_.groups[table.first_group + member.group];
    table.small |= group.small != nullptr;
    if (group.in_place == nullptr) continue;
    table.in_place = true;
    group.in_place->sources[member.rank] =
        memory_.RefOf(c.source(), device_.device, k);
    group.in_place->results[member.rank] =
        memory_.RefOf(c.result(), device_.device, k);
  }
  for (uint32_t g = in.group_begin; g < in.group_end; ++g) {
    const DeviceGroup& of = device_.groups_in[g];
    HostGroup& group = groups_.groups[table.first_group + of.group];
    group.locals[of.local].meeting = queue_.num_meetings++;
  }
  queue_.collectives.push_back(table);
}

const GangMaker::Membership& GangMaker::MembershipOf(uint32_t a, uint32_t i) {
  const proto::Action& action = in_.action(a);
  const proto::Collective& c = action.steps(i).collective();
  auto [known, fresh] = memberships_.try_emplace(
      {action.slice(),
       std::vector<std::string>(c.axes().begin(), c.axes().end())});
  if (fresh) FindMembers(a, i, &known->second);
  return known->second;
}

void GangMaker::FindMembers(uint32_t a, uint32_t i, Membership* in) {
  const proto::Action& action = in_.action(a);
  const proto::Collective& c = action.steps(i).collective();
  const layout::Mesh& mesh = in_.plan.slices()[action.slice()].mesh;
  const uint32_t first_group = groups_.collectives.at({a, i}).first_group;
  const std::vector<int32_t>& shards = device_.shards[action.slice()];
  in->member_begin = static_cast<uint32_t>(device_.members.size());
  in->group_begin = static_cast<uint32_t>(device_.groups_in.size());
  // Members on this device by group; ordered by shard.
  std::map<uint32_t, std::vector<uint32_t>> shards_in;
  for (size_t k = 0; k < shards.size(); ++k) {
    const GroupPlace place = GroupPlaceOf(mesh, c, shards[k]);
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
      member.own = PlaceInCohort(group, device_.device);
    }
    device_.members.push_back(member);
    shards_in[member.group].push_back(static_cast<uint32_t>(k));
  }
  for (const auto& [g, members] : shards_in) {
    const HostGroup& group = groups_.groups[first_group + g];
    const HostGroup::Local& local = LocalOf(group, device_.device);
    DeviceGroup of;
    of.group = g;
    of.local = static_cast<uint32_t>(&local - group.locals.data());
    of.cohort = local.cohort;
    of.shards_begin = static_cast<uint32_t>(device_.shards_in.size());
    device_.shards_in.insert(device_.shards_in.end(), members.begin(),
                             members.end());
    of.shards_end = static_cast<uint32_t>(device_.shards_in.size());
    device_.groups_in.push_back(of);
  }
  in->member_end = static_cast<uint32_t>(device_.members.size());
  in->group_end = static_cast<uint32_t>(device_.groups_in.size());
}

}  // namespace

GangTables MakeGangs(const TableInputs& in, const ProgramMemory& memory,
                     GroupTables* groups, DeviceProgram* device) {
  return GangMaker(in, memory, groups, device).Make();
}

void MarkPlain(const DeviceProgram& device, GangTables* queue) {
  auto have_masks = [&](const GangStepTable& step) {
    const auto slots = queue->slots.begin() + step.first_slot;
    return std::all_of(slots, slots + step.operands,
                       [](const SlotOffset& slot) { return slot.has_mask(); });
  };
  uint32_t end = 0;
  for (size_t g = queue->gangs.size(); g-- > 0;) {
    Gang& gang = queue->gangs[g];
    gang.quiet = gang.need == 0;
    for (uint32_t k = 0; k < gang.shards; ++k) {
      const Entry& of = device.entries[gang.first_entry + k];
      gang.quiet &= of.out_begin == of.out_end;
    }
    if (gang.shards != 1 || !gang.quiet || gang.guard >= 0 ||
        gang.step_end != gang.step_begin + 1 ||
        queue->steps[gang.step_begin].collective >= 0 ||
        !have_masks(queue->steps[gang.step_begin])) {
      end = 0;
      continue;
    }
    if (end == 0) end = static_cast<uint32_t>(g) + 1;
    gang.plain_end = end;
  }
}

}  // namespace pathways
