//===- device_work.cc - Completion of a device's work ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>

#include "runtime/device/device.h"

namespace pathways {
namespace {

// Target of an event that stands for the head of the queue.
constexpr uint32_t kHead = UINT32_MAX;

}  // namespace

bool Device::RecordHead(DeviceProgram* program) {
  if (RecordEvent(program, kHead, generation_ + 1)) return true;
  ++generation_;
  awaits_ = kWork;
  return false;
}

bool Device::RecordEvent(DeviceProgram* program, uint32_t target,
                         uint64_t step) {
  LocalMessage message = New(kWorkDone, *program);
  message.target = target;
  message.step = step;
  if (backend_->Record(message)) return true;
  counters_.sent[kWorkDone].Add();
  ++program->events;
  return false;
}

void Device::OnWorkDone(const LocalMessage& message) {
  backend_->OnDone(message);
  if (DeviceProgram* program = Find(message.program, message.incarnation)) {
    --program->events;
    if (message.target != kHead) return FinishEntry(program, message.target);
    if (awaits_ == kWork && message.step == generation_) awaits_ = kNothing;
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

}  // namespace pathways
