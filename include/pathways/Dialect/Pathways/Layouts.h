//===- Layouts.h - Layout arithmetic for pw types ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts `pw` meshes and array types to those of runtime/layout, which does
// all arithmetic of shards, and finds the slices that symbols name.
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

/// Checks that `type` fits the mesh of `slice`, and reports by `emitError` an
/// axis that the mesh lacks. The functions below require that this has
/// succeeded.
LogicalResult verifyLayout(function_ref<InFlightDiagnostic()> emitError,
                           ArrayType type, SliceOp slice);

/// Returns the shape of the buffer of one shard: each dimension is rounded up.
SmallVector<int64_t> getShardShape(ArrayType type, MeshAttr mesh);
/// Returns the type of one shard in the local view.
RankedTensorType getShardTensorType(ArrayType type, MeshAttr mesh);
/// Returns true if no shard has padding.
bool isEven(ArrayType type, MeshAttr mesh);
/// Returns the bytes of one element in memory; i1 takes one byte.
int64_t getElementBytes(Type elementType);

/// Returns the slice of `type`, looked up from `from`; null if undeclared.
SliceOp lookupSlice(SymbolTableCollection &symbols, Operation *from,
                    FlatSymbolRefAttr slice);

} // namespace mlir::pathways

#endif // PATHWAYS_DIALECT_PATHWAYS_LAYOUTS_H
