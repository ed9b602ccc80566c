//===- LinearAlgebra.cpp - Factors and solutions of systems ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cholesky factors and solutions of triangular systems become loops over the
// elements of the result, each of which subtracts products of elements that are
// known. f16 and bf16 are computed in f32 and rounded at the end.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Emits operations on the matrices of a batch, which all have `type` as the
/// element type.
class MatrixEmitter {
public:
  MatrixEmitter(ConversionPatternRewriter &b, Location loc, ValueRange batch,
                Type type)
      : b(b), loc(loc), batch(batch), type(type) {}

  /// Returns element (`row`, `column`) of the matrix, or of its transpose.
  Value read(Value matrices, Value row, Value column, bool isTransposed) {
    return tensor::ExtractOp::create(b, loc, matrices,
                                     getPlace(row, column, isTransposed));
  }
  Value write(Value element, Value matrices, Value row, Value column,
              bool isTransposed) {
    return tensor::InsertOp::create(b, loc, element, matrices,
                                    getPlace(row, column, isTransposed));
  }
  /// Returns `value` minus the products of the factors that `getFactors` emits
  /// for each number from `low` to `high`, which is left out.
  Value subtractProducts(
      Value value, Value low, Value high,
      llvm::function_ref<std::pair<Value, Value>(Value)> getFactors) {
    auto sum =
        emitLoop(b, loc, low, high, createIndex(b, loc, 1), value,
                 [&](ValueRange place,
                     ValueRange carried) -> FailureOr<SmallVector<Value>> {
                   auto [x, y] = getFactors(place.front());
                   Value product = arith::MulFOp::create(b, loc, x, y);
                   return SmallVector<Value>{
                       arith::SubFOp::create(b, loc, carried.front(), product)};
                 });
    return sum->front();
  }
  Value getConstant(double value) {
    return createConstant(b, loc, type, value);
  }

private:
  SmallVector<Value> getPlace(Value row, Value column, bool isTransposed) {
    SmallVector<Value> place(batch);
    place.push_back(isTransposed ? column : row);
    place.push_back(isTransposed ? row : column);
    return place;
  }

  ConversionPatternRewriter &b;
  Location loc;
  SmallVector<Value> batch;
  Type type;
};

struct LowerCholesky : OpConversionPattern<stablehlo::CholeskyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::CholeskyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct LowerTriangularSolve
    : OpConversionPattern<stablehlo::TriangularSolveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::TriangularSolveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the type in which numbers of `type` are computed.
static Type getComputedType(Type type) {
  return type.getIntOrFloatBitWidth() < 32 ? Float32Type::get(type.getContext())
                                           : type;
}

LogicalResult
LowerCholesky::matchAndRewrite(stablehlo::CholeskyOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto resultType = cast<RankedTensorType>(adaptor.getA().getType());
  Type from = resultType.getElementType(), type = getComputedType(from);
  Value a = convertElements(rewriter, loc, adaptor.getA(), from, type);
  auto shape = resultType.getShape();
  int64_t size = shape.back();
  // An upper factor is the transpose of the lower one.
  const bool isTransposed = !op.getLower();
  Value zeros = createFilled(rewriter, loc, resultType.clone(type),
                             createConstant(rewriter, loc, type, 0.0));
  if (resultType.getNumElements() == 0) {
    rewriter.replaceOp(op, convertElements(rewriter, loc, zeros, type, from));
    return success();
  }

  auto emitMatrix = [&](ValueRange batch,
                        ValueRange inits) -> FailureOr<SmallVector<Value>> {
    MatrixEmitter emitter(rewriter, loc, batch, type);
    Value zero = createIndex(rewriter, loc, 0),
          one = createIndex(rewriter, loc, 1),
          limit = createIndex(rewriter, loc, size);
    /// Returns a(row, column) minus the products of elements that are left of
    /// `column`.
    auto emitDifference = [&](Value factor, Value row, Value column) {
      Value element = emitter.read(a, row, column, isTransposed);
      return emitter.subtractProducts(element, zero, column, [&](Value k) {
        return std::pair(emitter.read(factor, row, k, isTransposed),
                         emitter.read(factor, column, k, isTransposed));
      });
    };
    return emitLoop(
        rewriter, loc, zero, limit, one, inits,
        [&](ValueRange columns,
            ValueRange carried) -> FailureOr<SmallVector<Value>> {
          Value column = columns.front();
          Value square = emitDifference(carried.front(), column, column);
          // A pivot that is not positive makes all that follows NaN.
          Value isPositive =
              arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT,
                                    square, emitter.getConstant(0.0));
          square = arith::SelectOp::create(rewriter, loc, isPositive, square,
                                           emitter.getConstant(NAN));
          Value pivot = math::SqrtOp::create(rewriter, loc, square);
          Value factor = emitter.write(pivot, carried.front(), column, column,
                                       isTransposed);
          Value next = arith::AddIOp::create(rewriter, loc, column, one);
          return emitLoop(
              rewriter, loc, next, limit, one, factor,
              [&](ValueRange rows,
                  ValueRange inner) -> FailureOr<SmallVector<Value>> {
                Value row = rows.front(), old = inner.front();
                Value element = arith::DivFOp::create(
                    rewriter, loc, emitDifference(old, row, column), pivot);
                return SmallVector<Value>{
                    emitter.write(element, old, row, column, isTransposed)};
              });
        });
  };
  auto result = emitLoops(rewriter, loc, shape.drop_back(2), zeros, emitMatrix);
  rewriter.replaceOp(
      op, convertElements(rewriter, loc, result->front(), type, from));
  return success();
}

