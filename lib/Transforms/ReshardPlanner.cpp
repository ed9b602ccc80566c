//===- ReshardPlanner.cpp - How arrays of a program move ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardPlanner.h"
#include "ReshardReport.h"

#include "pathways/Dialect/Pathways/Layouts.h"

using namespace mlir;
using namespace mlir::pathways;

/// Bytes of a shard's contributions from which on they are scattered before
/// they go to another slice. Less is reduced sooner for everybody.
static constexpr int64_t kScatteredBytes = 64 << 10;

/// Places by shard; none where there are too many.
static SmallVector<BindOp::Place, 0> listPlaces(MeshAttr mesh, BindOp bind) {
  SmallVector<BindOp::Place, 0> places;
  int64_t shards = mesh.getNumShards();
  if (shards > kMaxListedShards)
    return places;
  for (int64_t shard = 0; shard < shards; ++shard)
    places.push_back(bind.getPlace(mesh, shard));
  return places;
}

LogicalResult ReshardPlanner::checkBindings() {
  if (!machines)
    return success();
  for (auto bind : module.getOps<BindOp>()) {
    int64_t islands = machines->num_islands();
    for (int64_t island : bind.getIslands())
      if (island >= islands)
        return bind.emitOpError()
               << "binds slice '" << bind.getSlice() << "' to island " << island
               << ", but the topology has " << islands;
    MeshAttr mesh = symbols.lookup<SliceOp>(bind.getSlice()).getMesh();
    for (auto [island, device] : listPlaces(mesh, bind))
      if (device >= machines->num_devices(island))
        return bind.emitOpError()
               << "binds slice '" << bind.getSlice() << "' to device " << device
               << " of island " << island << ", which has "
               << machines->num_devices(island) << " devices";
  }
  return success();
}

static PlacedMesh place(MeshAttr mesh, BindOp bind,
                        const ::pathways::Topology &machines,
                        const ::pathways::Profile *profile) {
  PlacedMesh placed;
  placed.mesh = mesh;
  placed.island = bind.getIsland();
  llvm::append_range(placed.moreIslands,
                     bind.getMoreIslands().value_or(ArrayRef<int64_t>()));
  placed.ici = toLinkCost(machines.island(placed.island).ici(), kDefaultIci);
  if (profile)
    placed.ici = toLinkCost(profile->ici(), placed.ici);
  for (auto [island, device] : listPlaces(mesh, bind)) {
    placed.devices.push_back(device);
    placed.hosts.push_back(machines.Locate(island, device).host);
  }
  return placed;
}

ReshardPlanner::ReshardPlanner(ModuleOp module,
                               const ::pathways::Topology *machines,
                               const ::pathways::Profile *profile)
    : module(module), symbols(module), machines(machines), profile(profile) {
  for (auto bind : module.getOps<BindOp>())
    binds[bind.getSlice()] = bind;
  if (machines)
    dcn = toLinkCost(machines->cluster().dcn(), kDefaultDcn);
  if (profile)
    dcn = toLinkCost(profile->dcn(), dcn);
}

SliceOp ReshardPlanner::getSlice(ArrayType type) const {
  return symbols.lookup<SliceOp>(type.getSlice().getAttr());
}
bool ReshardPlanner::isBound(ArrayType type) const {
  return binds.contains(type.getSlice().getValue());
}
MeshAttr ReshardPlanner::getMesh(ArrayType type) const {
  return getSlice(type).getMesh();
}
RankedTensorType ReshardPlanner::getShard(ArrayType type) const {
  return getShardTensorType(type, getMesh(type));
}

