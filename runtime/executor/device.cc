//===- device.cc - One device: an in-order queue of gangs -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/device.h"

#include <algorithm>
#include <cstring>

#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// What a turn may cost, by the plan's estimate of kernels and this of a firing,
// so that devices and other actors share a worker.
constexpr TimeNs kTurnNs = 20'000;
constexpr TimeNs kFiringNs = 150;
// Of a gang whose cost the plan does not know, in virtual time.
constexpr TimeNs kUnknownCostNs = 1000;
constexpr int kMaxReported = 8;

}  // namespace

LocalMessage Device::New(LocalKind kind, const DeviceProgram& program) const {
  LocalMessage message;
  message.kind = kind;
  message.program = program.program;
  message.incarnation = program.incarnation;
  return message;
}

void Device::Send(LocalId to, const LocalMessage& message) {
  counters_.sent[message.kind].Add();
  world_->SendLocal(local_id(), to, message);
}

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
  DeviceProgram* program = Find(message.program, message.incarnation);
  if (message.kind == kDetach) {
    if (program != nullptr) Detach(program);
    LocalMessage reply = message;
    reply.kind = kDetached;
    reply.item = index_;
    Send(executor(), reply);
    cohort_->Run(this);
    return;
  }
  if (program == nullptr) return;  // of a load that ended
  switch (message.kind) {
    case kLocalToken:
      if (message.target >= program->in_edges.size()) return;
      Deliver(program, message.target, message.step, message.flags & kPoisoned);
      break;
    case kGrantDevice:
      GrantNear(*program, static_cast<HostGrant*>(message.payload));
      break;
    case kArgumentFilled:
      FeedNear(*program);
      break;
    case kEnqueue:
      Enqueue(program, message);
      break;
    case kGroupDone: {
      const bool poison = message.flags & kPoisoned;
      const GroupMeeting* meeting =
          program->groups[message.target].meeting.get();
      if (meeting != nullptr) {
        NearDone(*program, message.target, meeting->cohorts[message.item],
                 message.step, poison, /*except=*/nullptr);
      } else {
        GroupDone(program, message.target, message.step, poison);
      }
      break;
    }
    case kCostDone:
      if (costing_ && message.step == generation_) {
        costing_ = false;
        cost_paid_ = true;
      }
      break;
    case kLongCost:
      if (costing_ && message.step == generation_) ReportCost();
      return;
    case kCostLimit:
      if (costing_ && message.step == generation_) LoseWorker();
      return;
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
    if (p->max_operands > operands_.size()) operands_.resize(p->max_operands);
    if (p->max_shards > shard_poison_.size()) {
      shard_poison_.resize(p->max_shards);
    }
  }
  if (entries > ready_.size()) {
    std::rotate(ready_.begin(), ready_.begin() + ready_begin_, ready_.end());
    ready_begin_ = 0;
    ready_.resize(std::max(entries, 2 * ready_.size()));
  }
  trace_.Attach(program);
  LocalMessage reply = New(kAttached, *program);
  reply.item = index_;
  Send(executor(), reply);
}

void Device::Detach(DeviceProgram* program) {
  programs_[program->program] = nullptr;
  if (!queue_.empty() && queue_.front().program == program) {
    gang_ = step_ = 0;
    started_ = cost_paid_ = costing_ = false;
    meeting_ = kOutside;
    waiting_groups_ = 0;
    ++generation_;
    trace_.DetachHead();
  }
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(),
                              [&](const Granted& granted) {
                                return granted.program == program;
                              }),
               queue_.end());
  const size_t size = ready_size_;
  for (size_t i = 0; i < size; ++i) {
    const Ready ready = ready_[ready_begin_];
    ready_begin_ = (ready_begin_ + 1) % ready_.size();
    --ready_size_;
    if (ready.program == program) continue;
    ready_[(ready_begin_ + ready_size_++) % ready_.size()] = ready;
  }
}

void Device::GrantNear(const DeviceProgram& program, HostGrant* grant) {
  for (size_t i = cohort_->begin_index(); i < cohort_->end_index(); ++i) {
    Device* device = cohort_->at(i);
    if (device == nullptr) continue;
    DeviceProgram* there = device->Find(program.program, program.incarnation);
    if (there == nullptr) continue;  // no shards, or detached already
    device->Grant(there, grant);
    cohort_->Wake(device);
  }
}

