//===- topology.h - Islands, hosts and devices of a cluster -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a cluster from a specification, checks it, and numbers what is in it.
// Compiler and runtime read the same one. Nothing here asks the machine (see
// discovery.h), except ReadTopology("local").
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TOPOLOGY_TOPOLOGY_H_
#define RUNTIME_TOPOLOGY_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/cluster.pb.h"

namespace pathways {

// Limits of a cluster; CheckCluster refuses more.
inline constexpr int64_t kMaxDevices = int64_t{1} << 20;  // in all islands
inline constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 50;  // of one item
inline constexpr int64_t kMaxTopologyFileBytes = int64_t{16} << 20;

// What memory_bytes == 0 stands for.
inline constexpr uint64_t kDefaultDeviceMemoryBytes = uint64_t{1} << 30;
inline constexpr uint64_t kDefaultHostMemoryBytes = uint64_t{4} << 30;

// Bound of a device's arena and of a host's own store, in bytes.
uint64_t DeviceMemoryBytes(const proto::Device& device);
uint64_t HostMemoryBytes(const proto::Host& host);
// "cpu" when the device names no kind.
const std::string& DeviceKind(const proto::Device& device);

// Reads and checks a cluster. `spec` is one of
//   "" or "local"            this machine: one island, one host, a device per
//                            physical core that the process may run on
//   "IxHxD", e.g. "2x1x4"    I islands of H hosts of D devices each
//   "@PATH"                  a textproto of proto::Cluster
//   "X.textproto", "X.pbtxt" the same
// InvalidArgument: the spec, the file's syntax (with line:column) or the
// cluster is wrong; NotFound: no such file.
absl::StatusOr<proto::Cluster> ReadTopology(const std::string& spec);

// What ReadTopology() reads as this very cluster: one line.
std::string TopologySpec(const proto::Cluster& cluster);

// The file that ReadTopology() reads for `spec`; empty: none.
std::string TopologyPath(const std::string& spec);

// The textproto reader alone; `name` stands for the text in messages.
absl::StatusOr<proto::Cluster> ParseTopology(const std::string& text,
                                             const std::string& name);

// OK when `cluster` has islands, hosts and devices, and all of its numbers and
// names make sense; else InvalidArgument that names the culprit.
absl::Status CheckCluster(const proto::Cluster& cluster);

// Likewise of a target alone; `where` says whose it is.
absl::Status CheckTarget(const std::string& where, const proto::Target& target);

// A checked cluster with everything numbered from 0: hosts over the whole
// cluster, devices inside their island (host by host, in file order), and over
// the whole cluster, island by island: the global device. Memory beside the
// cluster itself is per host, not per device. Immutable after Create, so
// thread-safe. Indices passed in must be in range.
class Topology {
 public:
  // InvalidArgument: see CheckCluster.
  static absl::StatusOr<Topology> Create(proto::Cluster cluster);

  // Where a device of an island is.
  struct Place {
    int host = 0;    // in the cluster
    int device = 0;  // on that host
    bool operator==(const Place&) const = default;
  };

  int num_islands() const { return cluster_.islands_size(); }
  int num_hosts() const { return static_cast<int>(island_of_host_.size()); }
  int64_t num_devices() const { return first_device_of_host_.back(); }

  // Hosts of an island are first_host(island) and those that follow.
  int first_host(int island) const { return first_host_[island]; }
  int num_hosts(int island) const {
    return first_host_[island + 1] - first_host_[island];
  }
  int island_of_host(int host) const { return island_of_host_[host]; }

  // Number of devices in an island, and on a host.
  int64_t num_devices(int island) const {
    return first_device_of_host_[first_host_[island + 1]] -
           first_device_of_host_[first_host_[island]];
  }
  int num_host_devices(int host) const {
    return static_cast<int>(first_device_of_host_[host + 1] -
                            first_device_of_host_[host]);
  }
  // Index in its island of the first device of `host`.
  int64_t first_device(int host) const {
    return first_device_of_host_[host] -
           first_device_of_host_[first_host_[island_of_host_[host]]];
  }

  // Island device -> host device. Logarithmic in hosts.
  Place Locate(int island, int64_t device) const;
  // Island device <-> global device. Back is logarithmic in hosts.
  int64_t GlobalDevice(int island, int64_t device) const {
    return first_device_of_host_[first_host_[island]] + device;
  }
  int64_t GlobalDevice(Place place) const {
    return first_device_of_host_[place.host] + place.device;
  }
  Place LocateGlobal(int64_t global) const;
  // First: island; second: index in it.
  std::pair<int, int64_t> FromGlobalDevice(int64_t global) const;

  const proto::Cluster& cluster() const { return cluster_; }
  const proto::Island& island(int island) const {
    return cluster_.islands(island);
  }
  const proto::Host& host(int host) const;
  const proto::Device& device(int island, int64_t device) const;
  const proto::Device& global_device(int64_t global) const;

  // Never empty: one dimension where the file gives none.
  std::vector<int64_t> IslandShape(int island) const;
  // Position in IslandShape; row-major by index where the file gives none.
  std::vector<int64_t> DeviceCoordinates(int island, int64_t device) const;

  // For messages. Unnamed islands and hosts are called "island0", "host0", ...
  // by their number in the cluster.
  std::string IslandName(int island) const;
  std::string HostName(int host) const;
  std::string DeviceName(int island,
                         int64_t device) const;  // island/host/deviceN
  std::string GlobalDeviceName(int64_t global) const;

 private:
  Topology() = default;

  proto::Cluster cluster_;
  std::vector<int> first_host_;                // per island, and the end
  std::vector<int> island_of_host_;            // per host
  std::vector<int64_t> first_device_of_host_;  // per host, and the end; global
};

// One line for people, e.g. "2 islands x 1 host x 4 cpu devices (8 devices)".
std::string FormatTopology(const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_TOPOLOGY_H_
