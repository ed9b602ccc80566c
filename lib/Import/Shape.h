//===- Shape.h - Scalars and other shapes of tensors ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that move elements and compute none, for patterns of several
// files. All values have converted types.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_SHAPE_H
#define PATHWAYS_LIB_IMPORT_SHAPE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pathways {

/// Returns the element of `tensor`, which has rank 0: a constant, if it is
/// known.
Value readScalar(OpBuilder &b, Location loc, Value tensor);

/// Returns `value` as a tensor of `shape`, with the elements in the same
/// row-major order. Dimensions are joined and split in groups of equal products
/// that are as small as possible, because a shard can have a block of each
/// group. Both shapes must have the same number of elements.
Value emitReshape(OpBuilder &b, Location loc, Value value,
                  ArrayRef<int64_t> shape);

/// Returns a tensor whose dimension i is dimension `permutation[i]` of `value`.
Value emitTranspose(OpBuilder &b, Location loc, Value value,
                    ArrayRef<int64_t> permutation);

/// Returns a tensor of `shape` that repeats `value`: dimension i of `value` is
/// dimension `dims[i]` of the result, and has its size or size 1. The elements
/// of `dims` differ, in any order.
Value emitBroadcast(OpBuilder &b, Location loc, Value value,
                    ArrayRef<int64_t> dims, ArrayRef<int64_t> shape);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_SHAPE_H
