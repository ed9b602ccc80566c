//===- check_cluster.cc - Check of a cluster's description ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/defaults.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

constexpr size_t kMaxNameBytes = 255;
constexpr int kMaxShapeRank = 16;
// These limits keep the time of a message on a link within 64-bit nanoseconds,
// whatever its size.
constexpr double kMinBytesPerSecond = 1;
constexpr double kMaxBytesPerSecond = 1e18;
constexpr double kMaxLatencySeconds = 3600;

template <typename... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Names are printed as island/host/device, and appear in tables and file names.
absl::Status CheckText(const std::string& where, const char* what,
                       const std::string& text, bool is_name) {
  if (text.size() > kMaxNameBytes) {
    return Wrong(where, ": ", what, " has ", text.size(),
                 " bytes, expected at most ", kMaxNameBytes);
  }
  for (char c : text) {
    if (c > ' ' && c <= '~' && !(is_name && c == '/')) continue;
    return Wrong(where, ": ", what, " '", absl::CHexEscape(text), "' has '",
                 absl::CHexEscape(std::string(1, c)),
                 "', expected printable ASCII without spaces",
                 is_name ? " and '/'" : "");
  }
  return absl::OkStatus();
}

absl::Status CheckMemory(const std::string& where, uint64_t bytes) {
  if (bytes <= kMaxMemoryBytes) return absl::OkStatus();
  return Wrong(where, ": memory_bytes is ", bytes, ", expected at most ",
               kMaxMemoryBytes);
}

absl::Status CheckLink(const std::string& where, const proto::Link& link) {
  double rate = link.bytes_per_second();
  if (rate != 0 &&
      !(rate >= kMinBytesPerSecond && rate <= kMaxBytesPerSecond)) {
    return Wrong(where, ": bytes_per_second is ", rate,
                 ", expected 0 (not limited) or ", kMinBytesPerSecond, " to ",
                 kMaxBytesPerSecond);
  }
  double latency = link.latency_seconds();
  if (!(latency >= 0 && latency <= kMaxLatencySeconds)) {
    return Wrong(where, ": latency_seconds is ", latency, ", expected 0 to ",
                 kMaxLatencySeconds);
  }
  return absl::OkStatus();
}

