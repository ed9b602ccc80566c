//===- device_collective.cc - A device in a collective --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>

#include "runtime/executor/device.h"

namespace pathways {

void Device::Arrive(DeviceProgram* program, const CollectiveTable& table,
                    uint64_t firing) {
  const CollectiveMember* const members =
      program->members.data() + table.member_begin;
  const size_t shards = table.member_end - table.member_begin;
  if (run_kernels_ && table.bytes > 0) {
    for (size_t k = 0; k < shards; ++k) {
      if (shard_poison_[k]) continue;
      std::memcpy(members[k].contribution.at(firing),
                  members[k].source.at(firing), table.bytes);
    }
  }
  for (uint32_t i = table.group_begin; i < table.group_end; ++i) {
    const DeviceGroup& in = program->groups_in[i];
    bool poison = false;
    for (size_t k = 0; k < shards; ++k) {
      poison |= members[k].group == in.group && shard_poison_[k];
    }
    if (in.meeting != nullptr ? Meet(program, table, i, firing, &poison)
                              : program->groups[in.group].remotes.empty()) {
      // All of it is here.
      for (size_t k = 0; k < shards; ++k) {
        if (members[k].group == in.group) shard_poison_[k] |= poison;
      }
      continue;
    }
    ++waiting_groups_;
    if (in.meeting != nullptr) continue;
    LocalMessage message = New(kArrive, *program);
    message.flags = poison ? kPoisoned : 0;
    message.step = firing;
    message.target = in.group;
    message.item = index_;
    Send(executor(), message);
  }
}

bool Device::Meet(DeviceProgram* program, const CollectiveTable& table,
                  uint32_t i, uint64_t firing, bool* poison) {
  const DeviceGroup& in = program->groups_in[i];
  GroupMeeting& meeting = *in.meeting;
  program->met[i].store(firing + 1, std::memory_order_relaxed);
  if (!meeting.Arrive(in.cohort, firing, poison)) return false;
  const size_t cohorts = meeting.cohorts.size();
  const HostGroup& group = program->groups[in.group];
  if (group.shared && run_kernels_ && !*poison) {
    for (uint32_t r = 0; r < group.members.size(); ++r) {
      contributions_[r] = group.contribution(firing, r);
    }
    CombineCollective(*table.shape, 0, contributions_.data(),
                      group.result(firing));
  }
  if (cohorts > 1) {
    LocalMessage message = New(kGroupDone, *program);
    message.flags = *poison ? kPoisoned : 0;
    message.target = in.group;
    message.step = firing;
    for (size_t c = 0; c < cohorts; ++c) {
      if (c == in.cohort) continue;
      message.item = static_cast<uint32_t>(c);
      Send(host_actors_.devices[meeting.cohorts[c][0]], message);
    }
  }
  NearDone(*program, in.group, meeting.cohorts[in.cohort], firing, *poison,
           /*except=*/this);
  return true;
}

void Device::NearDone(const DeviceProgram& program, uint32_t group,
                      const std::vector<uint32_t>& devices, uint64_t firing,
                      bool poison, const Device* except) {
  for (uint32_t index : devices) {
    Device* device = cohort_->at(index);
    if (device == except) continue;
    DeviceProgram* there = device->Find(program.program, program.incarnation);
    if (there == nullptr) continue;  // detached already
    device->GroupDone(there, group, firing, poison);
    cohort_->Wake(device);
  }
}

void Device::GroupDone(DeviceProgram* program, uint32_t group, uint64_t firing,
                       bool poison) {
  if (queue_.empty() || queue_.front().program != program || !arrived_ ||
      queue_.front().next != firing || waiting_groups_ == 0) {
    return;
  }
  const CollectiveTable& table =
      program->collectives
          [program->steps[program->gangs[gang_].step_begin + step_].collective];
  for (uint32_t m = table.member_begin; m < table.member_end; ++m) {
    if (program->members[m].group == group) {
      shard_poison_[m - table.member_begin] |= poison;
    }
  }
  --waiting_groups_;
}

void Device::Combine(DeviceProgram* program, const CollectiveTable& table,
                     uint64_t firing) {
  for (uint32_t m = table.member_begin; m < table.member_end; ++m) {
    if (shard_poison_[m - table.member_begin]) continue;
    const CollectiveMember& member = program->members[m];
    if (member.has_combined) {
      if (table.bytes > 0) {
        std::memcpy(member.result.at(firing), member.combined.at(firing),
                    table.bytes);
      }
      continue;
    }
    const HostGroup& group = program->groups[member.group];
    for (uint32_t r = 0; r < group.members.size(); ++r) {
      contributions_[r] = group.contribution(firing, r);
    }
    CombineCollective(*table.shape, member.rank, contributions_.data(),
                      member.result.at(firing));
  }
}

}  // namespace pathways
