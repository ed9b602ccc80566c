//===- IndexedVerifiers.cpp - Verifiers of gather and scatter -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;
using namespace mlir::pathways::stablehlo::detail;

namespace {

/// Common parts of gather and scatter: a tensor with indexed dimensions, and a
/// tensor of indices into it.
struct Indexed {
  RankedTensorType tensor, indices;
  int64_t indexVectorDim;
  // Each list with its name in the attribute.
  std::pair<StringRef, ArrayRef<int64_t>> window, omitted, tensorBatching,
      indicesBatching, indexMap;
};

} // namespace

/// Verifies that two lists name no dimension both.
static LogicalResult verifyDisjoint(Operation *op,
                                    std::pair<StringRef, ArrayRef<int64_t>> a,
                                    std::pair<StringRef, ArrayRef<int64_t>> b) {
  for (int64_t dim : a.second)
    if (llvm::is_contained(b.second, dim))
      return op->emitOpError("expected ")
             << a.first << " and " << b.first << " to differ, got " << dim
             << " in both";
  return success();
}

/// Verifies dimension numbers, where `otherRank` is the number of dimensions of
/// the result of a gather or of the updates of a scatter.
static LogicalResult verifyIndexed(Operation *op, const Indexed &all,
                                   int64_t otherRank) {
  int64_t rank = all.tensor.getRank(), indicesRank = all.indices.getRank();
  auto verifyList = [&](std::pair<StringRef, ArrayRef<int64_t>> list,
                        int64_t limit, Dims kind) {
    return verifyDims(op, list.first, list.second, limit, kind);
  };
  if (failed(verifyList(all.window, otherRank, Dims::kSorted)) ||
      failed(verifyList(all.omitted, rank, Dims::kSorted)) ||
      failed(verifyList(all.tensorBatching, rank, Dims::kSorted)) ||
      failed(verifyList(all.indicesBatching, indicesRank, Dims::kDistinct)) ||
      failed(verifyList(all.indexMap, rank, Dims::kDistinct)) ||
      failed(verifyDisjoint(op, all.omitted, all.tensorBatching)) ||
      failed(verifyDisjoint(op, all.indexMap, all.tensorBatching)) ||
      failed(verifyDim(op, "index_vector_dim", all.indexVectorDim,
                       indicesRank + 1)))
    return failure();
  size_t named = all.window.second.size() + all.omitted.second.size() +
                 all.tensorBatching.second.size();
  if (named != static_cast<size_t>(rank))
    return op->emitOpError("expected ")
           << all.window.first << ", " << all.omitted.first << " and "
           << all.tensorBatching.first << " to have " << rank
           << " dimensions together, got " << named;
  int64_t indexSize = all.indexVectorDim < indicesRank
                          ? all.indices.getDimSize(all.indexVectorDim)
                          : 1;
  if (failed(verifySize(op, all.indexMap.first, all.indexMap.second.size(),
                        indexSize)) ||
      failed(verifySize(op, all.indicesBatching.first,
                        all.indicesBatching.second.size(),
                        all.tensorBatching.second.size())))
    return failure();
  if (llvm::is_contained(all.indicesBatching.second, all.indexVectorDim))
    return op->emitOpError("expected ")
           << all.indicesBatching.first << " without index_vector_dim, got "
           << all.indexVectorDim;
  for (auto [dim, indicesDim] :
       llvm::zip(all.tensorBatching.second, all.indicesBatching.second))
    if (all.tensor.getDimSize(dim) != all.indices.getDimSize(indicesDim))
      return op->emitOpError("expected batching dimensions of the same size, "
                             "got ")
             << all.tensor.getDimSize(dim) << " and "
             << all.indices.getDimSize(indicesDim);
  return success();
}

/// The shape of the indices without the dimension of index vectors.
static SmallVector<int64_t> getBatchShape(const Indexed &all) {
  SmallVector<int64_t> shape(all.indices.getShape());
  if (all.indexVectorDim < all.indices.getRank())
    shape.erase(shape.begin() + all.indexVectorDim);
  return shape;
}

/// Sizes of the dimensions that a window runs through.
static SmallVector<int64_t> getWindowShape(const Indexed &all,
                                           ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(all.omitted.second, dim) &&
        !llvm::is_contained(all.tensorBatching.second, dim))
      shape.push_back(size);
  return shape;
}

