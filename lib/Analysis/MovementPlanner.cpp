//===- MovementPlanner.cpp - Search for routes between layouts ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dijkstra's search over layouts. The neighbours of a layout follow from the
// layout and the mesh alone, in a fixed order; ties go to the node that was
// found first.
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/MovementPlanner.h"

#include "pathways/Dialect/Pathways/Layouts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <queue>

using namespace mlir;
using namespace mlir::pathways;

/// Largest number of layouts that one search expands.
static constexpr int64_t kMaxExpanded = 2048;
/// Largest number of layouts in which pieces may be sent, to be gathered
/// afterwards.
static constexpr size_t kMaxSentLayouts = 24;
/// Largest size of axes that permutes exchange.
static constexpr int64_t kMaxPermuted = 4;
/// Bytes of a shard that never count as too large.
static constexpr int64_t kSmallBytes = 64 << 10;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

int64_t mlir::pathways::getNumBlocks(MeshAttr mesh, ArrayRef<Attribute> axes) {
  int64_t blocks = 1;
  for (Attribute axis : axes)
    blocks *= mesh.getSizes()[mesh.getAxisIndex(cast<StringAttr>(axis))];
  return blocks;
}

ShardingAttr mlir::pathways::normalizeSharding(MeshAttr mesh,
                                               ShardingAttr sharding) {
  MLIRContext *context = sharding.getContext();
  auto filter = [&](auto axes) {
    SmallVector<Attribute> kept;
    for (Attribute axis : axes)
      if (getNumBlocks(mesh, axis) > 1)
        kept.push_back(axis);
    return kept;
  };
  SmallVector<ArrayAttr> dims;
  for (ArrayAttr axes : sharding.getDims())
    dims.push_back(ArrayAttr::get(context, filter(axes)));
  SmallVector<StringAttr> partial;
  for (Attribute axis : filter(sharding.getPartialAxes()))
    partial.push_back(cast<StringAttr>(axis));
  return ShardingAttr::get(
      context, dims, partial.empty() ? nullptr : sharding.getPartialKind(),
      partial);
}

RankedTensorType mlir::pathways::getShardType(MeshAttr mesh,
                                              RankedTensorType type,
                                              ShardingAttr sharding) {
  SmallVector<int64_t> shape;
  for (auto [size, axes] : llvm::zip_equal(type.getShape(), sharding.getDims()))
    shape.push_back(
        llvm::divideCeil(size, getNumBlocks(mesh, axes.getValue())));
  return RankedTensorType::get(shape, type.getElementType());
}

int64_t mlir::pathways::getShardBytes(MeshAttr mesh, RankedTensorType type,
                                      ShardingAttr sharding) {
  return getShardType(mesh, type, sharding).getNumElements() *
         getElementBytes(type.getElementType());
}

static ShardingAttr withDim(ShardingAttr sharding, int64_t dim,
                            ArrayRef<Attribute> axes) {
  MLIRContext *context = sharding.getContext();
  SmallVector<ArrayAttr> dims(sharding.getDims());
  dims[dim] = ArrayAttr::get(context, axes);
  return ShardingAttr::get(context, dims, sharding.getPartialKind(),
                           sharding.getPartialAxes());
}

static ShardingAttr withMore(ShardingAttr sharding, int64_t dim,
                             ArrayRef<Attribute> axes) {
  SmallVector<Attribute> all(sharding.getDims()[dim].getValue());
  llvm::append_range(all, axes);
  return withDim(sharding, dim, all);
}

static bool isUsed(ShardingAttr sharding, Attribute axis) {
  return llvm::is_contained(sharding.getPartialAxes(), axis) ||
         llvm::any_of(sharding.getDims(), [&](ArrayAttr axes) {
           return llvm::is_contained(axes, axis);
         });
}

static SmallVector<Attribute> getPartialGroup(ShardingAttr sharding) {
  return SmallVector<Attribute>(sharding.getPartialAxes().begin(),
                                sharding.getPartialAxes().end());
}