void Device::Grant(DeviceProgram* program, HostGrant* grant) {
  program->granted = grant->end;
  if (grant->first == grant->launch->first) {
    trace_.Submitted(*program, *grant->launch);
  }
  if (program->entries.empty()) {  // shards, but nothing to do for them
    EndGrant(*program, grant);
    return;
  }
  program->active.push_back(
      {grant, (grant->end - grant->first) * program->entries.size()});
  if (!program->queue->gangs.empty()) {
    queue_.push_back({program, grant, grant->launch->first, grant->first});
  }
  for (uint32_t i = 0; i < program->entries.size(); ++i) {
    PushIfReady(program, i);
  }
}

void Device::FeedNear(const DeviceProgram& program) {
  for (size_t i = cohort_->begin_index(); i < cohort_->end_index(); ++i) {
    Device* device = cohort_->at(i);
    if (device == nullptr) continue;
    DeviceProgram* there = device->Find(program.program, program.incarnation);
    if (there == nullptr) continue;  // no shards, or detached already
    for (uint32_t entry : there->feed_entries) {
      device->PushIfReady(there, entry);
    }
    cohort_->Wake(device);
  }
}

bool Device::IsFilled(const DeviceProgram& program, const Entry& entry) const {
  auto active = program.active.begin();
  while (entry.next >= active->grant->end) ++active;
  const HostLaunch& launch = *active->grant->launch;
  const FeedOp& op = program.feeds[entry.op];
  if (!run_kernels_ || (op.carried && entry.next != launch.first)) return true;
  const auto& argument = launch.values->arguments[op.argument];
  return argument == nullptr ||
         argument->filled.load(std::memory_order_acquire);
}

void Device::PushIfReady(DeviceProgram* program, uint32_t index) {
  Entry& entry = program->entries[index];
  if (entry.kind == proto::GANG || entry.queued ||
      entry.next >= program->granted ||
      program->counts[uint64_t{index} * program->window +
                      SlotOf(entry.next, program->window)] != 0 ||
      (entry.kind == proto::FEED && !IsFilled(*program, entry))) {
    return;
  }
  entry.queued = true;
  ready_[(ready_begin_ + ready_size_++) % ready_.size()] = {program, index};
}

void Device::Deliver(DeviceProgram* program, uint32_t in_edge, uint64_t firing,
                     bool poison) {
  const uint32_t index = program->in_edges[in_edge].entry;
  const uint64_t slot = SlotOf(firing, program->window);
  const uint64_t at = uint64_t{index} * program->window + slot;
  if (program->counts[at] == 0) return;  // no such token is expected
  ++program->arrived[uint64_t{in_edge} * program->window + slot];
  program->poison[at] |= poison;
  if (--program->counts[at] != 0) return;
  trace_.LastToken(program, at, in_edge);
  PushIfReady(program, index);
}

void Device::DeliverNear(const DeviceProgram& program, const OutToken& token,
                         uint64_t firing, bool poison) {
  Device* peer = cohort_->at(token.where);
  DeviceProgram* there = peer->Find(program.program, program.incarnation);
  if (there == nullptr) return;  // detached already
  peer->Deliver(there, token.target, firing, poison);
  cohort_->Wake(peer);
}

// The host's token, for each shard of an action.
void Device::Enqueue(DeviceProgram* program, const LocalMessage& message) {
  const uint64_t slot = SlotOf(message.step, program->window);
  for (uint32_t i = program->first_entry[message.target];
       i < program->entries.size() &&
       program->entries[i].action == message.target;
       ++i) {
    const uint64_t at = uint64_t{i} * program->window + slot;
    if (program->counts[at] == 0) continue;  // none is expected
    if (--program->counts[at] != 0) continue;
    trace_.LastEnqueued(program, at);
    PushIfReady(program, i);
  }
}

bool Device::Pump() {
  for (turn_ns_ = kTurnNs; turn_ns_ > 0; turn_ns_ -= kFiringNs) {
    if (ready_size_ > 0) {
      const Ready ready = ready_[ready_begin_];
      ready_begin_ = ready_begin_ + 1 == ready_.size() ? 0 : ready_begin_ + 1;
      --ready_size_;
      RunEntry(ready.program, ready.entry);
    } else if (!RunHead()) {
      return false;
    }
  }
  return true;
}

