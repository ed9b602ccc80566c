//===- Product.cpp - Products and convolutions ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products and convolutions become contractions: operations of linalg that
// multiply elements of two operands and add the products. Operands are read
// where they lie, without transposes. Products of f16 and bf16 are added in
// f32 and rounded once. Products of i1 are counted in i32.
//
// A convolution adds in the order of the dimensions of its input. Groups are a
// dimension of their own, from reshapes of the operands; dilation of the input
// is padding between its elements; a reversed kernel is a copy.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "Shape.h"
#include "Types.h"
#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) { return type.isF16() || type.isBF16(); }

/// Returns the signless type in which products of two elements of `operand` are
/// added, for results of `result`.
static Type getSumType(Type operand, Type result) {
  MLIRContext *context = result.getContext();
  if (operand.isF64() || result.isF64())
    return Float64Type::get(context);
  if (isa<FloatType>(operand) || isa<FloatType>(result))
    return Float32Type::get(context);
  // A count of i8 or i16 could wrap to 0.
  if (result.isInteger(1))
    return IntegerType::get(context, 32);
  return IntegerType::get(context, result.getIntOrFloatBitWidth());
}

/// Converts `operand`, whose elements were `from` in the program, so that
/// createContraction can multiply it for sums of `sum`. Narrow floats stay
/// narrow, and so do integers if `widensInside`.
static Value prepareOperand(OpBuilder &b, Location loc, Value operand,
                            Type from, Type sum, bool widensInside) {
  if (isNarrowFloat(from) && sum.isF32())
    return operand;
  if (widensInside && isa<IntegerType>(from) && isa<IntegerType>(sum) &&
      !from.isInteger(1) &&
      from.getIntOrFloatBitWidth() < sum.getIntOrFloatBitWidth())
    return operand;
  return convertElements(b, loc, operand, from, sum);
}

/// Converts sums to elements of `to` in the program.
static Value convertSums(OpBuilder &b, Location loc, Value sums, Type to) {
  RankedTensorType type = getTensorType(sums);
  if (to.isInteger(1)) {
    Value zero =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, sums, zero);
  }
  if (auto integer = dyn_cast<IntegerType>(to))
    to = IntegerType::get(b.getContext(), integer.getWidth());
  return convertElements(b, loc, sums, type.getElementType(), to);
}

static Value createZeros(OpBuilder &b, Location loc, RankedTensorType type) {
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  return createFilled(b, loc, type, zero);
}

