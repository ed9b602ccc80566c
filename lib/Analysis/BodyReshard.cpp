//===- BodyReshard.cpp - Routes between layouts inside a body -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/BodyReshard.h"

#include "pathways/Analysis/MovementCost.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

int64_t mlir::pathways::getPaddedSize(int64_t size, int64_t blocks) {
  return llvm::divideCeil(size, blocks) * blocks;
}

/// Returns the route between layouts with equal blocks of `type`.
namespace {

/// Costs that make steps of one kind too expensive to use unless nothing else
/// works.
class CostsWithout : public IslandCosts {
public:
  CostsWithout(MeshAttr mesh, RankedTensorType type,
               std::optional<MovementStep::Kind> avoided)
      : IslandCosts(mesh, type), avoided(avoided) {}
  MovementCost getCost(const MovementStep &step) const override {
    MovementCost cost = IslandCosts::getCost(step);
    if (step.kind == avoided)
      cost.ns = INT64_MAX / 2;
    return cost;
  }

private:
  std::optional<MovementStep::Kind> avoided;
};

} // namespace

static MovementRoute
planEqualBlocks(MeshAttr mesh, RankedTensorType type, ShardingAttr from,
                ShardingAttr to, std::optional<MovementStep::Kind> avoided) {
  MovementProblem problem;
  problem.type = type;
  problem.mesh = problem.targetMesh = mesh;
  problem.from = from;
  problem.to = to;
  return planMovement(problem, CostsWithout(mesh, type, avoided));
}

BodyReshard
mlir::pathways::planBodyReshard(MeshAttr mesh, RankedTensorType type,
                                ShardingAttr from, ShardingAttr to,
                                std::optional<MovementStep::Kind> avoided) {
  SmallVector<int64_t> before, after;
  SmallVector<ArrayAttr> dims;
  for (auto [size, old, goal] :
       llvm::zip_equal(type.getShape(), from.getDims(), to.getDims())) {
    after.push_back(getPaddedSize(size, getNumBlocks(mesh, goal)));
    before.push_back(old.empty()
                         ? after.back()
                         : getPaddedSize(size, getNumBlocks(mesh, old)));
    dims.push_back(before.back() == after.back()
                       ? goal
                       : ArrayAttr::get(mesh.getContext(), {}));
  }
  BodyReshard reshard;
  reshard.between = ShardingAttr::get(mesh.getContext(), dims);
  reshard.before = type.clone(before);
  reshard.after = type.clone(after);
  MovementRoute route =
      planEqualBlocks(mesh, reshard.before, from, reshard.between, avoided);
  MovementRoute last =
      planEqualBlocks(mesh, reshard.after, reshard.between, to, avoided);
  reshard.cost = route.cost.then(last.cost);
  reshard.steps = std::move(route.steps);
  reshard.lastSteps = std::move(last.steps);
  return reshard;
}

const BodyReshard &BodyReshards::get(RankedTensorType type, ShardingAttr from,
                                     ShardingAttr to) {
  auto [it, isNew] = known.try_emplace({type, from, to});
  if (isNew)
    it->second = planBodyReshard(mesh, type, from, to);
  return it->second;
}

std::vector<BodyReshard>
BodyReshards::list(RankedTensorType type, ShardingAttr from, ShardingAttr to) {
  std::vector<BodyReshard> found = {get(type, from, to)};
  llvm::StringSet<> listed;
  auto isNew = [&](ArrayRef<MovementStep> steps) {
    std::string text;
    for (const MovementStep &step : steps)
      text += describe(step) + ';';
    return listed.insert(text).second;
  };
  SmallVector<MovementStep> taken = found.front().getAllSteps();
  isNew(taken);
  for (const MovementStep &step : taken) {
    if (step.kind == MovementStep::Slice)
      continue;
    BodyReshard other = planBodyReshard(mesh, type, from, to, step.kind);
    SmallVector<MovementStep> steps = other.getAllSteps();
    bool isWithout = llvm::none_of(
        steps, [&](const MovementStep &has) { return has.kind == step.kind; });
    if (isWithout && isNew(steps))
      found.push_back(std::move(other));
  }
  return found;
}
