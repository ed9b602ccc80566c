//===- collective_runner.cc - Collectives of a device ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/collective_runner.h"

#include <utility>

namespace pathways {

bool CollectiveRunner::RunLarge(DeviceProgram* program, const Gang& gang,
                                const CollectiveTable& table, uint64_t firing) {
  if (stage_ == kOutside) {
    stage_ = kContributing;
    trace_.MeetingBegins();
    Contribute(program, table, firing);
    if (!work_.IsHeadDone(program)) return false;
  }
  if (stage_ == kContributing) {
    stage_ = kNotifying;
    MeetAll(program, table, firing);
    if (!work_.IsHeadDone(program)) return false;
  }
  if (stage_ == kNotifying) {
    NotifyAllArrived(*program, table, firing);
    stage_ = kArriving;
  }
  if (stage_ == kArriving) {
    if (head_.waiting_groups > 0) {
      trace_.MeetingWaits();
      return false;
    }
    trace_.MeetingEnds(*program, gang, firing, head_.step);
    stage_ = kSharing;
    if (table.in_place) CombineInPlace(program, table, firing);
    if (!work_.IsHeadDone(program)) return false;
  }
  if (stage_ == kSharing) {
    stage_ = kLeaving;
    if (table.in_place) {
      MeetAll(program, table, firing);
      NotifyAllArrived(*program, table, firing);
    }
  }
  if (stage_ == kLeaving) {
    if (head_.waiting_groups > 0) return false;
    stage_ = kTaking;
    TakeResults(program, table, firing);
    if (!work_.IsHeadDone(program)) return false;
  }
  End(*program, gang, firing);
  return true;
}

bool CollectiveRunner::RunSmall(DeviceProgram* program, const Gang& gang,
                                const CollectiveTable& table, uint64_t firing) {
  const CollectiveShape& shape = *table.shape;
  const DeviceGroup& in = program->groups_in[table.group_begin];
  const HostGroup& group = program->groups[table.first_group + in.group];
  const CollectiveMember& member = program->members[table.member_begin];
  FlagBarrier& meeting = *group.small;
  const SlotOffset* const slots =
      program->queue->slots.data() + table.first_slot;
  if (stage_ == kOutside) {
    stage_ = kContributing;
    trace_.MeetingBegins();
    if (!head_.poison.any() && shape.source_bytes > 0) {
      char* const to = meeting.contribution(in.cohort, member.own);
      const char* const from = slots[0].at(program->memories, firing);
      work_.Do([&](auto& backend) {
        backend.CopyBytes(from, shape.source_bytes, to);
      });
    }
    if (!work_.IsHeadDone(program)) return false;
  }
  if (stage_ == kContributing) {
    SetMet(program, table, table.group_begin, firing);
    const bool leads = meeting.Arrive(in.cohort, index_, head_.poison.any());
    stage_ = leads ? kArriving : kTaking;
    if (!leads || !meeting.Look(in.cohort)) {
      Await(*program, 1);
      trace_.MeetingWaits();
      if (leads) cohort_.LookFor({index_, &meeting, in.cohort});
      return false;
    }
  }
  if (stage_ == kArriving) {
    stage_ = kNotifying;
    LeadSmall(*program, table, in, firing);
    if (!work_.IsHeadDone(program)) return false;
  }
  if (stage_ == kNotifying) {
    stage_ = kTaking;
    cohort_.GroupDone(*program, table.first_group + in.group,
                      meeting.devices(in.cohort), firing, head_.poison.any(),
                      /*except=*/index_);
  }
  if (stage_ == kTaking) {
    stage_ = kLeaving;
    trace_.MeetingEnds(*program, gang, firing, head_.step);
    if (!head_.poison.any() && shape.result_bytes > 0) {
      TakeSmall(shape, group, in.cohort, member.rank,
                slots[1].at(program->memories, firing));
    }
    if (!work_.IsHeadDone(program)) return false;
  }
  End(*program, gang, firing);
  return true;
}

void CollectiveRunner::LeadSmall(const DeviceProgram& program,
                                 const CollectiveTable& table,
                                 const DeviceGroup& in, uint64_t firing) {
  const HostGroup& group = program.groups[table.first_group + in.group];
  FlagBarrier& meeting = *group.small;
  // The notification does not say whether others are poisoned.
  meeting.Look(in.cohort);
  NotifyLeaders(program, table, in, firing);
  if (meeting.found_poison(in.cohort)) {
    head_.poison.Add(0);
  } else if (group.shared) {
    work_.Do([&](auto& backend) {
      backend.Combine({table.shape, /*rank=*/0, meeting.operands(in.cohort),
                       meeting.result(in.cohort)});
    });
  }
}

void CollectiveRunner::TakeSmall(const CollectiveShape& shape,
                                 const HostGroup& group, uint32_t cohort,
                                 uint32_t rank, char* result) {
  work_.Do([&](auto& backend) {
    if (group.shared) {
      backend.CopyBytes(group.small->result(cohort), shape.result_bytes,
                        result);
    } else {
      backend.Combine({&shape, rank, group.small->operands(cohort), result});
    }
  });
}

void CollectiveRunner::NotifyLeaders(const DeviceProgram& program,
                                     const CollectiveTable& table,
                                     const DeviceGroup& in, uint64_t firing) {
  const uint32_t index = table.first_group + in.group;
  FlagBarrier& meeting = *program.groups[index].small;
  for (uint32_t c = 0; c < meeting.cohorts(); ++c) {
    if (c == in.cohort || !meeting.MustWake(in.cohort, c)) continue;
    NotifyCohort(program, index, c, meeting.devices(c)[0], firing,
                 /*poison=*/false);
  }
}

bool CollectiveRunner::IsPoisoned(const DeviceProgram& program,
                                  const DeviceGroup& in) const {
  for (uint32_t i = in.shards_begin; i < in.shards_end; ++i) {
    if (head_.poison.Has(program.shards_in[i])) return true;
  }
  return false;
}

void CollectiveRunner::PoisonGroup(const DeviceProgram& program,
                                   const DeviceGroup& in) {
  for (uint32_t i = in.shards_begin; i < in.shards_end; ++i) {
    head_.poison.Add(program.shards_in[i]);
  }
}

void CollectiveRunner::Contribute(DeviceProgram* program,
                                  const CollectiveTable& table,
                                  uint64_t firing) {
  const uint64_t bytes = table.shape->source_bytes;
  if (bytes == 0) return;
  const SlotOffset* const slots =
      program->queue->slots.data() + table.first_slot;
  for (uint32_t m = table.member_begin; m < table.member_end; ++m) {
    if (head_.poison.Has(m - table.member_begin)) continue;
    const CollectiveMember& member = program->members[m];
    const HostGroup& group = program->groups[table.first_group + member.group];
    if (group.in_place != nullptr) continue;
    const char* const source =
        slots[2 * (m - table.member_begin)].at(program->memories, firing);
    if (group.exchange != nullptr) {
      work_.backend()->Contribute({table.shape, &group, member.own, firing},
                                  source);
    } else {
      work_.backend()->CopyBytes(source, bytes,
                                 group.contribution(firing, member.rank));
    }
  }
}

void CollectiveRunner::MeetAll(DeviceProgram* program,
                               const CollectiveTable& table, uint64_t firing) {
  for (uint32_t i = table.group_begin; i < table.group_end; ++i) {
    const DeviceGroup& in = program->groups_in[i];
    const HostGroup& group = program->groups[table.first_group + in.group];
    bool poison = IsPoisoned(*program, in);
    if (stage_ == kLeaving) {
      // A poisoned group does no work. All of its members know that if they are
      // all on this host.
      if (group.in_place == nullptr) continue;
      if (poison && group.exchange == nullptr) continue;
    }
    if (!Meet(program, table, i, firing, &poison)) {
      Await(*program, head_.waiting_groups + 1);
    } else if (poison) {
      PoisonGroup(*program, in);
    }
  }
}

bool CollectiveRunner::Meet(DeviceProgram* program,
                            const CollectiveTable& table, uint32_t i,
                            uint64_t firing, bool* poison) {
  const DeviceGroup& in = program->groups_in[i];
  const HostGroup& group = program->groups[table.first_group + in.group];
  const bool leaves = stage_ == kLeaving;
  if (!leaves) SetMet(program, table, i, firing);
  GroupMeeting* const meeting =
      leaves ? group.in_place->leaving.get() : group.meeting.get();
  if (meeting != nullptr && !meeting->Arrive(in.cohort, firing, poison)) {
    return false;
  }
  // An in-place group enters the exchange once all devices have computed their
  // shares, even if it is poisoned: none waits for other hosts before that.
  if (group.exchange != nullptr && (leaves || group.in_place == nullptr)) {
    LocalMessage message = DeviceSender::New(kArrive, *program);
    message.flags = *poison ? kPoisoned : 0;
    message.step = firing;
    message.target = table.first_group + in.group;
    sender_.SendExecutor(message);
    return false;
  }
  if (!leaves && !*poison && group.in_place != nullptr) {
    BeginInPlace(group, firing);
  }
  if (meeting == nullptr) return true;
  CombineShared(*program, table, in, firing, *poison);
  arrived_.emplace_back(i, *poison);
  return true;
}

void CollectiveRunner::CombineShared(const DeviceProgram& program,
                                     const CollectiveTable& table,
                                     const DeviceGroup& in, uint64_t firing,
                                     bool poison) {
  const HostGroup& group = program.groups[table.first_group + in.group];
  if (poison || !group.shared) return;
  work_.Do([&](auto& backend) {
    backend.Combine({table.shape, /*rank=*/0,
                     group.contributions[firing & 1].data(),
                     group.result(firing)});
  });
}

void CollectiveRunner::NotifyArrived(const DeviceProgram& program,
                                     const CollectiveTable& table,
                                     const DeviceGroup& in, uint64_t firing,
                                     bool poison) {
  const uint32_t index = table.first_group + in.group;
  const GroupMeeting& meeting = *program.groups[index].meeting;
  const std::vector<std::vector<uint32_t>>& cohorts = meeting.cohorts;
  for (size_t c = 0; c < cohorts.size(); ++c) {
    if (c == in.cohort) continue;
    NotifyCohort(program, index, static_cast<uint32_t>(c), cohorts[c][0],
                 firing, poison);
  }
  cohort_.GroupDone(program, index, cohorts[in.cohort], firing, poison,
                    /*except=*/index_);
}

void CollectiveRunner::NotifyCohort(const DeviceProgram& program,
                                    uint32_t group, uint32_t cohort,
                                    uint32_t device, uint64_t firing,
                                    bool poison) {
  LocalMessage message = DeviceSender::New(kGroupDone, program);
  message.flags = poison ? kPoisoned : 0;
  message.target = group;
  message.step = firing;
  message.item = cohort;
  sender_.SendDevice(device, message);
}

void CollectiveRunner::NotifyAllArrived(const DeviceProgram& program,
                                        const CollectiveTable& table,
                                        uint64_t firing) {
  for (const auto& [i, poison] : arrived_) {
    NotifyArrived(program, table, program.groups_in[i], firing, poison);
  }
  arrived_.clear();
}

void CollectiveRunner::OnGroupDone(const DeviceProgram& program,
                                   const LocalMessage& message) {
  const bool poison = message.flags & kPoisoned;
  const HostGroup& group = program.groups[message.target];
  if (group.small != nullptr) {
    // The leader notifies the other devices of its cohort.
    const uint32_t leader = group.small->leader(message.item);
    cohort_.GroupDone(program, message.target, {&leader, 1}, message.step,
                      poison, Cohort::kNoDevice);
  } else if (group.meeting != nullptr) {
    cohort_.GroupDone(program, message.target,
                      group.meeting->cohorts[message.item], message.step,
                      poison, Cohort::kNoDevice);
  } else {
    GroupDone(program, message.target, message.step, poison);
  }
}

bool CollectiveRunner::GroupDone(const DeviceProgram& program, uint32_t group,
                                 uint64_t firing, bool poison) {
  // False if the program was detached meanwhile.
  if (head_.waiting_groups == 0 || awaited_ != program.groups ||
      queue_.head().next != firing) {
    return false;
  }
  if (poison) {
    const Gang& gang = queue_.gang();
    const DeviceProgram& own = *queue_.head().program;
    const GangStepTable& step = own.queue->steps[gang.step_begin + head_.step];
    const CollectiveTable& table = own.queue->collectives[step.collective];
    for (uint32_t i = table.group_begin; i < table.group_end; ++i) {
      const DeviceGroup& in = own.groups_in[i];
      if (table.first_group + in.group == group) PoisonGroup(own, in);
    }
  }
  --head_.waiting_groups;
  return true;
}

void CollectiveRunner::CombineInPlace(DeviceProgram* program,
                                      const CollectiveTable& table,
                                      uint64_t firing) {
  for (uint32_t i = table.group_begin; i < table.group_end; ++i) {
    const DeviceGroup& in = program->groups_in[i];
    const HostGroup& group = program->groups[table.first_group + in.group];
    if (group.in_place == nullptr || IsPoisoned(*program, in)) continue;
    work_.backend()->CombineShare({table.shape, &group, in.local, firing});
  }
}

void CollectiveRunner::TakeResults(DeviceProgram* program,
                                   const CollectiveTable& table,
                                   uint64_t firing) {
  const uint64_t bytes = table.shape->result_bytes;
  if (bytes == 0) return;
  const SlotOffset* const slots =
      program->queue->slots.data() + table.first_slot;
  for (uint32_t m = table.member_begin; m < table.member_end; ++m) {
    if (head_.poison.Has(m - table.member_begin)) continue;
    const CollectiveMember& member = program->members[m];
    const HostGroup& group = program->groups[table.first_group + member.group];
    char* const result =
        slots[2 * (m - table.member_begin) + 1].at(program->memories, firing);
    if (group.exchange != nullptr) {
      work_.backend()->TakeResult({table.shape, &group, member.own, firing},
                                  result);
    } else if (group.shared) {
      work_.backend()->CopyBytes(group.result(firing), bytes, result);
    } else if (group.in_place == nullptr) {
      work_.backend()->Combine({table.shape, member.rank,
                                group.contributions[firing & 1].data(),
                                result});
    }
  }
}

}  // namespace pathways
