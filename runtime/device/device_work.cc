//===- device_work.cc - Work of a device's backend ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_work.h"

#include "runtime/device/device_sender.h"

namespace pathways {

bool DeviceWork::RecordHead(DeviceProgram* program) {
  if (RecordEvent(program, kHead, head_.generation + 1)) return true;
  ++head_.generation;
  head_.awaits = HeadGang::kWork;
  return false;
}

bool DeviceWork::RecordEvent(DeviceProgram* program, uint32_t target,
                             uint64_t step) {
  LocalMessage message = DeviceSender::New(kWorkDone, *program);
  message.target = target;
  message.step = step;
  if (backend_->Record(message)) return true;
  counters_.sent[kWorkDone].Add();
  ++program->events;
  return false;
}

}  // namespace pathways