void Device::SendContinue() {
  LocalMessage message;
  message.kind = kContinue;
  Send(local_id(), message);
}

void Device::RunEntry(DeviceProgram* program, uint32_t index) {
  Entry& entry = program->entries[index];
  entry.queued = false;
  const uint64_t firing = entry.next;
  bool poison = program->poison[uint64_t{index} * program->window +
                                SlotOf(firing, program->window)];
  const HostLaunch* launch = nullptr;
  for (const DeviceProgram::Active& active : program->active) {
    launch = active.grant->launch;
    if (firing < active.grant->end) break;
  }
  trace_.MoveBegins();
  switch (entry.kind) {
    case proto::SEND:
      RunSend(program, entry, firing, poison);
      break;
    case proto::RECV:
      if (!poison && run_kernels_) RunRecv(program->recvs[entry.op], firing);
      break;
    case proto::FEED:
      if (run_kernels_) {
        FeedOp& op = program->feeds[entry.op];
        poison |= IsPoisoned(op, firing, *launch);
        if (!poison) RunFeed(&op, firing, *launch);
      }
      break;
    case proto::FETCH:
      RunFetch(program->fetches[entry.op], firing, *launch, poison);
      break;
    default:
      break;
  }
  trace_.MoveEnds(*program, index, firing, poison);
  Fire(program, index, poison);
  PushIfReady(program, index);
}

void Device::Fire(DeviceProgram* program, uint32_t index, bool poison) {
  Entry& entry = program->entries[index];
  const uint64_t firing = entry.next++;
  const uint64_t at =
      uint64_t{index} * program->window + SlotOf(firing, program->window);
  // The slot is free before anybody can know that the firing has happened.
  if (entry.need != 0) program->counts[at] = entry.need;
  if (program->poison[at]) program->poison[at] = 0;
  // What is carried into a later launch starts anew there.
  const uint64_t end = ActiveAt(program, firing).grant->launch->end;
  for (uint32_t i = entry.out_begin; i < entry.out_end; ++i) {
    const OutToken& token = program->out[i];
    const bool poisons = poison && token.poisons && firing + token.tokens < end;
    switch (token.type) {
      case OutToken::kLocal:
        Deliver(program, token.target, firing + token.tokens, poisons);
        break;
      case OutToken::kNear:
        DeliverNear(*program, token, firing + token.tokens, poisons);
        break;
      case OutToken::kPeer: {
        LocalMessage message = New(kLocalToken, *program);
        message.flags = poisons ? kPoisoned : 0;
        message.target = token.target;
        message.step = firing + token.tokens;
        Send(LocalId{token.where}, message);
        break;
      }
      case OutToken::kRemote: {
        LocalMessage message = New(kForwardToken, *program);
        message.flags = poisons ? kPoisoned : 0;
        message.target = token.target;
        message.shard = token.shard;
        message.item = entry.shard;
        message.step = firing + token.tokens;
        message.extra = token.where;
        Send(executor(), message);
        break;
      }
      case OutToken::kHost: {
        LocalMessage message = New(kActionFired, *program);
        message.target = token.target;
        message.step = firing;
        Send(executor(), message);
        break;
      }
      case OutToken::kAll: {
        LocalMessage message = New(kAllFired, *program);
        message.flags = poisons ? kPoisoned : 0;
        message.target = token.target;
        message.step = firing;
        Send(executor(), message);
        break;
      }
    }
  }
  if (poison) {
    for (uint32_t i = entry.out_end; i < entry.poison_end; ++i) {
      // Of the same firing, which comes later in the queue.
      program->poison[uint64_t{program->out[i].target} * program->window +
                      SlotOf(firing, program->window)] = 1;
    }
  }
  CountFirings(program, firing, 1);
}

DeviceProgram::Active& Device::ActiveAt(DeviceProgram* program,
                                        uint64_t firing) {
  auto it = program->active.begin();
  while (firing >= it->grant->end) ++it;
  return *it;
}

void Device::CountFirings(DeviceProgram* program, uint64_t firing,
                          uint64_t count) {
  program->fired += count;
  counters_.firings.Add(count);
  DeviceProgram::Active& active = ActiveAt(program, firing);
  active.remaining -= count;
  if (active.remaining > 0) return;
  // Grants end in order: an entry fires in order.
  HostGrant* grant = active.grant;
  program->active.pop_front();
  EndGrant(*program, grant);
}

