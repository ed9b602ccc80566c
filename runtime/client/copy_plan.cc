//===- copy_plan.cc - A program that copies arrays elsewhere --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/copy_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// Devices that copies may use, by island and by their numbers in it.
using SpareDevices = std::map<int, std::vector<int64_t>>;

SpareDevices FindSpares(const PreparedPlan& plan, const Topology& topology,
                        const std::vector<bool>& away,
                        const proto::Device& like) {
  const std::vector<int32_t>& hosts = plan.binding().hosts();
  SpareDevices spares;
  for (int64_t global = 0; global < topology.num_devices(); ++global) {
    const int host = topology.LocateGlobal(global).host;
    const proto::Device& device = topology.global_device(global);
    if (away[global] || DeviceKind(device) != DeviceKind(like) ||
        !IsSameTarget(device.target(), like.target()) ||
        std::find(hosts.begin(), hosts.end(), host) != hosts.end()) {
      continue;
    }
    const auto [island, number] = topology.FromGlobalDevice(global);
    spares[island].push_back(number);
  }
  return spares;
}

// Returns the same mesh, on `devices` of the island.
proto::Slice SliceOn(const proto::Slice& slice, int island,
                     const std::vector<int64_t>& devices) {
  proto::Slice copy = slice;
  copy.set_name(absl::StrCat("copy of ", slice.name()));
  copy.clear_binding();
  copy.mutable_binding()->set_island(static_cast<uint32_t>(island));
  int64_t shards = 1;
  for (const proto::Axis& axis : slice.axes()) shards *= axis.size();
  const auto count = static_cast<int64_t>(devices.size());
  // Neighbouring shards share a device if there are too few.
  for (int64_t s = 0; s < shards; ++s) {
    copy.mutable_binding()->mutable_list()->add_devices(
        devices[shards <= count ? s : s * count / shards]);
  }
  return copy;
}

}  // namespace

absl::StatusOr<PlanData> MakeCopyPlan(const PreparedPlan& plan,
                                      const Topology& topology,
                                      const std::vector<bool>& away) {
  const proto::Plan& tables = plan.plan();
  PlanBuilder copy(absl::StrCat("checkpoint of ", plan.name()),
                   /*steps_in_flight=*/1);
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> slices;  // from, to
  for (const proto::Argument& argument : tables.interface().arguments()) {
    if (!argument.carried()) continue;
    const proto::Result& result = tables.interface().results(argument.from());
    const proto::Buffer& buffer =
        tables.buffers(tables.actions(result.action()).operands(0));
    auto [found, is_new] = slices.try_emplace(buffer.slice());
    if (is_new) {
      const proto::Slice& slice = tables.slices(buffer.slice());
      const proto::Device& like = topology.global_device(
          plan.binding().slices()[buffer.slice()].device_of[0]);
      const SpareDevices spares = FindSpares(plan, topology, away, like);
      if (spares.empty()) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "a checkpoint of program '", plan.name(), "' needs a host with '",
            DeviceKind(like), "' devices that the program is not on; it is on ",
            plan.binding().hosts().size(), " of ", topology.num_hosts(),
            Tag(ErrorId::kNoHostForCheckpoints)));
      }
      auto there = spares.find(static_cast<int>(slice.binding().island()));
      if (there == spares.end()) there = spares.begin();
      *copy.plan().add_slices() = slice;
      *copy.plan().add_slices() = SliceOn(slice, there->first, there->second);
      const auto last = static_cast<uint32_t>(copy.plan().slices_size()) - 1;
      found->second = {last - 1, last};
    }
    const proto::Layout& layout = tables.layouts(buffer.layout());
    const auto [from, to] = found->second;
    const uint32_t source =
        copy.AddBuffer(argument.name(), from, LayoutOf(layout), /*credits=*/1,
                       layout.element());
    const uint32_t target =
        copy.AddBuffer(absl::StrCat("copy of ", argument.name()), to,
                       LayoutOf(layout), /*credits=*/1, layout.element());
    copy.AddFeed(argument.name(), source);
    copy.AddMove(argument.name(), source, target);
    copy.AddFetch(argument.name(), target);
  }
  return MakePlanData(copy.Finish(), {});
}

}  // namespace pathways
