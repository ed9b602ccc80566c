//===- device_kernels.cc - A device runs kernels --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/device.h"

namespace pathways {
namespace {

// Of a gang whose cost the plan does not know, in virtual time.
constexpr TimeNs kUnknownCostNs = 1000;

}  // namespace

void Device::StartCost(const DeviceProgram& program, const Gang& gang) {
  costing_ = true;
  const TimeNs cost = world_->CostNow(
      local_id(), gang.cost_ns > 0 ? gang.cost_ns : kUnknownCostNs);
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
  const GrantQueue::Head& head = queue_.head();
  const Gang& gang = queue_.gang();
  LocalMessage message = New(kLongKernel, *head.program);
  message.target = gang.action;
  message.shard = head.program->entries[gang.first_entry].shard;
  message.step = head.next - head.first;
  message.extra = static_cast<uint64_t>(limits_->report_ns);
  Send(executor(), message);
}

void Device::LoseWorker() {
  const GrantQueue::Head& head = queue_.head();
  KernelCall call;
  call.device = static_cast<uint32_t>(index_);
  call.incarnation = head.program->incarnation;
  call.gang = static_cast<uint32_t>(queue_.gang_index());
  call.step = head.next - head.first;
  Send(executor(), WorkerLostMessage(call));
  for (uint32_t device : CohortOf(host_actors_, call.device)) {
    world_->Retire(host_actors_.devices[device]);
  }
}

bool Device::RunPlain(size_t end) {
  const GrantQueue::Head& head = queue_.head();
  DeviceProgram* program = head.program;
  const GangTables& queue = *program->queue;
  const uint64_t firing = head.next;
  const uint64_t slot = SlotOf(firing, program->window);
  const bool run = run_kernels_;
  step_ = 0;
  const uint64_t step_of_launch = firing - head.first;
  KernelGate& gate = cohort_->gate();
  gate.Announce(place_, program->incarnation, step_of_launch);
  const uint64_t kernels = gate.Open();
  void** const operands = cohort_->operands();
  // Copies, which no kernel can change.
  char* const memories[] = {program->memories[0], program->memories[1]};
  const Gang* const gangs = queue.gangs.data();
  const GangStepTable* const steps = queue.steps.data();
  const SlotOffset* const all_slots = queue.slots.data();
  const int32_t* const coordinates = program->coordinates.data();
  void* const scratch = program->scratch;
  TimeNs left = turn_ns_;
  const size_t first = queue_.gang_index();
  size_t g = first;
  for (; g < end && left > 0; ++g) {
    const Gang& gang = gangs[g];
    if (program->num_poison != 0 &&
        program->poison[uint64_t{gang.first_entry} * program->window + slot]) {
      break;
    }
    if (run) {
      const GangStepTable& step = steps[gang.step_begin];
      const SlotOffset* slots = all_slots + step.first_slot;
      for (uint32_t i = 0; i < step.operands; ++i) {
        operands[i] = slots[i].at_masked(memories, firing);
      }
      gate.Pass(kernels, static_cast<uint32_t>(g));
      const int32_t code =
          step.function(operands, coordinates + gang.first_coordinate, scratch,
                        step_of_launch);
      if (code != 0) [[unlikely]] {
        gate.Leave();
        // It has run, so it fires here, and poisons.
        FinishPlain(g - first, left);
        counters_.kernels.Add();
        SendFailed(*program, gang, /*shard=*/0, firing, code);
        counters_.firings.Add();
        const bool is_last = Advance(1);
        Fire(program, gang.first_entry, firing, /*poison=*/true);
        if (is_last) CountFirings(program, firing, queue.num_shards);
        return true;
      }
    }
    left -= kFiringNs + gang.cost_ns;
  }
  gate.Leave();
  const size_t count = g - first;
  FinishPlain(count, left);
  return count > 0;
}

void Device::FinishPlain(size_t count, TimeNs left) {
  if (count == 0) return;
  turn_ns_ = left;
  if (run_kernels_) counters_.kernels.Add(count);
  DeviceProgram* program = queue_.head().program;
  const uint64_t firing = queue_.head().next;
  counters_.firings.Add(count);  // of one shard each
  if (Advance(count)) {
    CountFirings(program, firing, program->queue->num_shards);
  }
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
  const uint64_t step_of_launch = firing - queue_.head().first;
  gate.Announce(place_, program->incarnation, step_of_launch);
  void** const operands = cohort_->operands();
  for (uint32_t k = 0; k < gang.shards; ++k) {
    if (IsShardPoisoned(k)) continue;
    for (uint32_t i = 0; i < step.operands; ++i) {
      operands[i] = slots[k * step.operands + i].at(program->memories, firing);
    }
    gate.Enter(static_cast<uint32_t>(queue_.gang_index()), k);
    const int32_t code =
        step.function(operands, coordinates + k * gang.num_coordinates,
                      program->scratch, step_of_launch);
    gate.Leave();
    counters_.kernels.Add();
    if (code == 0) continue;
    PoisonShard(k);
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

}  // namespace pathways
