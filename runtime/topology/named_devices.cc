//===- named_devices.cc - Parts of a cluster, by name ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/named_devices.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {

absl::StatusOr<std::vector<bool>> NamedDevices(
    const Topology& topology, const std::vector<std::string>& names) {
  std::vector<bool> named(static_cast<size_t>(topology.num_devices()));
  if (names.empty()) return named;
  std::map<std::string, std::vector<int64_t>> parts;
  for (int64_t device = 0; device < topology.num_devices(); ++device) {
    const int host = topology.LocateGlobal(device).host;
    parts[topology.IslandName(topology.island_of_host(host))].push_back(device);
    parts[topology.HostName(host)].push_back(device);
    parts[topology.GlobalDeviceName(device)].push_back(device);
  }
  for (const std::string& name : names) {
    const auto part = parts.find(name);
    if (part == parts.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no island, host or device '", name,
                       "'; names have the form 'island0', 'host1' or "
                       "'island0/host1/device0', and the cluster has ",
                       FormatTopology(topology), Tag(ErrorId::kNoSuchPlace)));
    }
    for (int64_t device : part->second) {
      named[static_cast<size_t>(device)] = true;
    }
  }
  return named;
}

std::vector<bool> WholeHosts(const Topology& topology,
                             const std::vector<bool>& devices) {
  std::vector<bool> hosts(topology.num_hosts(), true);
  for (int32_t host = 0; host < topology.num_hosts(); ++host) {
    for (int d = 0; d < topology.num_host_devices(host); ++d) {
      if (!devices[topology.GlobalDevice({host, d})]) hosts[host] = false;
    }
  }
  return hosts;
}

}  // namespace pathways
