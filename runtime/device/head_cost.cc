//===- head_cost.cc - Virtual time of a device's gangs --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/head_cost.h"

namespace pathways {
namespace {

// Virtual time of a gang whose cost the plan does not know.
constexpr TimeNs kUnknownCostNs = 1000;

}  // namespace

void HeadCost::Start(const DeviceProgram& program, const Gang& gang) {
  head_.awaits = HeadGang::kCost;
  const TimeNs cost = world_->kernels().CostNow(
      self_->local_id(), gang.cost_ns > 0 ? gang.cost_ns : kUnknownCostNs);
  const TimeNs limit = limits_.limit_ns;
  const bool is_endless = limit > 0 && cost > limit;
  LocalMessage message =
      DeviceSender::New(is_endless ? kCostLimit : kCostDone, program);
  message.step = ++head_.generation;
  const TimeNs end = is_endless ? limit : cost;
  SendAfter(end, message);
  if (limits_.report_ns > 0 && end > limits_.report_ns) {
    message.kind = kLongCost;
    SendAfter(limits_.report_ns, message);
  }
}

void HeadCost::OnMessage(const LocalMessage& message) {
  if (!head_.Awaits(HeadGang::kCost, message.step)) return;
  if (message.kind == kLongCost) return Report();
  if (message.kind == kCostLimit) return LoseWorker();
  head_.awaits = HeadGang::kNothing;
  head_.cost_paid = true;
}

void HeadCost::SendAfter(TimeNs delay, const LocalMessage& message) {
  counters_.sent[message.kind].Add();
  world_->SendAfter(self_->local_id(), self_->local_id(), delay, message);
}

void HeadCost::Report() {
  const GrantQueue::Head& head = queue_.head();
  const Gang& gang = queue_.gang();
  LocalMessage message = DeviceSender::New(kLongKernel, *head.program);
  message.target = gang.action;
  message.shard = head.program->entries[gang.first_entry].shard;
  message.step = head.numbers.Of(head.next);
  message.extra = static_cast<uint64_t>(limits_.report_ns);
  sender_.SendExecutor(message);
}

void HeadCost::LoseWorker() {
  const GrantQueue::Head& head = queue_.head();
  KernelCall call;
  call.device = index_;
  call.incarnation = head.program->incarnation;
  call.gang = static_cast<uint32_t>(queue_.gang_index());
  call.step = head.numbers.Of(head.next);
  sender_.SendExecutor(WorkerLostMessage(call));
  for (uint32_t device : CohortOf(actors_, call.device)) {
    world_->Retire(actors_.devices[device]);
  }
}

}  // namespace pathways