const PlacedMesh &ReshardPlanner::getPlaced(ArrayType type) {
  StringRef slice = type.getSlice().getValue();
  auto it = placed.find(slice);
  if (it == placed.end())
    it = placed
             .try_emplace(slice, place(getMesh(type), binds.lookup(slice),
                                       *machines, profile))
             .first;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

static ArrayType withoutPartial(ArrayType type) {
  return type.withSharding(type.getSharding().withoutPartial());
}

/// The partial axes of `partial`, as named.
static SmallVector<Attribute> getGroup(ArrayType partial) {
  ArrayRef<StringAttr> axes = partial.getSharding().getPartialAxes();
  return SmallVector<Attribute>(axes.begin(), axes.end());
}

/// The layout of `partial` once each rank of the group over its partial axes
/// has a block of dimension `dim` of what they have together.
static ArrayType getScattered(ArrayType partial, int64_t dim) {
  ShardingAttr sharding = partial.getSharding();
  SmallVector<ArrayAttr> dims(sharding.getDims());
  SmallVector<Attribute> axes(dims[dim].begin(), dims[dim].end());
  llvm::append_range(axes, getGroup(partial));
  dims[dim] = ArrayAttr::get(partial.getContext(), axes);
  return partial.withSharding(ShardingAttr::get(partial.getContext(), dims));
}

/// The dimension along which contributions are scattered when they are reduced
/// on the way to `whole`; none: everybody gets all of the sum. On one slice it
/// is one that `whole` cuts over partial axes: who gets all would throw most of
/// it away. For another slice it is any, if they are large: then each block is
/// sent from where it is. The group is always that of all partial axes as
/// named, and so the tree of sums, and with it the bits, are those of an
/// all-reduce. What is left to do moves blocks. Best is where nothing is.
std::optional<int64_t> ReshardPlanner::getScatteredDim(ArrayType partial,
                                                       ArrayType whole) const {
  bool isOneSlice = whole.getSlice() == partial.getSlice();
  SmallVector<Attribute> group = getGroup(partial);
  int64_t ranks = getNumBlocks(getMesh(partial), group);
  RankedTensorType shard = getShard(partial);
  if (!isOneSlice &&
      shard.getNumElements() * getElementBytes(shard.getElementType()) <
          kScatteredBytes)
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [dim, cut] : llvm::enumerate(whole.getSharding().getDims())) {
    if (isOneSlice && llvm::none_of(cut, [&](Attribute axis) {
          return llvm::is_contained(group, axis);
        }))
      continue;
    // Ranks' blocks must be equal and make up the shard.
    ArrayType scattered = getScattered(partial, dim);
    int64_t size = shard.getDimSize(dim);
    int64_t block = getShard(scattered).getDimSize(dim);
    if (size == 0 || block * ranks != size)
      continue;
    if (scattered == whole)
      return dim;
    if (!found)
      found = dim;
  }
  return found;
}

