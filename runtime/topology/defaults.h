//===- defaults.h - Defaults for missing fields -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, shapes and coordinates that replace those that a cluster does not
// give. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TOPOLOGY_DEFAULTS_H_
#define RUNTIME_TOPOLOGY_DEFAULTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/proto/cluster.pb.h"

namespace pathways {

// Return the name, or a default made from `number`, which counts over the
// cluster.
inline std::string EffectiveName(const proto::Island& island, int number) {
  return island.name().empty() ? "island" + std::to_string(number)
                               : island.name();
}
inline std::string EffectiveName(const proto::Host& host, int number) {
  return host.name().empty() ? "host" + std::to_string(number) : host.name();
}

// Returns the island's shape, or one dimension of all devices if it gives none.
inline std::vector<int64_t> EffectiveShape(const proto::Island& island) {
  if (island.shape_size() > 0) {
    return {island.shape().begin(), island.shape().end()};
  }
  int64_t devices = 0;
  for (const proto::Host& host : island.hosts()) devices += host.devices_size();
  return {devices};
}

// Returns the device's coordinates, or, if it gives none, those of `index` (its
// index in the island) in row-major order.
inline std::vector<int64_t> EffectiveCoordinates(
    const proto::Device& device, int64_t index,
    const std::vector<int64_t>& shape) {
  if (device.coordinates_size() > 0) {
    return {device.coordinates().begin(), device.coordinates().end()};
  }
  std::vector<int64_t> coordinates(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = index % shape[d];
    index /= shape[d];
  }
  return coordinates;
}

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_DEFAULTS_H_
