//===- ReshardRoutes.cpp - Routes inside of bodies
//---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ReshardRoutes.h"

#include "pathways/Analysis/MovementCost.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::pathways;

MovementProblem ReshardRoutes::makeProblem(RankedTensorType type,
                                           ShardingAttr from,
                                           ShardingAttr to) const {
  MovementProblem problem;
  problem.type = type;
  problem.mesh = problem.targetMesh = mesh;
  problem.from = from;
  problem.to = to;
  return problem;
}

const MovementRoute &ReshardRoutes::get(RankedTensorType type,
                                        ShardingAttr from, ShardingAttr to) {
  auto [it, isNew] = routes.try_emplace({type, from, to});
  if (isNew)
    it->second =
        planMovement(makeProblem(type, from, to), IslandCosts(mesh, type));
  return it->second;
}

namespace {

/// Costs by which steps of one kind are to be done without.
class Without : public IslandCosts {
public:
  Without(MovementStep::Kind kind, MeshAttr mesh, RankedTensorType type)
      : IslandCosts(mesh, type), kind(kind) {}
  MovementCost getCost(const MovementStep &step) const override {
    MovementCost cost = IslandCosts::getCost(step);
    if (step.kind == kind)
      cost.ns = INT64_MAX / 2;
    return cost;
  }

private:
  MovementStep::Kind kind;
};

} // namespace

SmallVector<MovementRoute>
ReshardRoutes::list(RankedTensorType type, ShardingAttr from, ShardingAttr to) {
  SmallVector<MovementRoute> found = {get(type, from, to)};
  llvm::StringSet<> known;
  auto isNew = [&](const MovementRoute &route) {
    std::string text;
    for (const MovementStep &step : route.steps)
      text += describe(step) + ';';
    return known.insert(text).second;
  };
  isNew(found.front());
  SmallVector<MovementStep> taken = found.front().steps;
  for (const MovementStep &step : taken) {
    if (step.kind == MovementStep::Slice)
      continue;
    MovementRoute other = planMovement(makeProblem(type, from, to),
                                       Without(step.kind, mesh, type));
    bool isWithout = llvm::none_of(other.steps, [&](const MovementStep &has) {
      return has.kind == step.kind;
    });
    if (isWithout && isNew(other))
      found.push_back(std::move(other));
  }
  return found;
}

MovementCost ReshardRoutes::getCost(RankedTensorType type, ShardingAttr from,
                                    ShardingAttr to) {
  if (from == to)
    return {};
  MovementCost cost;
  ShardingAttr even = getEvenSharding(mesh, type, from);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ArrayAttr axes = from.getDims()[dim];
    if (axes == even.getDims()[dim])
      continue;
    SmallVector<ArrayAttr> dims(from.getDims());
    dims[dim] = even.getDims()[dim];
    MovementStep step;
    step.kind = MovementStep::AllGather;
    step.dim = dim;
    step.axes.assign(axes.begin(), axes.end());
    step.from = from;
    step.to = from = ShardingAttr::get(
        from.getContext(), dims, from.getPartialKind(), from.getPartialAxes());
    cost = cost.then(IslandCosts(mesh, type).getCost(step));
  }
  return cost.then(get(type, even, getEvenSharding(mesh, type, to)).cost);
}
