//===- Gather.cpp - Lookups of slices by index ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lookup becomes a loop over its result that reads the element at the given
// index. The index does not change in the inner loops, which copy, so they read
// and check it once. Ops around a lookup are fused with it as with any other
// loop.
//
// A table of f16 or bf16 is not widened: only the rows that are read are.
//
// Slices are scattered one after the other, in place if the destination has no
// later reader.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns coordinate `position` of each lookup: a tensor of the leading
/// dimensions of the indices.
static Value getCoordinates(ImplicitLocOpBuilder &b,
                            TypedValue<RankedTensorType> indices,
                            int64_t position) {
  RankedTensorType type = indices.getType();
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      strides(rank, b.getIndexAttr(1)), sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  offsets.back() = b.getIndexAttr(position);
  sizes.back() = b.getIndexAttr(1);
  auto result =
      RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  return tensor::ExtractSliceOp::create(b, result, indices, offsets, sizes,
                                        strides);
}

static Value toIndex(OpBuilder &b, Location loc, Value value) {
  if (value.getType().isIndex())
    return value;
  if (value.getType().isInteger(1)) // true is 1
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

namespace {

struct DecomposeGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getResultType();
    ArrayRef<int64_t> gathered = op.getGatherDims();
    int64_t numLeading = op.getIndicesType().getRank() - 1;
    int64_t sourceRank = op.getSourceType().getRank();
    bool keepsDims = type.getRank() == numLeading + sourceRank;
    if (type.getNumElements() == 0) { // A slice of no indices cannot exist.
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type.getShape(),
                                                   type.getElementType());
      return success();
    }

    SmallVector<Value> inputs;
    for (size_t i = 0; i < gathered.size(); ++i)
      inputs.push_back(getCoordinates(b, op.getIndices(), i));
    AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    SmallVector<AffineMap> maps(
        inputs.size(),
        AffineMap::get(type.getRank(), 0,
                       identity.getResults().take_front(numLeading),
                       b.getContext()));
    maps.push_back(identity);
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    Value empty =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    auto generic = linalg::GenericOp::create(
        b, type, inputs, empty, maps, iterators,
        [&](OpBuilder &inner, Location loc, ValueRange arguments) {
          SmallVector<Value> subscripts;
          int64_t loop = numLeading;
          for (int64_t dim = 0; dim < sourceRank; ++dim) {
            auto at = llvm::find(gathered, dim);
            if (at == gathered.end()) {
              subscripts.push_back(linalg::IndexOp::create(inner, loc, loop++));
              continue;
            }
            subscripts.push_back(
                toIndex(inner, loc, arguments[at - gathered.begin()]));
            loop += keepsDims;
          }
          auto element =
              tensor::ExtractOp::create(inner, loc, op.getSource(), subscripts);
          element->setAttr(kernel::kLateAssertAttrName, inner.getUnitAttr());
          linalg::YieldOp::create(inner, loc, element.getResult());
        });
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

struct DecomposeScatter : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ScatterOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType source = op.getSourceType();
    if (source.getNumElements() == 0) {
      rewriter.replaceOp(op, op.getDest());
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value zero = arith::ConstantIndexOp::create(b, 0),
          one = arith::ConstantIndexOp::create(b, 1);
    int64_t numLeading = op.getIndicesType().getRank() - 1;
    SmallVector<Value> lows(numLeading, zero), steps(numLeading, one), highs;
    for (int64_t size : source.getShape().take_front(numLeading))
      highs.push_back(arith::ConstantIndexOp::create(b, size));
    scf::LoopNest nest = scf::buildLoopNest(
        b, op.getLoc(), lows, highs, steps, {op.getDest()},
        [&](OpBuilder &inner, Location loc, ValueRange loops,
            ValueRange carried) -> scf::ValueVector {
          return {insertSlice(inner, loc, op, loops, carried[0])};
        });
    // There is one slice, and no loop, if there are no leading dimensions.
    rewriter.replaceOp(op,
                       nest.loops.empty()
                           ? insertSlice(b, op.getLoc(), op, {}, op.getDest())
                           : nest.loops.front().getResult(0));
    return success();
  }

private:
  /// Returns `dest` with the slice of `op` at the indices `loops` inserted.
  static Value insertSlice(OpBuilder &b, Location loc, tensor::ScatterOp op,
                           ValueRange loops, Value dest) {
    RankedTensorType source = op.getSourceType(), type = op.getDestType();
    int64_t numLeading = loops.size(),
            numSliced = source.getRank() - numLeading;
    SmallVector<OpFoldResult> offsets(loops.begin(), loops.end()),
        sizes(numLeading, b.getIndexAttr(1));
    offsets.append(numSliced, b.getIndexAttr(0));
    ArrayRef<int64_t> shape = source.getShape().take_back(numSliced);
    for (int64_t size : shape)
      sizes.push_back(b.getIndexAttr(size));
    SmallVector<OpFoldResult> strides(source.getRank(), b.getIndexAttr(1));
    Value slice = tensor::ExtractSliceOp::create(
        b, loc, RankedTensorType::get(shape, source.getElementType()),
        op.getSource(), offsets, sizes, strides);

    SmallVector<OpFoldResult> places(type.getRank(), b.getIndexAttr(0)),
        extents;
    for (int64_t size : type.getShape())
      extents.push_back(b.getIndexAttr(size));
    SmallVector<Value> at(loops.begin(), loops.end());
    for (auto [position, dim] : llvm::enumerate(op.getScatterDims())) {
      at.push_back(arith::ConstantIndexOp::create(b, loc, position));
      Value index = tensor::ExtractOp::create(b, loc, op.getIndices(), at);
      at.pop_back();
      places[dim] = toIndex(b, loc, index);
      extents[dim] = b.getIndexAttr(1);
    }
    return tensor::InsertSliceOp::create(
        b, loc, slice, dest, places, extents,
        SmallVector<OpFoldResult>(type.getRank(), b.getIndexAttr(1)));
  }
};

/// Widens the looked-up values instead of the table.
struct GatherBeforeWidening : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    auto wide = op.getSource().getDefiningOp<arith::ExtFOp>();
    if (!wide)
      return failure();
    Type narrow = getElementTypeOrSelf(wide.getIn().getType());
    auto gather = tensor::GatherOp::create(
        rewriter, op.getLoc(), op.getResultType().clone(narrow), wide.getIn(),
        op.getIndices(), op.getGatherDims(), op.getUnique());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getResultType(),
                                               gather.getResult());
    return success();
  }
};

} // namespace

void kernel::addGatherPatterns(RewritePatternSet &patterns) {
  patterns.add<GatherBeforeWidening>(patterns.getContext(), /*benefit=*/2);
  patterns.add<DecomposeGather, DecomposeScatter>(patterns.getContext());
}
