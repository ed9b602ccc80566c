//===- Shape.cpp - Operations that move elements --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A result without elements becomes a tensor.empty: operations of linalg and
// tensor verify places that such results do not have.
//
//===----------------------------------------------------------------------===//

#include "Shape.h"
#include "Patterns.h"
#include "Reduction.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;
using llvm::divideCeilSigned;
using llvm::divideFloorSigned;

//===----------------------------------------------------------------------===//
// Functions for several files
//===----------------------------------------------------------------------===//

static bool isEmpty(ArrayRef<int64_t> shape) {
  return llvm::is_contained(shape, 0);
}

static Value createEmpty(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

Value mlir::pathways::readScalar(OpBuilder &b, Location loc, Value tensor) {
  assert(getTensorType(tensor).getRank() == 0 && "expected a tensor of rank 0");
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)))
    return arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(*constant.value_begin<Attribute>()));
  if (auto elements = tensor.getDefiningOp<tensor::FromElementsOp>())
    return elements.getElements().front();
  return tensor::ExtractOp::create(b, loc, tensor, ValueRange());
}

namespace {

/// Groups of adjacent dimensions of two shapes. Groups of the same number have
/// the same product.
struct ReshapeGroups {
  SmallVector<ReassociationIndices> from, to;

  ReshapeGroups(ArrayRef<int64_t> fromShape, ArrayRef<int64_t> toShape);

  bool joinsAny() const {
    return llvm::any_of(from, [](auto &group) { return group.size() > 1; });
  }
  bool splitsAny() const {
    return llvm::any_of(to, [](auto &group) { return group.size() > 1; });
  }
};

} // namespace

/// The shapes have elements, and neither has rank 0.
ReshapeGroups::ReshapeGroups(ArrayRef<int64_t> fromShape,
                             ArrayRef<int64_t> toShape) {
  int64_t i = 0, numFrom = fromShape.size(), fromProduct = 1;
  int64_t j = 0, numTo = toShape.size(), toProduct = 1;
  ReassociationIndices fromGroup, toGroup;
  auto close = [&] {
    from.push_back(std::move(fromGroup));
    to.push_back(std::move(toGroup));
    fromGroup.clear();
    toGroup.clear();
    fromProduct = toProduct = 1;
  };
  while (i < numFrom || j < numTo) {
    if (fromGroup.empty() && toGroup.empty() && i < numFrom && j < numTo &&
        fromShape[i] == toShape[j]) {
      fromGroup.push_back(i++);
      toGroup.push_back(j++);
      close();
      continue;
    }
    if (i < numFrom && (j == numTo || fromProduct < toProduct ||
                        (fromProduct == toProduct && fromShape[i] == 1))) {
      fromProduct *= fromShape[i];
      fromGroup.push_back(i++);
    } else {
      toProduct *= toShape[j];
      toGroup.push_back(j++);
    }
    if (fromProduct == toProduct && fromProduct != 1)
      close();
  }
  // Dimensions of size 1 at the end belong to the last group.
  llvm::append_range(from.back(), fromGroup);
  llvm::append_range(to.back(), toGroup);
}

Value mlir::pathways::emitReshape(OpBuilder &b, Location loc, Value value,
                                  ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(value);
  if (type.getShape() == shape)
    return value;
  RankedTensorType resultType = type.clone(shape);
  if (isEmpty(shape))
    return createEmpty(b, loc, resultType);

  // A reshape of a reshape reads the first operand, unless that would both join
  // and split.
  Value source = value;
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
      source.getDefiningOp())) {
    source = source.getDefiningOp()->getOperand(0);
    ArrayRef<int64_t> sourceShape = getTensorType(source).getShape();
    if (sourceShape == shape)
      return source;
    if (sourceShape.empty() || shape.empty()) {
      value = source;
      continue;
    }
    ReshapeGroups groups(sourceShape, shape);
    if (!groups.joinsAny() || !groups.splitsAny())
      value = source;
  }
  type = getTensorType(value);

  SmallVector<ReassociationIndices> none;
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(b, loc, resultType, value, none);
  if (shape.empty())
    return tensor::CollapseShapeOp::create(b, loc, resultType, value, none);
  ReshapeGroups groups(type.getShape(), shape);
  if (groups.joinsAny()) {
    SmallVector<int64_t> joined;
    for (const ReassociationIndices &group : groups.from) {
      int64_t &size = joined.emplace_back(1);
      for (int64_t dim : group)
        size *= type.getDimSize(dim);
    }
    value = tensor::CollapseShapeOp::create(b, loc, type.clone(joined), value,
                                            groups.from);
  }
  if (groups.splitsAny())
    value = tensor::ExpandShapeOp::create(b, loc, resultType, value, groups.to);
  return value;
}