std::string mlir::pathways::describe(const MovementStep &step) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto over = [&] {
    os << " over ";
    llvm::interleaveComma(step.axes, os, [&](Attribute axis) {
      os << cast<StringAttr>(axis).getValue();
    });
  };
  switch (step.kind) {
  case MovementStep::Slice:
    os << "slice dim " << step.dim;
    over();
    break;
  case MovementStep::AllGather:
    os << "all-gather dim " << step.dim;
    over();
    break;
  case MovementStep::AllToAll:
    os << "all-to-all split " << step.split << " concat " << step.dim;
    over();
    break;
  case MovementStep::Permute:
    os << "permute";
    over();
    break;
  case MovementStep::ReduceScatter:
    os << "reduce-scatter dim " << step.dim;
    over();
    break;
  case MovementStep::AllReduce:
    os << "all-reduce";
    over();
    break;
  case MovementStep::Pieces:
    os << "pieces";
    if (step.crosses)
      os << " to the other slice";
    os << " cut [";
    llvm::interleaveComma(step.to.getDims(), os, [&](ArrayAttr axes) {
      os << '{';
      llvm::interleaveComma(axes.getAsRange<StringAttr>(), os,
                            [&](StringAttr axis) { os << axis.getValue(); });
      os << '}';
    });
    os << ']';
    break;
  }
  return text;
}

MovementCost MovementCost::then(const MovementCost &next) const {
  auto add = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(
        std::min<uint64_t>(llvm::SaturatingAdd<uint64_t>(a, b), INT64_MAX));
  };
  return {add(ns, next.ns),
          add(iciBytes, next.iciBytes),
          add(dcnBytes, next.dcnBytes),
          add(hostBytes, next.hostBytes),
          add(receivedBytes, next.receivedBytes),
          std::max(peakBytes, next.peakBytes),
          isCounted && next.isCounted};
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {

/// Key by which routes are compared.
using Rank = std::tuple<int64_t, int64_t, int64_t>; // time, steps, memory

class Search {
public:
  /// With `misplacedNs`, each axis that is not in its place adds that to the
  /// priority of a layout. The search then prefers layouts close to the goal,
  /// and the route found need not be the cheapest.
  Search(const MovementProblem &problem, const MovementCosts &costs,
         int64_t peakLimit, int64_t misplacedNs = 0)
      : problem(problem), costs(costs), peakLimit(peakLimit),
        misplacedNs(misplacedNs) {}

  /// Returns the cheapest route below `bound`, or nullopt if there is none. If
  /// the search was cut short, returns a route that was found, if any.
  std::optional<MovementRoute> run(std::optional<Rank> bound);
  bool wasCutShort() const { return isCutShort; }

private:
  struct Node {
    ShardingAttr layout;
    bool isOnTarget;
    Rank rank;
    MovementCost cost;
    MovementStep step; // leads here
    size_t parent;
    bool isDone = false;
  };

  bool isGoal(ShardingAttr layout, bool isOnTarget) const {
    return layout == problem.to && isOnTarget == !problem.isOneSlice;
  }
  MovementRoute getRoute(size_t index) const;
  void expand(size_t index);
  void reduce(MovementStep step);
  void gatherAndExchange(MovementStep step);
  void slice(MovementStep step);
  void permute(MovementStep step);
  void sendPieces(MovementStep step);
  SmallVector<ShardingAttr> getSentLayouts() const;

  /// Returns true if a block of `dim` in the layout `coarse` consists of blocks
  /// in `fine`.
  bool isExact(MeshAttr mesh, ShardingAttr coarse, ShardingAttr fine,
               int64_t dim) const;
  /// Records that `step` reaches `to`.
  void reach(MovementStep step, ShardingAttr to);

  const MovementProblem &problem;
  const MovementCosts &costs;
  int64_t peakLimit, misplacedNs;
  bool isCutShort = false;
  std::vector<Node> nodes;
  llvm::DenseMap<std::pair<Attribute, int>, size_t> indices;
  /// Sorted by priority, then by order of discovery. The last field is the rank
  /// of the node itself.
  using Entry = std::tuple<Rank, int64_t, size_t, Rank>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::optional<Rank> bound;
  size_t current = 0;
  int64_t found = 0;
};

} // namespace

bool Search::isExact(MeshAttr mesh, ShardingAttr coarse, ShardingAttr fine,
                     int64_t dim) const {
  int64_t size = problem.type.getDimSize(dim);
  int64_t few = getNumBlocks(mesh, coarse.getDims()[dim].getValue());
  int64_t many = getNumBlocks(mesh, fine.getDims()[dim].getValue());
  return llvm::divideCeil(size, few) ==
         llvm::divideCeil(size, many) * static_cast<uint64_t>(many / few);
}

