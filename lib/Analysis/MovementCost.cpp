//===- MovementCost.cpp - Costs of the steps of a movement ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/MovementCost.h"

#include "pathways/Dialect/Pathways/Layouts.h"
#include "runtime/layout/group_bytes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::pathways;
namespace layout = ::pathways::layout;

/// Work limits of one step and of all steps together. Pieces count one by one;
/// a collective counts the shards of its groups times the ranks of one.
static constexpr int64_t kMaxStepWork = 1 << 14;
static constexpr int64_t kMaxWork = 1 << 17;

static int64_t clamp(uint64_t value) {
  return std::min<uint64_t>(value, INT64_MAX);
}
static int64_t add(int64_t a, uint64_t b) {
  return clamp(llvm::SaturatingAdd<uint64_t>(a, b));
}
static int64_t multiply(int64_t a, int64_t b) {
  return clamp(llvm::SaturatingMultiply<uint64_t>(a, b));
}

/// Times are integers, so that they add up and compare alike on all machines.
static int64_t getWireNs(const LinkCost &link, int64_t bytes) {
  return std::min(std::ceil(bytes / link.bytesPerNs), 0x1p60);
}

/// Returns the number of permutes that exchange two axes of `size`.
static int64_t getNumPermutes(int64_t size) { return 2 * (size - 1); }

/// Returns the bytes that one shard of a group receives, if all are alike and
/// have `before` bytes and then `after`.
static int64_t getReceived(const MovementStep &step, MeshAttr mesh,
                           int64_t before, int64_t after) {
  int64_t ranks = getNumBlocks(mesh, step.axes);
  switch (step.kind) {
  case MovementStep::Slice:
    return 0;
  case MovementStep::AllGather:
    return multiply(before, ranks - 1);
  case MovementStep::AllToAll:
    return before / ranks * (ranks - 1);
  case MovementStep::Permute:
    return multiply(before, getNumPermutes(getNumBlocks(mesh, step.axes[0])));
  case MovementStep::ReduceScatter:
    return multiply(after, ranks - 1);
  case MovementStep::AllReduce:
    return multiply(2 * llvm::divideCeil(before, ranks), ranks - 1);
  case MovementStep::Pieces:
    return after;
  }
  llvm_unreachable("unknown step");
}

/// Returns the total bytes of a shard before and after `step`; an all-gather
/// has padding in between.
static int64_t getPeak(const MovementStep &step, MeshAttr mesh, int64_t before,
                       int64_t after) {
  if (step.kind == MovementStep::AllGather)
    after = std::max(after, multiply(before, getNumBlocks(mesh, step.axes)));
  return clamp(llvm::SaturatingAdd<uint64_t>(before, after));
}

//===----------------------------------------------------------------------===//
// Devices that are all alike
//===----------------------------------------------------------------------===//

MovementCost IslandCosts::getCost(const MovementStep &step) const {
  int64_t before = getShardBytes(mesh, type, step.from);
  int64_t after = getShardBytes(mesh, type, step.to);
  MovementCost cost;
  cost.receivedBytes = getReceived(step, mesh, before, after);
  cost.peakBytes = getPeak(step, mesh, before, after);
  cost.iciBytes = multiply(cost.receivedBytes, mesh.getNumShards());
  cost.hostBytes = cost.iciBytes;
  cost.isCounted = false;
  // A slice only reads its block.
  if (step.kind == MovementStep::Slice)
    return cost;
  int64_t messages = step.kind == MovementStep::Permute
                         ? getNumPermutes(getNumBlocks(mesh, step.axes[0]))
                         : 1;
  cost.ns = messages * (kMovementStepNs + link.latencyNs) +
            getWireNs(link, cost.receivedBytes);
  return cost;
}

//===----------------------------------------------------------------------===//
// Slices on their devices
//===----------------------------------------------------------------------===//

