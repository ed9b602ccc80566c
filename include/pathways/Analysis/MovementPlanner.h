//===- MovementPlanner.h - Search for routes between layouts ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A change of layout is a route of steps: collectives on a slice, and movement
// of pieces. The planner finds the cheapest route for given costs of steps
// (MovementCost.h). Deterministic.
//
// All routes give the same values, and all routes that start with the same
// reduction the same bits. Costs that depend on bindings may therefore choose
// among steps that only move, and must not change which reduction comes first.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_MOVEMENTPLANNER_H
#define PATHWAYS_ANALYSIS_MOVEMENTPLANNER_H

#include "mlir/IR/BuiltinTypes.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways {

/// Returns `sharding` in normal form: it names no axis of size 1.
ShardingAttr normalizeSharding(MeshAttr mesh, ShardingAttr sharding);
/// Returns the number of blocks that `axes` of `mesh` cut a dimension into.
int64_t getNumBlocks(MeshAttr mesh, ArrayRef<Attribute> axes);
/// Overload for ArrayAttr, which would otherwise convert to a list of one
/// attribute.
inline int64_t getNumBlocks(MeshAttr mesh, ArrayAttr axes) {
  return getNumBlocks(mesh, axes.getValue());
}
/// Returns the type of one shard of `type`: each dimension is rounded up.
RankedTensorType getShardType(MeshAttr mesh, RankedTensorType type,
                              ShardingAttr sharding);
int64_t getShardBytes(MeshAttr mesh, RankedTensorType type,
                      ShardingAttr sharding);

struct MovementStep {
  enum Kind {
    Slice,         ///< Takes the block of a shard that `axes` give it.
    AllGather,     ///< Joins blocks of `dim` over `axes`; drops padding.
    AllToAll,      ///< Moves `axes` from `dim` to `split`.
    Permute,       ///< Exchanges the two `axes`, which have one size.
    ReduceScatter, ///< Sums; each of `axes` gets a block of `dim`.
    AllReduce,     ///< Sums over `axes`.
    Pieces         ///< Any layout to any, no reduction; to any slice.
  };
  Kind kind = Pieces;
  ShardingAttr from, to;
  int64_t dim = 0, split = 0;
  SmallVector<Attribute> axes;
  /// True if the step runs on the slice of the target, false if on that of the
  /// source. Pieces between slices run on the slice of the source.
  bool isOnTarget = false;
  bool crosses = false;
};

/// Describes the step in words: "all-gather dim 0 over x, y".
std::string describe(const MovementStep &step);

struct MovementCost {
  int64_t ns = 0;
  /// Bytes between different devices of an island, bytes between islands, and
  /// those of both that go from host to host.
  int64_t iciBytes = 0, dcnBytes = 0, hostBytes = 0;
  /// Largest number of bytes that a device receives.
  int64_t receivedBytes = 0;
  /// Largest total of the bytes of a shard before and after one step.
  int64_t peakBytes = 0;
  /// False if there were too many shards to count one by one.
  bool isCounted = true;

  /// Returns the cost of this followed by `next`.
  MovementCost then(const MovementCost &next) const;
};

/// Costs of steps.
class MovementCosts {
public:
  virtual ~MovementCosts() = default;
  virtual MovementCost getCost(const MovementStep &step) const = 0;
};

struct MovementProblem {
  /// Type of the whole array. Contributions of f16 and bf16 may be f32.
  RankedTensorType type;
  MeshAttr mesh, targetMesh;
  /// Both are normal; `to` is not partial.
  ShardingAttr from, to;
  bool isOneSlice = true;
  /// Kinds of steps that may be used. Without pieces, source and target are one
  /// slice and both layouts have equal blocks; then all layouts on the route
  /// have, too.
  bool allowsPieces = false;
  bool allowsCollectives = true;
  /// A shard before and after a step may together have at most this many times
  /// the bytes of source and target together, unless there is no other route.
  int64_t memoryFactor = 2;
};

struct MovementRoute {
  SmallVector<MovementStep> steps;
  MovementCost cost;
};

/// Returns the cheapest route: least time, then fewest steps, then least
/// memory. No steps: nothing has to move. There is always a route. The number
/// of layouts searched is bounded.
MovementRoute planMovement(const MovementProblem &problem,
                           const MovementCosts &costs);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_MOVEMENTPLANNER_H
