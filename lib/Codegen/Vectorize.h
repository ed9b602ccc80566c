//===- Vectorize.h - Scalar code in the lanes of vectors --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Helpers of the stages that write vector code.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_VECTORIZE_H
#define LIB_CODEGEN_VECTORIZE_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::pathways::kernel {

/// Returns true if adjacent elements along the last dimension of `buffer` are
/// adjacent in memory.
bool isDense(Value buffer);

/// Returns true if `buffer` is dense after the dimensions of each group are
/// collapsed into one. The dimensions of a slice of one column can be
/// collapsed, but their elements are not adjacent.
bool isDenseAsOne(Value buffer, ArrayRef<ReassociationIndices> groups);

/// Returns groups of `rank` dimensions in which the last dimension and the
/// `joined` dimensions before it form one group.
SmallVector<ReassociationIndices> groupsOf(int64_t rank, int64_t joined);

/// Transposes a square of registers: lane i of row j becomes lane j of row i.
/// There are as many rows as lanes, a power of 2.
void turnAround(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows);

/// Returns true if `op`, an op of the dialect `math` on scalars, becomes
/// straight code instead of a call.
bool isWrittenOut(Operation &op);

/// Returns true if all of `body`, which is on scalars, can run in vector lanes
/// on every target: element by element, without checks or calls. `hasHalves`
/// tells whether the target converts f16.
bool canBeInLanes(Block &body, bool hasHalves);

/// Returns `value` in `width` lanes. Ops in `body` are computed lane-wise from
/// the values that `values` maps its arguments to; values from outside are
/// broadcast. Adds the new values to `values`.
Value inLanes(ImplicitLocOpBuilder &b, Value value, Block &body,
              IRMapping &values, int64_t width);

/// Elements in vectors. For a width that is not a power of 2, the first lanes
/// of a full vector are used.
struct Lanes {
  Type element;
  int64_t most = 1;      ///< lanes of a full vector
  bool hasMasks = false; ///< loads and stores of some lanes cost no more
  bool areFull = false;  ///< every vector is a full one

  Lanes() = default;
  Lanes(Type element, int64_t vectorBytes);

  /// Returns the widths of the vectors that `count` elements take.
  SmallVector<int64_t> widthsOf(int64_t count) const;
  VectorType typeOf(int64_t width) const;
  Value load(ImplicitLocOpBuilder &b, Value buffer, ValueRange where,
             int64_t width) const;
  void store(ImplicitLocOpBuilder &b, Value lanes, Value buffer,
             ValueRange where, int64_t width) const;
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_VECTORIZE_H
