//===- MovementPlanner.h - Ways from layout to layout -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A change of layout is a route of steps: collectives on a slice, and movement
// of pieces. The planner finds the cheapest one, whatever a step costs
// (MovementCost.h). Equal input gives equal output.
//
// All routes give the same values, and all that begin with the same reduction
// the same bits. So costs that know where shards are may choose among the steps
// that only move, and must leave alone which reduction comes first.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_MOVEMENTPLANNER_H
#define PATHWAYS_ANALYSIS_MOVEMENTPLANNER_H

#include "mlir/IR/BuiltinTypes.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways {

/// Layouts are normal in all of this when they name no axis of size 1.
ShardingAttr normalizeSharding(MeshAttr mesh, ShardingAttr sharding);
/// Blocks that `axes` of `mesh` cut a dimension into.
int64_t getNumBlocks(MeshAttr mesh, ArrayRef<Attribute> axes);
/// Else a list of axes would be taken for one.
inline int64_t getNumBlocks(MeshAttr mesh, ArrayAttr axes) {
  return getNumBlocks(mesh, axes.getValue());
}
/// What a shard has of `type`: each dimension rounded up.
RankedTensorType getShardType(MeshAttr mesh, RankedTensorType type,
                              ShardingAttr sharding);
int64_t getShardBytes(MeshAttr mesh, RankedTensorType type,
                      ShardingAttr sharding);

struct MovementStep {
  enum Kind {
    Slice,         ///< Of what a shard has, the block that `axes` give it.
    AllGather,     ///< Blocks of `dim` over `axes`, without padding behind.
    AllToAll,      ///< `axes` leave `dim` and cut `split`.
    Permute,       ///< Two axes of one size, `axes`, change places.
    ReduceScatter, ///< The sum, a block of `dim` for each of `axes`.
    AllReduce,     ///< The sum, for each of `axes`.
    Pieces         ///< Any layout to any, without reduction; to another slice.
  };
  Kind kind = Pieces;
  ShardingAttr from, to;
  int64_t dim = 0, split = 0;
  SmallVector<Attribute> axes;
  /// Where it happens: on the slice of the source, or on that of the target.
  /// Pieces between slices are on that of the source.
  bool isOnTarget = false;
  bool crosses = false;
};

/// In words, for people: "all-gather dim 0 over x, y".
std::string describe(const MovementStep &step);

struct MovementCost {
  int64_t ns = 0;
  /// Bytes between different devices of an island, between islands, and of all
  /// those the ones between hosts.
  int64_t iciBytes = 0, dcnBytes = 0, hostBytes = 0;
  /// Bytes that a device receives, at the most.
  int64_t receivedBytes = 0;
  /// Bytes of a shard before and after, at the most.
  int64_t peakBytes = 0;
  /// False: shards are too many to look at each.
  bool isCounted = true;

  /// What comes after this.
  MovementCost then(const MovementCost &next) const;
};

/// What steps cost.
class MovementCosts {
public:
  virtual ~MovementCosts() = default;
  virtual MovementCost getCost(const MovementStep &step) const = 0;
};

struct MovementProblem {
  /// Of the whole array. Contributions of f16 and bf16 may be f32.
  RankedTensorType type;
  MeshAttr mesh, targetMesh;
  /// Both normal; `to` is not partial.
  ShardingAttr from, to;
  bool isOneSlice = true;
  /// Steps that may be taken. Without pieces there must be one slice, and both
  /// layouts must cut into equal blocks, as all on the way then do.
  bool allowsPieces = false;
  bool allowsCollectives = true;
  /// Shards on the way and beside them may have this many times the bytes of
  /// source and target together, where there is another way.
  int64_t memoryFactor = 2;
};

struct MovementRoute {
  SmallVector<MovementStep> steps;
  MovementCost cost;
};

/// The cheapest route: of the least time, then of the fewest steps, then of the
/// least memory. Empty steps: nothing is to be done. There is always one, and
/// no more than a fixed number of layouts is looked at.
MovementRoute planMovement(const MovementProblem &problem,
                           const MovementCosts &costs);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_MOVEMENTPLANNER_H