LogicalResult GatherOp::verify() {
  GatherDimensionNumbersAttr dims = getDimensionNumbers();
  auto operand = getTensor(getOperand()), result = getTensor(getResult());
  Indexed all{
      operand,
      getTensor(getStartIndices()),
      dims.getIndexVectorDim(),
      {"offset_dims", dims.getOffsetDims()},
      {"collapsed_slice_dims", dims.getCollapsedSliceDims()},
      {"operand_batching_dims", dims.getOperandBatchingDims()},
      {"start_indices_batching_dims", dims.getStartIndicesBatchingDims()},
      {"start_index_map", dims.getStartIndexMap()}};
  ArrayRef<int64_t> sizes = getSliceSizes();
  SmallVector<int64_t> batch = getBatchShape(all);
  int64_t resultRank = batch.size() + dims.getOffsetDims().size();
  if (failed(verifySize(*this, "slice_sizes", sizes.size(),
                        operand.getRank())) ||                 // (C2)
      failed(verifyAtLeast(*this, "slice_sizes", sizes, 0)) || // (C2)
      failed(verifyIndexed(*this, all, resultRank)))           // (C1) (C4)
    return failure();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    bool isOmitted = llvm::is_contained(all.omitted.second, dim) ||
                     llvm::is_contained(all.tensorBatching.second, dim);
    int64_t most = operand.getDimSize(dim);
    if (isOmitted)
      most = std::min<int64_t>(most, 1);
    if (size > most) // (C2) (C3)
      return emitOpError("expected a slice size of at most ")
             << most << " of dimension " << dim << ", got " << size;
  }
  SmallVector<int64_t> window = getWindowShape(all, sizes), shape;
  for (int64_t i = 0, b = 0, w = 0; i < resultRank; ++i)
    shape.push_back(llvm::is_contained(dims.getOffsetDims(), i) ? window[w++]
                                                                : batch[b++]);
  return verifyTensor(*this, "the result", result, shape,
                      operand.getElementType()); // (C5)
}

LogicalResult ScatterOp::verify() {
  size_t count = (getNumOperands() - 1) / 2;
  if (count == 0 || getNumOperands() != 2 * count + 1 ||
      getNumResults() != count) // (C1)
    return emitOpError("expected inputs, indices and as many updates and "
                       "results as inputs, got ")
           << getNumOperands() << " operands and " << getNumResults()
           << " results";
  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  auto input = getTensor(getInputs().front());
  auto update = getTensor(getUpdates().front());
  SmallVector<Type> inputElements, elements;
  for (size_t i = 0; i < count; ++i) {
    auto eachInput = getTensor(getInputs()[i]);
    auto eachUpdate = getTensor(getUpdates()[i]);
    auto result = getTensor(getResult(i));
    if (eachInput.getShape() != input.getShape() ||
        eachUpdate.getShape() != update.getShape()) // (C1)
      return emitOpError(
          "expected inputs, and updates, to have the same shape");
    if (eachInput.getElementType() != eachUpdate.getElementType()) // (C1)
      return emitOpError("expected input and update to have the same element "
                         "type, got ")
             << eachInput << " and " << eachUpdate;
    if (result.getShape() != input.getShape()) // (C5)
      return emitOpError("expected input and result to have the same shape, "
                         "got ")
             << eachInput << " and " << result;
    inputElements.push_back(eachInput.getElementType());
    elements.push_back(result.getElementType());
  }
  Indexed all{
      input,
      getTensor(getScatterIndices()),
      dims.getIndexVectorDim(),
      {"update_window_dims", dims.getUpdateWindowDims()},
      {"inserted_window_dims", dims.getInsertedWindowDims()},
      {"input_batching_dims", dims.getInputBatchingDims()},
      {"scatter_indices_batching_dims", dims.getScatterIndicesBatchingDims()},
      {"scatter_dims_to_operand_dims", dims.getScatterDimsToOperandDims()}};
  if (failed(verifyIndexed(*this, all, update.getRank()))) // (C2) (C3)
    return failure();
  SmallVector<int64_t> batch = getBatchShape(all);
  SmallVector<int64_t> window = getWindowShape(all, input.getShape());
  if (update.getRank() != static_cast<int64_t>(batch.size() + window.size()))
    return emitOpError("expected updates of ")
           << batch.size() + window.size() << " dimensions, got " << update;
  for (int64_t i = 0, b = 0, w = 0; i < update.getRank(); ++i) {
    bool isWindow = llvm::is_contained(dims.getUpdateWindowDims(), i);
    int64_t size = isWindow ? window[w++] : batch[b++];
    int64_t got = update.getDimSize(i);
    if (isWindow ? got > size : got != size) // (C4)
      return emitOpError("expected dimension ")
             << i << " of updates to have size " << size
             << (isWindow ? " at most, got " : ", got ") << got;
  }
  return verifyReducer(*this, "update_computation", getUpdateComputation(),
                       inputElements, elements); // (C6)
}
