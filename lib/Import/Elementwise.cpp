//===- Elementwise.cpp - Lowering of elementwise operations ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Patterns for elementwise operations on tensors, for constants and iota, and
// for bitcasts that change the number of elements.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "Shape.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns true if tensors of `type` have no elements.
static bool isEmpty(RankedTensorType type) {
  return llvm::is_contained(type.getShape(), 0);
}

static Value createEmpty(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

namespace {

/// Lowers elementwise operations of stablehlo on tensors.
class LowerElementwise : public ConversionPattern {
public:
  LowerElementwise(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isElementwise(op) || isChloFunction(op))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<Value> values(operands);
    // Predicates and bounds may be scalars.
    for (Value &value : values)
      if (cast<RankedTensorType>(value.getType()).getRank() != type.getRank())
        value =
            emitBroadcast(rewriter, op->getLoc(), value, {}, type.getShape());
    Value result = emitElementwise(rewriter, op, values);
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
};

class LowerConstant : public OpConversionPattern<stablehlo::ConstantOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op.getType()));
    ElementsAttr value = op.getValue();
    if (!type)
      return failure();
    if (value.getType() != type) {
      if (auto dense = dyn_cast<DenseElementsAttr>(value))
        value = dense.bitcast(type.getElementType());
      else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
        value = DenseResourceElementsAttr::get(type, resource.getRawHandle());
      else
        return rewriter.notifyMatchFailure(op, "unknown kind of constant");
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, type, value);
    return success();
  }
};

/// A program has one replica.
class LowerReplicaId : public OpConversionPattern<stablehlo::ReplicaIdOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::ReplicaIdOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOp(
        op, createConstant(rewriter, op.getLoc(), type, APInt(32, 0)));
    return success();
  }
};

class LowerIota : public OpConversionPattern<stablehlo::IotaOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::IotaOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op.getOutput().getType()));
    if (!type)
      return failure();
    Value empty = createEmpty(rewriter, op.getLoc(), type);
    if (isEmpty(type)) {
      rewriter.replaceOp(op, empty);
      return success();
    }
    const uint64_t dim = op.getIotaDimension();
    auto body = [&](OpBuilder &b, Location loc, ValueRange) {
      Value index = linalg::IndexOp::create(b, loc, dim);
      Type element = type.getElementType();
      Value number;
      if (isa<IntegerType>(element)) {
        number = arith::IndexCastOp::create(b, loc, element, index);
      } else {
        bool isNarrow = element.getIntOrFloatBitWidth() < 32;
        // Numbers up to here are exact in f32, so rounding them happens once.
        bool isSmall = type.getDimSize(dim) <= (1 << 24);
        Type wide = isNarrow && !isSmall ? b.getF64Type()
                    : isNarrow           ? b.getF32Type()
                                         : element;
        number = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
        number = arith::SIToFPOp::create(b, loc, wide, number);
        if (wide.isF64() && isNarrow)
          number = truncateToNarrow(b, loc, number, element);
        else if (isNarrow)
          number = arith::TruncFOp::create(b, loc, element, number);
      }
      linalg::YieldOp::create(b, loc, number);
    };
    SmallVector<AffineMap> maps{
        rewriter.getMultiDimIdentityMap(type.getRank())};
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange(type), ValueRange(), ValueRange(empty),
        maps, iterators, body);
    rewriter.replaceOp(op, generic->getResults());
    return success();
  }
};

/// Lowers bitcasts between elements of different widths.
class LowerBitcast : public OpConversionPattern<stablehlo::BitcastConvertOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperands().front();
    auto source = cast<RankedTensorType>(operand.getType());
    auto type = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op->getResult(0).getType()));
    const unsigned width = getWidth(source);
    if (!type || width == getWidth(type))
      return failure();
    Location loc = op.getLoc();
    if (isEmpty(type)) {
      rewriter.replaceOp(op, createEmpty(rewriter, loc, type));
      return success();
    }
    Value result = width > getWidth(type)
                       ? emitParts(rewriter, loc, operand, type)
                       : emitWhole(rewriter, loc, operand, type);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value castTo(OpBuilder &b, Location loc, Value value, Type type) {
    if (value.getType() == type)
      return value;
    return arith::BitcastOp::create(b, loc, type, value);
  }

  /// Returns the bits of the scalar `value`.
  static Value getBits(OpBuilder &b, Location loc, Value value) {
    return castTo(b, loc, value,
                  b.getIntegerType(value.getType().getIntOrFloatBitWidth()));
  }

  /// Returns where the part of the innermost loop lies in a whole.
  static Value getShift(OpBuilder &b, Location loc, Type whole, int64_t dim,
                        unsigned partWidth) {
    Value part = arith::IndexCastOp::create(
        b, loc, whole, linalg::IndexOp::create(b, loc, dim));
    Value width = createConstant(b, loc, whole, APInt(64, partWidth));
    return arith::MulIOp::create(b, loc, part, width);
  }

  static Value emitParts(OpBuilder &builder, Location loc, Value operand,
                         RankedTensorType type) {
    const int64_t rank = type.getRank();
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Value whole = getBits(b, loc, arguments[0]);
      Value shift = getShift(b, loc, whole.getType(), rank - 1, getWidth(type));
      Value bits = arith::ShRUIOp::create(b, loc, whole, shift);
      bits = arith::TruncIOp::create(b, loc, b.getIntegerType(getWidth(type)),
                                     bits);
      linalg::YieldOp::create(b, loc,
                              castTo(b, loc, bits, type.getElementType()));
    };
    AffineMap identity = builder.getMultiDimIdentityMap(rank);
    SmallVector<AffineMap> maps{identity.dropResult(rank - 1), identity};
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange(type), ValueRange(operand),
        ValueRange(createEmpty(builder, loc, type)), maps, iterators, body);
    return generic.getResult(0);
  }

  static Value emitWhole(OpBuilder &builder, Location loc, Value operand,
                         RankedTensorType type) {
    auto source = cast<RankedTensorType>(operand.getType());
    const int64_t rank = source.getRank();
    auto bitsType = type.clone(builder.getIntegerType(getWidth(type)));
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Type whole = bitsType.getElementType();
      Value part =
          arith::ExtUIOp::create(b, loc, whole, getBits(b, loc, arguments[0]));
      Value shift = getShift(b, loc, whole, rank - 1, getWidth(source));
      Value shifted = arith::ShLIOp::create(b, loc, part, shift);
      Value joined = arith::OrIOp::create(b, loc, arguments[1], shifted);
      linalg::YieldOp::create(b, loc, joined);
    };
    AffineMap identity = builder.getMultiDimIdentityMap(rank);
    SmallVector<AffineMap> maps{identity, identity.dropResult(rank - 1)};
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators.back() = utils::IteratorType::reduction;
    Value zero = createConstant(builder, loc, bitsType.getElementType(), 0.0);
    Value zeros = linalg::FillOp::create(builder, loc, zero,
                                         createEmpty(builder, loc, bitsType))
                      .getResult(0);
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange(bitsType), ValueRange(operand),
        ValueRange(zeros), maps, iterators, body);
    return castTo(builder, loc, generic.getResult(0), type);
  }
};

} // namespace

void mlir::pathways::populateElementwisePatterns(const TypeConverter &types,
                                                 RewritePatternSet &patterns) {
  patterns.add<LowerElementwise, LowerConstant, LowerReplicaId, LowerIota,
               LowerBitcast>(types, patterns.getContext());
}
