//===- dry_run.cc - Cost of a plan, without running it --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/dry_run.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/layout/group_bytes.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/tables.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {
namespace {

// Most pieces of movements that are counted one by one in a plan.
constexpr int64_t kMaxPieces = int64_t{1} << 25;

class Coster {
 public:
  Coster(const proto::Plan& plan, const Topology& topology)
      : plan_(plan), topology_(topology) {
    for (const proto::Slice& slice : plan.slices()) {
      devices_.push_back(DevicesOf(slice));
    }
  }

  PlanCost Run() {
    Memory();
    for (const proto::Action& action : plan_.actions()) {
      Time(action);
      if (action.kind() == proto::GANG) Gang(action);
      if (action.kind() == proto::FEED) Feed(action);
      if (action.kind() == proto::SEND) Send(action);
    }
    return std::move(cost_);
  }

 private:
  void Memory() {
    // Shards of one device run one at a time and share their scratch.
    std::vector<uint64_t> scratch(plan_.slices_size(), 0);
    for (const proto::Action& action : plan_.actions()) {
      for (const proto::GangStep& step : action.steps()) {
        if (!step.has_run()) continue;
        uint64_t& most = scratch[action.slice()];
        most = std::max<uint64_t>(most, plan_.kernels(action.kernel())
                                            .segments(step.run().segment())
                                            .scratch_bytes());
      }
    }
    std::map<std::pair<uint32_t, int64_t>, uint64_t> scratch_of;
    std::map<std::pair<uint32_t, int64_t>, std::map<uint32_t, uint64_t>> shards;
    for (int s = 0; s < plan_.slices_size(); ++s) {
      // Counts as admission does: segments follow each other, aligned.
      uint64_t bytes = AlignBuffer(SegmentBytes(plan_, s, proto::DEVICE));
      for (const BoundDevice& bound : devices_[s]) {
        std::pair<uint32_t, int64_t> key(bound.island, bound.device);
        PlanCost::Device& cost = cost_.devices[key];
        cost.bytes += bytes;
        cost.shards += 1;
        shards[key][s] += 1;
        uint64_t& most = scratch_of[key];
        most = std::max(most, scratch[s]);
      }
    }
    MemoryNeeds needs(plan_);
    for (auto& [key, cost] : cost_.devices) {
      const auto& on_device = shards[key];
      cost.need = needs.Of({on_device.begin(), on_device.end()}, cost.bytes);
      cost.need.scratch = scratch_of[key];
      cost.bytes += scratch_of[key];
    }
  }

  void Time(const proto::Action& action) {
    for (const BoundDevice& bound : devices_[action.slice()]) {
      uint64_t& ns = cost_.devices[{bound.island, bound.device}].ns;
      ns = AddBytes(ns, action.cost_ns(), 1);
    }
  }

  // A carried argument is not copied if the step leaves it where the next one
  // reads it.
  void Feed(const proto::Action& feed) {
    for (uint32_t b : feed.operands()) {
      const proto::Buffer& from = plan_.buffers(b);
      const proto::Buffer& to = plan_.buffers(feed.results(0));
      if (to.credits() == 1 && from.credits() == 1 &&
          from.memory() == to.memory() && from.offset() == to.offset()) {
        continue;
      }
      cost_.copied.emplace_back(
          plan_.interface().arguments(feed.interface()).name(),
          AddBytes(0, to.bytes(), devices_[feed.slice()].size()));
    }
  }

