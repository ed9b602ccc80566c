//===- lost_devices.cc - Lost devices of a host ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/lost_devices.h"

#include <utility>

namespace pathways {

void LostDevices::Add(proto::WorkerLost loss, bool unresponsive) {
  for (uint32_t device : loss.devices()) {
    lost_.Insert(static_cast<int32_t>(device));
    if (unresponsive) unresponsive_.Insert(static_cast<int32_t>(device));
  }
  losses_.push_back(std::move(loss));
}

std::optional<uint32_t> LostDevices::Find(const HostProgram& program) const {
  for (const auto& device : program.devices) {
    if (device != nullptr &&
        lost_.Contains(static_cast<int32_t>(device->device))) {
      return device->device;
    }
  }
  return std::nullopt;
}

void LostDevices::Release(std::unique_ptr<HostProgram> program) {
  bool is_touched = false;
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    if (IsDeaf(device->device)) {
      is_touched = true;
    } else {
      device.reset();
    }
  }
  if (!is_touched) return;
  // Kernels see only the memory of their device.
  program->host_memory = Arena::Segment();
  buried_.push_back(std::move(program));
}

}  // namespace pathways