/// Returns the number of axes to remove plus the number of axes to add.
static int64_t countMisplaced(ShardingAttr from, ShardingAttr to) {
  int64_t count = 0;
  for (auto [old, goal] : llvm::zip_equal(from.getDims(), to.getDims())) {
    size_t same = 0;
    while (same < std::min(old.size(), goal.size()) && old[same] == goal[same])
      ++same;
    count += old.size() + goal.size() - 2 * same;
  }
  return count;
}

void Search::reach(MovementStep step, ShardingAttr to) {
  step.to = to;
  bool isOnTarget = step.isOnTarget || step.crosses;
  auto it = indices.find({to, isOnTarget});
  bool isNew = it == indices.end();
  if (!isNew && nodes[it->second].isDone)
    return;
  MovementCost cost = nodes[current].cost.then(costs.getCost(step));
  const MovementStep &last = nodes[current].step;
  bool isMerged = current != 0 && step.kind == MovementStep::Slice &&
                  last.kind == step.kind && last.dim == step.dim;
  Rank rank(cost.ns, std::get<1>(nodes[current].rank) + !isMerged,
            cost.peakBytes);
  if (cost.peakBytes > peakLimit || (bound && rank >= *bound) ||
      (!isNew && rank >= nodes[it->second].rank))
    return;
  // Nodes farther than the goal are pruned.
  if (isGoal(to, isOnTarget))
    bound = rank;
  size_t index = isNew ? nodes.size() : it->second;
  Node node{to, isOnTarget, rank, cost, std::move(step), current};
  if (isNew) {
    indices[{to, isOnTarget}] = index;
    nodes.push_back(std::move(node));
  } else {
    nodes[index] = std::move(node);
  }
  Rank priority = rank;
  if (misplacedNs)
    std::get<0>(priority) += misplacedNs * countMisplaced(to, problem.to);
  queue.push({priority, ++found, index, rank});
}

void Search::reduce(MovementStep step) {
  SmallVector<Attribute> group = getPartialGroup(step.from);
  ShardingAttr whole = step.from.withoutPartial();
  step.axes = group;
  for (int64_t dim = 0; dim < problem.type.getRank(); ++dim) {
    ShardingAttr scattered = withMore(whole, dim, group);
    if (!isExact(problem.mesh, whole, scattered, dim))
      continue;
    step.kind = MovementStep::ReduceScatter;
    step.dim = dim;
    reach(step, scattered);
  }
  step.kind = MovementStep::AllReduce;
  step.dim = 0;
  reach(step, whole);
}

void Search::gatherAndExchange(MovementStep step) {
  MeshAttr mesh = step.isOnTarget ? problem.targetMesh : problem.mesh;
  for (int64_t dim = 0; dim < problem.type.getRank(); ++dim) {
    ArrayRef<Attribute> axes = step.from.getDims()[dim].getValue();
    // On the target, only axes that were added for sending are gathered.
    size_t fewest = step.isOnTarget ? problem.to.getDims()[dim].size() : 0;
    for (size_t keep = axes.size(); keep-- > fewest;) {
      ShardingAttr without = withDim(step.from, dim, axes.take_front(keep));
      bool isEqual = isExact(mesh, without, step.from, dim);
      step.axes.assign(axes.begin() + keep, axes.end());
      step.dim = dim;
      step.kind = MovementStep::AllGather;
      if (isEqual || (keep == 0 && problem.allowsPieces))
        reach(step, without);
      if (!isEqual || step.isOnTarget)
        continue;
      step.kind = MovementStep::AllToAll;
      for (step.split = 0; step.split < problem.type.getRank(); ++step.split) {
        if (step.split == dim)
          continue;
        ShardingAttr exchanged = withMore(without, step.split, step.axes);
        if (isExact(mesh, without, exchanged, step.split))
          reach(step, exchanged);
      }
      step.split = 0;
    }
  }
}

void Search::slice(MovementStep step) {
  step.kind = MovementStep::Slice;
  for (int64_t dim = 0; dim < problem.type.getRank(); ++dim)
    for (StringAttr axis : problem.mesh.getNames()) {
      // On one slice, an axis that the result lacks would have to be gathered
      // again. Between slices it lets more shards send.
      if (getNumBlocks(problem.mesh, axis) == 1 || isUsed(step.from, axis) ||
          (problem.isOneSlice && !isUsed(problem.to, axis)))
        continue;
      ShardingAttr cut = withMore(step.from, dim, axis);
      if (!isExact(problem.mesh, step.from, cut, dim))
        continue;
      step.dim = dim;
      step.axes = {axis};
      reach(step, cut);
    }
}

