//===- device_work.h - Work of a device's backend ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_WORK_H_
#define RUNTIME_DEVICE_DEVICE_WORK_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/device/counters.h"
#include "runtime/device/cpu_backend.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/head_gang.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Gives work to the backend of a device, and records events after it. Does not
// own what the raw pointers point to.
class DeviceWork {
 public:
  // Target of an event that stands for the head of the queue.
  static constexpr uint32_t kHead = UINT32_MAX;

  DeviceWork(std::unique_ptr<DeviceBackend> backend, HeadGang* head,
             DeviceCounters* counters)
      : backend_(std::move(backend)),
        cpu_(backend_->cpu()),
        head_(*head),
        counters_(*counters) {}

  DeviceBackend* backend() const { return backend_.get(); }
  // Returns the backend if it is the CPU's; else null.
  CpuBackend* cpu() const { return cpu_; }
  // Calls the CPU backend without a virtual call.
  template <typename Work>
  auto Do(Work work) {
    return cpu_ != nullptr ? work(*cpu_) : work(*backend_);
  }
  // Record an event after all work so far. They return true if that work is
  // done. Otherwise the head resumes, or the entry fires, when the event comes.
  bool IsHeadDone(DeviceProgram* program) {
    return cpu_ != nullptr || RecordHead(program);
  }
  bool IsEntryDone(DeviceProgram* program, uint32_t entry) {
    return cpu_ != nullptr || RecordEvent(program, entry, /*step=*/0);
  }

 private:
  bool RecordHead(DeviceProgram* program);
  bool RecordEvent(DeviceProgram* program, uint32_t target, uint64_t step);

  const std::unique_ptr<DeviceBackend> backend_;
  CpuBackend* const cpu_;
  HeadGang& head_;
  DeviceCounters& counters_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_WORK_H_
