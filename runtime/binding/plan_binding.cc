//===- plan_binding.cc - Devices of a plan's slices -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_binding.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// Returns "x86_64-unknown-linux-gnu znver4 +avx2", listing only the features
// that `other` lacks.
std::string TargetApart(const proto::Target& target,
                        const proto::Target& other) {
  std::string text =
      absl::StrCat(target.triple().empty() ? "this machine's" : target.triple(),
                   target.cpu().empty() ? "" : " ", target.cpu());
  for (const std::string& feature : target.features()) {
    if (std::find(other.features().begin(), other.features().end(), feature) ==
        other.features().end()) {
      absl::StrAppend(&text, " ", feature);
    }
  }
  return text;
}

// Returns InvalidArgument if the hosts of a slice have two types of CPUs,
// because its shards would then round in two ways.
absl::Status CheckOneTarget(const proto::Slice& slice, const Topology& topology,
                            absl::Span<const int32_t> devices) {
  const proto::Target* first = nullptr;
  for (int32_t device : devices) {
    const proto::Target& target = topology.global_device(device).target();
    if (first == nullptr) first = &target;
    if (IsSameTarget(*first, target)) continue;
    const int one = topology.LocateGlobal(devices.front()).host;
    const int other = topology.LocateGlobal(device).host;
    // Two targets on one host are left for PlanCode::Load to report.
    if (one == other) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", slice.name(), "' lies on hosts of two CPU types: ",
        topology.HostName(one), " has '", TargetApart(*first, target), "', ",
        topology.HostName(other), " has '", TargetApart(target, *first), "'"));
  }
  return absl::OkStatus();
}

// Returns InvalidArgument if the device does not exist or is of another kind.
absl::StatusOr<int64_t> FindDevice(const proto::Slice& slice, int64_t shard,
                                   const Topology& topology) {
  const std::optional<BoundDevice> bound = DeviceOf(slice, shard);
  if (bound.has_value() &&
      bound->island >= static_cast<uint32_t>(topology.num_islands())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", slice.name(), "' is bound to island ", bound->island,
        ", but the cluster has ", topology.num_islands(), " islands"));
  }
  const int island = bound.has_value() ? static_cast<int>(bound->island) : 0;
  if (!bound.has_value() || bound->device >= topology.num_devices(island)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", slice.name(), "' puts shard ", shard, " on device ",
        bound ? absl::StrCat(bound->device) : std::string("(out of range)"),
        " of ", topology.IslandName(island), ", which has ",
        topology.num_devices(island), " devices"));
  }
  const std::string kind = slice.kind().empty() ? "cpu" : slice.kind();
  const std::string& has = DeviceKind(topology.device(island, bound->device));
  if (has != kind) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", slice.name(), "' asks for devices of kind '", kind,
        "', but ", topology.DeviceName(island, bound->device), " is of kind '",
        has, "'"));
  }
  return topology.GlobalDevice(island, bound->device);
}

}  // namespace

bool IsSameTarget(const proto::Target& a, const proto::Target& b) {
  return a.triple() == b.triple() && a.cpu() == b.cpu() &&
         std::equal(a.features().begin(), a.features().end(),
                    b.features().begin(), b.features().end());
}

std::vector<int32_t> SliceBinding::ShardsOn(int64_t device) const {
  std::vector<int32_t> shards;
  for (auto it = std::lower_bound(
           by_device.begin(), by_device.end(),
           std::make_pair(static_cast<int32_t>(device), int32_t{0}));
       it != by_device.end() && it->first == device; ++it) {
    shards.push_back(it->second);
  }
  return shards;
}

absl::StatusOr<PlanBinding> PlanBinding::Create(const proto::Plan& plan,
                                                const Topology& topology) {
  PlanBinding self;
  std::set<int32_t> hosts, islands;
  self.slices_.resize(static_cast<size_t>(plan.slices_size()));
  for (int s = 0; s < plan.slices_size(); ++s) {
    const proto::Slice& slice = plan.slices(s);
    SliceBinding& out = self.slices_[static_cast<size_t>(s)];
    const int64_t shards = NumShards(slice);
    out.device_of.reserve(static_cast<size_t>(shards));
    out.by_device.reserve(static_cast<size_t>(shards));
    for (int64_t shard = 0; shard < shards; ++shard) {
      absl::StatusOr<int64_t> device = FindDevice(slice, shard, topology);
      if (!device.ok()) return device.status();
      out.device_of.push_back(static_cast<int32_t>(*device));
      out.by_device.emplace_back(static_cast<int32_t>(*device),
                                 static_cast<int32_t>(shard));
    }
    absl::Status same = CheckOneTarget(slice, topology, out.device_of);
    if (!same.ok()) return same;
    std::sort(out.by_device.begin(), out.by_device.end());
    out.index_of.resize(out.device_of.size());
    int32_t index = 0, last = -1;
    for (const auto& [device, shard] : out.by_device) {
      index = device == last ? index + 1 : 0;
      last = device;
      out.index_of[static_cast<size_t>(shard)] = index;
      const int host = topology.LocateGlobal(device).host;
      if (out.hosts.empty() || out.hosts.back().first != host) {
        out.hosts.emplace_back(host, 0);
        hosts.insert(host);
        islands.insert(topology.island_of_host(host));
      }
      ++out.hosts.back().second;
    }
  }
  self.hosts_.assign(hosts.begin(), hosts.end());
  self.islands_.assign(islands.begin(), islands.end());
  return self;
}

}  // namespace pathways
