//===- device_drains.h - Drains and offline devices -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_DEVICE_DRAINS_H_
#define RUNTIME_CLIENT_DEVICE_DRAINS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/client/control_channel.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Asks the controller which devices are offline, and to drain devices. Any
// thread may call it. Both functions wait, and return the reason if the channel
// ends.
class DeviceDrains {
 public:
  // The arguments outlive the drains.
  DeviceDrains(ControlChannel* channel, const Topology* topology)
      : channel_(*channel), topology_(*topology) {}

  // Returns which devices, by number over the cluster, cannot take programs
  // now.
  absl::StatusOr<std::vector<bool>> AwayDevices();
  // Drains the named parts of the cluster, or undrains them if `undo`.
  // Client::Drain describes it.
  absl::Status Drain(const std::vector<std::string>& names, int64_t wait_ns,
                     bool undo);

 private:
  ControlChannel& channel_;
  const Topology& topology_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_DEVICE_DRAINS_H_