void Search::permute(MovementStep step) {
  step.kind = MovementStep::Permute;
  ArrayRef<StringAttr> names = problem.mesh.getNames();
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = i + 1; j < names.size(); ++j) {
      int64_t size = problem.mesh.getSizes()[i];
      if (size == 1 || size > kMaxPermuted ||
          size != problem.mesh.getSizes()[j] ||
          (!isUsed(step.from, names[i]) && !isUsed(step.from, names[j])))
        continue;
      SmallVector<ArrayAttr> dims;
      for (ArrayAttr old : step.from.getDims()) {
        SmallVector<Attribute> axes;
        for (auto axis : old.getAsRange<StringAttr>())
          axes.push_back(axis == names[i]   ? names[j]
                         : axis == names[j] ? names[i]
                                            : axis);
        dims.push_back(ArrayAttr::get(step.from.getContext(), axes));
      }
      step.axes = {names[i], names[j]};
      reach(step, ShardingAttr::get(step.from.getContext(), dims));
    }
}

/// Returns `to`, and layouts from which all-gathers lead to it.
SmallVector<ShardingAttr> Search::getSentLayouts() const {
  llvm::SetVector<ShardingAttr> layouts;
  layouts.insert(problem.to);
  if (!problem.allowsCollectives)
    return layouts.takeVector();
  for (size_t i = 0; i < layouts.size(); ++i) {
    ShardingAttr coarse = layouts[i];
    for (int64_t dim = 0; dim < problem.type.getRank(); ++dim)
      for (StringAttr axis : problem.targetMesh.getNames()) {
        if (layouts.size() == kMaxSentLayouts)
          return layouts.takeVector();
        if (getNumBlocks(problem.targetMesh, axis) == 1 ||
            isUsed(coarse, axis) || problem.type.getDimSize(dim) == 0)
          continue;
        ShardingAttr fine = withMore(coarse, dim, axis);
        // Gathering a dimension that is whole in the result drops its padding.
        if (isExact(problem.targetMesh, problem.to, fine, dim) ||
            problem.to.getDims()[dim].empty())
          layouts.insert(fine);
      }
  }
  return layouts.takeVector();
}

void Search::sendPieces(MovementStep step) {
  step.kind = MovementStep::Pieces;
  step.crosses = !problem.isOneSlice;
  for (ShardingAttr sent : getSentLayouts())
    if (step.crosses || sent != step.from)
      reach(step, sent);
}

void Search::expand(size_t index) {
  current = index;
  MovementStep step;
  step.from = nodes[index].layout;
  step.isOnTarget = nodes[index].isOnTarget;
  if (step.from.isPartial())
    return reduce(step);
  // On one slice, one movement of pieces reaches any layout, so it can only be
  // the first step after a reduction.
  bool isFirst = index == 0 || nodes[nodes[index].parent].layout.isPartial();
  if (problem.allowsPieces && !step.isOnTarget &&
      (isFirst || !problem.isOneSlice))
    sendPieces(step);
  if (!problem.allowsCollectives)
    return;
  // Between slices, pieces read elements where they are: no gathering on the
  // source.
  if (step.isOnTarget || problem.isOneSlice)
    gatherAndExchange(step);
  if (!step.isOnTarget)
    slice(step);
  if (!problem.allowsPieces)
    permute(step);
}

MovementRoute Search::getRoute(size_t index) const {
  MovementRoute route{{}, nodes[index].cost};
  for (size_t at = index; at != 0; at = nodes[at].parent)
    route.steps.push_back(nodes[at].step);
  std::reverse(route.steps.begin(), route.steps.end());
  return route;
}

std::optional<MovementRoute> Search::run(std::optional<Rank> bound) {
  this->bound = bound;
  nodes.push_back({problem.from, false, Rank(0, 0, 0), {}, {}, 0});
  indices[{problem.from, false}] = 0;
  queue.push({nodes[0].rank, 0, 0, nodes[0].rank});
  for (int64_t expanded = 0; !queue.empty() && expanded < kMaxExpanded;) {
    auto [priority, number, index, rank] = queue.top();
    queue.pop();
    if (nodes[index].isDone || nodes[index].rank != rank)
      continue;
    nodes[index].isDone = true;
    if (isGoal(nodes[index].layout, nodes[index].isOnTarget))
      return getRoute(index);
    ++expanded;
    expand(index);
  }
  isCutShort = !queue.empty();
  auto goal = indices.find({problem.to, !problem.isOneSlice});
  if (goal == indices.end())
    return std::nullopt;
  return getRoute(goal->second);
}

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

