//===- Loops.h - Loops that carry tensors -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions for operations that become loops of scalar code. Tensors are
// carried from iteration to iteration and changed in place.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_LOOPS_H
#define PATHWAYS_LIB_IMPORT_LOOPS_H

#include "Patterns.h"

namespace mlir::pathways {

/// Emits the body of a loop for the number of the iteration, or for one number
/// per loop of a nest, and the values that the loop carries. Returns the values
/// for the next iteration. A failure has a diagnostic.
using LoopBody = llvm::function_ref<FailureOr<SmallVector<Value>>(
    ValueRange places, ValueRange carried)>;

/// Emits a loop from `low` to `high`, which is left out, in steps of `step`,
/// and returns the values that it carries to its end.
FailureOr<SmallVector<Value>> emitLoop(ConversionPatternRewriter &b,
                                       Location loc, Value low, Value high,
                                       Value step, ValueRange inits,
                                       LoopBody body);

/// Emits a nest of loops, one per element of `sizes`, each from 0. The last one
/// is innermost. There is no loop for a size of 1.
FailureOr<SmallVector<Value>> emitLoops(ConversionPatternRewriter &b,
                                        Location loc, ArrayRef<int64_t> sizes,
                                        ValueRange inits, LoopBody body);

Value createIndex(OpBuilder &b, Location loc, int64_t value);

/// Returns integers, a scalar or a tensor, as i64 that are at least `low` and
/// at most `high`. `element` is their type in the program, which says whether
/// they have a sign. `low` must be at most 0, and `high` at least 0.
Value emitClampedIndices(OpBuilder &b, Location loc, Value integers,
                         Type element, int64_t low, int64_t high);

/// Returns the i64 `value` as an index.
Value emitIndex(OpBuilder &b, Location loc, Value value);

/// Returns the part of `tensor` at `offsets`, indices or attributes, of
/// `sizes`. The result has the dimensions that `kept` lists.
Value emitSlice(OpBuilder &b, Location loc, Value tensor,
                ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                ArrayRef<int64_t> kept);

/// Returns `tensor` with `slice` in the part that emitSlice() would return.
Value emitInsertSlice(OpBuilder &b, Location loc, Value slice, Value tensor,
                      ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_LOOPS_H
