//===- Shardings.cpp - Shardings of the API and of the runtime ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shardings.h"

#include "runtime/base/memory.h"
#include "runtime/client/place_plan.h"
#include "runtime/layout/contributions.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include <set>
#include <string>

using namespace pathways;

static Sharding::Reduction toReduction(layout::Reduction reduction) {
  switch (reduction) {
  case layout::Reduction::kNone:
    return Sharding::Reduction::kNone;
  case layout::Reduction::kAdd:
    return Sharding::Reduction::kAdd;
  case layout::Reduction::kMul:
    return Sharding::Reduction::kMul;
  case layout::Reduction::kMax:
    return Sharding::Reduction::kMax;
  case layout::Reduction::kMin:
    return Sharding::Reduction::kMin;
  case layout::Reduction::kUMax:
    return Sharding::Reduction::kUMax;
  case layout::Reduction::kUMin:
    return Sharding::Reduction::kUMin;
  case layout::Reduction::kAnd:
    return Sharding::Reduction::kAnd;
  case layout::Reduction::kOr:
    return Sharding::Reduction::kOr;
  case layout::Reduction::kXor:
    return Sharding::Reduction::kXor;
  }
  return Sharding::Reduction::kNone;
}

static layout::Reduction fromReduction(Sharding::Reduction reduction) {
  switch (reduction) {
  case Sharding::Reduction::kNone:
    return layout::Reduction::kNone;
  case Sharding::Reduction::kAdd:
    return layout::Reduction::kAdd;
  case Sharding::Reduction::kMul:
    return layout::Reduction::kMul;
  case Sharding::Reduction::kMax:
    return layout::Reduction::kMax;
  case Sharding::Reduction::kMin:
    return layout::Reduction::kMin;
  case Sharding::Reduction::kUMax:
    return layout::Reduction::kUMax;
  case Sharding::Reduction::kUMin:
    return layout::Reduction::kUMin;
  case Sharding::Reduction::kAnd:
    return layout::Reduction::kAnd;
  case Sharding::Reduction::kOr:
    return layout::Reduction::kOr;
  case Sharding::Reduction::kXor:
    return layout::Reduction::kXor;
  }
  return layout::Reduction::kNone;
}

Sharding pathways::toSharding(const layout::Layout &layout,
                              const layout::Mesh &mesh) {
  Sharding sharding;
  for (const layout::Axis &axis : mesh)
    sharding.mesh.push_back({axis.name, axis.size});
  sharding.dims = layout.dims;
  sharding.partial_axes = layout.partial;
  sharding.reduction = toReduction(layout.reduction);
  return sharding;
}

Sharding pathways::toSharding(const ArrayPlacement &placement,
                              const Topology &topology) {
  Sharding sharding = toSharding(placement.layout, placement.mesh);
  for (int32_t device : placement.device_of)
    sharding.devices.push_back(topology.GlobalDeviceName(device));
  return sharding;
}

layout::Layout pathways::toLayout(const std::vector<int64_t> &shape,
                                  const Sharding &sharding) {
  return {shape, sharding.dims, sharding.partial_axes,
          fromReduction(sharding.reduction)};
}

layout::Mesh pathways::toMesh(const Sharding &sharding) {
  layout::Mesh mesh;
  for (const Sharding::Axis &axis : sharding.mesh)
    mesh.push_back({axis.name, axis.size});
  return mesh;
}

absl::StatusOr<PlanData>
pathways::makePlacePlan(ElementType element, const std::vector<int64_t> &shape,
                        const Sharding &sharding, const Topology &topology) {
  if (sharding.devices.empty())
    return absl::InvalidArgumentError("the sharding names no device");
  absl::flat_hash_map<std::string, int64_t> numbers;
  for (int64_t device = 0; device < topology.num_devices(); ++device)
    numbers[topology.GlobalDeviceName(device)] = device;
  std::vector<int64_t> devices;
  for (const std::string &name : sharding.devices) {
    const auto found = numbers.find(name);
    if (found == numbers.end())
      return absl::InvalidArgumentError(
          absl::StrCat("the sharding names device '", name,
                       "', but the cluster has no such device; its first is '",
                       topology.GlobalDeviceName(0), "'"));
    devices.push_back(found->second);
  }
  return MakePlacePlan(toLayout(shape, sharding), toMesh(sharding), element,
                       devices, topology);
}

absl::StatusOr<HostArray>
pathways::joinShards(const std::vector<int64_t> &shape,
                     const std::vector<HostArray> &shards,
                     const Sharding &sharding) {
  const layout::Layout layout = toLayout(shape, sharding);
  const layout::Mesh mesh = toMesh(sharding);
  if (shards.size() != sharding.devices.size())
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", shards.size(), " shards, expected ",
        sharding.devices.size(), ", one for each device of the sharding"));
  HostArray whole{shards.front().element, shape, {}};
  const int64_t elementSize = elementBytes(whole.element);
  const auto bytes = static_cast<uint64_t>(whole.numElements() * elementSize);
  const int64_t contributions = layout::NumContributions(layout, mesh);
  if (!HasMemoryFor([&] { whole.data.resize(bytes * contributions); }))
    return absl::ResourceExhaustedError(
        NoMemoryText(whole.element, whole.shape));
  std::set<std::pair<int64_t, std::vector<int64_t>>> taken;
  for (size_t s = 0; s < shards.size(); ++s) {
    const HostArray &shard = shards[s];
    const layout::Box box =
        layout::ShardBox(layout, mesh, static_cast<int64_t>(s));
    if (shard.element != whole.element || shard.shape != box.extent ||
        shard.data.size() !=
            static_cast<uint64_t>(box.numElements() * elementSize))
      return absl::InvalidArgumentError(absl::StrCat(
          "shard ", s, " is ", shapeString(shard.element, shard.shape),
          " with ", shard.data.size(), " bytes, expected ",
          shapeString(whole.element, box.extent), " with ",
          box.numElements() * elementSize));
    const int64_t rank =
        layout::ContributionOf(layout, mesh, static_cast<int64_t>(s));
    if (box.empty() || !taken.insert({rank, box.begin}).second)
      continue;
    const std::vector<int64_t> origin(shape.size());
    layout::CopyBox(shard.data.data(), box.extent, origin,
                    whole.data.data() + rank * bytes, shape, box.begin,
                    box.extent, elementSize);
  }
  return whole;
}