/// Makes a route that always exists on one slice with equal blocks: gather the
/// axes to remove, then slice by the axes to add.
static SmallVector<MovementStep>
gatherAndSlice(const MovementProblem &problem) {
  SmallVector<MovementStep> steps;
  ShardingAttr at = problem.from;
  auto add = [&](MovementStep::Kind kind, int64_t dim, ArrayRef<Attribute> axes,
                 ShardingAttr to) {
    MovementStep step;
    step.kind = kind;
    step.from = at;
    step.to = at = to;
    step.dim = dim;
    step.axes.assign(axes.begin(), axes.end());
    steps.push_back(std::move(step));
  };
  if (at.isPartial())
    add(MovementStep::AllReduce, 0, getPartialGroup(at), at.withoutPartial());
  SmallVector<size_t> common;
  for (auto [old, goal] : llvm::zip_equal(at.getDims(), problem.to.getDims())) {
    size_t same = 0;
    while (same < std::min(old.size(), goal.size()) && old[same] == goal[same])
      ++same;
    common.push_back(same);
  }
  for (auto [dim, keep] : llvm::enumerate(common)) {
    ArrayRef<Attribute> axes = at.getDims()[dim].getValue();
    if (keep < axes.size())
      add(MovementStep::AllGather, dim, axes.drop_front(keep),
          withDim(at, dim, axes.take_front(keep)));
  }
  for (auto [dim, keep] : llvm::enumerate(common)) {
    ArrayRef<Attribute> axes = problem.to.getDims()[dim].getValue();
    if (keep < axes.size())
      add(MovementStep::Slice, dim, axes.drop_front(keep),
          withDim(at, dim, axes));
  }
  return steps;
}

/// Merges consecutive slices of one dimension into one.
static void mergeSlices(MovementRoute &route) {
  SmallVector<MovementStep> merged;
  for (MovementStep &step : route.steps) {
    if (!merged.empty() && step.kind == MovementStep::Slice &&
        merged.back().kind == step.kind && merged.back().dim == step.dim) {
      llvm::append_range(merged.back().axes, step.axes);
      merged.back().to = step.to;
      continue;
    }
    merged.push_back(std::move(step));
  }
  route.steps = std::move(merged);
}

static std::optional<MovementRoute> search(const MovementProblem &problem,
                                           const MovementCosts &costs,
                                           int64_t peakLimit,
                                           std::optional<Rank> bound) {
  Search cheapest(problem, costs, peakLimit);
  std::optional<MovementRoute> route = cheapest.run(bound);
  if (!cheapest.wasCutShort())
    return route;
  // There are too many layouts: search again, guided towards the goal.
  MovementStep step;
  step.from = step.to = problem.from;
  int64_t move = std::max<int64_t>(costs.getCost(step).ns, 1);
  std::optional<MovementRoute> guided =
      Search(problem, costs, peakLimit, move).run(bound);
  return !route || (guided && guided->cost.ns < route->cost.ns) ? guided
                                                                : route;
}

MovementRoute mlir::pathways::planMovement(const MovementProblem &problem,
                                           const MovementCosts &costs) {
  if (problem.isOneSlice && problem.from == problem.to)
    return {};
  int64_t limit = problem.memoryFactor *
                  (getShardBytes(problem.mesh, problem.type, problem.from) +
                   getShardBytes(problem.targetMesh, problem.type, problem.to));
  limit = std::max(limit, kSmallBytes);
  std::optional<MovementRoute> fallback;
  std::optional<Rank> bound;
  if (!problem.allowsPieces) {
    fallback.emplace();
    fallback->steps = gatherAndSlice(problem);
    for (const MovementStep &step : fallback->steps)
      fallback->cost = fallback->cost.then(costs.getCost(step));
    if (fallback->cost.peakBytes <= limit)
      bound = Rank(fallback->cost.ns, fallback->steps.size() + 1,
                   fallback->cost.peakBytes);
  }
  std::optional<MovementRoute> route = search(problem, costs, limit, bound);
  // Exceeding the memory limit is better than no route.
  if (!route && !bound)
    route = search(problem, costs, INT64_MAX, std::nullopt);
  if (!route)
    route = std::move(fallback);
  mergeSlices(*route);
  return *std::move(route);
}
