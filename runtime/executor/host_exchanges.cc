//===- host_exchanges.cc - Collectives between hosts ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_exchanges.h"

#include <optional>

namespace pathways {
namespace {

constexpr int kMaxAbsent = 16;  // that are named
static_assert(layout::kExchangeRounds <= kContributionRounds);

}  // namespace

void HostExchanges::OnArrive(HostProgram* program,
                             const LocalMessage& message) {
  HostGroup& group = program->groups[message.target];
  group.exchange->Arrive(message.step, message.flags & kPoisoned);
  Advance(program, message.target, message.step);
}

HostGroup* HostExchanges::Find(HostProgram* program,
                               const WireMessage& message) {
  auto found = program->group_of.find(
      {message.target, message.item / kContributionRounds, message.shard});
  if (found == program->group_of.end()) return nullptr;
  HostGroup* group = &program->groups[found->second];
  return group->exchange == nullptr ? nullptr : group;
}

void HostExchanges::OnContribution(int host, HostProgram* program,
                                   const WireMessage& message,
                                   Payload payload) {
  HostGroup* group = Find(program, message);
  if (group != nullptr &&
      group->exchange->Receive(
          message.step, host, message.item % kContributionRounds,
          message.flags & kPoisoned, payload.data, payload.bytes)) {
    Advance(program, static_cast<uint32_t>(group - program->groups.data()),
            message.step);
  }
}

void HostExchanges::Advance(HostProgram* program, uint32_t index,
                            uint64_t firing) {
  const HostGroup& group = program->groups[index];
  const std::optional<bool> poison = group.exchange->Advance(
      firing, [&](const ExchangeState::Outgoing& outgoing) {
        WireMessage out;
        out.kind = kContributionMessage;
        out.flags = outgoing.poison ? kPoisoned : 0;
        out.program = program->program;
        out.incarnation = program->incarnation;
        out.target = group.action;
        out.item = group.step * kContributionRounds + outgoing.round;
        out.shard = static_cast<uint32_t>(group.members[0]);
        out.step = firing;
        outbox_.SendToHost(program, outgoing.host, out,
                           {outgoing.payload, outgoing.bytes});
      });
  if (!poison.has_value()) return;
  LocalMessage out;
  out.kind = kGroupDone;
  out.flags = *poison ? kPoisoned : 0;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.target = index;
  out.step = firing;
  if (group.meeting == nullptr) {
    return outbox_.SendToDevice(group.locals[0].device, out);
  }
  for (size_t c = 0; c < group.meeting->cohorts.size(); ++c) {
    out.item = static_cast<uint32_t>(c);
    outbox_.SendToDevice(group.meeting->cohorts[c][0], out);
  }
}

void HostExchanges::Report(const HostProgram& program, const HostGroup& group,
                           proto::StuckShard* stuck) const {
  const uint64_t firing = stuck->firing();
  auto absent = [&](uint32_t rank) {
    if (stuck->absent_size() < kMaxAbsent) {
      stuck->add_absent(group.members[rank]);
    }
  };
  for (const HostGroup::Local& local : group.locals) {
    if (program.devices[local.device]->HasMet(firing, local.meeting)) continue;
    for (uint32_t rank : local.ranks) absent(rank);
  }
  if (group.exchange == nullptr || stuck->absent_size() > 0) return;
  const layout::ExchangeMessage* awaited = group.exchange->Awaited(firing);
  if (awaited == nullptr) return;
  stuck->set_collective_round(awaited->round);
  const SliceBinding& slice =
      program.plan->bound(program.plan->plan().actions(group.action).slice());
  for (uint32_t rank = 0; rank < group.members.size(); ++rank) {
    const int64_t device = slice.device_of[group.members[rank]];
    if (topology_.LocateGlobal(device).host == awaited->host) {
      absent(rank);
    }
  }
}

}  // namespace pathways
