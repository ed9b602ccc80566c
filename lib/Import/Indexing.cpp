//===- Indexing.cpp - Gather and scatter ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gather of rows becomes a tensor.gather, and any other one a linalg.generic
// that reads an element for each element of the result.
//
// A scatter becomes loops over its updates, in row-major order. All dimensions
// of a window that no index moves are one row: the loops read rows, combine
// them and write them back, in place. What is out of range is combined with a
// row that is there, and that row is written back as it was.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "Reduction.h"
#include "Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// The indices of a gather or a scatter, and the dimensions that they move.
struct IndexTensor {
  RankedTensorType type; ///< in the program
  int64_t vectorDim;     ///< the rank if each index is one element
  ArrayRef<int64_t> map; ///< the dimension that each element of an index moves

  Type getElement() const { return type.getElementType(); }
  bool hasVectors() const { return vectorDim < type.getRank(); }
  /// Returns the number among the dimensions that are not of vectors.
  int64_t getBatchNumber(int64_t dim) const { return dim - (dim > vectorDim); }
  bool moves(int64_t dim) const { return llvm::is_contained(map, dim); }
};

struct LowerGather : OpConversionPattern<stablehlo::GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct LowerScatter : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// Returns element `i` of each index: a tensor without the dimension of
/// vectors.
static Value getIndexElements(OpBuilder &b, Location loc, Value indices,
                              const IndexTensor &tensor, int64_t i) {
  if (!tensor.hasVectors())
    return indices;
  int64_t rank = tensor.type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  offsets[tensor.vectorDim] = b.getIndexAttr(i);
  SmallVector<int64_t> sizes(tensor.type.getShape()), kept;
  sizes[tensor.vectorDim] = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != tensor.vectorDim)
      kept.push_back(dim);
  return emitSlice(b, loc, indices, offsets, sizes, kept);
}

