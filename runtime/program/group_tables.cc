//===- group_tables.cc - Groups of a program's collectives ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/group_tables.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/tables.h"

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

// Lays out the contributions of a group that is all on this host.
void PlaceContributions(HostGroup* group) {
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

// Returns true if the group has members on other hosts.
bool IsSpread(const HostGroup& group) {
  return group.num_own() < static_cast<int64_t>(group.members.size());
}

class GroupMaker {
 public:
  GroupMaker(const TableInputs& in, const DevicePrograms& devices,
             ProgramMemory* memory)
      : in_(in), devices_(devices), memory_(*memory) {}

  GroupTables Make();

 private:
  // A collective of the plan.
  struct Step {
    uint32_t action = 0, step = 0, slice = 0;
    const proto::Collective* collective = nullptr;
  };
  // Adds the group of `shard` unless it exists.
  void AddGroup(const Step& step, int32_t shard);
  // Returns the meeting of a group's devices; sets their cohorts in it.
  std::unique_ptr<GroupMeeting> MakeMeeting(HostGroup* group) const;
  // Chooses how groups [first, ...), which are all groups of one collective,
  // combine, and reserves the memory that they need.
  void PlaceGroups(size_t first, const Step& step);
  // Returns true if a group may use a FlagBarrier: each device has one member,
  // there are few cohorts, and contributions are so few bytes that cohorts
  // should exchange them.
  bool IsSmall(const HostGroup& group, uint32_t slice) const;
  // Returns the barrier of the members, shared with other collectives that are
  // alike.
  FlagBarrier* BarrierOf(const HostGroup& group, uint32_t slice,
                         uint64_t result_bytes);
  std::shared_ptr<const layout::HostExchange> ExchangeOf(
      const Step& step, const HostGroup& group, const CollectiveShape& shape);

  const TableInputs& in_;
  const DevicePrograms& devices_;
  ProgramMemory& memory_;
  GroupTables out_;
  // Keyed by slice, members, and bytes of contributions and results.
  std::map<std::tuple<uint32_t, std::vector<int32_t>, uint64_t, uint64_t>,
           FlagBarrier*>
      barriers_;
  // Keyed by everything that distinguishes exchanges.
  std::map<std::tuple<uint32_t, int32_t, int, int64_t, bool, std::string>,
           std::shared_ptr<const layout::HostExchange>>
      exchanges_;
};

GroupTables GroupMaker::Make() {
  std::vector<Step> steps;
  for (int a = 0; a < in_.plan.plan().actions_size(); ++a) {
    const proto::Action& action = in_.action(a);
    for (int i = 0; i < action.steps_size(); ++i) {
      if (!action.steps(i).has_collective()) continue;
      steps.push_back({static_cast<uint32_t>(a), static_cast<uint32_t>(i),
                       action.slice(), &action.steps(i).collective()});
    }
  }
  out_.shapes.reserve(steps.size());
  for (const Step& step : steps) {
    const proto::Collective& c = *step.collective;
    const size_t first = out_.groups.size();
    out_.collectives[{step.action, step.step}] = {out_.shapes.size(),
                                                  static_cast<uint32_t>(first)};
    out_.shapes.push_back(ShapeOf(
        c,
        layout::ReductionTree(GroupAxes(in_.plan.slices()[step.slice].mesh, c)),
        in_.plan.buffers()[c.source()], in_.plan.buffers()[c.result()]));
    for (const auto& device : devices_) {
      if (device == nullptr) continue;
      for (int32_t shard : device->shards[step.slice]) AddGroup(step, shard);
    }
    PlaceGroups(first, step);
  }
  return std::move(out_);
}

void GroupMaker::AddGroup(const Step& step, int32_t shard) {
  const layout::Mesh& mesh = in_.plan.slices()[step.slice].mesh;
  const GroupPlace place = GroupPlaceOf(mesh, *step.collective, shard);
  const bool fresh = out_.group_of
                         .try_emplace({step.action, step.step,
                                       static_cast<uint32_t>(place.first)},
                                      static_cast<uint32_t>(out_.groups.size()))
                         .second;
  if (!fresh) return;
  HostGroup group;
  group.action = step.action;
  group.step = step.step;
  group.bytes = out_.shapes.back().source_bytes;
  group.members = GroupOf(mesh, *step.collective, shard);
  std::map<uint32_t, std::vector<uint32_t>> locals;
  for (uint32_t r = 0; r < group.members.size(); ++r) {
    const Topology::Place of = in_.PlaceOf(step.slice, group.members[r]);
    if (of.host == in_.host) locals[of.device].push_back(r);
  }
  for (auto& [device, ranks] : locals) {
    group.locals.push_back(
        {device, /*cohort=*/0, /*meeting=*/0, std::move(ranks)});
  }
  if (group.locals.size() > 1) group.meeting = MakeMeeting(&group);
  out_.groups.push_back(std::move(group));
}

std::unique_ptr<GroupMeeting> GroupMaker::MakeMeeting(HostGroup* group) const {
  std::map<uint32_t, std::vector<HostGroup::Local*>> cohorts;
  for (HostGroup::Local& local : group->locals) {
    cohorts[in_.actors.cohorts[local.device]].push_back(&local);
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

void GroupMaker::PlaceGroups(size_t first, const Step& step) {
  const CollectiveShape& shape = out_.shapes.back();
  auto is_large = [&](const HostGroup& group) {
    return group.num_own() * shape.source_bytes >= kInPlaceBytes;
  };
  // Either all groups that span hosts are in place or none is. Otherwise a
  // device in several groups would wait for other hosts before it does the work
  // that those hosts may wait for.
  bool large_spread = false;
  for (size_t g = first; g < out_.groups.size(); ++g) {
    const HostGroup& group = out_.groups[g];
    large_spread |= IsSpread(group) && is_large(group);
  }
  for (size_t g = first; g < out_.groups.size(); ++g) {
    HostGroup& group = out_.groups[g];
    const bool spread = IsSpread(group);
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
    out_.group_at.push_back(memory_.host_bytes());
    if (spread) {
      group.exchange = std::make_unique<ExchangeState>(
          ExchangeOf(step, group, shape),
          Reducer(shape.reduction, shape.element));
      memory_.Reserve(AlignBuffer(group.exchange->slot_bytes()), 2);
    } else if (group.in_place == nullptr) {
      group.shared = shape.kind == proto::ALL_REDUCE;
      if (IsSmall(group, step.slice)) {
        group.small =
            BarrierOf(group, step.slice, group.shared ? shape.result_bytes : 0);
        continue;
      }
      PlaceContributions(&group);
      memory_.Reserve(group.slot_bytes, 2);
      memory_.Reserve(group.result_bytes, 2);
    }
  }
}

bool GroupMaker::IsSmall(const HostGroup& group, uint32_t slice) const {
  const auto has_one = [&](const HostGroup::Local& local) {
    return devices_[local.device]->shards[slice].size() == 1;
  };
  return group.members.size() * group.bytes <= kSmallBytes &&
         group.meeting->cohorts.size() <= FlagBarrier::kMaxCohorts &&
         std::all_of(group.locals.begin(), group.locals.end(), has_one);
}

FlagBarrier* GroupMaker::BarrierOf(const HostGroup& group, uint32_t slice,
                                   uint64_t result_bytes) {
  FlagBarrier*& known =
      barriers_[{slice, group.members, group.bytes, result_bytes}];
  if (known != nullptr) return known;
  std::vector<FlagBarrier::Members> cohorts(group.meeting->cohorts.size());
  for (const HostGroup::Local& local : group.locals) {
    cohorts[local.cohort].devices.push_back(local.device);
    cohorts[local.cohort].ranks.push_back(local.ranks[0]);
  }
  out_.flag_barriers.push_back(std::make_unique<FlagBarrier>(
      std::move(cohorts), group.bytes, result_bytes));
  known = out_.flag_barriers.back().get();
  out_.barrier_at.push_back(memory_.Reserve(known->memory_bytes()));
  return known;
}

std::shared_ptr<const layout::HostExchange> GroupMaker::ExchangeOf(
    const Step& step, const HostGroup& group, const CollectiveShape& shape) {
  const bool members_combine = group.in_place != nullptr;
  // Programs often repeat a collective, so exchanges are shared.
  proto::Collective key = *step.collective;
  key.clear_source();
  key.clear_result();
  key.clear_reduction();
  std::shared_ptr<const layout::HostExchange>& known = exchanges_[{
      step.slice, group.members[0], shape.element, shape.source_bytes,
      members_combine, key.SerializeAsString()}];
  if (known == nullptr) {
    std::vector<int32_t> hosts;
    for (int32_t shard : group.members) {
      hosts.push_back(in_.PlaceOf(step.slice, shard).host);
    }
    layout::ExchangeSpec spec =
        ExchangeSpecOf(in_.plan.slices()[step.slice].mesh, *step.collective,
                       shape.element, shape.source_bytes, std::move(hosts));
    spec.members_combine = members_combine;
    known = std::make_shared<const layout::HostExchange>(
        layout::MakeExchange(spec, in_.host));
  }
  return known;
}

}  // namespace

GroupTables MakeGroups(const TableInputs& in, const DevicePrograms& devices,
                       ProgramMemory* memory) {
  return GroupMaker(in, devices, memory).Make();
}

void SetGroupMemory(const ProgramMemory& memory, GroupTables* tables) {
  if (!memory.has_host_memory()) return;
  for (size_t i = 0; i < tables->flag_barriers.size(); ++i) {
    tables->flag_barriers[i]->SetMemory(
        memory.AddressOf(tables->barrier_at[i]));
  }
  for (size_t g = 0; g < tables->groups.size(); ++g) {
    HostGroup& group = tables->groups[g];
    char* const at = memory.AddressOf(tables->group_at[g]);
    if (group.exchange != nullptr) {
      group.exchange->SetMemory(at, AlignBuffer(group.exchange->slot_bytes()));
    } else {
      group.SetMemory(at);
    }
  }
}

}  // namespace pathways