/// Returns the sums of products of `lhs` and `rhs`, whose elements were `from`
/// in the program. `maps` are those of the operands and of the result, which
/// has type `type`.
static Value createContraction(ConversionPatternRewriter &b, Location loc,
                               Value lhs, Value rhs, Type from,
                               RankedTensorType type, ArrayRef<AffineMap> maps,
                               ArrayRef<int64_t> reductions) {
  Value zeros = createZeros(b, loc, type);
  OpBuilder::InsertionGuard guard(b);
  auto op =
      createGeneric(b, loc, ValueRange{lhs, rhs}, zeros, maps, reductions);
  Block *body = op.getBody();
  Type sum = type.getElementType();
  Value left = convertElements(b, loc, body->getArgument(0), from, sum);
  Value right = convertElements(b, loc, body->getArgument(1), from, sum);
  Value before = body->getArgument(2), result;
  if (isa<FloatType>(sum)) {
    Value product = arith::MulFOp::create(b, loc, left, right);
    result = arith::AddFOp::create(b, loc, before, product);
  } else {
    Value product = arith::MulIOp::create(b, loc, left, right);
    result = arith::AddIOp::create(b, loc, before, product);
  }
  linalg::YieldOp::create(b, loc, result);
  return op.getResult(0);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

/// Computes sums in a type of floats and then converts them, if operands are
/// floats and the result is not. Returns failure for other operations.
template <typename Op>
LogicalResult rewriteRounded(Op op, ConversionPatternRewriter &rewriter) {
  Type from = getTensorType(op.getLhs()).getElementType();
  RankedTensorType type = op.getType();
  if (!isa<FloatType>(from) || isa<FloatType>(type.getElementType()))
    return failure();
  auto sums = cast<Op>(rewriter.clone(*op.getOperation()));
  sums.getResult().setType(type.clone(getSumType(from, type.getElementType())));
  rewriter.replaceOpWithNewOp<stablehlo::ConvertOp>(op, type, sums.getResult());
  return success();
}

struct LowerDotGeneral : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (succeeded(rewriteRounded(op, rewriter)))
      return success();
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    Type from = getTensorType(op.getLhs()).getElementType();
    Type sum = getSumType(from, type.getElementType());
    RankedTensorType sumType = type.clone(sum);
    Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
    RankedTensorType lhsType = getTensorType(lhs), rhsType = getTensorType(rhs);
    if (lhsType.getNumElements() == 0 || rhsType.getNumElements() == 0) {
      Value zeros = createZeros(rewriter, loc, sumType);
      rewriter.replaceOp(
          op, convertSums(rewriter, loc, zeros, type.getElementType()));
      return success();
    }
    lhs = prepareOperand(rewriter, loc, lhs, from, sum, /*widensInside=*/true);
    rhs = prepareOperand(rewriter, loc, rhs, from, sum, /*widensInside=*/true);

    // Loops are batching dimensions, other ones of lhs, other ones of rhs, and
    // contracting dimensions.
    stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
    int64_t numLoops = 0;
    SmallVector<AffineExpr> lhsLoops(lhsType.getRank()),
        rhsLoops(rhsType.getRank());
    SmallVector<int64_t> reductions;
    auto addLoop = [&] { return rewriter.getAffineDimExpr(numLoops++); };
    for (auto [left, right] : llvm::zip_equal(dims.getLhsBatchingDimensions(),
                                              dims.getRhsBatchingDimensions()))
      lhsLoops[left] = rhsLoops[right] = addLoop();
    for (auto [loops, contracting] :
         {std::pair{&lhsLoops, dims.getLhsContractingDimensions()},
          std::pair{&rhsLoops, dims.getRhsContractingDimensions()}})
      for (auto [dim, loop] : llvm::enumerate(*loops))
        if (!loop && !llvm::is_contained(contracting, dim))
          loop = addLoop();
    for (auto [left, right] :
         llvm::zip_equal(dims.getLhsContractingDimensions(),
                         dims.getRhsContractingDimensions())) {
      reductions.push_back(numLoops);
      lhsLoops[left] = rhsLoops[right] = addLoop();
    }
    AffineMap maps[] = {AffineMap::get(numLoops, 0, lhsLoops, getContext()),
                        AffineMap::get(numLoops, 0, rhsLoops, getContext()),
                        getLeadingDims(rewriter, numLoops, type.getRank())};
    Value sums = createNamed(rewriter, loc, lhs, rhs, sumType, maps);
    if (!sums)
      sums = createContraction(rewriter, loc, lhs, rhs, from, sumType, maps,
                               reductions);
    rewriter.replaceOp(op,
                       convertSums(rewriter, loc, sums, type.getElementType()));
    return success();
  }

  /// Returns the product of matrices, or of a batch of them, as an operation
  /// with a name, or null if it is something else.
  static Value createNamed(OpBuilder &b, Location loc, Value lhs, Value rhs,
                           RankedTensorType type, ArrayRef<AffineMap> maps) {
    if (isa<IntegerType>(type.getElementType()) &&
        getTensorType(lhs).getElementType() != type.getElementType())
      return {};
    auto isMap = [&](unsigned i, ArrayRef<unsigned> loops) {
      return maps[i] == AffineMap::getMultiDimMapWithTargets(
                            maps[i].getNumDims(), loops, b.getContext());
    };
    Value operands[] = {lhs, rhs};
    if (type.getRank() == 2 && maps[0].getNumDims() == 3 && isMap(0, {0, 2}) &&
        isMap(1, {2, 1}))
      return linalg::MatmulOp::create(b, loc, TypeRange(type),
                                      ValueRange(operands),
                                      ValueRange(createZeros(b, loc, type)))
          .getResult(0);
    if (type.getRank() == 3 && maps[0].getNumDims() == 4 &&
        isMap(0, {0, 1, 3}) && isMap(1, {0, 3, 2}))
      return linalg::BatchMatmulOp::create(
                 b, loc, TypeRange(type), ValueRange(operands),
                 ValueRange(createZeros(b, loc, type)))
          .getResult(0);
    return {};
  }
};

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// An operand or a result of a contraction: the loop expression and the size of
/// each dimension.
struct Operand {
  SmallVector<AffineExpr> exprs;
  SmallVector<int64_t> shape;

