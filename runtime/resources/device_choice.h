//===- device_choice.h - Choice of devices that are alike -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_DEVICE_CHOICE_H_
#define RUNTIME_RESOURCES_DEVICE_CHOICE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/resources/admission_graph.h"
#include "runtime/topology/sub_mesh.h"
#include "runtime/topology/topology.h"

namespace pathways {

// All the memory of a device, which nobody else may use then.
inline constexpr uint64_t kWholeDevice = UINT64_MAX;

// Classes of devices that can replace each other with the same bits: devices of
// one kind and target. A class's number counts from 0 in the order of first
// devices.
class DeviceClasses {
 public:
  explicit DeviceClasses(const Topology& topology);

  int32_t of(int64_t device) const {
    return class_of_[static_cast<size_t>(device)];
  }
  // Returns the classes of a kind, ascending; empty if no device is of that
  // kind.
  const std::vector<int32_t>& OfKind(const std::string& kind) const;

 private:
  std::vector<int32_t> class_of_;  // by device of the cluster
  std::map<std::string, std::vector<int32_t>> of_kind_;
};

// Devices that must be on one island.
struct IslandNeed {
  struct Device {
    uint64_t bytes = 0;  // or kWholeDevice
    int32_t like = 0;    // class of the device; unused if a kind is given
    bool operator==(const Device&) const = default;
  };
  std::vector<Device> devices;
  // The mesh, row-major, that the devices must form within the island's own;
  // empty: none. All devices of a mesh need the same.
  std::vector<int64_t> mesh = {};
  bool operator==(const IslandNeed&) const = default;
};

// The demand of a program or a slice, which gets all of it or nothing.
struct DeviceDemand {
  DeviceBytes fixed = {};                // bytes on given devices
  std::vector<IslandNeed> islands = {};  // each on an island of its own
  std::set<int> apart = {};              // islands that must not be used
  // Kind of all chosen devices, which then are of one class. Empty: the needs
  // name classes.
  std::string kind = {};

  bool operator==(const DeviceDemand&) const = default;
};

// Free memory of a cluster, by device.
struct DeviceRoom {
  std::vector<uint64_t> free, bound;
  std::vector<bool> closed;    // accepts nothing
  std::vector<CellLoad> load;  // the least loaded are taken first

  bool Fits(int64_t device, uint64_t bytes) const;
  void Take(int64_t device, uint64_t bytes);
};

// The devices of each requested island, in the order of its needs.
using ChosenDevices = std::vector<std::vector<int64_t>>;

// Returns devices for all of `demand`, and takes them from `room`. On each
// island it chooses the least loaded devices. It prefers the least loaded
// islands, but never gives a need an island that another need cannot do
// without. Returns nullopt, and takes nothing, if the demand cannot be met.
std::optional<ChosenDevices> ChooseDevices(const Topology& topology,
                                           const DeviceClasses& classes,
                                           const DeviceDemand& demand,
                                           DeviceRoom* room);

// Returns the bytes that the chosen devices hold, by device. `bound`: memory of
// each device.
DeviceBytes BytesChosen(const DeviceDemand& demand, const ChosenDevices& chosen,
                        const std::vector<uint64_t>& bound);

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_DEVICE_CHOICE_H_
