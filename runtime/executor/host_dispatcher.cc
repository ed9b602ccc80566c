//===- host_dispatcher.cc - Dispatch of actions to devices ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_dispatcher.h"

#include <algorithm>

#include "runtime/device/long_work.h"

namespace pathways {

void HostDispatcher::PrepareGranted(HostProgram* program) {
  if (program->dispatch == nullptr) return;
  for (uint32_t i = 0; i < program->dispatch->items.size(); ++i) {
    Offer(program, i);
  }
  Work();
}

void HostDispatcher::Offer(HostProgram* program, uint32_t index) {
  DispatchTable::Item& item = program->dispatch->items[index];
  if (!program->dispatch->Ready(item, program->granted)) return;
  // A grant exists until the devices have done all its firings.
  auto grant =
      std::find_if(program->grants.begin(), program->grants.end(),
                   [&](const auto& g) { return item.prepared < g->end; });
  if (grant == program->grants.end()) return;
  item.working = true;
  work_.Add({(*grant)->position, item.prepared, index, program->program,
             program->incarnation, world_.Now()});
}

void HostDispatcher::Work() {
  const TimeNs cost = context_.dispatch.host_work_ns;
  while (!work_.busy() && !work_.empty()) {
    if (cost == 0) {
      const HostWork::Piece piece = work_.Take();
      Enqueue(programs_.Find(piece.program, piece.incarnation), piece.item);
      continue;
    }
    const HostWork::Turn turn = work_.Begin(cost);
    LocalMessage message;
    message.kind = kHostWorkDone;
    message.program = turn.piece.program;
    message.incarnation = turn.piece.incarnation;
    message.target = turn.piece.item;
    const TimeNs limit = context_.limits.limit_ns;
    const bool is_endless = limit > 0 && cost > limit;
    if (is_endless) {
      message.kind = kHostWorkLimit;
      message.step = turn.piece.firing;
      message.extra = turn.number;
    }
    const TimeNs end = is_endless ? turn.begin + limit : turn.end;
    outbox_.SendToExecutorAfter(end - world_.Now(), message);
    const TimeNs report = context_.limits.report_ns;
    if (report > 0 && end - turn.begin > report) {
      message.kind = kLongHostWork;
      message.step = turn.piece.firing;
      message.extra = turn.number;
      outbox_.SendToExecutorAfter(turn.begin + report - world_.Now(), message);
    }
  }
}

void HostDispatcher::OnHostWorkDone(const LocalMessage& message) {
  work_.End();
  Enqueue(programs_.Find(message.program, message.incarnation), message.target);
  Work();
}

HostProgram* HostDispatcher::FindHostWork(const LocalMessage& message,
                                          WorkLocation* where) const {
  HostProgram* program = programs_.Find(message.program, message.incarnation);
  if (!work_.IsIn(message.extra) || program == nullptr) {
    return nullptr;
  }
  auto launch =
      std::find_if(program->launches.begin(), program->launches.end(),
                   [&](const auto& l) { return message.step < l->end; });
  if (launch == program->launches.end()) return nullptr;
  where->action = program->dispatch->items[message.target].action;
  where->step = (*launch)->numbers().Of(message.step);
  return program;
}

void HostDispatcher::OnLongHostWork(const LocalMessage& message) {
  WorkLocation where;
  const HostProgram* program = FindHostWork(message, &where);
  const WorkLimits& limits = context_.limits;
  if (program == nullptr || !limits.on_long) return;
  LongWork work = DescribeHostWork(*program->plan, *context_.topology, host_,
                                   where, limits.report_ns);
  work.incarnation = program->incarnation;
  limits.on_long(work);
}

// The host's devices could continue, but nothing is prepared for them any more.
std::optional<std::string> HostDispatcher::OnHostWorkLimit(
    const LocalMessage& message) {
  WorkLocation where;
  const HostProgram* program = FindHostWork(message, &where);
  if (program == nullptr) {
    // The host continues with its next work.
    work_.End();
    Work();
    return std::nullopt;
  }
  return DescribeHostWork(*program->plan, *context_.topology, host_, where,
                          context_.limits.limit_ns)
      .Text();
}

void HostDispatcher::Enqueue(HostProgram* program, uint32_t index) {
  if (program == nullptr) return;  // stopped meanwhile
  DispatchTable::Item& item = program->dispatch->items[index];
  LocalMessage message;
  message.program = program->program;
  message.incarnation = program->incarnation;
  message.step = item.prepared;
  item.working = false;
  ++item.prepared;
  message.kind = kEnqueue;
  message.target = item.action;
  for (uint32_t device : item.devices) outbox_.SendToDevice(device, message);
  WireMessage enqueued;
  enqueued.kind = kEnqueuedMessage;
  enqueued.program = program->program;
  enqueued.incarnation = program->incarnation;
  enqueued.step = message.step;
  for (const DispatchTable::Follower& follower : item.elsewhere) {
    enqueued.target = follower.edge;
    outbox_.SendToHost(program, follower.host, enqueued);
  }
  Offer(program, index);
  for (uint32_t follower : item.followers) Offer(program, follower);
}

void HostDispatcher::OnEnqueued(int host, HostProgram* program,
                                const WireMessage& message) {
  if (program->dispatch == nullptr) return;
  DispatchTable::Remote* remote =
      program->dispatch->FindRemote(message.target, host);
  if (remote == nullptr) return;
  // Actions are enqueued in order, so this covers all earlier firings too.
  remote->enqueued = std::max(remote->enqueued, message.step + 1);
  Offer(program, remote->item);
  Work();
}

void HostDispatcher::OnActionFired(HostProgram* program,
                                   const LocalMessage& message) {
  DispatchTable& table = *program->dispatch;
  const uint32_t index = table.item_of[message.target];
  DispatchTable::Item& item = table.items[index];
  uint32_t& left = item.left[message.step % table.window];
  if (--left != 0) return;
  left = item.shards;
  ++item.fired;
  Offer(program, index);
  Work();
}

void HostDispatcher::Report(const HostProgram& program,
                            proto::StuckShard* stuck) {
  const DispatchTable& table = *program.dispatch;
  const DispatchTable::Item& item = table.items[table.item_of[stuck->action()]];
  const DispatchTable::Source* source = table.Missing(item);
  if (item.prepared > stuck->firing() || source == nullptr) {
    stuck->set_running(true);  // the host has yet to prepare it, or just did
    return;
  }
  if (!source->remote) return;
  const DispatchTable::Remote& remote = table.remotes[source->index];
  stuck->set_unheard(true);
  stuck->set_unheard_host(remote.host);
  stuck->set_unheard_edge(remote.edge);
}

}  // namespace pathways