LogicalResult
LowerGather::matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto dims = op.getDimensionNumbers();
  auto type =
      cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
  Value operand = adaptor.getOperand();
  auto operandType = cast<RankedTensorType>(operand.getType());
  if (type.getNumElements() == 0 || operandType.getNumElements() == 0) {
    // There is nothing to read in a slice without elements.
    Value zero = createConstant(rewriter, loc, type.getElementType(), 0.0);
    rewriter.replaceOp(op, createFilled(rewriter, loc, type, zero));
    return success();
  }

  IndexTensor indices{cast<RankedTensorType>(op.getStartIndices().getType()),
                      dims.getIndexVectorDim(), dims.getStartIndexMap()};
  ArrayRef<int64_t> sizes = op.getSliceSizes(),
                    offsetDims = dims.getOffsetDims();
  int64_t rank = operandType.getRank(), resultRank = type.getRank(),
          batchRank = resultRank - offsetDims.size();
  SmallVector<Value> starts;
  for (auto [i, dim] : llvm::enumerate(indices.map))
    starts.push_back(emitClampedIndices(
        rewriter, loc,
        getIndexElements(rewriter, loc, adaptor.getStartIndices(), indices, i),
        indices.getElement(), 0, operandType.getDimSize(dim) - sizes[dim]));

  // Dimensions of the operand that run in the result, and dimensions of the
  // result that run over indices.
  SmallVector<int64_t> keptDims, batchDims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(dims.getOperandBatchingDims(), dim))
      keptDims.push_back(dim);
  for (int64_t dim = 0; dim < resultRank; ++dim)
    if (!llvm::is_contained(offsetDims, dim))
      batchDims.push_back(dim);

  if (batchRank == 0) {
    SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
    for (auto [dim, start] : llvm::zip(indices.map, starts))
      offsets[dim] = emitIndex(rewriter, loc, readScalar(rewriter, loc, start));
    rewriter.replaceOp(
        op, emitSlice(rewriter, loc, operand, offsets, sizes, keptDims));
    return success();
  }

  const bool takesRows =
      starts.size() == 1 && dims.getOperandBatchingDims().empty() &&
      llvm::all_of(llvm::seq(rank), [&](int64_t dim) {
        return sizes[dim] ==
               (indices.moves(dim) ? 1 : operandType.getDimSize(dim));
      });
  if (takesRows) {
    SmallVector<int64_t> shape;
    for (int64_t dim : batchDims)
      shape.push_back(type.getDimSize(dim));
    SmallVector<int64_t> indexShape(shape), rowsShape(shape);
    indexShape.push_back(1);
    // A row has all dimensions but the one that indices move. The operation may
    // drop others, and keep that one, where the size is 1.
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!indices.moves(dim))
        rowsShape.push_back(sizes[dim]);
    for (int64_t dim : keptDims)
      shape.push_back(sizes[dim]);
    Value rows = tensor::GatherOp::create(
        rewriter, loc, RankedTensorType::get(rowsShape, type.getElementType()),
        operand, emitReshape(rewriter, loc, starts.front(), indexShape),
        indices.map);
    rows = emitReshape(rewriter, loc, rows, shape);
    SmallVector<int64_t> permutation;
    for (int64_t dim = 0, batch = 0, offset = batchRank; dim < resultRank;
         ++dim)
      permutation.push_back(llvm::is_contained(offsetDims, dim) ? offset++
                                                                : batch++);
    if (!llvm::is_sorted(permutation))
      rows = emitTranspose(rewriter, loc, rows, permutation);
    rewriter.replaceOp(op, rows);
    return success();
  }

  SmallVector<AffineExpr> batchPlaces;
  for (int64_t dim : batchDims)
    batchPlaces.push_back(rewriter.getAffineDimExpr(dim));
  SmallVector<AffineMap> maps(
      starts.size(), AffineMap::get(resultRank, 0, batchPlaces, getContext()));
  maps.push_back(rewriter.getMultiDimIdentityMap(resultRank));
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  OpBuilder::InsertionGuard guard(rewriter);
  auto generic = createGeneric(rewriter, loc, starts, empty, maps, {});
  SmallVector<Value> places(rank);
  auto add = [&](int64_t dim, Value value) {
    Value &place = places[dim];
    place = place ? arith::AddIOp::create(rewriter, loc, place, value) : value;
  };
  for (auto [dim, indicesDim] : llvm::zip(dims.getOperandBatchingDims(),
                                          dims.getStartIndicesBatchingDims()))
    add(dim, linalg::IndexOp::create(
                 rewriter, loc, batchDims[indices.getBatchNumber(indicesDim)]));
  for (auto [dim, start] : llvm::zip(indices.map, generic.getRegionInputArgs()))
    add(dim, emitIndex(rewriter, loc, start));
  for (auto [dim, resultDim] : llvm::zip(keptDims, offsetDims))
    if (sizes[dim] != 1)
      add(dim, linalg::IndexOp::create(rewriter, loc, resultDim));
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!places[dim])
      places[dim] = createIndex(rewriter, loc, 0);
  Value element = tensor::ExtractOp::create(rewriter, loc, operand, places);
  linalg::YieldOp::create(rewriter, loc, element);
  rewriter.replaceOp(op, generic->getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

LogicalResult
LowerScatter::matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto dims = op.getScatterDimensionNumbers();
  Region &region = op.getUpdateComputation();
  auto inputType = cast<RankedTensorType>(op.getInputs().front().getType());
  auto updateType = cast<RankedTensorType>(op.getUpdates().front().getType());
  int64_t rank = inputType.getRank(), updateRank = updateType.getRank();
  size_t count = op.getInputs().size();
  SmallVector<Value> inits, updates;
  for (size_t i = 0; i < count; ++i) {
    Type from = getElementTypeOrSelf(op.getInputs()[i].getType());
    Type to = getElementTypeOrSelf(
        getTypeConverter()->convertType(op.getResult(i).getType()));
    inits.push_back(
        convertElements(rewriter, loc, adaptor.getInputs()[i], from, to));
    updates.push_back(
        convertElements(rewriter, loc, adaptor.getUpdates()[i], from, to));
  }
  if (inputType.getNumElements() == 0 || updateType.getNumElements() == 0) {
    rewriter.replaceOp(op, inits);
    return success();
  }

  IndexTensor indices{cast<RankedTensorType>(op.getScatterIndices().getType()),
                      dims.getIndexVectorDim(),
                      dims.getScatterDimsToOperandDims()};
  // Dimensions of updates that run over indices, and for each dimension of the
  // inputs the one that runs in a window, or -1.
  SmallVector<int64_t> batchDims, windowDims(rank, -1);
  for (int64_t dim = 0; dim < updateRank; ++dim)
    if (!llvm::is_contained(dims.getUpdateWindowDims(), dim))
      batchDims.push_back(dim);
  for (int64_t dim = 0, window = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims.getInsertedWindowDims(), dim) &&
        !llvm::is_contained(dims.getInputBatchingDims(), dim))
      windowDims[dim] = dims.getUpdateWindowDims()[window++];

  // Dimensions of inputs and of updates that run in a row: no index moves them,
  // so they begin at 0 and cannot be out of range.
  SmallVector<int64_t> rowDims, updateRowDims;
  SmallVector<int64_t> loops(updateType.getShape());
  SmallVector<int64_t> rowSizes(rank, 1), updateRowSizes(updateRank, 1);
  int64_t rowLength = 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t updateDim = windowDims[dim];
    if (updateDim < 0 || indices.moves(dim))
      continue;
    rowDims.push_back(dim);
    updateRowDims.push_back(updateDim);
    rowSizes[dim] = updateRowSizes[updateDim] = loops[updateDim];
    rowLength *= loops[updateDim];
    loops[updateDim] = 1;
  }

  auto emitUpdate = [&](ValueRange places,
                        ValueRange tensors) -> FailureOr<SmallVector<Value>> {
    // Find the row.
    SmallVector<Value> indexPlaces(indices.type.getRank());
    for (int64_t dim = 0; dim < indices.type.getRank(); ++dim)
      if (dim != indices.vectorDim)
        indexPlaces[dim] = places[batchDims[indices.getBatchNumber(dim)]];
    Value zero = createIndex(rewriter, loc, 0), isInside;
    SmallVector<Value> inputPlaces(rank, zero);
    for (auto [dim, indicesDim] : llvm::zip(
             dims.getInputBatchingDims(), dims.getScatterIndicesBatchingDims()))
      inputPlaces[dim] = places[batchDims[indices.getBatchNumber(indicesDim)]];
    for (auto [i, dim] : llvm::enumerate(indices.map)) {
      if (indices.hasVectors())
        indexPlaces[indices.vectorDim] = createIndex(rewriter, loc, i);
      Value start = tensor::ExtractOp::create(
          rewriter, loc, adaptor.getScatterIndices(), indexPlaces);
      int64_t updateDim = windowDims[dim], size = inputType.getDimSize(dim);
      int64_t length = updateDim < 0 ? 1 : updateType.getDimSize(updateDim);
      // A start that is further away has no place in range, either.
      start =
          emitIndex(rewriter, loc,
                    emitClampedIndices(rewriter, loc, start,
                                       indices.getElement(), -length, size));
      if (length > 1)
        start = arith::AddIOp::create(rewriter, loc, start, places[updateDim]);
      inputPlaces[dim] = start;
      // Negative numbers are large without their sign.
      Value isHere =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, start,
                                createIndex(rewriter, loc, size));
      isInside = isInside
                     ? arith::AndIOp::create(rewriter, loc, isInside, isHere)
                     : isHere;
    }
    for (int64_t dim : indices.map)
      inputPlaces[dim] = arith::SelectOp::create(rewriter, loc, isInside,
                                                 inputPlaces[dim], zero);
    auto combine = [&](ValueRange elements,
                       ValueRange added) -> FailureOr<SmallVector<Value>> {
      SmallVector<Value> arguments(elements);
      llvm::append_range(arguments, added);
      auto results = emitScalarRegion(rewriter, region, arguments);
      if (failed(results))
        return failure();
      if (isInside)
        for (auto [result, element] : llvm::zip(*results, elements))
          result =
              arith::SelectOp::create(rewriter, loc, isInside, result, element);
      return results;
    };

    SmallVector<Value> results;
    if (rowLength == 1) {
      SmallVector<Value> elements, added;
      for (size_t i = 0; i < count; ++i) {
        elements.push_back(
            tensor::ExtractOp::create(rewriter, loc, tensors[i], inputPlaces));
        added.push_back(
            tensor::ExtractOp::create(rewriter, loc, updates[i], places));
      }
      auto combined = combine(elements, added);
      if (failed(combined))
        return failure();
      for (auto [element, tensor] : llvm::zip(*combined, tensors))
        results.push_back(tensor::InsertOp::create(rewriter, loc, element,
                                                   tensor, inputPlaces));
      return results;
    }

    SmallVector<OpFoldResult> offsets(getAsOpFoldResult(inputPlaces)),
        updateOffsets(getAsOpFoldResult(places));
    SmallVector<Value> rows, added;
    for (size_t i = 0; i < count; ++i) {
      rows.push_back(
          emitSlice(rewriter, loc, tensors[i], offsets, rowSizes, rowDims));
      added.push_back(emitSlice(rewriter, loc, updates[i], updateOffsets,
                                updateRowSizes, updateRowDims));
    }
    SmallVector<AffineMap> maps(
        2 * count, rewriter.getMultiDimIdentityMap(rowDims.size()));
    linalg::GenericOp generic;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      generic = createGeneric(rewriter, loc, added, rows, maps, {});
      auto combined =
          combine(SmallVector<Value>(
                      llvm::to_vector_of<Value>(generic.getRegionOutputArgs())),
                  SmallVector<Value>(
                      llvm::to_vector_of<Value>(generic.getRegionInputArgs())));
      if (failed(combined))
        return failure();
      linalg::YieldOp::create(rewriter, loc, *combined);
    }
    for (auto [row, tensor] : llvm::zip(generic->getResults(), tensors))
      results.push_back(
          emitInsertSlice(rewriter, loc, row, tensor, offsets, rowSizes));
    return results;
  };
  auto results = emitLoops(rewriter, loc, loops, inits, emitUpdate);
  if (failed(results))
    return failure();
  rewriter.replaceOp(op, *results);
  return success();
}

void mlir::pathways::populateIndexingPatterns(const TypeConverter &types,
                                              RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerScatter>(types, patterns.getContext());
}
