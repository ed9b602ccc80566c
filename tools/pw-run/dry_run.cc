//===- dry_run.cc - Tables of the costs of a plan -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/dry_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/tables.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {
namespace {

using Devices = decltype(PlanCost::devices);

// Returns the end of the consecutive devices from `it` on that cost the same.
Devices::const_iterator EndOfAlike(const Devices& devices,
                                   Devices::const_iterator it,
                                   const Topology& topology) {
  auto [island, last] = it->first;
  const uint64_t memory = DeviceMemoryBytes(topology.device(island, last));
  auto next = std::next(it);
  while (next != devices.end() &&
         next->first == std::make_pair(island, last + 1) &&
         next->second == it->second &&
         DeviceMemoryBytes(topology.device(island, last + 1)) == memory) {
    ++last;
    ++next;
  }
  return next;
}

std::string DevicesText(const PlanCost& cost, const Topology& topology) {
  std::vector<std::vector<std::string>> rows = {
      {"devices", "", "peak bytes", "of", "shards", "gangs per step",
       "ns per step"}};
  std::vector<std::vector<std::string>> needs = {
      {"bytes for", "", "all", "one step", "credits", "kept", "alignment",
       "packing", "scratch"}};
  for (auto it = cost.devices.begin(); it != cost.devices.end();) {
    auto [island, device] = it->first;
    auto next = EndOfAlike(cost.devices, it, topology);
    const int64_t last = std::prev(next)->first.second;
    const std::string name = absl::StrCat(
        "device ", device, last > device ? absl::StrCat("-", last) : "");
    rows.push_back(
        {topology.IslandName(island), name, absl::StrCat(it->second.bytes),
         absl::StrCat(DeviceMemoryBytes(topology.device(island, device))),
         absl::StrCat(it->second.shards), absl::StrCat(it->second.gang_entries),
         absl::StrCat(it->second.ns)});
    const MemoryNeed& need = it->second.need;
    needs.push_back(
        {topology.IslandName(island), name, absl::StrCat(it->second.bytes)});
    for (uint64_t bytes : {need.least, need.credits, need.kept, need.alignment,
                           need.packing, need.scratch}) {
      needs.back().push_back(absl::StrCat(bytes));
    }
    it = next;
  }
  return absl::StrCat(TableText(rows), "\n", TableText(needs));
}

}  // namespace

std::string DryRunText(const PlanCost& cost, const Topology& topology) {
  std::string text = DevicesText(cost, topology) + "\n";
  std::vector<std::vector<std::string>> rows;
  rows = {{"links", "bytes per step", "gangs per step"}};
  for (int island = 0; island < topology.num_islands(); ++island) {
    auto ici = cost.ici_bytes.find(island);
    auto gang = cost.gangs.find(island);
    if (ici == cost.ici_bytes.end() && gang == cost.gangs.end()) continue;
    uint64_t here = gang == cost.gangs.end() ? 0 : gang->second;
    rows.push_back({absl::StrCat("ici ", topology.IslandName(island)),
                    absl::StrCat(ici == cost.ici_bytes.end() ? 0 : ici->second),
                    absl::StrCat(here)});
  }
  for (const auto& [link, bytes] : cost.dcn_bytes) {
    rows.push_back({absl::StrCat("dcn ", topology.IslandName(link.first),
                                 " -> ", topology.IslandName(link.second)),
                    absl::StrCat(bytes), ""});
  }
  text += TableText(rows);
  if (!cost.copied.empty()) {
    rows = {{"copied from step to step", "bytes"}};
    for (const auto& [name, bytes] : cost.copied) {
      rows.push_back({name, absl::StrCat(bytes)});
    }
    absl::StrAppend(&text, "\n", TableText(rows));
  }
  if (!cost.not_counted.empty()) {
    absl::StrAppend(&text, "not counted, too many pieces: ",
                    absl::StrJoin(cost.not_counted, ", "), "\n");
  }
  return text;
}

std::string PlacementText(const proto::Plan& plan, const Topology& topology) {
  std::vector<uint64_t> gangs(plan.slices_size(), 0);
  for (const proto::Action& action : plan.actions()) {
    if (action.kind() == proto::GANG) gangs[action.slice()] += 1;
  }
  std::vector<std::vector<std::string>> rows = {{"slice", "mesh", "island",
                                                 "devices", "hosts", "gangs",
                                                 "bytes per shard"}};
  for (int s = 0; s < plan.slices_size(); ++s) {
    const proto::Slice& slice = plan.slices(s);
    const std::vector<BoundDevice> devices = DevicesOf(slice);
    std::set<int> hosts;
    std::map<uint32_t, std::vector<int64_t>> of_island;
    std::set<std::pair<uint32_t, int64_t>> distinct;
    for (const BoundDevice& bound : devices) {
      hosts.insert(
          topology.Locate(static_cast<int>(bound.island), bound.device).host);
      of_island[bound.island].push_back(bound.device);
      distinct.emplace(bound.island, bound.device);
    }
    std::string islands, where;
    for (const auto& [island, its] : of_island) {
      absl::StrAppend(&islands, islands.empty() ? "" : ", ",
                      topology.IslandName(static_cast<int>(island)));
      absl::StrAppend(&where, where.empty() ? "" : "; ", RangesText(its));
    }
    if (distinct.size() < devices.size()) {
      absl::StrAppend(&where, " (", CountText(devices.size(), "shard"), ")");
    }
    std::string host_names = topology.HostName(*hosts.begin());
    if (hosts.size() > 1) {
      absl::StrAppend(&host_names, hosts.size() > 2 ? " .. " : ", ",
                      topology.HostName(*hosts.rbegin()));
    }
    rows.push_back({slice.name(), MeshText(slice), islands, where, host_names,
                    absl::StrCat(gangs[s]),
                    absl::StrCat(SegmentBytes(plan, s, proto::DEVICE))});
  }
  return TableText(rows);
}

}  // namespace pathways::pw_run
