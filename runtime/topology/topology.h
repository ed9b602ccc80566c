//===- topology.h - Islands, hosts and devices of a cluster -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a cluster from a specification, checks it, and numbers its parts. The
// compiler and the runtime read the same one. Nothing here inspects the machine
// (see discovery.h), except ReadTopology("local").
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

// Limits of a cluster. CheckCluster refuses larger ones.
inline constexpr int64_t kMaxDevices = int64_t{1} << 20;  // in all islands
// Largest memory of one device or host.
inline constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 50;
inline constexpr int64_t kMaxTopologyFileBytes = int64_t{16} << 20;

// The values for which memory_bytes == 0 stands.
inline constexpr uint64_t kDefaultDeviceMemoryBytes = uint64_t{1} << 30;
inline constexpr uint64_t kDefaultHostMemoryBytes = uint64_t{4} << 30;

// Return the bound of a device's arena, and of a host's own store, in bytes.
uint64_t DeviceMemoryBytes(const proto::Device& device);
uint64_t HostMemoryBytes(const proto::Host& host);
// Returns "cpu" if the device names no kind.
const std::string& DeviceKind(const proto::Device& device);

// Reads and checks a cluster. `spec` is one of
//   "" or "local"            this machine: one island, one host, a device per
//                            physical core that the process may use
//   "IxHxD", e.g. "2x1x4"    I islands of H hosts of D devices each
//   "@PATH"                  a textproto of proto::Cluster
//   "X.textproto", "X.pbtxt" the same
// Returns InvalidArgument if the spec, the file's syntax (with line:column) or
// the cluster is wrong, and NotFound if there is no such file.
absl::StatusOr<proto::Cluster> ReadTopology(const std::string& spec);

// Returns a spec from which ReadTopology() reads this very cluster, in one
// line.
std::string TopologySpec(const proto::Cluster& cluster);

// Returns the file that ReadTopology() reads for `spec`, or "" if it reads
// none.
std::string TopologyPath(const std::string& spec);

// Reads a cluster from textproto. Messages call the text `name`.
absl::StatusOr<proto::Cluster> ParseTopology(const std::string& text,
                                             const std::string& name);

// Returns OK if `cluster` has islands, hosts and devices, and all its numbers
// and names are valid. Otherwise returns InvalidArgument that names the
// culprit.
absl::Status CheckCluster(const proto::Cluster& cluster);

// Checks a target in the same way. `where` names its owner in messages.
absl::Status CheckTarget(const std::string& where, const proto::Target& target);

// A checked cluster whose parts are numbered from 0: hosts over the whole
// cluster, devices inside their island (host by host, in file order), and
// devices over the whole cluster, island by island, which are called global
// devices. Apart from the cluster itself, memory is per host and not per
// device. Immutable after Create, and so thread-safe. All indices that are
// passed in must be in range.
class Topology {
 public:
  // Returns InvalidArgument as CheckCluster does.
  static absl::StatusOr<Topology> Create(proto::Cluster cluster);
  // Does so with what ReadTopology reads, and returns its errors, too.
  static absl::StatusOr<Topology> Read(const std::string& spec);

  // The host of a device, and its number on that host.
  struct Place {
    int host = 0;    // in the cluster
    int device = 0;  // on that host
    bool operator==(const Place&) const = default;
  };

  int num_islands() const { return cluster_.islands_size(); }
  int num_hosts() const { return static_cast<int>(island_of_host_.size()); }
  int64_t num_devices() const { return first_device_of_host_.back(); }

  // The hosts of an island are first_host(island) and the numbers that follow.
  int first_host(int island) const { return first_host_[island]; }
  int num_hosts(int island) const {
    return first_host_[island + 1] - first_host_[island];
  }
  int island_of_host(int host) const { return island_of_host_[host]; }

  // Return the number of devices in an island, and on a host.
  int64_t num_devices(int island) const {
    return first_device_of_host_[first_host_[island + 1]] -
           first_device_of_host_[first_host_[island]];
  }
  int num_host_devices(int host) const {
    return static_cast<int>(first_device_of_host_[host + 1] -
                            first_device_of_host_[host]);
  }
  // Returns the index in its island of the first device of `host`.
  int64_t first_device(int host) const {
    return first_device_of_host_[host] -
           first_device_of_host_[first_host_[island_of_host_[host]]];
  }

  // Converts an index in an island to a place. Takes time logarithmic in hosts.
  Place Locate(int island, int64_t device) const;
  // Convert between an index in an island, or a place, and a global device. The
  // way back takes time logarithmic in hosts.
  int64_t GlobalDevice(int island, int64_t device) const {
    return first_device_of_host_[first_host_[island]] + device;
  }
  int64_t GlobalDevice(Place place) const {
    return first_device_of_host_[place.host] + place.device;
  }
  Place LocateGlobal(int64_t global) const;
  // Returns the island and the index in it.
  std::pair<int, int64_t> FromGlobalDevice(int64_t global) const;

  const proto::Cluster& cluster() const { return cluster_; }
  const proto::Island& island(int island) const {
    return cluster_.islands(island);
  }
  const proto::Host& host(int host) const;
  const proto::Device& device(int island, int64_t device) const;
  const proto::Device& global_device(int64_t global) const;

  // Returns the island's shape, which is never empty: it has one dimension if
  // the file gives none.
  std::vector<int64_t> IslandShape(int island) const;
  // Returns the position in IslandShape, which is row-major by index if the
  // file gives none.
  std::vector<int64_t> DeviceCoordinates(int island, int64_t device) const;

  // Return names for messages. Islands and hosts without a name are called
  // "island0", "host0", ... by their number in the cluster.
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

// Returns one line for people, e.g. "2 islands x 1 host x 4 cpu devices (8
// devices)".
std::string FormatTopology(const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_TOPOLOGY_H_
