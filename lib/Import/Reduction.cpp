//===- Reduction.cpp - Reductions and maps --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction becomes a linalg.generic that combines elements in the order in
// which they lie in memory, beginning with the init value.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "Shape.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value mlir::pathways::convertElements(OpBuilder &b, Location loc, Value value,
                                      Type from, Type to) {
  Type own = getElementTypeOrSelf(value.getType());
  if (own == to)
    return value;
  auto as = [&](Type element) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor ? tensor.clone(element) : element;
  };
  const bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (isa<IntegerType>(own) && isa<FloatType>(to))
    return isUnsigned
               ? arith::UIToFPOp::create(b, loc, as(to), value).getResult()
               : arith::SIToFPOp::create(b, loc, as(to), value).getResult();
  unsigned fromBits = own.getIntOrFloatBitWidth(),
           toBits = to.getIntOrFloatBitWidth();
  if (isa<IntegerType>(own)) {
    if (fromBits > toBits)
      return arith::TruncIOp::create(b, loc, as(to), value);
    if (isUnsigned)
      return arith::ExtUIOp::create(b, loc, as(to), value);
    return arith::ExtSIOp::create(b, loc, as(to), value);
  }
  if (fromBits < toBits)
    return arith::ExtFOp::create(b, loc, as(to), value);
  Type f32 = b.getF32Type();
  if (own != f32)
    value = fromBits < 32
                ? arith::ExtFOp::create(b, loc, as(f32), value).getResult()
                : arith::TruncFOp::create(b, loc, as(f32), value).getResult();
  return to == f32 ? value
                   : arith::TruncFOp::create(b, loc, as(to), value).getResult();
}

Value mlir::pathways::createFilled(OpBuilder &b, Location loc,
                                   RankedTensorType type, Value scalar) {
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  if (llvm::is_contained(type.getShape(), 0))
    return empty;
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}

linalg::GenericOp mlir::pathways::createGeneric(ConversionPatternRewriter &b,
                                                Location loc, ValueRange inputs,
                                                ValueRange inits,
                                                ArrayRef<AffineMap> maps,
                                                ArrayRef<int64_t> reductions) {
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  for (int64_t dim : reductions)
    iterators[dim] = utils::IteratorType::reduction;
  auto op = linalg::GenericOp::create(b, loc, inits.getTypes(), inputs, inits,
                                      maps, iterators);
  SmallVector<Type> types;
  for (Value operand : op->getOperands())
    types.push_back(getElementTypeOrSelf(operand.getType()));
  b.createBlock(&op.getRegion(), op.getRegion().end(), types,
                SmallVector<Location>(types.size(), loc));
  return op;
}

AffineMap mlir::pathways::getLeadingDims(Builder &b, int64_t numLoops,
                                         int64_t rank) {
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(b.getAffineDimExpr(dim));
  return AffineMap::get(numLoops, 0, dims, b.getContext());
}

//===----------------------------------------------------------------------===//
// Combiner
//===----------------------------------------------------------------------===//

/// Returns the type in which the program combines operand `i` in `region`.
static Type getProgramType(Region &region, unsigned i) {
  return getElementTypeOrSelf(region.getArgument(i).getType());
}

Combiner::Combiner(Region &region)
    : region(region), only(getOnlyOperation(region)) {
  for (unsigned i = 0, e = region.getNumArguments() / 2; i < e; ++i)
    types.push_back(removeSign(getProgramType(region, i)));
  if (isa_and_nonnull<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp,
                      stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp,
                      stablehlo::XorOp>(only)) {
    isByte = types.front().isInteger(1);
    if (isByte)
      types.front() = IntegerType::get(region.getContext(), 8);
  } else {
    only = nullptr;
  }
}

Value Combiner::prepare(OpBuilder &b, Value value, unsigned i,
                        Type from) const {
  return convertElements(b, region.getLoc(), value, from, types[i]);
}

Value Combiner::finish(OpBuilder &b, Value value, unsigned i) const {
  return isByte ? convertElements(b, region.getLoc(), value, types[i],
                                  b.getI1Type())
                : value;
}

