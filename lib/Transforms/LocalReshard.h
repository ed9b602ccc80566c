//===- LocalReshard.h - Changes of layout in local view ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts one shard of a tensor to its shard in another layout, inside a
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

/// The explanations to give while a body is partitioned.
struct BodyExplanations {
  /// Remarks on how each operation is cut, what the alternatives would have
  /// cost, and where the layout of each tensor comes from.
  bool shardings = false;
  /// Reports on how each tensor changes its layout, and on the alternatives, by
  /// reportReshard() with `choices`.
  bool reshards = false;
  std::vector<ReshardChoice> *choices = nullptr;
};

/// Layouts of tensors on one mesh, and the routes between them. A layout is a
/// sharding; it is normal if it names no axis of size 1.
class LocalReshard {
public:
  LocalReshard(MeshAttr mesh, const BodyExplanations &explanations)
      : mesh(mesh), reshards(mesh), explanations(explanations) {}

  MeshAttr getMesh() const { return mesh; }
  /// Returns the product of the sizes of `axes`.
  int64_t getNumBlocks(ArrayRef<Attribute> axes) const {
    return mlir::pathways::getNumBlocks(mesh, axes);
  }
  /// Returns `sharding` without axes of size 1.
  ShardingAttr normalize(ShardingAttr sharding) const {
    return normalizeSharding(mesh, sharding);
  }
  /// Returns the layout of rank `rank` in which every shard has everything.
  ShardingAttr getWhole(int64_t rank) const;
  BodyReshards &getReshards() { return reshards; }
  /// Returns the type of one shard of `type`.
  RankedTensorType getShardType(RankedTensorType type,
                                ShardingAttr sharding) const {
    return mlir::pathways::getShardType(mesh, type, sharding);
  }

  /// Returns the number of this shard's block among those that `axes` make.
  Value getBlockNumber(ImplicitLocOpBuilder &builder,
                       ArrayRef<Attribute> axes) const;

  /// Converts `value`, a shard of a tensor like `type`, from layout `from` to
  /// layout `to` by the route of planBodyReshard. Both are normal; `to` is not
  /// partial. Padding of the result is undefined. Communicates at the insertion
  /// point.
  Value convert(ImplicitLocOpBuilder &builder, Value value,
                RankedTensorType type, ShardingAttr from, ShardingAttr to);

private:
  void explain(Location location, RankedTensorType type, ShardingAttr from,
               ShardingAttr to);
  /// Does `step` for a tensor like `type`; `kind` is the reduction, if it
  /// reduces.
  Value make(ImplicitLocOpBuilder &builder, Value value, RankedTensorType type,
             const MovementStep &step, ReductionKind kind) const;
  Value permute(ImplicitLocOpBuilder &builder, Value value,
                ArrayRef<Attribute> axes) const;
  Value gather(ImplicitLocOpBuilder &builder, Value value, int64_t dim,
               ArrayRef<Attribute> axes) const;
  /// Returns the block of dimension `dim` that `axes` give to this shard.
  Value takeBlock(ImplicitLocOpBuilder &builder, Value value, int64_t dim,
                  ArrayRef<Attribute> axes) const;

  MeshAttr mesh;
  BodyReshards reshards;
  BodyExplanations explanations;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_LOCALRESHARD_H
