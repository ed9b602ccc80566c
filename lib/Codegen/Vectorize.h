//===- Vectorize.h - Scalar code in the lanes of vectors --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What those that write vectors have in common.
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

/// Whether neighbours along the last dimension of `buffer` lie next to each
/// other.
bool isDense(Value buffer);

/// Likewise, once dimensions in groups are one each. Those of a slice of one
/// column can be one, but lie apart.
bool isDenseAsOne(Value buffer, ArrayRef<ReassociationIndices> groups);

/// Groups of `rank` dimensions, of which the last one and `joined` in front of
/// it are one.
SmallVector<ReassociationIndices> groupsOf(int64_t rank, int64_t joined);

/// Turns a square of registers around: lane i of row j becomes lane j of row i.
/// As many rows as lanes, a power of 2.
void turnAround(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows);

/// Whether `op`, of scalars, of the dialect `math` becomes straight code, not a
/// call.
bool isWrittenOut(Operation &op);

/// Whether all of `body`, which is of scalars, can be done in lanes on every
/// target: element by element, without a check or a call. Needs to know whether
/// the target converts f16.
bool canBeInLanes(Block &body, bool hasHalves);

/// `value` in `width` lanes. What is computed in `body` is computed in lanes,
/// of what `values` has for its arguments; what is from outside is the same in
/// all. `values` learns what is made.
Value inLanes(ImplicitLocOpBuilder &b, Value value, Block &body,
              IRMapping &values, int64_t width);

/// Elements in vectors. Of a width that is no power of 2, as many lanes of a
/// full vector are used.
struct Lanes {
  Type element;
  int64_t most = 1;      ///< of a full vector
  bool hasMasks = false; ///< loads and stores of some lanes cost no more
  bool areFull = false;  ///< of a full vector, always

  Lanes() = default;
  Lanes(Type element, int64_t vectorBytes);

  /// The widths of the vectors that `count` elements take.
  SmallVector<int64_t> widthsOf(int64_t count) const;
  VectorType typeOf(int64_t width) const;
  Value load(ImplicitLocOpBuilder &b, Value buffer, ValueRange where,
             int64_t width) const;
  void store(ImplicitLocOpBuilder &b, Value lanes, Value buffer,
             ValueRange where, int64_t width) const;
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_VECTORIZE_H