  void add(AffineExpr expr, int64_t size) {
    exprs.push_back(expr);
    shape.push_back(size);
  }
};

struct LowerConvolution : OpConversionPattern<stablehlo::ConvolutionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ConvolutionOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Returns `value` with elements in reverse order along `dims`.
Value createReversed(ConversionPatternRewriter &b, Location loc, Value value,
                     ArrayRef<int64_t> dims) {
  RankedTensorType type = getTensorType(value);
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr place = b.getAffineDimExpr(dim);
    exprs.push_back(llvm::is_contained(dims, dim)
                        ? type.getDimSize(dim) - 1 - place
                        : place);
  }
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  OpBuilder::InsertionGuard guard(b);
  auto op =
      createGeneric(b, loc, value, empty,
                    {AffineMap::get(type.getRank(), 0, exprs, b.getContext()),
                     b.getMultiDimIdentityMap(type.getRank())},
                    {});
  linalg::YieldOp::create(b, loc, op.getBody()->getArgument(0));
  return op.getResult(0);
}

} // namespace

LogicalResult
LowerConvolution::matchAndRewrite(stablehlo::ConvolutionOp op,
                                  OpAdaptor adaptor,
                                  ConversionPatternRewriter &rewriter) const {
  if (succeeded(rewriteRounded(op, rewriter)))
    return success();
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  Type from = getTensorType(op.getLhs()).getElementType();
  Type sum = getSumType(from, type.getElementType());
  Value input = adaptor.getLhs(), kernel = adaptor.getRhs();
  RankedTensorType inputType = getTensorType(input),
                   kernelType = getTensorType(kernel);
  if (type.getNumElements() == 0 || inputType.getNumElements() == 0 ||
      kernelType.getNumElements() == 0) {
    Value zeros = createZeros(rewriter, loc, type.clone(sum));
    rewriter.replaceOp(
        op, convertSums(rewriter, loc, zeros, type.getElementType()));
    return success();
  }
  input =
      prepareOperand(rewriter, loc, input, from, sum, /*widensInside=*/false);
  kernel =
      prepareOperand(rewriter, loc, kernel, from, sum, /*widensInside=*/false);

  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> inputDims = numbers.getInputSpatialDimensions(),
                    kernelDims = numbers.getKernelSpatialDimensions(),
                    outputDims = numbers.getOutputSpatialDimensions();
  int64_t rank = type.getRank(), count = outputDims.size();
  SmallVector<int64_t> strides = getListOr(op.getWindowStrides(), count),
                       dilations = getListOr(op.getRhsDilation(), count),
                       spread = getListOr(op.getLhsDilation(), count), low,
                       high;
  getPadding(op.getPaddingAttr(), count, low, high);
  auto sizeOf = [&](int64_t i) { return kernelType.getDimSize(kernelDims[i]); };

  if (std::optional<ArrayRef<bool>> reversal = op.getWindowReversal()) {
    SmallVector<int64_t> reversed;
    for (int64_t i = 0; i < count; ++i)
      if ((*reversal)[i] && sizeOf(i) > 1)
        reversed.push_back(kernelDims[i]);
    if (!reversed.empty())
      kernel = createReversed(rewriter, loc, kernel, reversed);
  }

  // Each group of features or of the batch has features of its own in the
  // output. Dimensions of size 1 beside a group are left out, so that groups
  // can be vectors.
  int64_t batchGroups = op.getBatchGroupCount(),
          featureGroups = op.getFeatureGroupCount();
  int64_t groups = batchGroups * featureGroups;
  int64_t batch = type.getDimSize(numbers.getOutputBatchDimension());
  int64_t inFeatures =
      kernelType.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t outFeatures =
      type.getDimSize(numbers.getOutputFeatureDimension()) / groups;
  int64_t numLoops = 0;
  auto addLoop = [&] { return rewriter.getAffineDimExpr(numLoops++); };

  // Loops over the output.
  AffineExpr batchLoop, groupLoop, outLoop, inLoop;
  SmallVector<AffineExpr> places(count), steps(count);
  Operand out;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == numbers.getOutputBatchDimension()) {
      batchLoop = addLoop();
      out.add(batchLoop, batch);
    } else if (dim == numbers.getOutputFeatureDimension()) {
      if (groups > 1) {
        groupLoop = addLoop();
        out.add(groupLoop, groups);
      }
      if (groups == 1 || outFeatures > 1) {
        outLoop = addLoop();
        out.add(outLoop, outFeatures);
      }
    } else {
      int64_t i = llvm::find(outputDims, dim) - outputDims.begin();
      places[i] = addLoop();
      out.add(places[i], type.getDimSize(dim));
    }
  }

  // Sums, in the order of the input.
  SmallVector<int64_t> reductions, inputLow, inputHigh, inputSpread;
  Operand in;
  auto addInput = [&](AffineExpr expr, int64_t size, int64_t i = -1) {
    in.add(expr, size);
    inputLow.push_back(i < 0 ? 0 : low[i]);
    inputHigh.push_back(i < 0 ? 0 : high[i]);
    inputSpread.push_back(i < 0 ? 1 : spread[i]);
  };
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == numbers.getInputBatchDimension()) {
      if (batchGroups > 1)
        addInput(groupLoop, groups);
      if (batchGroups == 1 || batch > 1)
        addInput(batchLoop, batch);
    } else if (dim == numbers.getInputFeatureDimension()) {
      if (featureGroups > 1)
        addInput(groupLoop, groups);
      if (featureGroups == 1 || inFeatures > 1) {
        reductions.push_back(numLoops);
        inLoop = addLoop();
        addInput(inLoop, inFeatures);
      }
    } else {
      int64_t i = llvm::find(inputDims, dim) - inputDims.begin();
      if (sizeOf(i) > 1) {
        reductions.push_back(numLoops);
        steps[i] = addLoop();
      }
      addInput(getWindowPlace(places[i], strides[i], steps[i], dilations[i]),
               inputType.getDimSize(dim), i);
    }
  }
  Operand filter;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == numbers.getKernelInputFeatureDimension()) {
      if (inLoop)
        filter.add(inLoop, inFeatures);
    } else if (dim == numbers.getKernelOutputFeatureDimension()) {
      if (groups > 1)
        filter.add(groupLoop, groups);
      if (outLoop)
        filter.add(outLoop, outFeatures);
    } else {
      int64_t i = llvm::find(kernelDims, dim) - kernelDims.begin();
      if (steps[i])
        filter.add(steps[i], sizeOf(i));
    }
  }

  input = emitReshape(rewriter, loc, input, in.shape);
  Type element = getTensorType(input).getElementType();
  Value zero = arith::ConstantOp::create(
      rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(element)));
  input =
      emitPadding(rewriter, loc, input, zero, inputLow, inputHigh, inputSpread);
  kernel = emitReshape(rewriter, loc, kernel, filter.shape);
  auto getMap = [&](const Operand &operand) {
    return AffineMap::get(numLoops, 0, operand.exprs, getContext());
  };
  Value sums = createContraction(
      rewriter, loc, input, kernel, from, RankedTensorType::get(out.shape, sum),
      {getMap(in), getMap(filter), getMap(out)}, reductions);
  sums = convertSums(rewriter, loc, sums, type.getElementType());
  rewriter.replaceOp(op, emitReshape(rewriter, loc, sums, type.getShape()));
  return success();
}

void mlir::pathways::populateProductPatterns(const TypeConverter &types,
                                             RewritePatternSet &patterns) {
  patterns.add<LowerDotGeneral, LowerConvolution>(types, patterns.getContext());
}
