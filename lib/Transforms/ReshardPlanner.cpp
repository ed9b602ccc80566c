//===- ReshardPlanner.cpp - Routes of a program's reshards ----------------===//
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

/// Contributions of a shard with at least this many bytes are scattered before
/// they go to another slice. Smaller ones are reduced sooner on all shards.
static constexpr int64_t kScatteredBytes = 64 << 10;

/// Returns the place of each shard; empty if there are too many shards.
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

/// Returns the partial axes of `partial`, as named.
static SmallVector<Attribute> getGroup(ArrayType partial) {
  ArrayRef<StringAttr> axes = partial.getSharding().getPartialAxes();
  return SmallVector<Attribute>(axes.begin(), axes.end());
}

/// Returns the layout of `partial` once each rank of the group over its partial
/// axes has a block of dimension `dim` of their union.
static ArrayType getScattered(ArrayType partial, int64_t dim) {
  ShardingAttr sharding = partial.getSharding();
  SmallVector<ArrayAttr> dims(sharding.getDims());
  SmallVector<Attribute> axes(dims[dim].begin(), dims[dim].end());
  llvm::append_range(axes, getGroup(partial));
  dims[dim] = ArrayAttr::get(partial.getContext(), axes);
  return partial.withSharding(ShardingAttr::get(partial.getContext(), dims));
}

/// Returns the dimension along which contributions are scattered when they are
/// reduced for `whole`, or nullopt if each shard gets the whole sum. On one
/// slice it is a dimension that `whole` cuts over partial axes: otherwise each
/// shard would drop most of the sum. For another slice it is any dimension, if
/// contributions are large: then each block is sent from where it is. The group
/// is always that of all partial axes as named, so the tree of sums, and with
/// it the bits, are those of an all-reduce. The remaining steps only move
/// blocks. A dimension without remaining steps is preferred.
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
    // The blocks of the ranks must be equal and make up the shard.
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

/// Returns the step that reduces the contributions, or nullopt if `source` has
/// none.
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
  // Both are looked up before a reference is held: the map may grow.
  getPlaced(source);
  getPlaced(whole);
  return LinkedCosts(getPlaced(source), getPlaced(whole), dcn,
                     source.getGlobalTensorType());
}

/// Returns a step that sends pieces directly from `from` to `to`.
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
  // Nothing moves, but the type may change in axes of size 1.
  if (moves.empty())
    moves.push_back(sendAtOnce(problem.from, problem.to, !problem.isOneSlice));
  moves.front().from = reduced.getSharding();
  moves.back().to = whole.getSharding();
  llvm::append_range(steps, moves);
  return steps;
}

namespace {

/// Costs that discourage sending pieces directly to the goal.
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
  // Each route is counted with a work limit of its own.
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
    // The direct step may be unavoidable; then this is no new route.
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
  // Searches again without a memory limit.
  problem.memoryFactor = 1 << 30;
  add(planMovement(problem, NotAtOnce(costs, problem.to)).steps);
  return routes;
}