namespace {

/// Load of one step on the links.
class LinkLoads {
public:
  /// Add `bytes` from device to device of one host, from host to host of an
  /// island, or from island to island.
  void addInHost(std::pair<int32_t, int64_t> device, double bytes) {
    most = std::max(most, inHost[device] += bytes);
  }
  void addBetween(int32_t from, int32_t to, double bytes) {
    most = std::max(most, between[{from, to}] += bytes);
  }
  void addOverDcn(int64_t from, int64_t to, double bytes) {
    mostOverDcn = std::max(mostOverDcn, overDcn[{from, to}] += bytes);
  }
  bool crossesDcn() const { return !overDcn.empty(); }
  /// Returns the time until the busiest links of both kinds are done. There are
  /// at least `rounds` messages, one after the other.
  int64_t getNs(const LinkCost &ici, const LinkCost &dcn,
                int64_t rounds) const {
    int64_t ns = getWireNs(ici, toBytes(most));
    if (crossesDcn())
      ns = std::max(ns, getWireNs(dcn, toBytes(mostOverDcn)));
    if (rounds > 0 && crossesDcn()) {
      // At most two rounds cross islands: there and back.
      int64_t far = std::min<int64_t>(rounds, 2);
      return ns + far * dcn.latencyNs + (rounds - far) * ici.latencyNs;
    }
    return ns + rounds * ici.latencyNs;
  }
  bool hasMessages() const { return !between.empty() || crossesDcn(); }

private:
  static int64_t toBytes(double bytes) {
    return std::min(std::ceil(bytes), 0x1p62);
  }
  std::map<std::pair<int32_t, int64_t>, double> inHost;
  std::map<std::pair<int32_t, int32_t>, double> between;
  std::map<std::pair<int64_t, int64_t>, double> overDcn;
  double most = 0, mostOverDcn = 0;
};

} // namespace

static layout::Layout makeLayout(RankedTensorType type, ShardingAttr sharding) {
  auto slice = FlatSymbolRefAttr::get(type.getContext(), "slice");
  return toLayout(
      ArrayType::get(type.getShape(), type.getElementType(), slice, sharding));
}

bool LinkedCosts::isOneIsland(const MovementStep &step) const {
  if (!step.crosses)
    return (step.isOnTarget ? target : source).moreIslands.empty();
  return source.moreIslands.empty() && target.moreIslands.empty() &&
         source.island == target.island;
}

/// Estimates the movement without looking at each shard.
MovementCost LinkedCosts::estimatePieces(const MovementStep &step) const {
  const PlacedMesh &to = step.crosses ? target : source;
  int64_t after = getShardBytes(to.mesh, type, step.to);
  int64_t total =
      step.from == step.to && !step.crosses
          ? 0
          : multiply(
                layout::NumCopies(makeLayout(type, step.to), toMesh(to.mesh)),
                multiply(type.getNumElements(),
                         getElementBytes(type.getElementType())));
  bool isNear = isOneIsland(step);
  MovementCost cost;
  (isNear ? cost.iciBytes : cost.dcnBytes) = total;
  cost.hostBytes = total;
  cost.receivedBytes = total ? after : 0;
  cost.isCounted = false;
  // The devices of a host share the links from all other hosts.
  int64_t busiest = isNear ? cost.receivedBytes : total;
  llvm::SmallSet<int32_t, 16> distinct;
  distinct.insert(to.hosts.begin(), to.hosts.end());
  int64_t hosts = distinct.size();
  if (isNear && hosts > 1)
    busiest = multiply(busiest, to.hosts.size()) / (hosts * (hosts - 1));
  const LinkCost &link = isNear ? source.ici : dcn;
  cost.ns =
      kMovementStepNs + (total ? link.latencyNs : 0) + getWireNs(link, busiest);
  return cost;
}