void Device::EndGrant(const DeviceProgram& program, HostGrant* grant) {
  if (grant->end == grant->launch->end) {
    trace_.Drained(program, grant->launch->id);
  }
  if (--grant->cohorts[host_actors_.cohorts[index_]].left > 0) return;
  LocalMessage message = New(kDeviceDone, program);
  message.extra = grant->place;
  Send(executor(), message);
}

bool Device::RunHead() {
  if (queue_.empty() || costing_ || waiting_groups_ > 0) return false;
  Granted& head = queue_.front();
  DeviceProgram* program = head.program;
  const Gang& gang = program->queue->gangs[gang_];
  const uint64_t firing = head.next;
  if (head.since < 0) head.since = world_->Now();
  if (!started_) {
    // A trace has each firing on its own.
    if (gang.plain_end > 0 && !simulated_ && !trace_.is_on() &&
        RunPlain(&head, gang.plain_end)) {
      return true;
    }
    const uint64_t slot = SlotOf(firing, program->window);
    for (uint32_t k = 0; k < gang.shards; ++k) {
      const uint64_t at =
          uint64_t{gang.first_entry + k} * program->window + slot;
      if (gang.need != 0 && program->counts[at] != 0) {
        trace_.HeadWaits();
        return false;
      }
      shard_poison_[k] = program->poison[at];
    }
    started_ = true;
    step_ = 0;
    trace_.HeadBegins(*program, gang, firing);
  }
  while (step_ < gang.step_end - gang.step_begin) {
    if (!RunStep(program, gang, firing)) return false;
  }
  if (simulated_ && !cost_paid_) {
    StartCost(*program, gang);
    return false;
  }
  started_ = cost_paid_ = false;
  turn_ns_ -= gang.cost_ns;
  trace_.HeadEnds(*program, gang, firing, shard_poison_.data());
  Advance(&head, 1);
  for (uint32_t k = 0; k < gang.shards; ++k) {
    Fire(program, gang.first_entry + k, shard_poison_[k]);
  }
  return true;
}

void Device::StartCost(const DeviceProgram& program, const Gang& gang) {
  costing_ = true;
  const TimeNs cost = gang.cost_ns > 0 ? gang.cost_ns : kUnknownCostNs;
  const TimeNs limit = limits_->limit_ns;
  const bool is_endless = limit > 0 && cost > limit;
  LocalMessage message = New(is_endless ? kCostLimit : kCostDone, program);
  message.step = ++generation_;
  counters_.sent[message.kind].Add();
  const TimeNs end = is_endless ? limit : cost;
  world_->SendAfter(local_id(), local_id(), end, message);
  if (limits_->report_ns > 0 && end > limits_->report_ns) {
    message.kind = kLongCost;
    counters_.sent[kLongCost].Add();
    world_->SendAfter(local_id(), local_id(), limits_->report_ns, message);
  }
}

void Device::ReportCost() {
  const Granted& head = queue_.front();
  const Gang& gang = head.program->queue->gangs[gang_];
  LocalMessage message = New(kLongKernel, *head.program);
  message.target = gang.action;
  message.shard = head.program->entries[gang.first_entry].shard;
  message.step = head.next - head.first;
  message.extra = static_cast<uint64_t>(limits_->report_ns);
  Send(executor(), message);
}

void Device::LoseWorker() {
  const Granted& head = queue_.front();
  KernelCall call;
  call.device = static_cast<uint32_t>(index_);
  call.incarnation = head.program->incarnation;
  call.gang = static_cast<uint32_t>(gang_);
  call.step = head.next - head.first;
  Send(executor(), WorkerLostMessage(call));
  for (uint32_t device : CohortOf(host_actors_, call.device)) {
    world_->Retire(host_actors_.devices[device]);
  }
}

void Device::Advance(Granted* head, size_t gangs) {
  counters_.gangs.Add(gangs);
  gang_ += gangs;
  if (gang_ < head->program->queue->gangs.size()) return;
  gang_ = 0;
  if (++head->next < head->grant->end) return;
  TimeNs& time_ns = head->grant->cohorts[host_actors_.cohorts[index_]].time_ns;
  time_ns = std::max(time_ns, world_->Now() - head->since);
  queue_.pop_front();
}

