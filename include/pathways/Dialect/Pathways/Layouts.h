//===- Layouts.h - From pw types to the arithmetic of shards ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one bridge from `pw` meshes and array types to runtime/layout, which does
// all arithmetic of shards, and from symbols to slices.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_LAYOUTS_H
#define PATHWAYS_DIALECT_PATHWAYS_LAYOUTS_H

#include "pathways/Dialect/Pathways/Pathways.h"
#include "runtime/layout/layout.h"

namespace mlir::pathways {

::pathways::layout::Reduction toReduction(ReductionKind kind);
::pathways::layout::Mesh toMesh(MeshAttr mesh);
::pathways::layout::Layout toLayout(ArrayType type);

/// Reports, by `emitError`, why `type` does not fit a slice of `mesh`: an axis
/// that it lacks. What follows needs a type for which this succeeded.
LogicalResult verifyLayout(function_ref<InFlightDiagnostic()> emitError,
                           ArrayType type, SliceOp slice);

/// Shape of one shard's buffer, in elements: each dimension rounded up.
SmallVector<int64_t> getShardShape(ArrayType type, MeshAttr mesh);
/// The local view: a tensor of one shard.
RankedTensorType getShardTensorType(ArrayType type, MeshAttr mesh);
/// Whether no shard has padding.
bool isEven(ArrayType type, MeshAttr mesh);
/// Bytes of one element in memory; i1 takes one.
int64_t getElementBytes(Type elementType);

/// The slice that `type`, seen from `from`, is on; null when undeclared.
SliceOp lookupSlice(SymbolTableCollection &symbols, Operation *from,
                    FlatSymbolRefAttr slice);

} // namespace mlir::pathways

#endif // PATHWAYS_DIALECT_PATHWAYS_LAYOUTS_H
