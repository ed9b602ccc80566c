//===- BodyReshard.h - From layout to layout inside of a body ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives inside of a body know nothing of padding: shards are tensors of
// one shape. A layout whose blocks are not equal is one with equal blocks of a
// tensor that has padding behind its last element, so changes of layout are
// routes of such tensors, which get and lose padding where a shard has all of a
// dimension.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_BODYRESHARD_H
#define PATHWAYS_ANALYSIS_BODYRESHARD_H

#include "pathways/Analysis/MovementPlanner.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace mlir::pathways {

/// A dimension that is cut into `blocks`, with its padding.
int64_t getPaddedSize(int64_t size, int64_t blocks);

struct BodyReshard {
  /// Padding behind dimensions that a shard has all of comes first; then steps,
  /// of a tensor like `before`.
  RankedTensorType before;
  SmallVector<MovementStep> steps;
  /// They lead here, where a shard has all of dimensions that have other
  /// padding in the end, and these get or lose elements behind. Then steps,
  /// which take blocks, of a tensor like `after`.
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

/// The way from layout to layout on an island of devices that are all alike: it
/// follows from types and mesh alone, as it decides which sums come first, and
/// so bits. Layouts are normal, `to` is not partial. Of dimensions that the
/// layouts cut into blocks of different sizes, blocks are gathered first and
/// cut last. With `avoided`, steps of that kind are taken only where there is
/// no other way.
BodyReshard
planBodyReshard(MeshAttr mesh, RankedTensorType type, ShardingAttr from,
                ShardingAttr to,
                std::optional<MovementStep::Kind> avoided = std::nullopt);

/// The ways on one mesh, each searched for once.
class BodyReshards {
public:
  explicit BodyReshards(MeshAttr mesh) : mesh(mesh) {}

  /// As planBodyReshard(). Valid until the next call.
  const BodyReshard &get(RankedTensorType type, ShardingAttr from,
                         ShardingAttr to);

  /// That of get(), then the cheapest ones without one of the kinds of
  /// collectives that it has; each once.
  std::vector<BodyReshard> list(RankedTensorType type, ShardingAttr from,
                                ShardingAttr to);

private:
  MeshAttr mesh;
  llvm::DenseMap<std::tuple<Type, Attribute, Attribute>, BodyReshard> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_BODYRESHARD_H