FailureOr<SmallVector<Value>> Combiner::combine(ConversionPatternRewriter &b,
                                                ValueRange lefts,
                                                ValueRange rights) const {
  Type type = types.front();
  Value left = lefts.front(), right = rights.front();
  Location loc = only ? only->getLoc() : region.getLoc();
  if (isByte) {
    if (isa<stablehlo::XorOp>(only))
      return SmallVector<Value>{arith::XOrIOp::create(b, loc, left, right)};
    if (isa<stablehlo::AddOp, stablehlo::MaxOp, stablehlo::OrOp>(only))
      return SmallVector<Value>{arith::MaxSIOp::create(b, loc, left, right)};
    return SmallVector<Value>{arith::MinSIOp::create(b, loc, left, right)};
  }
  // These need no rounding, so they can be computed in lanes.
  if (type.isF16() || type.isBF16()) {
    if (isa_and_nonnull<stablehlo::MaxOp>(only))
      return SmallVector<Value>{arith::MaximumFOp::create(b, loc, left, right)};
    if (isa_and_nonnull<stablehlo::MinOp>(only))
      return SmallVector<Value>{arith::MinimumFOp::create(b, loc, left, right)};
  }
  SmallVector<Value> arguments(lefts);
  llvm::append_range(arguments, rights);
  return emitScalarRegion(b, region, arguments);
}

bool Combiner::isExact() const {
  return only && (isa<IntegerType>(types.front()) ||
                  isa<stablehlo::MaxOp, stablehlo::MinOp>(only));
}

bool Combiner::keepsInit(Value init) const {
  if (!only || isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::AndOp,
                   stablehlo::OrOp>(only))
    return true;
  if (isByte && !isa<stablehlo::XorOp>(only))
    return true;
  if (isa<stablehlo::MulOp>(only))
    return matchPattern(init, m_One()) || matchPattern(init, m_OneFloat());
  return matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct LowerReduce : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Combiner combiner(op.getBody());
    unsigned count = combiner.getNumOperands();
    ArrayRef<int64_t> dims = op.getDimensions();
    auto shape =
        cast<RankedTensorType>(op.getInputs().front().getType()).getShape();
    int64_t rank = shape.size();

    SmallVector<Value> inputs, inits;
    for (unsigned i = 0; i < count; ++i) {
      Type from = getElementTypeOrSelf(op.getInputs()[i].getType());
      inputs.push_back(
          combiner.prepare(rewriter, adaptor.getInputs()[i], i, from));
      Value init = readScalar(rewriter, loc, adaptor.getInitValues()[i]);
      auto type = cast<RankedTensorType>(op.getResult(i).getType())
                      .clone(combiner.getType(i));
      inits.push_back(createFilled(rewriter, loc, type,
                                   combiner.prepare(rewriter, init, i, from)));
    }
    SmallVector<Value> results(inits);
    // A sum without terms is its init value.
    if (!llvm::is_contained(shape, 0)) {
      SmallVector<AffineExpr> kept;
      for (int64_t dim = 0; dim < rank; ++dim)
        if (!llvm::is_contained(dims, dim))
          kept.push_back(rewriter.getAffineDimExpr(dim));
      SmallVector<AffineMap> maps(count, rewriter.getMultiDimIdentityMap(rank));
      maps.append(count, AffineMap::get(rank, 0, kept, getContext()));
      OpBuilder::InsertionGuard guard(rewriter);
      auto generic = createGeneric(rewriter, loc, inputs, inits, maps, dims);
      auto elements = generic.getRegionInputArgs();
      auto combined =
          combiner.combine(rewriter, generic.getRegionOutputArgs(), elements);
      if (failed(combined))
        return failure();
      linalg::YieldOp::create(rewriter, loc, *combined);
      results.assign(generic->result_begin(), generic->result_end());
    }
    for (auto [i, result] : llvm::enumerate(results))
      result = combiner.finish(rewriter, result, i);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerMap : OpConversionPattern<stablehlo::MapOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type =
        cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    if (llvm::is_contained(type.getShape(), 0)) {
      rewriter.replaceOp(op, empty);
      return success();
    }
    SmallVector<AffineMap> maps(
        op.getInputs().size() + 1,
        rewriter.getMultiDimIdentityMap(type.getRank()));
    linalg::GenericOp generic;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      generic =
          createGeneric(rewriter, loc, adaptor.getInputs(), empty, maps, {});
      auto elements = generic.getRegionInputArgs();
      auto results = emitScalarRegion(
          rewriter, op.getComputation(),
          SmallVector<Value>(elements.begin(), elements.end()));
      if (failed(results))
        return failure();
      linalg::YieldOp::create(rewriter, loc, *results);
    }
    rewriter.replaceOp(op, generic->getResults());
    return success();
  }
};

} // namespace

void mlir::pathways::populateReductionPatterns(const TypeConverter &types,
                                               RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerMap>(types, patterns.getContext());
}
