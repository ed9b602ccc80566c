//===- device_choice.h - Which devices, where any will do -------*- C++ -*-===//
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

// Of a device: all the memory that it has, and nobody else there.
inline constexpr uint64_t kWholeDevice = UINT64_MAX;

// Devices that can take the place of each other with the same bits: of one kind
// and target. Numbered from 0 by their first device.
class DeviceClasses {
 public:
  explicit DeviceClasses(const Topology& topology);

  int32_t of(int64_t device) const {
    return class_of_[static_cast<size_t>(device)];
  }
  // Of a kind, ascending; none: no device is of that kind.
  const std::vector<int32_t>& OfKind(const std::string& kind) const;

 private:
  std::vector<int32_t> class_of_;  // by device of the cluster
  std::map<std::string, std::vector<int32_t>> of_kind_;
};

// Devices that are to be on one island.
struct IslandNeed {
  struct Device {
    uint64_t bytes = 0;  // or kWholeDevice
    int32_t like = 0;    // its class, unless a kind is asked for
    bool operator==(const Device&) const = default;
  };
  std::vector<Device> devices;
  // A mesh that they are to form, row-major, in the island's own; empty: none.
  // Then all need the same.
  std::vector<int64_t> mesh = {};
  bool operator==(const IslandNeed&) const = default;
};

// What a program or a slice asks for, all of it or nothing.
struct DeviceDemand {
  DeviceBytes fixed = {};                // there and nowhere else
  std::vector<IslandNeed> islands = {};  // each on an island of its own
  std::set<int> apart = {};              // that these are not on
  std::string kind = {};  // of all of these, of one class; empty: as they say

  bool operator==(const DeviceDemand&) const = default;
};

// What a cluster has free, by device.
struct DeviceRoom {
  std::vector<uint64_t> free, bound;
  std::vector<bool> closed;    // takes nothing
  std::vector<CellLoad> load;  // who has less is taken first

  bool Fits(int64_t device, uint64_t bytes) const;
  void Take(int64_t device, uint64_t bytes);
};

// By island that was asked for, in the order of its devices.
using ChosenDevices = std::vector<std::vector<int64_t>>;

// Devices for all of `demand`, which it then takes of `room`: of each island
// those of least load; of islands those where that is least, but that none is
// given away that another need cannot do without. Nothing: there is no way to
// have them, and nothing is taken.
std::optional<ChosenDevices> ChooseDevices(const Topology& topology,
                                           const DeviceClasses& classes,
                                           const DeviceDemand& demand,
                                           DeviceRoom* room);

// What that holds of each device.
DeviceBytes BytesChosen(const DeviceDemand& demand, const ChosenDevices& chosen,
                        const std::vector<uint64_t>& bound);

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_DEVICE_CHOICE_H_
