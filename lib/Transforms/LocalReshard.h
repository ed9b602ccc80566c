//===- LocalReshard.h - From layout to layout -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How one shard of a tensor becomes its shard in another layout, inside a
// function in local view.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_LOCALRESHARD_H
#define PATHWAYS_LIB_TRANSFORMS_LOCALRESHARD_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "pathways/Analysis/BodyReshard.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Transforms/Passes.h"

namespace mlir::pathways {

/// What is said of a body while it is partitioned.
struct BodyExplanations {
  /// Of each operation how it is cut and what else that would have cost, and of
  /// each tensor who decided how it lies; in remarks.
  bool shardings = false;
  /// Of each tensor that changes its layout how it does, and how else it could;
  /// by reportReshard() with `choices`.
  bool reshards = false;
  std::vector<ReshardChoice> *choices = nullptr;
};

/// Layouts of tensors on one mesh, and the ways from one to another. A layout
/// is a sharding; it is normal when it names no axis of size 1.
class LocalReshard {
public:
  LocalReshard(MeshAttr mesh, const BodyExplanations &explanations)
      : mesh(mesh), reshards(mesh), explanations(explanations) {}

  /// Product of the sizes of `axes`.
  int64_t getNumBlocks(ArrayRef<Attribute> axes) const {
    return mlir::pathways::getNumBlocks(mesh, axes);
  }
  /// `sharding` without axes of size 1.
  ShardingAttr normalize(ShardingAttr sharding) const {
    return normalizeSharding(mesh, sharding);
  }
  /// The layout of rank `rank` in which everybody has all.
  ShardingAttr getWhole(int64_t rank) const;
  BodyReshards &getReshards() { return reshards; }
  /// What one shard has of `type`.
  RankedTensorType getShardType(RankedTensorType type,
                                ShardingAttr sharding) const {
    return mlir::pathways::getShardType(mesh, type, sharding);
  }

  /// The number of this shard's block among those that `axes` make.
  Value getBlockNumber(ImplicitLocOpBuilder &builder,
                       ArrayRef<Attribute> axes) const;

  /// `value`, a shard of a tensor like `type` in the layout `from`, in the
  /// layout `to`, by the way of planBodyReshard. Both are normal; `to` is not
  /// partial. What is in padding then is not defined. Communicates at the
  /// insertion point.
  Value convert(ImplicitLocOpBuilder &builder, Value value,
                RankedTensorType type, ShardingAttr from, ShardingAttr to);

private:
  void explain(Location location, RankedTensorType type, ShardingAttr from,
               ShardingAttr to);
  /// What `step` does of a tensor like `type`; `kind` if it reduces.
  Value make(ImplicitLocOpBuilder &builder, Value value, RankedTensorType type,
             const MovementStep &step, ReductionKind kind) const;
  Value permute(ImplicitLocOpBuilder &builder, Value value,
                ArrayRef<Attribute> axes) const;
  Value gather(ImplicitLocOpBuilder &builder, Value value, int64_t dim,
               ArrayRef<Attribute> axes) const;
  /// The block of dimension `dim` that `axes` give to this shard.
  Value takeBlock(ImplicitLocOpBuilder &builder, Value value, int64_t dim,
                  ArrayRef<Attribute> axes) const;

  MeshAttr mesh;
  BodyReshards reshards;
  BodyExplanations explanations;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_LOCALRESHARD_H
