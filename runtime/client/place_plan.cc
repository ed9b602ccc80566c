//===- place_plan.cc - A program that places an array ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/place_plan.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/client/loaded_program.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

absl::Status CheckDivision(const layout::Layout& layout,
                           const layout::Mesh& mesh, size_t devices) {
  std::string wrong = layout::CheckMesh(mesh);
  if (wrong.empty()) wrong = layout::CheckLayout(layout, mesh);
  if (!wrong.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the sharding: ", wrong));
  }
  const int64_t shards = layout::NumShards(mesh);
  if (static_cast<size_t>(shards) == devices) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the sharding names ", devices, " devices, expected ",
                   shards, ", one for each shard of mesh ", ToString(mesh)));
}

// Writes the devices into the slice's binding, which counts in the island of
// each run of shards.
absl::Status Bind(const std::vector<int64_t>& devices, const Topology& topology,
                  proto::Slice* slice) {
  std::vector<int> islands;
  std::vector<size_t> begins;
  slice->set_kind(DeviceKind(topology.global_device(devices.front())));
  for (size_t s = 0; s < devices.size(); ++s) {
    const std::string& kind = DeviceKind(topology.global_device(devices[s]));
    if (kind != slice->kind()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the sharding has devices of kinds '", slice->kind(), "' and '", kind,
          "': ", topology.GlobalDeviceName(devices.front()), " and ",
          topology.GlobalDeviceName(devices[s])));
    }
    const auto [island, device] = topology.FromGlobalDevice(devices[s]);
    if (islands.empty() || islands.back() != island) {
      islands.push_back(island);
      begins.push_back(s);
    }
    slice->mutable_binding()->mutable_list()->add_devices(device);
  }
  const size_t run = devices.size() / islands.size();
  bool is_even =
      std::set<int>(islands.begin(), islands.end()).size() == islands.size() &&
      run * islands.size() == devices.size();
  for (size_t i = 0; i < begins.size(); ++i) is_even &= begins[i] == i * run;
  if (!is_even) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the sharding has ", devices.size(), " shards in ", islands.size(),
        " runs on ", std::set<int>(islands.begin(), islands.end()).size(),
        " islands, expected runs of equal size, one on each island"));
  }
  slice->mutable_binding()->set_island(static_cast<uint32_t>(islands.front()));
  for (size_t i = 1; i < islands.size(); ++i) {
    slice->mutable_binding()->add_more()->set_island(
        static_cast<uint32_t>(islands[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PlanData> MakePlacePlan(const layout::Layout& layout,
                                       const layout::Mesh& mesh,
                                       ElementType element,
                                       const std::vector<int64_t>& devices,
                                       const Topology& topology) {
  absl::Status good = BytesOfArray(element, layout.shape).status();
  if (!good.ok()) return good;
  good = CheckDivision(layout, mesh, devices.size());
  if (!good.ok()) return good;
  PlanBuilder plan("put", /*steps_in_flight=*/1);
  const uint32_t slice = plan.AddSlice("devices", mesh, /*island=*/0);
  plan.plan().mutable_slices(static_cast<int>(slice))->clear_binding();
  good = Bind(devices, topology,
              plan.plan().mutable_slices(static_cast<int>(slice)));
  if (!good.ok()) return good;
  const uint32_t buffer =
      plan.AddBuffer("array", slice, layout, /*credits=*/1,
                     static_cast<proto::ElementType>(element));
  plan.AddFeed("array", buffer);
  plan.AddFetch("array", buffer);
  return MakePlanData(plan.Finish(), {});
}

}  // namespace pathways