/// How contributions become the array; none: there are none.
std::optional<MovementStep>
ReshardPlanner::planReduction(ArrayType source, ArrayType whole) const {
  if (!source.getSharding().isPartial())
    return std::nullopt;
  std::optional<int64_t> dim = getScatteredDim(source, whole);
  MovementStep step;
  step.kind = dim ? MovementStep::ReduceScatter : MovementStep::AllReduce;
  step.dim = dim.value_or(0);
  step.axes = getGroup(source);
  step.from = source.getSharding();
  step.to =
      (dim ? getScattered(source, *dim) : withoutPartial(source)).getSharding();
  return step;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

MovementProblem ReshardPlanner::makeProblem(ArrayType source,
                                            ArrayType whole) const {
  MovementProblem problem;
  problem.type = source.getGlobalTensorType();
  problem.mesh = getMesh(source);
  problem.targetMesh = getMesh(whole);
  problem.from = normalizeSharding(problem.mesh, source.getSharding());
  problem.to = normalizeSharding(problem.targetMesh, whole.getSharding());
  problem.isOneSlice = source.getSlice() == whole.getSlice();
  problem.allowsPieces = true;
  problem.allowsCollectives = machines && isBound(source) && isBound(whole);
  return problem;
}

LinkedCosts ReshardPlanner::makeCosts(ArrayType source, ArrayType whole) {
  // Both before either is held: the map may grow.
  getPlaced(source);
  getPlaced(whole);
  return LinkedCosts(getPlaced(source), getPlaced(whole), dcn,
                     source.getGlobalTensorType());
}

/// Pieces from `from` to `to` at once.
static MovementStep sendAtOnce(ShardingAttr from, ShardingAttr to,
                               bool crosses) {
  MovementStep step;
  step.kind = MovementStep::Pieces;
  step.from = from;
  step.to = to;
  step.crosses = crosses;
  return step;
}

const SmallVector<MovementStep> &ReshardPlanner::plan(ArrayType source,
                                                      ArrayType goal) {
  ArrayType whole = withoutPartial(goal);
  auto [it, isNew] = plans.try_emplace({source, whole});
  SmallVector<MovementStep> &steps = it->second;
  if (!isNew)
    return steps;
  ArrayType reduced = source;
  if (std::optional<MovementStep> reduction = planReduction(source, whole)) {
    steps.push_back(*reduction);
    reduced = source.withSharding(reduction->to);
  }
  if (reduced == whole)
    return steps;
  MovementProblem problem = makeProblem(reduced, whole);
  SmallVector<MovementStep> moves;
  if (problem.allowsCollectives)
    moves = planMovement(problem, makeCosts(reduced, whole)).steps;
  // Nothing moves, but for axes of size 1 the type is another one.
  if (moves.empty())
    moves.push_back(sendAtOnce(problem.from, problem.to, !problem.isOneSlice));
  moves.front().from = reduced.getSharding();
  moves.back().to = whole.getSharding();
  llvm::append_range(steps, moves);
  return steps;
}

namespace {

/// Costs by which no piece is where it should be at once.
class NotAtOnce : public MovementCosts {
public:
  NotAtOnce(const MovementCosts &costs, ShardingAttr goal)
      : costs(costs), goal(goal) {}
  MovementCost getCost(const MovementStep &step) const override {
    MovementCost cost = costs.getCost(step);
    if (step.kind == MovementStep::Pieces && step.to == goal)
      cost.ns = INT64_MAX / 2;
    return cost;
  }

private:
  const MovementCosts &costs;
  ShardingAttr goal;
};

} // namespace

std::vector<ReshardRoute> ReshardPlanner::listRoutes(ArrayType source,
                                                     ArrayType goal) {
  ArrayType whole = withoutPartial(goal);
  LinkedCosts costs = makeCosts(source, whole);
  SmallVector<MovementStep> taken = plan(source, goal), before;
  // Each is counted as if it were the only one.
  auto makeRoute = [&](ArrayRef<MovementStep> steps) {
    LinkedCosts alone = makeCosts(source, whole);
    MovementCost cost;
    for (const MovementStep &step : steps)
      cost = cost.then(alone.getCost(step));
    return describeRoute(steps, cost);
  };
  std::vector<ReshardRoute> routes = {makeRoute(taken)};
  ArrayType reduced = source;
  if (source.getSharding().isPartial()) {
    before.push_back(taken.front());
    reduced = source.withSharding(taken.front().to);
  }
  MovementProblem problem = makeProblem(reduced, whole);
  if (reduced == whole || (problem.isOneSlice && problem.from == problem.to))
    return routes;
  auto isAtOnce = [&](const MovementStep &step) {
    return step.kind == MovementStep::Pieces && step.to == problem.to;
  };
  auto add = [&](ArrayRef<MovementStep> moves) {
    // There may be no other way.
    if (moves.size() > 1 && llvm::any_of(moves, isAtOnce))
      return;
    SmallVector<MovementStep> steps(before);
    llvm::append_range(steps, moves);
    ReshardRoute route = makeRoute(steps);
    if (llvm::none_of(routes, [&](const ReshardRoute &other) {
          return other.steps == route.steps;
        }))
      routes.push_back(std::move(route));
  };
  add(sendAtOnce(problem.from, problem.to, !problem.isOneSlice));
  add(planMovement(problem, NotAtOnce(costs, problem.to)).steps);
  // With any memory.
  problem.memoryFactor = 1 << 30;
  add(planMovement(problem, NotAtOnce(costs, problem.to)).steps);
  return routes;
}
