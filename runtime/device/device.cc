//===- device.cc - One device: an in-order queue of gangs -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device.h"

#include <algorithm>

#include "runtime/device/device_report.h"

namespace pathways {
namespace {

// Cost of a turn, after which other devices and actors of the worker run.
// Counts kFiringNs per firing, and kernels by the plan's estimate or, without
// one, by the time that they took.
constexpr TimeNs kTurnNs = 20'000;

}  // namespace

void Device::OnLocal(const LocalMessage& message) {
  if (message.kind == kAttach) {
    Attach(static_cast<DeviceProgram*>(message.payload));
    return;
  }
  if (message.kind == kInspect) {
    Inspect(message);
    return;
  }
  if (message.kind == kContinue) {
    cohort_->Continue();
    return;
  }
  if (message.kind == kTokenBatch) {
    entries_.DeliverRecord(message);
    cohort_->Run(this);
    return;
  }
  DeviceProgram* program = Find(message.program, message.incarnation);
  if (message.kind == kWorkDone) {  // even if the program is being detached
    done_.push_back(message);
    cohort_->Run(this);
    return;
  }
  if (message.kind == kDetach) {
    Detach(program, message);
    cohort_->Run(this);
    return;
  }
  if (program == nullptr) return;  // message of a load that has ended
  switch (message.kind) {
    case kLocalToken:
      if (message.target >= program->in_edges.size()) return;
      entries_.Deliver(program, message.target, message.step,
                       message.flags & kPoisoned);
      break;
    case kPayloadReturned:
      entries_.PieceReturned(program, message.target, message.step);
      break;
    case kGrantDevice:
      GrantNear(*program, static_cast<HostGrant*>(message.payload));
      break;
    case kArgumentFilled:
      FeedNear(*program);
      break;
    case kEnqueue:
      entries_.Enqueue(program, message);
      break;
    case kGroupDone:
      collectives_.OnGroupDone(*program, message);
      break;
    case kCostDone:
      cost_.OnMessage(message);
      break;
    case kLongCost:
    case kCostLimit:
      return cost_.OnMessage(message);
    default:
      return;
  }
  cohort_->Run(this);
}

void Device::Attach(DeviceProgram* program) {
  if (program->program >= programs_.size()) {
    programs_.resize(program->program + 1);
  }
  programs_[program->program] = program;
  size_t entries = 0;
  for (const DeviceProgram* p : programs_) {
    if (p == nullptr) continue;
    entries += p->entries.size();
    cohort_->ReserveOperands(p->max_operands);
    head_.poison.Reserve(p->max_shards);
    head_.skipped.Reserve(p->max_shards);
  }
  entries_.Reserve(entries);
  trace_.Attach(program);
  LocalMessage reply = DeviceSender::New(kAttached, *program);
  reply.item = index_;
  sender_.SendExecutor(reply);
}

void Device::Detach(DeviceProgram* program, const LocalMessage& message) {
  if (program == nullptr) {
    // A duplicate. The first message may still wait for its reply.
    for (const auto& [left, first] : leaving_) {
      if (left->program == message.program) return;
    }
    return SendDetached(message);
  }
  programs_[program->program] = nullptr;
  if (queue_.Remove(program)) {
    head_.Reset();
    collectives_.Reset();
    trace_.DetachHead();
  }
  entries_.Remove(program);
  if (program->events == 0) return SendDetached(message);
  leaving_.emplace_back(program, message);
}

void Device::SendDetached(LocalMessage message) {
  message.kind = kDetached;
  message.item = index_;
  sender_.SendExecutor(message);
}

void Device::GrantNear(const DeviceProgram& program, HostGrant* grant) {
  for (size_t i = cohort_->begin_index(); i < cohort_->end_index(); ++i) {
    Device* device = cohort_->at(i);
    if (device == nullptr) continue;
    DeviceProgram* there = device->Find(program.program, program.incarnation);
    if (there == nullptr) continue;  // no shards, or already detached
    device->Grant(there, grant);
    cohort_->Wake(device);
  }
}

void Device::Grant(DeviceProgram* program, HostGrant* grant) {
  program->granted = grant->end;
  if (grant->first == grant->launch->first) {
    trace_.Submitted(*program, *grant->launch);
  }
  if (program->entries.empty()) {  // has shards but no entries
    entries_.EndGrant(*program, grant);
    return;
  }
  program->active.Push() = {
      grant, (grant->end - grant->first) * program->entries.size()};
  if (!program->queue->gangs.empty()) {
    queue_.Push(program, grant);
  }
  for (uint32_t i : program->move_entries) entries_.PushIfReady(program, i);
}

void Device::FeedNear(const DeviceProgram& program) {
  for (size_t i = cohort_->begin_index(); i < cohort_->end_index(); ++i) {
    Device* device = cohort_->at(i);
    if (device == nullptr) continue;
    DeviceProgram* there = device->Find(program.program, program.incarnation);
    if (there == nullptr) continue;  // no shards, or already detached
    for (uint32_t entry : there->feed_entries) {
      device->entries_.PushIfReady(there, entry);
    }
    cohort_->Wake(device);
  }
}

void Device::OnWorkDone(const LocalMessage& message) {
  work_.backend()->OnDone(message);
  if (DeviceProgram* program = Find(message.program, message.incarnation)) {
    --program->events;
    if (message.target != DeviceWork::kHead) {
      entries_.Finish(program, message.target);
    } else if (head_.Awaits(HeadGang::kWork, message.step)) {
      head_.awaits = HeadGang::kNothing;
    }
    return;
  }
  const auto left =
      std::find_if(leaving_.begin(), leaving_.end(), [&](const auto& one) {
        return one.first->program == message.program &&
               one.first->incarnation == message.incarnation;
      });
  if (left == leaving_.end() || --left->first->events > 0) return;
  const LocalMessage detach = left->second;
  leaving_.erase(left);
  SendDetached(detach);
}

bool Device::Pump() {
  if (!done_.empty()) [[unlikely]] {
    for (const LocalMessage& message : std::exchange(done_, {})) {
      OnWorkDone(message);
    }
  }
  for (turn_ns_ = kTurnNs; turn_ns_ > 0; turn_ns_ -= kFiringNs) {
    if (entries_.RunNext() || RunHead()) continue;
    if (!queue_.empty()) queue_.head().waited = true;
    return false;
  }
  return true;
}

void Device::SendContinue() {
  LocalMessage message;
  message.kind = kContinue;
  message.flags = kTurn;
  sender_.Send(local_id(), message);
}

// Called before work that takes long. Sends the records unless the executor is
// on this worker, as it could not forward them meanwhile.
void Device::SendRecordsBefore() {
  if (host_actors_.cohorts[index_] != 0) cohort_->SendRecords();
}

bool Device::RunHead() {
  if (queue_.empty() || head_.awaits != HeadGang::kNothing ||
      head_.waiting_groups > 0) {
    return false;
  }
  GrantQueue::Head& head = queue_.head();
  DeviceProgram* const program = head.program;
  const Gang& gang = queue_.gang();
  const uint64_t firing = head.next;
  if (!head_.started) {
    if (head.since < 0) head.since = world_->Now();
    if (cohort_->has_members()) [[unlikely]]
      SendRecordsBefore();
    // A trace records each firing on its own.
    if (gang.plain_end > 0 && work_.cpu() != nullptr && !costs_ &&
        !trace_.is_on() && RunPlain(gang.plain_end)) {
      return true;
    }
    if (!Begin(*program, gang, firing)) return false;
  }
  const bool is_skipped = head_.num_skipped == gang.shards;
  while (head_.step < gang.step_end - gang.step_begin) {
    if (!RunStep(program, gang, firing)) return false;
  }
  if (costs_ && !head_.cost_paid && !is_skipped) {
    cost_.Start(*program, gang);
    return false;
  }
  head_.started = head_.cost_paid = false;
  if (head_.num_skipped > 0) EndSkips(gang);
  if (!is_skipped) turn_ns_ -= std::max(gang.cost_ns, program->gang_ns);
  if (trace_.is_on()) [[unlikely]] {
    trace_.HeadEnds(*program, gang, firing, head_.poison.data());
  }
  counters_.firings.Add(gang.shards);
  const bool is_last = Advance(1);
  if (!gang.quiet || head_.poison.any()) {
    for (uint32_t k = 0; k < gang.shards; ++k) {
      entries_.Fire(program, gang.first_entry + k, firing, head_.poison.Has(k));
    }
  }
  if (is_last) {
    entries_.CountFirings(program, firing, program->queue->num_shards);
  }
  return true;
}

bool Device::Begin(const DeviceProgram& program, const Gang& gang,
                   uint64_t firing) {
  const uint64_t at = program.EntryAt(gang.first_entry, firing);
  for (uint32_t k = 0; k < gang.shards && gang.need != 0; ++k) {
    if (program.counts[at + k] == 0) continue;
    trace_.HeadWaits();
    return false;
  }
  head_.poison.Clear();
  for (uint32_t k = 0; k < gang.shards && program.num_poison != 0; ++k) {
    if (program.poison[at + k]) head_.poison.Add(k);
  }
  head_.started = true;
  head_.step = 0;
  if (gang.guard >= 0) ReadGuards(program, gang, firing);
  trace_.HeadBegins(program, gang, firing);
  return true;
}

void Device::ReadGuards(const DeviceProgram& program, const Gang& gang,
                        uint64_t firing) {
  head_.skipped.Clear();
  head_.num_skipped = 0;
  const SlotOffset* const guards = program.queue->slots.data() + gang.guard;
  for (uint32_t k = 0; k < gang.shards; ++k) {
    if (head_.poison.Has(k)) continue;  // the guard may be poisoned
    const bool guard =
        work_.backend()->ReadGuard(guards[k].at(program.memories, firing));
    if (guard != gang.unless) continue;
    head_.skipped.Add(k);
    ++head_.num_skipped;
  }
  for (uint32_t k = 0; k < gang.shards && head_.num_skipped > 0; ++k) {
    if (head_.skipped.Has(k)) head_.poison.Add(k);
  }
}

void Device::EndSkips(const Gang& gang) {
  for (uint32_t k = 0; k < gang.shards; ++k) {
    if (head_.skipped.Has(k)) head_.poison.Remove(k);
  }
  counters_.skipped.Add(head_.num_skipped);
  head_.num_skipped = 0;
}

HostGrant::Cohort& Device::GrantAtCohort() {
  return queue_.head().grant->cohorts[host_actors_.cohorts[index_]];
}

bool Device::Advance(size_t gangs) {
  counters_.gangs.Add(gangs);
  const bool is_over = queue_.Advance(gangs);
  const bool is_last = queue_.gang_index() == 0;
  if (!is_over) return is_last;
  const GrantQueue::Head& head = queue_.head();
  TimeNs& time_ns = GrantAtCohort().time_ns;
  const TimeNs own_ns = world_->Now() - head.since;
  time_ns = std::max(time_ns, own_ns);
  const std::vector<Gang>& all = head.program->queue->gangs;
  if (!head.waited && all.front().cost_ns == 0) {
    const uint64_t count = (head.grant->end - head.grant->first) * all.size();
    head.program->gang_ns = own_ns / static_cast<TimeNs>(count);
  }
  queue_.Pop();
  return is_last;
}

void Device::Inspect(const LocalMessage& message) {
  const DeviceProgram* program = Find(message.program, message.incarnation);
  if (program != nullptr) {
    ReportDevice(
        *program, queue_,
        {head_.awaits != HeadGang::kNothing,
         head_.started && head_.waiting_groups > 0, head_.step, global_device_},
        static_cast<DeviceReport*>(message.payload));
  }
  LocalMessage reply = message;
  reply.kind = kInspected;
  reply.item = index_;
  sender_.SendExecutor(reply);
}

}  // namespace pathways