MovementCost LinkedCosts::countPieces(const MovementStep &step) const {
  const PlacedMesh &to = step.crosses ? target : source;
  layout::Movement movement;
  std::string error;
  if (source.devices.empty() || to.devices.empty() ||
      !layout::Movement::Create(makeLayout(type, step.from),
                                toMesh(source.mesh), makeLayout(type, step.to),
                                toMesh(to.mesh), !step.crosses, &movement,
                                &error))
    return estimatePieces(step);
  int64_t pieces = 0;
  for (size_t shard = 0; shard < to.devices.size(); ++shard)
    if ((pieces += movement.NumPiecesInto(shard)) > kMaxStepWork)
      break;
  if (!takeWork(pieces))
    return estimatePieces(step);
  MovementCost cost;
  LinkLoads loads;
  int64_t element = getElementBytes(type.getElementType());
  for (size_t shard = 0; shard < to.devices.size(); ++shard) {
    int64_t received = 0, island = to.getIsland(shard);
    for (const layout::Piece &piece : movement.PiecesInto(shard)) {
      int32_t fromHost = source.hosts[piece.source], toHost = to.hosts[shard];
      int64_t fromIsland = source.getIsland(piece.source);
      if (fromIsland == island &&
          source.devices[piece.source] == to.devices[shard])
        continue;
      int64_t bytes = element;
      for (int64_t extent : piece.extent)
        bytes = multiply(bytes, extent);
      received = add(received, bytes);
      int64_t &all = fromIsland == island ? cost.iciBytes : cost.dcnBytes;
      all = add(all, bytes);
      if (fromHost == toHost) {
        loads.addInHost({toHost, to.devices[shard]}, bytes);
        continue;
      }
      cost.hostBytes = add(cost.hostBytes, bytes);
      // Two islands share one link in each direction.
      fromIsland == island ? loads.addBetween(fromHost, toHost, bytes)
                           : loads.addOverDcn(fromIsland, island, bytes);
    }
    cost.receivedBytes = std::max(cost.receivedBytes, received);
  }
  cost.ns = kMovementStepNs + loads.getNs(source.ici, dcn, loads.hasMessages());
  return cost;
}