  void Gang(const proto::Action& action) {
    std::set<std::pair<uint32_t, int64_t>> devices;
    std::set<uint32_t> islands;
    for (const BoundDevice& bound : devices_[action.slice()]) {
      devices.emplace(bound.island, bound.device);
      islands.insert(bound.island);
    }
    for (uint32_t island : islands) cost_.gangs[island] += 1;
    for (const auto& device : devices) cost_.devices[device].gang_entries += 1;
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_collective()) continue;
      Add(CollectiveBytes(action.slice(), step.collective()));
    }
  }

  // Bytes between different devices, by (from, to) island.
  using Moved = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

  void Add(const Moved& moved) {
    for (const auto& [link, bytes] : moved) {
      if (link.first == link.second) {
        cost_.ici_bytes[link.first] += bytes;
      } else {
        cost_.dcn_bytes[link] += bytes;
      }
    }
  }

  // Returns the devices of the members of each group of a collective, in rank
  // order.
  std::vector<std::vector<BoundDevice>> Groups(
      uint32_t slice, const proto::Collective& c) const {
    const layout::Mesh mesh = MeshOf(plan_.slices(slice));
    std::vector<std::vector<BoundDevice>> groups;
    for (size_t shard = 0; shard < devices_[slice].size(); ++shard) {
      const std::vector<int32_t> members =
          GroupOf(mesh, c, static_cast<int64_t>(shard));
      if (members[0] != static_cast<int32_t>(shard)) continue;
      groups.emplace_back();
      for (int32_t member : members) {
        groups.back().push_back(devices_[slice][member]);
      }
    }
    return groups;
  }

  const Moved& CollectiveBytes(uint32_t slice, const proto::Collective& c) {
    // A plan often has the same collective many times.
    std::string key =
        absl::StrCat(slice, " ", plan_.buffers(c.source()).layout(), " ",
                     c.kind(), " ", c.shift(), " ", c.wrap(), " ", c.root(),
                     " ", absl::StrJoin(c.pairs(), ","));
    for (const std::string& axis : c.axes()) {
      absl::StrAppend(&key, " ", axis.size(), ":", axis);
    }
    auto [known, added] = collective_bytes_.try_emplace(std::move(key));
    if (!added) return known->second;
    for (const std::vector<BoundDevice>& group : Groups(slice, c)) {
      std::vector<int32_t> hosts;
      std::vector<int64_t> devices;
      for (const BoundDevice& bound : group) {
        devices.push_back(topology_.GlobalDevice(static_cast<int>(bound.island),
                                                 bound.device));
        hosts.push_back(topology_.LocateGlobal(devices.back()).host);
      }
      const proto::Buffer& source = plan_.buffers(c.source());
      const layout::ExchangeSpec spec =
          ExchangeSpecOf(MeshOf(plan_.slices(slice)), c,
                         plan_.layouts(source.layout()).element(),
                         ShardBytes(plan_, source), std::move(hosts));
      const layout::GroupBytes bytes = layout::CountGroupBytes(spec, devices);
      // Bytes inside each host, and from host to host.
      Moved& moved = known->second;
      for (const auto& [host, part] : bytes.hosts) {
        const auto island =
            static_cast<uint32_t>(topology_.island_of_host(host));
        if (part.bytes > 0) moved[{island, island}] += part.bytes;
      }
      for (const auto& [link, sent] : bytes.between) {
        moved[{static_cast<uint32_t>(topology_.island_of_host(link.first)),
               static_cast<uint32_t>(topology_.island_of_host(link.second))}] +=
            sent;
      }
    }
    return known->second;
  }

  void Send(const proto::Action& send) {
    const proto::Action& recv = plan_.actions(send.peer());
    const proto::Buffer& from = plan_.buffers(send.operands(0));
    const proto::Buffer& to = plan_.buffers(recv.results(0));
    // Pipelines repeat the same movement many times.
    auto key =
        std::make_tuple(from.slice(), from.layout(), to.slice(), to.layout());
    auto [known, added] = moved_.try_emplace(key);
    if (added) known->second = Count(from, to);
    if (known->second.has_value()) {
      Add(*known->second);
    } else {
      cost_.not_counted.push_back(send.name());
    }
  }

  // Returns nullopt if there are too many pieces.
  std::optional<Moved> Count(const proto::Buffer& from,
                             const proto::Buffer& to) {
    layout::Movement movement;
    std::string error;
    Moved moved;
    if (!layout::Movement::Create(LayoutOf(plan_.layouts(from.layout())),
                                  MeshOf(plan_.slices(from.slice())),
                                  LayoutOf(plan_.layouts(to.layout())),
                                  MeshOf(plan_.slices(to.slice())),
                                  from.slice() == to.slice(), &movement,
                                  &error)) {
      return std::nullopt;  // the verifier refuses such a plan
    }
    int64_t element = elementBytes(plan_.layouts(from.layout()).element());
    const std::vector<BoundDevice>& sources = devices_[from.slice()];
    const std::vector<BoundDevice>& targets = devices_[to.slice()];
    int64_t pieces = 0;
    for (size_t shard = 0; shard < targets.size(); ++shard) {
      pieces += movement.NumPiecesInto(shard);
      if (pieces_ + pieces > kMaxPieces) return std::nullopt;
      for (const layout::Piece& piece : movement.PiecesInto(shard)) {
        const BoundDevice& source = sources[piece.source];
        if (source == targets[shard]) continue;
        uint64_t bytes = element;
        for (int64_t extent : piece.extent) bytes *= extent;
        if (bytes > 0) moved[{source.island, targets[shard].island}] += bytes;
      }
    }
    pieces_ += pieces;
    return moved;
  }

  const proto::Plan& plan_;
  const Topology& topology_;
  std::vector<std::vector<BoundDevice>> devices_;  // by slice and shard
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>,
           std::optional<Moved>>
      moved_;
  std::map<std::string, Moved> collective_bytes_;
  int64_t pieces_ = 0;
  PlanCost cost_;
};

}  // namespace

PlanCost CostOf(const proto::Plan& plan, const Topology& topology) {
  return Coster(plan, topology).Run();
}

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
