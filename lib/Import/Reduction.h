//===- Reduction.h - Combining elements by a region -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions for operations that combine elements by a region of scalars, and
// functions that create elements and convert their types.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_REDUCTION_H
#define PATHWAYS_LIB_IMPORT_REDUCTION_H

#include "Patterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pathways {

/// Converts `value`, a scalar or a tensor whose elements were `from` in the
/// program, to elements of the signless type `to`. Integers are widened by
/// their sign or cut; f64 becomes f16 and bf16 through f32. Floats cannot
/// become integers.
Value convertElements(OpBuilder &b, Location loc, Value value, Type from,
                      Type to);

/// Returns a tensor of `type` whose elements are all `scalar`.
Value createFilled(OpBuilder &b, Location loc, RankedTensorType type,
                   Value scalar);

/// Creates a linalg.generic whose block is empty and moves `b` into the block.
/// The iterators are parallel except for dimensions in `reductions`.
linalg::GenericOp createGeneric(ConversionPatternRewriter &b, Location loc,
                                ValueRange inputs, ValueRange inits,
                                ArrayRef<AffineMap> maps,
                                ArrayRef<int64_t> reductions);

/// Returns the map from `numLoops` dimensions to the first `rank` of them.
AffineMap getLeadingDims(Builder &b, int64_t numLoops, int64_t rank);

/// A region that takes a value of each operand, then another value of each
/// operand, and returns combined values.
///
/// Values that it combines have types in which code generation computes fast:
/// `prepare` brings elements into them, and `finish` brings results into the
/// types of the operation. i1 becomes i8 if the region is a single operation,
/// because elements of i1 are combined one by one.
class Combiner {
public:
  Combiner(Region &region);

  /// Returns `value` of operand `i`, a scalar or tensor whose elements were
  /// `from` in the program, with the elements that are combined.
  Value prepare(OpBuilder &b, Value value, unsigned i, Type from) const;
  /// Returns combined values of operand `i`, a tensor, in its result type.
  Value finish(OpBuilder &b, Value value, unsigned i) const;
  /// Emits the region for scalars. Fails with a diagnostic.
  FailureOr<SmallVector<Value>> combine(ConversionPatternRewriter &b,
                                        ValueRange lefts,
                                        ValueRange rights) const;

  unsigned getNumOperands() const { return types.size(); }
  /// Returns the element type in which operand `i` is combined.
  Type getType(unsigned i) const { return types[i]; }
  /// Returns true if all orders of combining give the same bits.
  bool isExact() const;
  /// Returns true if `init`, a scalar that was not prepared, combined with
  /// itself is itself. A region of several operations must have this property.
  bool keepsInit(Value init) const;

private:
  Region &region;
  Operation *only; ///< the only operation of the region, or null
  SmallVector<Type> types;
  bool isByte = false; ///< combines i1 as i8
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_REDUCTION_H
