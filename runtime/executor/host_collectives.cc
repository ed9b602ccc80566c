//===- host_collectives.cc - Collectives between hosts --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <optional>

#include "runtime/executor/host_executor.h"

namespace pathways {
namespace {

constexpr int kMaxAbsent = 16;  // that are named

}  // namespace

void HostExecutor::OnArrive(HostProgram* program, const LocalMessage& message) {
  HostGroup& group = program->groups[message.target];
  if (group.ArriveOwn(message.item, message.step, message.flags & kPoisoned) &&
      !group.remotes.empty()) {
    // All that this host contributes, once to each other host of the group.
    WireMessage out;
    out.kind = kContributionMessage;
    out.flags = message.flags;
    if (group.poisoned[message.step & 1]) out.flags |= kPoisoned;
    out.program = program->program;
    out.incarnation = program->incarnation;
    out.target = group.action;
    out.item = group.step;
    out.shard = static_cast<uint32_t>(group.members[0]);
    out.step = message.step;
    Payload payload;
    payload.bytes = group.bytes * group.own_count;
    if (group.data != nullptr) {
      payload.data =
          group.contributions(message.step) + group.own_begin * group.bytes;
    }
    for (const HostGroup::Remote& remote : group.remotes) {
      SendToHost(remote.host, out, payload);
    }
  }
  FinishGroup(program, message.target, message.step);
}

void HostExecutor::OnContribution(int host, HostProgram* program,
                                  const WireMessage& message, Payload payload) {
  auto found =
      program->group_of.find({message.target, message.item, message.shard});
  if (found == program->group_of.end()) return;
  HostGroup& group = program->groups[found->second];
  if (group.ReceiveContribution(host, message.step, message.flags & kPoisoned,
                                payload.data, payload.bytes)) {
    FinishGroup(program, found->second, message.step);
  }
}

void HostExecutor::FinishGroup(HostProgram* program, uint32_t index,
                               uint64_t firing) {
  HostGroup& group = program->groups[index];
  const std::optional<bool> poison = group.TakeComplete(firing);
  if (!poison.has_value()) return;
  LocalMessage out;
  out.kind = kGroupDone;
  out.flags = *poison ? kPoisoned : 0;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.target = index;
  out.step = firing;
  for (const HostGroup::Local& local : group.locals) {
    SendToDevice(local.device, out);
  }
}

void HostExecutor::ReportAbsent(const HostProgram& program,
                                const HostGroup& group,
                                proto::StuckShard* stuck) {
  auto absent = [&](uint32_t rank) {
    if (stuck->absent_size() < kMaxAbsent) {
      stuck->add_absent(group.members[rank]);
    }
  };
  if (group.meeting != nullptr) {
    for (const HostGroup::Local& local : group.locals) {
      if (program.devices[local.device]->met[local.met].load(
              std::memory_order_relaxed) > stuck->firing()) {
        continue;
      }
      for (uint32_t rank : local.ranks) absent(rank);
    }
    return;
  }
  for (uint32_t rank = 0; rank < group.members.size(); ++rank) {
    if (!group.IsHere(stuck->firing(), rank)) absent(rank);
  }
}

}  // namespace pathways
