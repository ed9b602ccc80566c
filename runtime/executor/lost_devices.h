//===- lost_devices.h - Lost devices of a host ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_LOST_DEVICES_H_
#define RUNTIME_EXECUTOR_LOST_DEVICES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/program/host_program.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/wait_set.h"

namespace pathways {

// Devices of one host that take no more work. Some of them are unresponsive:
// they do not answer either, and a thread may still be in a kernel there.
// Invariants: (1) a lost device stays lost; (2) memory that a kernel that did
// not return may touch, which is the memory of its program on its device, lives
// as long as this object. Not thread-safe; must be destroyed when no kernel
// runs any more, and before the devices' memory.
class LostDevices {
 public:
  // Adds the devices that `loss` names.
  void Add(proto::WorkerLost loss, bool unresponsive);
  bool IsDeaf(uint32_t device) const {
    return unresponsive_.Contains(static_cast<int32_t>(device));
  }
  // Returns a lost device that the program is on, if there is one.
  std::optional<uint32_t> Find(const HostProgram& program) const;
  // Releases what a program that ended holds, except what a kernel may still
  // touch.
  void Release(std::unique_ptr<HostProgram> program);

  // All losses that were added, in that order.
  const std::vector<proto::WorkerLost>& losses() const { return losses_; }

 private:
  WaitSet lost_, unresponsive_;
  std::vector<proto::WorkerLost> losses_;
  std::vector<std::unique_ptr<HostProgram>> buried_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_LOST_DEVICES_H_