bool Device::RunPlain(Granted* head, size_t end) {
  DeviceProgram* program = head->program;
  const GangTables& queue = *program->queue;
  const uint64_t firing = head->next;
  const uint64_t window = program->window;
  const uint64_t slot = SlotOf(firing, program->window);
  const bool run = run_kernels_;
  step_ = 0;
  KernelGate& gate = cohort_->gate();
  gate.Announce(place_, program->incarnation, firing - head->first);
  const uint64_t kernels = gate.Open();
  void** const operands = operands_.data();
  TimeNs left = turn_ns_;
  size_t g = gang_;
  for (; g < end && left > 0; ++g) {
    const Gang& gang = queue.gangs[g];
    if (program->poison[gang.first_entry * window + slot]) break;
    if (run) {
      const GangStepTable& step = queue.steps[gang.step_begin];
      const SlotOffset* slots = queue.slots.data() + step.first_slot;
      for (uint32_t i = 0; i < step.operands; ++i) {
        operands[i] = slots[i].at_masked(program->memories, firing);
      }
      gate.Pass(kernels, static_cast<uint32_t>(g));
      const int32_t code = step.function(
          operands, program->coordinates.data() + gang.first_coordinate,
          program->scratch);
      if (code != 0) [[unlikely]] {
        gate.Leave();
        // It has run, so it fires here, and poisons.
        FinishPlain(head, g - gang_, left);
        counters_.kernels.Add();
        SendFailed(*program, gang, /*shard=*/0, firing, code);
        Advance(head, 1);
        Fire(program, gang.first_entry, /*poison=*/true);
        return true;
      }
    }
    program->entries[gang.first_entry].next = firing + 1;
    left -= kFiringNs + gang.cost_ns;
  }
  gate.Leave();
  const size_t count = g - gang_;
  FinishPlain(head, count, left);
  return count > 0;
}

void Device::FinishPlain(Granted* head, size_t count, TimeNs left) {
  if (count == 0) return;
  turn_ns_ = left;
  if (run_kernels_) counters_.kernels.Add(count);
  DeviceProgram* program = head->program;
  const uint64_t firing = head->next;
  Advance(head, count);
  CountFirings(program, firing, count);
}

bool Device::RunStep(DeviceProgram* program, const Gang& gang,
                     uint64_t firing) {
  const GangStepTable& step = program->queue->steps[gang.step_begin + step_];
  if (step.collective < 0) {
    if (trace_.is_on()) [[unlikely]] {
      RunTraced(program, gang, step, firing);
    } else if (run_kernels_) {
      RunKernels(program, gang, step, firing);
    }
    ++step_;
    return true;
  }
  return RunCollective(program, gang,
                       program->queue->collectives[step.collective], firing);
}

void Device::RunTraced(DeviceProgram* program, const Gang& gang,
                       const GangStepTable& step, uint64_t firing) {
  // A gang of one step says it all. In a simulation kernels take no time, the
  // cost of their gang does.
  const bool is_own_event = gang.step_end - gang.step_begin > 1 && !simulated_;
  if (is_own_event) trace_.KernelBegins();
  if (run_kernels_) RunKernels(program, gang, step, firing);
  if (is_own_event) trace_.KernelEnds(*program, gang, firing, step_);
}

void Device::RunKernels(DeviceProgram* program, const Gang& gang,
                        const GangStepTable& step, uint64_t firing) {
  const SlotOffset* slots = program->queue->slots.data() + step.first_slot;
  const int32_t* coordinates =
      program->coordinates.data() + gang.first_coordinate;
  KernelGate& gate = cohort_->gate();
  gate.Announce(place_, program->incarnation, firing - queue_.front().first);
  for (uint32_t k = 0; k < gang.shards; ++k) {
    if (shard_poison_[k]) continue;
    for (uint32_t i = 0; i < step.operands; ++i) {
      operands_[i] = slots[k * step.operands + i].at(program->memories, firing);
    }
    gate.Enter(static_cast<uint32_t>(gang_), k);
    const int32_t code =
        step.function(operands_.data(), coordinates + k * gang.num_coordinates,
                      program->scratch);
    gate.Leave();
    counters_.kernels.Add();
    if (code == 0) continue;
    shard_poison_[k] = 1;
    SendFailed(*program, gang, k, firing, code);
  }
}