absl::Status CheckDevice(const std::string& where, const proto::Device& device,
                         const std::vector<int64_t>& shape) {
  absl::Status status = CheckText(where, "kind", device.kind(), true);
  status.Update(CheckTarget(where, device.target()));
  status.Update(CheckMemory(where, device.memory_bytes()));
  if (!status.ok() || device.coordinates_size() == 0) return status;
  if (device.coordinates_size() != static_cast<int>(shape.size())) {
    return Wrong(where, ": has ", device.coordinates_size(),
                 " coordinates, expected ", shape.size(),
                 " as its island has shape [", absl::StrJoin(shape, ", "), "]");
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t coordinate = device.coordinates(static_cast<int>(d));
    if (coordinate < 0 || coordinate >= shape[d]) {
      return Wrong(where, ": coordinate ", d, " is ", coordinate,
                   ", expected 0 to ", shape[d] - 1);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const std::string& where, const proto::Island& island,
                        int64_t devices) {
  if (island.shape_size() > kMaxShapeRank) {
    return Wrong(where, ": shape has ", island.shape_size(),
                 " dimensions, expected at most ", kMaxShapeRank);
  }
  int64_t product = 1;
  for (int64_t extent : island.shape()) {
    if (extent < 1 || extent > kMaxDevices / product) {
      return Wrong(where, ": shape [", absl::StrJoin(island.shape(), ", "),
                   "] does not have between 1 and ", kMaxDevices,
                   " positions: its dimension ", extent,
                   extent < 1 ? " is below 1" : " is too large");
    }
    product *= extent;
  }
  if (island.shape_size() > 0 && product != devices) {
    return Wrong(where, ": shape [", absl::StrJoin(island.shape(), ", "),
                 "] has ", product, " positions, but there are ", devices,
                 " devices");
  }
  int rank = island.shape_size() > 0 ? island.shape_size() : 1;
  if (island.torus_size() != 0 && island.torus_size() != rank) {
    return Wrong(where, ": torus has ", island.torus_size(),
                 " entries, expected one per dimension of the shape (", rank,
                 ")");
  }
  return absl::OkStatus();
}

absl::Status CheckHost(const std::string& where, const proto::Host& host) {
  absl::Status status = CheckText(where, "name", host.name(), true);
  status.Update(CheckText(where, "address", host.address(), false));
  status.Update(CheckMemory(where, host.memory_bytes()));
  if (status.ok() && host.devices_size() == 0) {
    return Wrong(where, ": has no devices, expected at least 1");
  }
  return status;
}

// Checks each device of an island, and that no two are at the same position.
absl::Status CheckDevices(const std::string& where, int first_host,
                          const proto::Island& island) {
  std::vector<int64_t> shape = EffectiveShape(island);
  bool has_coordinates = false;
  for (int h = 0; h < island.hosts_size(); ++h) {
    const proto::Host& host = island.hosts(h);
    for (int d = 0; d < host.devices_size(); ++d) {
      const proto::Device& device = host.devices(d);
      // Building the name costs more than the check, and is rarely needed.
      if (device.ByteSizeLong() == 0) continue;
      has_coordinates |= device.coordinates_size() > 0;
      absl::Status status = CheckDevice(
          absl::StrCat(where, "/", EffectiveName(host, first_host + h),
                       "/device", d),
          device, shape);
      if (!status.ok()) return status;
    }
  }
  if (!has_coordinates) return absl::OkStatus();
  absl::flat_hash_map<int64_t, std::string> taken;  // by row-major position
  int64_t index = 0;
  for (int h = 0; h < island.hosts_size(); ++h) {
    const proto::Host& host = island.hosts(h);
    for (int d = 0; d < host.devices_size(); ++d, ++index) {
      std::vector<int64_t> coordinates =
          EffectiveCoordinates(host.devices(d), index, shape);
      int64_t position = 0;
      for (size_t i = 0; i < shape.size(); ++i) {
        position = position * shape[i] + coordinates[i];
      }
      std::string name = absl::StrCat(
          where, "/", EffectiveName(host, first_host + h), "/device", d);
      auto [it, inserted] = taken.emplace(position, name);
      if (!inserted) {
        return Wrong(name, ": is at [", absl::StrJoin(coordinates, ", "),
                     "], where ", it->second, " also is");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTarget(const std::string& where,
                         const proto::Target& target) {
  absl::Status status =
      CheckText(where, "target triple", target.triple(), false);
  status.Update(CheckText(where, "target cpu", target.cpu(), false));
  for (const std::string& feature : target.features()) {
    status.Update(CheckText(where, "target feature", feature, false));
  }
  return status;
}

absl::Status CheckCluster(const proto::Cluster& cluster) {
  if (cluster.islands_size() == 0) {
    return Wrong("the cluster has no islands, expected at least 1");
  }
  // Island and host names, with the number of the island or host.
  absl::flat_hash_map<std::string, int> island_names;
  absl::flat_hash_map<std::string, int> host_names;
  int64_t all_devices = 0;
  int num_hosts = 0;
  for (int i = 0; i < cluster.islands_size(); ++i) {
    const proto::Island& island = cluster.islands(i);
    absl::Status status = CheckText(absl::StrCat("island ", i), "name",
                                    island.name(), /*is_name=*/true);
    if (!status.ok()) return status;
    std::string where = EffectiveName(island, i);
    auto [same, inserted] = island_names.emplace(where, i);
    if (!inserted) {
      return Wrong("islands ", same->second, " and ", i, " are both called '",
                   where, "'");
    }
    if (island.hosts_size() == 0) {
      return Wrong(where, ": has no hosts, expected at least 1");
    }
    int first_host = num_hosts;
    int64_t devices = 0;
    for (const proto::Host& host : island.hosts()) {
      int number = num_hosts++;
      status = CheckHost(absl::StrCat(where, "/host ", number), host);
      if (!status.ok()) return status;
      std::string name = EffectiveName(host, number);
      auto [same_host, is_new] = host_names.emplace(name, number);
      if (!is_new) {
        return Wrong("hosts ", same_host->second, " and ", number,
                     " are both called '", name, "'");
      }
      devices += host.devices_size();
    }
    all_devices += devices;
    if (all_devices > kMaxDevices) {
      return Wrong("the cluster has ", all_devices,
                   " devices or more, expected at most ", kMaxDevices);
    }
    status = CheckShape(where, island, devices);
    if (status.ok()) status = CheckDevices(where, first_host, island);
    if (status.ok()) status = CheckLink(where + ": ici", island.ici());
    if (!status.ok()) return status;
  }
  return CheckLink("dcn", cluster.dcn());
}

}  // namespace pathways
