//===- topology.cc - Numbers of islands, hosts and devices ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/topology.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/defaults.h"

namespace pathways {

uint64_t DeviceMemoryBytes(const proto::Device& device) {
  return device.memory_bytes() != 0 ? device.memory_bytes()
                                    : kDefaultDeviceMemoryBytes;
}

uint64_t HostMemoryBytes(const proto::Host& host) {
  return host.memory_bytes() != 0 ? host.memory_bytes()
                                  : kDefaultHostMemoryBytes;
}

const std::string& DeviceKind(const proto::Device& device) {
  static const std::string* const kCpu = new std::string("cpu");
  return device.kind().empty() ? *kCpu : device.kind();
}

absl::StatusOr<Topology> Topology::Read(const std::string& spec) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(spec);
  if (!cluster.ok()) return cluster.status();
  return Create(*std::move(cluster));
}

absl::StatusOr<Topology> Topology::Create(proto::Cluster cluster) {
  absl::Status status = CheckCluster(cluster);
  if (!status.ok()) return status;
  Topology topology;
  int64_t devices = 0;
  for (int i = 0; i < cluster.islands_size(); ++i) {
    topology.first_host_.push_back(topology.num_hosts());
    for (const proto::Host& host : cluster.islands(i).hosts()) {
      topology.island_of_host_.push_back(i);
      topology.first_device_of_host_.push_back(devices);
      devices += host.devices_size();
    }
  }
  topology.first_host_.push_back(topology.num_hosts());
  topology.first_device_of_host_.push_back(devices);
  topology.cluster_ = std::move(cluster);
  return topology;
}

Topology::Place Topology::Locate(int island, int64_t device) const {
  return LocateGlobal(GlobalDevice(island, device));
}

Topology::Place Topology::LocateGlobal(int64_t global) const {
  auto after = std::upper_bound(first_device_of_host_.begin(),
                                first_device_of_host_.end(), global);
  int host = static_cast<int>(after - first_device_of_host_.begin()) - 1;
  return {host, static_cast<int>(global - first_device_of_host_[host])};
}

std::pair<int, int64_t> Topology::FromGlobalDevice(int64_t global) const {
  int island = island_of_host_[LocateGlobal(global).host];
  return {island, global - GlobalDevice(island, 0)};
}

const proto::Host& Topology::host(int host) const {
  int island = island_of_host_[host];
  return cluster_.islands(island).hosts(host - first_host_[island]);
}

const proto::Device& Topology::device(int island, int64_t device) const {
  return global_device(GlobalDevice(island, device));
}

const proto::Device& Topology::global_device(int64_t global) const {
  Place place = LocateGlobal(global);
  return host(place.host).devices(place.device);
}

std::vector<int64_t> Topology::IslandShape(int island) const {
  return EffectiveShape(this->island(island));
}

std::vector<int64_t> Topology::DeviceCoordinates(int island,
                                                 int64_t device) const {
  return EffectiveCoordinates(this->device(island, device), device,
                              IslandShape(island));
}

std::string Topology::IslandName(int island) const {
  return EffectiveName(this->island(island), island);
}

std::string Topology::HostName(int host) const {
  return EffectiveName(this->host(host), host);
}

std::string Topology::DeviceName(int island, int64_t device) const {
  return GlobalDeviceName(GlobalDevice(island, device));
}

std::string Topology::GlobalDeviceName(int64_t global) const {
  Place place = LocateGlobal(global);
  return absl::StrCat(IslandName(island_of_host(place.host)), "/",
                      HostName(place.host), "/device", place.device);
}

namespace {

std::string Counted(int64_t count, const std::string& noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

// Returns "4", or "2..4" if the numbers differ, followed by the noun.
std::string Range(int64_t low, int64_t high, const std::string& noun) {
  if (low == high) return Counted(low, noun);
  return absl::StrCat(low, "..", Counted(high, noun));
}

}  // namespace

std::string FormatTopology(const Topology& topology) {
  int64_t low_hosts = INT64_MAX, high_hosts = 0;
  int64_t low_devices = INT64_MAX, high_devices = 0;
  std::string kind;
  for (int i = 0; i < topology.num_islands(); ++i) {
    low_hosts = std::min<int64_t>(low_hosts, topology.num_hosts(i));
    high_hosts = std::max<int64_t>(high_hosts, topology.num_hosts(i));
  }
  for (int h = 0; h < topology.num_hosts(); ++h) {
    low_devices = std::min<int64_t>(low_devices, topology.num_host_devices(h));
    high_devices =
        std::max<int64_t>(high_devices, topology.num_host_devices(h));
    for (const proto::Device& device : topology.host(h).devices()) {
      if (kind.empty()) kind = DeviceKind(device);
      if (kind != DeviceKind(device)) kind = "mixed";
    }
  }
  return absl::StrCat(Counted(topology.num_islands(), "island"), " x ",
                      Range(low_hosts, high_hosts, "host"), " x ",
                      Range(low_devices, high_devices, kind + " device"), " (",
                      Counted(topology.num_devices(), "device"), ")");
}

}  // namespace pathways