Value mlir::pathways::emitTranspose(OpBuilder &b, Location loc, Value value,
                                    ArrayRef<int64_t> permutation) {
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape, moved;
  for (int64_t dim : permutation) {
    shape.push_back(type.getDimSize(dim));
    if (type.getDimSize(dim) != 1)
      moved.push_back(dim);
  }
  // Moving dimensions of size 1 moves no element.
  if (llvm::is_sorted(moved))
    return emitReshape(b, loc, value, shape);
  RankedTensorType resultType = type.clone(shape);
  Value empty = createEmpty(b, loc, resultType);
  if (isEmpty(shape))
    return empty;
  return linalg::TransposeOp::create(b, loc, value, empty, permutation)
      ->getResult(0);
}

Value mlir::pathways::emitBroadcast(OpBuilder &b, Location loc, Value value,
                                    ArrayRef<int64_t> dims,
                                    ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(value), resultType = type.clone(shape);
  if (isEmpty(shape))
    return createEmpty(b, loc, resultType);
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(resultType,
                               constant.getSplatValue<Attribute>()));

  // Dimensions of size 1 that are stretched are left out of the operand. The
  // others become `keptDims`.
  SmallVector<int64_t> keptDims, keptShape;
  for (auto [dim, size] : llvm::zip_equal(dims, type.getShape())) {
    if (size != shape[dim])
      continue;
    keptDims.push_back(dim);
    keptShape.push_back(size);
  }
  bool isOrdered = llvm::is_sorted(keptDims);
  if (isOrdered && type.getNumElements() == resultType.getNumElements())
    return emitReshape(b, loc, value, shape);
  value = emitReshape(b, loc, value, keptShape);
  if (keptDims.empty())
    return createFilled(b, loc, resultType, readScalar(b, loc, value));

  int64_t rank = shape.size();
  if (static_cast<int64_t>(keptDims.size()) == rank)
    return emitTranspose(b, loc, value, invertPermutationVector(keptDims));
  Value empty = createEmpty(b, loc, resultType);
  if (isOrdered) {
    SmallVector<int64_t> added;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(keptDims, dim))
        added.push_back(dim);
    return linalg::BroadcastOp::create(b, loc, value, empty, added)
        ->getResult(0);
  }
  SmallVector<AffineExpr> places;
  for (int64_t dim : keptDims)
    places.push_back(b.getAffineDimExpr(dim));
  AffineMap maps[] = {AffineMap::get(rank, 0, places, b.getContext()),
                      b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, resultType, value, empty, maps, loops,
             [](OpBuilder &b, Location loc, ValueRange elements) {
               linalg::YieldOp::create(b, loc, elements.front());
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

namespace {

struct LowerBroadcast : OpConversionPattern<stablehlo::BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::BroadcastInDimOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitBroadcast(rewriter, op.getLoc(),
                                         adaptor.getOperand(),
                                         op.getBroadcastDimensions(),
                                         op.getType().getShape()));
    return success();
  }
};

struct LowerTranspose : OpConversionPattern<stablehlo::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::TransposeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitTranspose(rewriter, op.getLoc(),
                                         adaptor.getOperand(),
                                         op.getPermutation()));
    return success();
  }
};

struct LowerReshape : OpConversionPattern<stablehlo::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       emitReshape(rewriter, op.getLoc(), adaptor.getOperand(),
                                   op.getType().getShape()));
    return success();
  }
};

struct LowerReverse : OpConversionPattern<stablehlo::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReverseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand();
    RankedTensorType type = getTensorType(operand);
    int64_t rank = type.getRank();
    SmallVector<AffineExpr> places;
    for (int64_t dim = 0; dim < rank; ++dim)
      places.push_back(rewriter.getAffineDimExpr(dim));
    bool movesAny = false;
    for (int64_t dim : op.getDimensions()) {
      if (type.getDimSize(dim) <= 1)
        continue;
      places[dim] = type.getDimSize(dim) - 1 - places[dim];
      movesAny = true;
    }
    if (!movesAny || isEmpty(type.getShape())) {
      rewriter.replaceOp(op, operand);
      return success();
    }
    AffineMap maps[] = {AffineMap::get(rank, 0, places, getContext()),
                        rewriter.getMultiDimIdentityMap(rank)};
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto reversed = linalg::GenericOp::create(
        rewriter, op.getLoc(), type, operand,
        createEmpty(rewriter, op.getLoc(), type), maps, loops,
        [](OpBuilder &b, Location loc, ValueRange elements) {
          linalg::YieldOp::create(b, loc, elements.front());
        });
    rewriter.replaceOp(op, reversed);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

