//===- ManualRegions.h - Manual computations from calls ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some texts have no regions for manual computations. One custom call makes
// shards of whole arrays, another one makes whole arrays of shards, and what is
// between them works on shards.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_MANUALREGIONS_H
#define PATHWAYS_LIB_IMPORT_MANUALREGIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "pathways/Dialect/Shardy/Shardy.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {

/// The meaning of a call that makes shards of its operands, or whole arrays of
/// its operands, which are shards.
struct Crossing {
  bool isEntry; ///< it makes shards
  /// Shardings of the whole arrays, one for each operand.
  SmallVector<sdy::TensorShardingAttr> shardings;
  sdy::ManualAxesAttr manualAxes;
};

using Crossings = DenseMap<Operation *, Crossing>;

/// Moves the operations between `crossings` in `block` into manual
/// computations, and removes the crossings. `isLocal` returns true for
/// operations that have shards as results although no operand is a shard.
/// Fails, with a diagnostic, if operations mix shards and whole arrays, or if
/// types do not fit the shardings.
LogicalResult
formManualComputations(Block &block, const Crossings &crossings,
                       llvm::function_ref<bool(Operation *)> isLocal);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_MANUALREGIONS_H
