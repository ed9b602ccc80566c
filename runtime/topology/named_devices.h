//===- named_devices.h - Parts of a cluster, by name ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TOPOLOGY_NAMED_DEVICES_H_
#define RUNTIME_TOPOLOGY_NAMED_DEVICES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Returns, for each global device, true if it belongs to one of `names`, which
// are names of islands, hosts or devices as in messages ("island1", "host2",
// "island0/host2/device1"). Returns InvalidArgument if a name is unknown.
absl::StatusOr<std::vector<bool>> NamedDevices(
    const Topology& topology, const std::vector<std::string>& names);

// Returns, for each host, true if all of its devices are marked in `devices`.
std::vector<bool> WholeHosts(const Topology& topology,
                             const std::vector<bool>& devices);

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_NAMED_DEVICES_H_