struct LowerConcatenate : OpConversionPattern<stablehlo::ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ConcatenateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value part : adaptor.getInputs())
      if (!isEmpty(getTensorType(part).getShape()))
        parts.push_back(part);
    auto type =
        cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    if (parts.empty())
      rewriter.replaceOp(op, createEmpty(rewriter, op.getLoc(), type));
    else if (parts.size() == 1)
      rewriter.replaceOp(op, parts.front());
    else
      rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, type, op.getDimension(),
                                                    parts);
    return success();
  }
};

/// Returns the part of `value` from `starts`, of `sizes` elements with `steps`
/// between them.
Value emitStridedSlice(OpBuilder &b, Location loc, Value value,
                       ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> steps) {
  RankedTensorType type = getTensorType(value);
  if (isEmpty(sizes))
    return createEmpty(b, loc, type.clone(sizes));
  if (type.getShape() == sizes)
    return value;
  SmallVector<int64_t> usedSteps(steps);
  for (auto [step, size] : llvm::zip_equal(usedSteps, sizes))
    if (size == 1)
      step = 1;
  return tensor::ExtractSliceOp::create(
      b, loc, value, getAsIndexOpFoldResult(b.getContext(), starts),
      getAsIndexOpFoldResult(b.getContext(), sizes),
      getAsIndexOpFoldResult(b.getContext(), usedSteps));
}

struct LowerSlice : OpConversionPattern<stablehlo::SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, emitStridedSlice(rewriter, op.getLoc(), adaptor.getOperand(),
                             op.getStartIndices(), op.getType().getShape(),
                             op.getStrides()));
    return success();
  }
};

struct LowerPad : OpConversionPattern<stablehlo::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::PadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type =
        cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    if (isEmpty(type.getShape())) {
      rewriter.replaceOp(op, createEmpty(rewriter, loc, type));
      return success();
    }
    Value operand = adaptor.getOperand();
    Value scalar = readScalar(rewriter, loc, adaptor.getPaddingValue());

    // Element k of a dimension has place low + k * step in the result. Elements
    // with places from 0 to the size of the result are kept.
    int64_t rank = type.getRank();
    SmallVector<int64_t> starts, sizes, places, steps, high;
    bool isSpread = false, isMoved = false;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t size = getTensorType(operand).getDimSize(dim);
      int64_t resultSize = type.getDimSize(dim);
      int64_t low = op.getEdgePaddingLow()[dim];
      int64_t step = op.getInteriorPadding()[dim] + 1;
      int64_t first = std::max<int64_t>(0, divideCeilSigned(-low, step));
      int64_t last =
          std::min(size - 1, divideFloorSigned(resultSize - 1 - low, step));
      if (first > last) {
        rewriter.replaceOp(op, createFilled(rewriter, loc, type, scalar));
        return success();
      }
      starts.push_back(first);
      sizes.push_back(last - first + 1);
      places.push_back(low + first * step);
      steps.push_back(first == last ? 1 : step);
      high.push_back(resultSize - 1 - (low + last * step));
      isSpread |= steps.back() != 1;
      isMoved |= resultSize != sizes.back();
    }
    SmallVector<int64_t> ones(rank, 1);
    Value part = emitStridedSlice(rewriter, loc, operand, starts, sizes, ones);
    if (isSpread) {
      Value filled = createFilled(rewriter, loc, type, scalar);
      rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
          op, part, filled, getAsIndexOpFoldResult(getContext(), places),
          getAsIndexOpFoldResult(getContext(), sizes),
          getAsIndexOpFoldResult(getContext(), steps));
    } else if (isMoved) {
      rewriter.replaceOpWithNewOp<tensor::PadOp>(
          op, type, part, getAsIndexOpFoldResult(getContext(), places),
          getAsIndexOpFoldResult(getContext(), high), scalar);
    } else {
      rewriter.replaceOp(op, part);
    }
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Parts at computed places
//===----------------------------------------------------------------------===//

/// Returns the least and the largest value of `index`, if it is the induction
/// variable of a loop with constant bounds that runs.
std::optional<std::pair<int64_t, int64_t>> getLoopRange(Value index) {
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getArgNumber() != 0)
    return std::nullopt;
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return std::nullopt;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  if (!lower || !upper || *lower >= *upper)
    return std::nullopt;
  return std::pair(*lower, *upper - 1);
}