/// Returns the shards of the group of `shard` over `axes`, in rank order.
static SmallVector<int64_t> getGroup(MeshAttr mesh, ArrayRef<Attribute> axes,
                                     int64_t shard) {
  SmallVector<int64_t> strides(mesh.getSizes().size(), 1);
  for (size_t axis = strides.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * mesh.getSizes()[axis];
  SmallVector<int64_t> group = {shard};
  for (Attribute name : axes) {
    int64_t axis = mesh.getAxisIndex(cast<StringAttr>(name));
    int64_t size = mesh.getSizes()[axis], stride = strides[axis];
    SmallVector<int64_t> next;
    for (int64_t member : group)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(member - member / stride % size * stride + i * stride);
    group = std::move(next);
  }
  return group;
}

static layout::ExchangeSpec makeSpec(const MovementStep &step, MeshAttr mesh,
                                     RankedTensorType type) {
  layout::ExchangeSpec spec;
  spec.kind =
      step.kind == MovementStep::AllGather  ? layout::ExchangeKind::kAllGather
      : step.kind == MovementStep::AllToAll ? layout::ExchangeKind::kAllToAll
      : step.kind == MovementStep::ReduceScatter
          ? layout::ExchangeKind::kReduceScatter
          : layout::ExchangeKind::kAllReduce;
  std::vector<int64_t> sizes;
  for (Attribute axis : step.axes)
    sizes.push_back(getNumBlocks(mesh, axis));
  spec.tree = layout::ReductionTree(sizes);
  spec.count = getShardType(mesh, type, step.from).getNumElements();
  spec.element_bytes = getElementBytes(type.getElementType());
  spec.wide_bytes =
      type.getElementType().isF16() || type.getElementType().isBF16()
          ? 4
          : spec.element_bytes;
  return spec;
}

namespace {

/// Bytes that one group moves.
struct GroupCount {
  std::vector<int64_t> devices; // by rank
  std::vector<int32_t> hosts;
  llvm::SmallDenseMap<int32_t, int64_t> islandOf; // of a host
  layout::GroupBytes bytes;

  /// Adds the bytes of `groups` groups that are alike, `sharing` of which use
  /// one link.
  void addTo(MovementCost &cost, LinkLoads &loads, int64_t groups = 1,
             int64_t sharing = 1) const {
    uint64_t far = 0;
    for (const auto &[link, moved] : bytes.between) {
      cost.hostBytes = add(cost.hostBytes, multiply(moved, groups));
      int64_t from = islandOf.lookup(link.first),
              to = islandOf.lookup(link.second);
      if (from == to) {
        loads.addBetween(link.first, link.second, multiply(moved, sharing));
        continue;
      }
      far += moved;
      // All groups share the link between two islands.
      loads.addOverDcn(from, to, multiply(moved, groups));
    }
    cost.dcnBytes = add(cost.dcnBytes, multiply(far, groups));
    cost.iciBytes = add(cost.iciBytes, multiply(bytes.total() - far, groups));
    for (auto [host, device] : llvm::zip_equal(hosts, devices)) {
      const layout::GroupBytes::Host &part = bytes.hosts.at(host);
      loads.addInHost({host, device},
                      static_cast<double>(part.bytes) / part.devices);
    }
  }
};

} // namespace

/// Counts a collective of `group` that is otherwise like `like`.
static GroupCount countGroup(const layout::ExchangeSpec &like,
                             const PlacedMesh &on, ArrayRef<int64_t> group) {
  GroupCount count;
  for (int64_t member : group) {
    count.devices.push_back(on.devices[member]);
    count.hosts.push_back(on.hosts[member]);
    count.islandOf[on.hosts[member]] = on.getIsland(member);
  }
  layout::ExchangeSpec spec = like;
  spec.hosts = count.hosts;
  count.bytes = layout::CountGroupBytes(spec, count.devices);
  return count;
}

/// Counts the group of one shard and multiplies by the number of groups.
MovementCost LinkedCosts::estimateCollective(const MovementStep &step) const {
  const PlacedMesh &on = step.isOnTarget ? target : source;
  int64_t ranks = getNumBlocks(on.mesh, step.axes);
  if (on.devices.empty() || ranks > kMaxStepWork / ranks)
    return IslandCosts(on.mesh, type, on.ici).getCost(step);
  GroupCount group = countGroup(makeSpec(step, on.mesh, type), on,
                                getGroup(on.mesh, step.axes, 0));
  int64_t groups = on.devices.size() / ranks;
  // Other groups on the first host use the same links.
  int64_t onHost = llvm::count(on.hosts, on.hosts[0]);
  int64_t ofGroup = llvm::count(group.hosts, on.hosts[0]);
  MovementCost cost;
  LinkLoads loads;
  group.addTo(cost, loads, groups, llvm::divideCeil(onHost, ofGroup));
  cost.isCounted = false;
  cost.ns = kMovementStepNs + loads.getNs(on.ici, dcn, group.bytes.rounds);
  return cost;
}

MovementCost LinkedCosts::countCollective(const MovementStep &step) const {
  const PlacedMesh &on = step.isOnTarget ? target : source;
  int64_t shards = on.mesh.getNumShards();
  int64_t ranks = getNumBlocks(on.mesh, step.axes);
  if (on.devices.empty() || ranks > kMaxStepWork ||
      !takeWork(multiply(shards, ranks)))
    return estimateCollective(step);
  MovementCost cost;
  LinkLoads loads;
  uint64_t rounds = 0;
  layout::ExchangeSpec spec = makeSpec(step, on.mesh, type);
  for (int64_t shard = 0; shard < shards; ++shard) {
    SmallVector<int64_t> members = getGroup(on.mesh, step.axes, shard);
    if (members.front() != shard)
      continue;
    GroupCount group = countGroup(spec, on, members);
    group.addTo(cost, loads);
    rounds = std::max(rounds, group.bytes.rounds);
  }
  cost.ns = kMovementStepNs + loads.getNs(on.ici, dcn, rounds);
  return cost;
}

MovementCost LinkedCosts::count(const MovementStep &step) const {
  if (step.kind == MovementStep::Pieces || step.kind == MovementStep::Slice)
    return countPieces(step);
  Builder builder(type.getContext());
  const PlacedMesh &on = step.isOnTarget ? target : source;
  int64_t elements = getShardType(on.mesh, type, step.from).getNumElements();
  Attribute key = builder.getArrayAttr({builder.getI64IntegerAttr(step.kind),
                                        builder.getBoolAttr(step.isOnTarget),
                                        builder.getArrayAttr(step.axes),
                                        builder.getI64IntegerAttr(elements)});
  auto [it, isNew] = known.try_emplace(key);
  if (isNew) {
    it->second = countCollective(step);
    it->second.receivedBytes =
        getReceived(step, on.mesh, getShardBytes(on.mesh, type, step.from),
                    getShardBytes(on.mesh, type, step.to));
  }
  return it->second;
}

bool LinkedCosts::takeWork(int64_t work) const {
  if (work > kMaxStepWork || work > kMaxWork - workDone)
    return false;
  workDone += work;
  return true;
}

MovementCost LinkedCosts::getCost(const MovementStep &step) const {
  const PlacedMesh &before = step.isOnTarget ? target : source;
  const PlacedMesh &after = step.isOnTarget || step.crosses ? target : source;
  MovementCost cost = count(step);
  cost.peakBytes =
      getPeak(step, before.mesh, getShardBytes(before.mesh, type, step.from),
              getShardBytes(after.mesh, type, step.to));
  return cost;
}
