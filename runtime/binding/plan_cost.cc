//===- plan_cost.cc - Cost of a plan, without running it ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_cost.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/layout/group_bytes.h"
#include "runtime/layout/layout.h"

namespace pathways {
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

// Returns text like "1 island" or "2 islands".
static std::string Counted(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

PlanCost CostOf(const proto::Plan& plan, const Topology& topology) {
  return Coster(plan, topology).Run();
}

absl::Status CheckFits(const proto::Plan& plan, const Topology& topology) {
  int64_t total = 0;
  for (const proto::Slice& slice : plan.slices()) {
    total += NumShards(slice);
    if (total > kMaxShards) {
      return absl::InvalidArgumentError(
          absl::StrCat("slices up to ", Quoted(slice.name()), " have ", total,
                       " shards, expected at most ", kMaxShards));
    }
  }
  for (const proto::Slice& slice : plan.slices()) {
    std::vector<uint32_t> islands = {slice.binding().island()};
    for (const proto::IslandRun& run : slice.binding().more()) {
      islands.push_back(run.island());
    }
    for (uint32_t island : islands) {
      if (island < static_cast<uint32_t>(topology.num_islands())) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("slice ", Quoted(slice.name()), " is bound to island ",
                       island, ", but the topology has ",
                       Counted(topology.num_islands(), "island")));
    }
    const int64_t shards = NumShards(slice);
    for (int64_t shard = 0; shard < shards; ++shard) {
      const std::optional<BoundDevice> bound = DeviceOf(slice, shard);
      const int island =
          static_cast<int>(bound.has_value() ? bound->island : islands[0]);
      const int64_t devices = topology.num_devices(island);
      if (bound.has_value() && bound->device < devices) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("shard ", shard, " of slice ", Quoted(slice.name()),
                       bound.has_value()
                           ? absl::StrCat(" is bound to device ", bound->device)
                           : std::string(" is bound to no device"),
                       ", but ", topology.IslandName(island), " has ",
                       Counted(devices, "device")));
    }
  }
  return absl::OkStatus();
}

std::vector<BoundDevice> DevicesOf(const proto::Slice& slice) {
  std::vector<BoundDevice> devices(NumShards(slice));
  for (size_t shard = 0; shard < devices.size(); ++shard) {
    devices[shard] = DeviceOf(slice, shard).value_or(BoundDevice());
  }
  return devices;
}

}  // namespace pathways