void Device::SendFailed(const DeviceProgram& program, const Gang& gang,
                        uint32_t shard, uint64_t firing, int32_t code) {
  LocalMessage message = New(kFailed, program);
  message.step = firing;
  message.target = gang.action;
  message.shard = program.entries[gang.first_entry + shard].shard;
  message.item = step_;
  message.extra = static_cast<uint32_t>(code);
  Send(executor(), message);
}

void Device::RunSend(DeviceProgram* program, const Entry& entry,
                     uint64_t firing, bool poison) {
  const SendOp& op = program->sends[entry.op];
  for (uint32_t i = op.begin; i < op.end; ++i) {
    const PieceOut& piece = program->pieces[i];
    const bool remote = piece.token.type == OutToken::kRemote;
    char* to = piece.to.at(firing);
    if (run_kernels_ && !poison) {
      layout::CopyBox(piece.from.at(firing), piece.source->shape,
                      piece.source_offset, to,
                      remote ? piece.extent : piece.destination->shape,
                      remote ? piece.zeros : piece.destination_offset,
                      piece.extent, piece.source->element_bytes);
    }
    LocalMessage message;
    switch (piece.token.type) {
      case OutToken::kNear:
        DeliverNear(*program, piece.token, firing, poison);
        break;
      case OutToken::kPeer:
        message = New(kLocalToken, *program);
        message.flags = poison ? kPoisoned : 0;
        message.target = piece.token.target;
        message.step = firing;
        Send(LocalId{piece.token.where}, message);
        break;
      case OutToken::kRemote:
        message = New(kForwardPiece, *program);
        message.flags = poison ? kPoisoned : 0;
        message.target = piece.token.target;
        message.shard = piece.token.shard;
        message.item = entry.shard;
        message.step = firing;
        message.extra = piece.token.where;
        message.payload = poison ? nullptr : to;
        message.payload_bytes = poison ? 0 : piece.bytes;
        Send(executor(), message);
        break;
      default:
        Deliver(program, piece.token.target, firing, poison);
    }
  }
}

void Device::RunRecv(const RecvOp& op, uint64_t firing) {
  char* to = op.to.at(firing);
  int64_t count = 1;
  for (int64_t size : op.buffer->shape) count *= size;
  if (count == 0) return;
  switch (op.fill) {
    case RecvOp::kNone:
      return;
    case RecvOp::kPadding:
      FillPadding(op.buffer->shape, op.valid, op.buffer->element_bytes, to);
      return;
    case RecvOp::kZero:
      std::memset(to, 0, count * op.buffer->element_bytes);
      return;
    case RecvOp::kIdentity:
      FillIdentity(ReductionKindOf(op.buffer->layout.reduction),
                   op.buffer->element, count, to);
      return;
  }
}

bool Device::IsPoisoned(const FeedOp& op, uint64_t firing,
                        const HostLaunch& launch) {
  if (op.carried && firing != launch.first) return false;
  const auto& argument = launch.values->arguments[op.argument];
  return argument != nullptr && argument->poisoned;
}

void Device::RunFeed(FeedOp* feed, uint64_t firing, const HostLaunch& launch) {
  const FeedOp& op = *feed;
  if (op.bytes == 0) return;  // nothing of the array is anywhere
  char* to = op.to.at(firing);
  if (op.carried && firing != launch.first) {
    const char* from = op.carried_from.at(firing - 1);
    if (from == to) return;
    std::memcpy(to, from, op.bytes);
    counters_.fed_bytes.Add(op.bytes);
    return;
  }
  const HostStore::Object* object = launch.values->arguments[op.argument].get();
  if (!op.placed.empty() && object != nullptr) {
    uint64_t& placed = feed->placed[SlotOf(firing, op.to.credits)];
    if (placed == object->id) return;
    placed = object->id;
  }
  const int64_t element = op.buffer->element_bytes;
  if (op.extent != op.buffer->shape) {
    FillPadding(op.buffer->shape, op.extent, element, to);
  }
  if (op.part.bytes == 0) return;  // all padding
  const char* from =
      object->data() + op.part.offset * (op.stepped ? launch.values->steps : 1);
  if (op.stepped) from += (firing - launch.first) * op.part.bytes;
  counters_.fed_bytes.Add(op.part.bytes);
  layout::CopyBox(from, op.extent, op.zeros, to, op.buffer->shape, op.zeros,
                  op.extent, element);
}

