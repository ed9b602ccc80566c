//===- Window.h - Padding and lists of windows ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions for operations that slide a window over a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_WINDOW_H
#define PATHWAYS_LIB_IMPORT_WINDOW_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::pathways {

/// Returns `list`, or `size` times `value` if there is no list.
SmallVector<int64_t> getListOr(std::optional<ArrayRef<int64_t>> list,
                               int64_t size, int64_t value = 1);

/// Sets `low` and `high` to the columns of `padding`, or to `size` zeros each
/// if it is null.
void getPadding(DenseIntElementsAttr padding, int64_t size,
                SmallVectorImpl<int64_t> &low, SmallVectorImpl<int64_t> &high);

/// Returns `value` with `low[i]` elements in front of dimension i, `high[i]`
/// elements after it, and `steps[i] - 1` elements between two neighbors, all of
/// them `padding`, which is a scalar. Negative numbers of elements are removed,
/// counted after elements were inserted between neighbors.
Value emitPadding(OpBuilder &b, Location loc, Value value, Value padding,
                  ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                  ArrayRef<int64_t> steps);

/// Returns the expression `place` * `stride` + `step` * `dilation`; the second
/// term is left out if `step` is null.
AffineExpr getWindowPlace(AffineExpr place, int64_t stride, AffineExpr step,
                          int64_t dilation);

/// Adds the patterns of SelectAndScatter.cpp, as a part of those of windows.
void populateSelectAndScatterPatterns(const TypeConverter &types,
                                      RewritePatternSet &patterns);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_WINDOW_H
