//===- Patterns.h - Patterns from stablehlo to bodies -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Patterns of pw-lower-stablehlo and the functions that they share. Types are
// converted by one TypeConverter: integers lose their sign, all else stays.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_PATTERNS_H
#define PATHWAYS_LIB_IMPORT_PATTERNS_H

#include "mlir/Transforms/DialectConversion.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"

namespace mlir::pathways {

/// Returns true if emitElementwise can emit operations like `op`: each element
/// of the only result depends on the elements of the operands at the same
/// place.
bool isElementwise(Operation *op);

/// Emits the elementwise `op` on `operands`, which are all scalars, or all
/// tensors of one shape, of the converted types. The types of `op` say how
/// integers are signed. The result is rounded to its type: f16 and bf16 are
/// computed in f32. Nothing that is emitted can trap. Returns null for an
/// operation that is not elementwise.
Value emitElementwise(OpBuilder &b, Operation *op, ValueRange operands);

/// Rounds `x`, a scalar or tensor of f64, to the nearest number of `narrow`,
/// which is f16 or bf16.
Value truncateToNarrow(OpBuilder &b, Location loc, Value x, Type narrow);

/// Returns true for operations of chlo that are elementwise: all but top_k.
bool isChloFunction(Operation *op);

/// Emits `op` if isChloFunction, like emitElementwise; otherwise returns null.
Value emitChloFunction(OpBuilder &b, Operation *op, ValueRange operands);

/// Emits a region whose block takes and returns tensors of rank 0, for
/// `arguments`, which are scalars of the converted types. Values from outside
/// of the region are read from their converted tensors, so this is called only
/// in a pattern, with its `rewriter` at the place. Returns the scalars that the
/// region returns. Fails, with a diagnostic, at an operation that has no scalar
/// form.
FailureOr<SmallVector<Value>>
emitScalarRegion(ConversionPatternRewriter &rewriter, Region &region,
                 ValueRange arguments);

/// Inlines the calls in regions that are emitted on scalars. This must run
/// before the conversion, which may have converted the functions.
void inlineScalarCalls(Operation *module);

/// Returns the operation of a region that takes two scalars, applies one
/// operation to them and returns its result. The operands are the arguments in
/// order, or in any order if the operation is commutative. Returns null for any
/// other region.
Operation *getOnlyOperation(Region &region);

/// Returns a constant of `type`, a scalar type or a tensor type whose elements
/// are all `value`.
Value createConstant(OpBuilder &b, Location loc, Type type, double value);
Value createConstant(OpBuilder &b, Location loc, Type type, const APInt &value);

// Each function adds the patterns of the file of its name.
void populateElementwisePatterns(const TypeConverter &types,
                                 RewritePatternSet &patterns);
void populateChloMathPatterns(const TypeConverter &types,
                              RewritePatternSet &patterns);
void populateShapePatterns(const TypeConverter &types,
                           RewritePatternSet &patterns);
void populateCollectivePatterns(const TypeConverter &types,
                                RewritePatternSet &patterns);
void populateControlFlowPatterns(const TypeConverter &types,
                                 RewritePatternSet &patterns);
void populateProductPatterns(const TypeConverter &types,
                             RewritePatternSet &patterns);
void populateReductionPatterns(const TypeConverter &types,
                               RewritePatternSet &patterns);
void populateWindowPatterns(const TypeConverter &types,
                            RewritePatternSet &patterns);
void populateIndexingPatterns(const TypeConverter &types,
                              RewritePatternSet &patterns);
void populateSortPatterns(const TypeConverter &types,
                          RewritePatternSet &patterns);
void populateLinearAlgebraPatterns(const TypeConverter &types,
                                   RewritePatternSet &patterns);
void populateRandomPatterns(const TypeConverter &types,
                            RewritePatternSet &patterns);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_PATTERNS_H