void Device::RunFetch(const FetchOp& op, uint64_t firing,
                      const HostLaunch& launch, bool poison) {
  if (!op.stepped && firing + 1 != launch.end) return;
  HostValues::Result& result = launch.values->results[op.result];
  if (poison) {
    result.poisoned.store(true, std::memory_order_relaxed);
    return;
  }
  if (!run_kernels_ || !op.writes) return;
  char* to = result.object->data() +
             op.part.offset * (op.stepped ? launch.values->steps : 1);
  if (op.stepped) to += (firing - launch.first) * op.part.bytes;
  counters_.fetched_bytes.Add(op.part.bytes);
  layout::CopyBox(op.from.at(firing), op.buffer->shape, op.zeros, to, op.extent,
                  op.zeros, op.extent, op.buffer->element_bytes);
}

void Device::Inspect(const LocalMessage& message) {
  DeviceReport* out = static_cast<DeviceReport*>(message.payload);
  DeviceProgram* program = Find(message.program, message.incarnation);
  if (program != nullptr) {
    out->report.set_fired(program->fired);
    out->report.set_granted(program->granted);
    // The smallest (firing, position) that has not happened.
    uint64_t firing = UINT64_MAX;
    uint32_t action = 0;
    for (const Entry& entry : program->entries) {
      if (entry.next < program->granted &&
          (entry.next < firing ||
           (entry.next == firing && entry.action < action))) {
        firing = entry.next;
        action = entry.action;
      }
    }
    for (uint32_t i = 0; i < program->entries.size() && firing != UINT64_MAX;
         ++i) {
      const Entry& entry = program->entries[i];
      if (entry.action != action || entry.next != firing ||
          out->report.stuck_size() == kMaxReported) {
        continue;
      }
      proto::StuckShard* stuck = out->report.add_stuck();
      out->groups.push_back(UINT32_MAX);
      stuck->set_firing(firing);
      stuck->set_action(action);
      stuck->set_shard(entry.shard);
      stuck->set_device(island_device_);
      // Whatever is not missing along an edge is the host's token.
      uint32_t unexplained = program->counts[uint64_t{i} * program->window +
                                             SlotOf(firing, program->window)];
      for (uint32_t e = 0; e < program->in_edges.size(); ++e) {
        const InEdge& in = program->in_edges[e];
        if (in.entry != i) continue;
        const uint32_t tokens = program->TokensOf(e, firing);
        if (tokens == in.expected) continue;
        proto::MissingEdge* missing = stuck->add_missing();
        missing->set_edge(in.edge);
        missing->set_expected(in.expected);
        missing->set_arrived(tokens);
        unexplained -= in.expected - tokens;
      }
      stuck->set_unprepared(unexplained > 0);
      if (entry.kind == proto::FEED && !IsFilled(*program, entry)) {
        stuck->set_unfilled(true);
        stuck->set_unfilled_by(
            ActiveAt(program, firing)
                .grant->launch->values
                ->arguments[program->feeds[entry.op].argument]
                ->writer);
      }
      if (entry.kind != proto::GANG || queue_.empty()) continue;
      const Granted& head = queue_.front();
      const Gang& gang = head.program->queue->gangs[gang_];
      if (head.program == program && head.next == firing &&
          gang.action == action) {
        stuck->set_running(costing_);
        if (started_ && waiting_groups_ > 0) {
          const uint32_t k = i - gang.first_entry;
          stuck->set_in_collective(true);
          stuck->set_collective_step(static_cast<uint32_t>(step_));
          const CollectiveTable& table =
              program->queue->collectives
                  [program->queue->steps[gang.step_begin + step_].collective];
          out->groups.back() = table.first_group +
                               program->members[table.member_begin + k].group;
        }
      } else if (stuck->missing_size() == 0) {
        stuck->set_blocked(true);
        stuck->set_blocked_program(head.program->program);
        stuck->set_blocked_action(gang.action);
        stuck->set_blocked_firing(head.next);
      }
    }
  }
  LocalMessage reply = message;
  reply.kind = kInspected;
  reply.item = index_;
  Send(executor(), reply);
}

}  // namespace pathways