LogicalResult LowerTriangularSolve::matchAndRewrite(
    stablehlo::TriangularSolveOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto resultType = cast<RankedTensorType>(adaptor.getB().getType());
  if (resultType.getNumElements() == 0) {
    rewriter.replaceOp(op, adaptor.getB());
    return success();
  }
  Type from = resultType.getElementType(), type = getComputedType(from);
  Value a = convertElements(rewriter, loc, adaptor.getA(), from, type);
  Value b = convertElements(rewriter, loc, adaptor.getB(), from, type);
  auto shape = resultType.getShape();
  // A system with the matrix on the right is the transposed system with the
  // transposed matrix on the left.
  const bool isRight = !op.getLeftSide();
  const bool isTransposed =
      (op.getTransposeA() != stablehlo::Transpose::NO_TRANSPOSE) != isRight;
  const bool isLower = op.getLower() != isTransposed;
  int64_t rank = shape.size();
  int64_t size = shape[rank - (isRight ? 1 : 2)],
          numColumns = shape[rank - (isRight ? 2 : 1)];
  SmallVector<int64_t> loops(shape.drop_back(2));
  loops.append({size, numColumns});

  auto emitElement = [&](ValueRange places,
                         ValueRange inits) -> FailureOr<SmallVector<Value>> {
    MatrixEmitter emitter(rewriter, loc, places.drop_back(2), type);
    Value row = places[rank - 2], column = places[rank - 1],
          old = inits.front();
    Value low = createIndex(rewriter, loc, 0), high = row;
    if (!isLower) {
      high = createIndex(rewriter, loc, size);
      Value last = createIndex(rewriter, loc, size - 1),
            one = createIndex(rewriter, loc, 1);
      row = arith::SubIOp::create(rewriter, loc, last, row);
      low = arith::AddIOp::create(rewriter, loc, row, one);
    }
    // The carried tensor holds right sides where no solution is known yet.
    Value element = emitter.subtractProducts(
        emitter.read(old, row, column, isRight), low, high, [&](Value k) {
          return std::pair(emitter.read(a, row, k, isTransposed),
                           emitter.read(old, k, column, isRight));
        });
    if (!op.getUnitDiagonal())
      element = arith::DivFOp::create(rewriter, loc, element,
                                      emitter.read(a, row, row, isTransposed));
    return SmallVector<Value>{
        emitter.write(element, old, row, column, isRight)};
  };
  auto result = emitLoops(rewriter, loc, loops, b, emitElement);
  rewriter.replaceOp(
      op, convertElements(rewriter, loc, result->front(), type, from));
  return success();
}

void mlir::pathways::populateLinearAlgebraPatterns(
    const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerCholesky, LowerTriangularSolve>(types,
                                                    patterns.getContext());
}
