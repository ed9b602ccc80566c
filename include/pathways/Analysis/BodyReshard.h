//===- BodyReshard.h - Routes between layouts inside a body -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives inside a body know nothing of padding: all shards are tensors of
// one shape. A layout with unequal blocks is treated as a layout with equal
// blocks of a tensor that has padding after its last element. A change of
// layout is therefore a route of padded tensors, which gain and lose padding in
// a layout where a shard has all of a dimension.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_BODYRESHARD_H
#define PATHWAYS_ANALYSIS_BODYRESHARD_H

#include "pathways/Analysis/MovementPlanner.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace mlir::pathways {

/// Returns the size of a dimension that is cut into `blocks`, with its padding.
int64_t getPaddedSize(int64_t size, int64_t blocks);

struct BodyReshard {
  /// First, padding is added after dimensions that a shard has all of. `steps`
  /// then run on a tensor like `before`.
  RankedTensorType before;
  SmallVector<MovementStep> steps;
  /// Layout after `steps`. In it a shard has all of each dimension whose final
  /// padding differs; these dimensions gain or lose elements at their end.
  /// `lastSteps` then take blocks of a tensor like `after`.
  ShardingAttr between;
  RankedTensorType after;
  SmallVector<MovementStep> lastSteps;
  MovementCost cost;

  SmallVector<MovementStep> getAllSteps() const {
    SmallVector<MovementStep> all(steps);
    llvm::append_range(all, lastSteps);
    return all;
  }
};

/// Returns the route from layout to layout on an island of devices that are all
/// alike. It follows from types and mesh alone, because it decides which sums
/// come first, and so the bits of the result. Layouts are normal and `to` is
/// not partial. Dimensions that the two layouts cut into blocks of different
/// sizes are gathered first and cut last. With `avoided`, steps of that kind
/// are used only if there is no other route.
BodyReshard
planBodyReshard(MeshAttr mesh, RankedTensorType type, ShardingAttr from,
                ShardingAttr to,
                std::optional<MovementStep::Kind> avoided = std::nullopt);

/// Cache of the routes on one mesh.
class BodyReshards {
public:
  explicit BodyReshards(MeshAttr mesh) : mesh(mesh) {}

  /// Returns planBodyReshard() for these layouts. Valid until the next call.
  const BodyReshard &get(RankedTensorType type, ShardingAttr from,
                         ShardingAttr to);

  /// Returns the route of get(), and for each kind of collective in it the
  /// cheapest route without that kind. No route is listed twice.
  std::vector<BodyReshard> list(RankedTensorType type, ShardingAttr from,
                                ShardingAttr to);

private:
  MeshAttr mesh;
  llvm::DenseMap<std::tuple<Type, Attribute, Attribute>, BodyReshard> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_BODYRESHARD_H