/// Returns where a slice of `sizes` begins in a tensor of `shape`: at `starts`,
/// scalars, moved so that the slice is within the tensor.
SmallVector<OpFoldResult> clampStarts(OpBuilder &b, Location loc,
                                      ValueRange starts, bool isUnsigned,
                                      ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> places;
  for (auto [start, size, part] : llvm::zip_equal(starts, shape, sizes)) {
    int64_t limit = size - part;
    if (limit == 0) {
      places.push_back(b.getIndexAttr(0));
      continue;
    }
    Value scalar = readScalar(b, loc, start);
    if (APInt value; matchPattern(scalar, m_ConstantInt(&value))) {
      int64_t place;
      if (isUnsigned)
        place = value.getLimitedValue(limit);
      else if (value.isNegative())
        place = 0;
      else
        place = value.getLimitedValue(limit);
      places.push_back(b.getIndexAttr(place));
      continue;
    }
    // The number of an iteration may be known to be in range.
    if (auto cast = scalar.getDefiningOp<arith::IndexCastOp>()) {
      auto range = getLoopRange(cast.getIn());
      unsigned bits = scalar.getType().getIntOrFloatBitWidth() - !isUnsigned;
      if (range && range->first >= 0 && range->second <= limit &&
          (bits >= 63 || range->second < (int64_t(1) << bits))) {
        places.push_back(cast.getIn());
        continue;
      }
    }
    Type type = b.getIndexType();
    Value most = arith::ConstantIndexOp::create(b, loc, limit);
    Value index;
    if (isUnsigned) {
      index = arith::IndexCastUIOp::create(b, loc, type, scalar);
      index = arith::MinUIOp::create(b, loc, index, most);
    } else {
      index = arith::IndexCastOp::create(b, loc, type, scalar);
      Value least = arith::ConstantIndexOp::create(b, loc, 0);
      index = arith::MaxSIOp::create(b, loc, index, least);
      index = arith::MinSIOp::create(b, loc, index, most);
    }
    places.push_back(index);
  }
  return places;
}

/// Returns true if the integers of `starts` are unsigned.
bool areUnsigned(ValueRange starts) {
  return !starts.empty() &&
         getElementTypeOrSelf(starts.front().getType()).isUnsignedInteger();
}

struct LowerDynamicSlice : OpConversionPattern<stablehlo::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::DynamicSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand();
    RankedTensorType type = getTensorType(operand);
    ArrayRef<int64_t> sizes = op.getSliceSizes();
    if (isEmpty(sizes)) {
      rewriter.replaceOp(op,
                         createEmpty(rewriter, op.getLoc(), type.clone(sizes)));
      return success();
    }
    if (sizes == type.getShape()) {
      rewriter.replaceOp(op, operand);
      return success();
    }
    SmallVector<OpFoldResult> places =
        clampStarts(rewriter, op.getLoc(), adaptor.getStartIndices(),
                    areUnsigned(op.getStartIndices()), type.getShape(), sizes);
    SmallVector<int64_t> ones(sizes.size(), 1);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, operand, places, getAsIndexOpFoldResult(getContext(), sizes),
        getAsIndexOpFoldResult(getContext(), ones));
    return success();
  }
};

struct LowerDynamicUpdateSlice
    : OpConversionPattern<stablehlo::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand(), update = adaptor.getUpdate();
    ArrayRef<int64_t> shape = getTensorType(operand).getShape();
    ArrayRef<int64_t> sizes = getTensorType(update).getShape();
    if (isEmpty(sizes)) {
      rewriter.replaceOp(op, operand);
      return success();
    }
    if (sizes == shape) {
      rewriter.replaceOp(op, update);
      return success();
    }
    SmallVector<OpFoldResult> places =
        clampStarts(rewriter, op.getLoc(), adaptor.getStartIndices(),
                    areUnsigned(op.getStartIndices()), shape, sizes);
    SmallVector<int64_t> ones(sizes.size(), 1);
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, update, operand, places,
        getAsIndexOpFoldResult(getContext(), sizes),
        getAsIndexOpFoldResult(getContext(), ones));
    return success();
  }
};

} // namespace

void mlir::pathways::populateShapePatterns(const TypeConverter &types,
                                           RewritePatternSet &patterns) {
  patterns.add<LowerBroadcast, LowerConcatenate, LowerDynamicSlice,
               LowerDynamicUpdateSlice, LowerPad, LowerReshape, LowerReverse,
               LowerSlice, LowerTranspose>(types, patterns.getContext());
}
