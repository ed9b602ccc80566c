//===- ProductVerifiers.cpp - Verifiers of products and solvers -----------===//
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

/// Verifies that there are no precisions, or one for each of two operands.
static LogicalResult verifyPrecision(Operation *op,
                                     std::optional<ArrayAttr> precision) {
  if (!precision || precision->empty() || precision->size() == 2)
    return success();
  return op->emitOpError("expected a precision for each of 2 operands, got ")
         << precision->size();
}

static LogicalResult verifySameElementTypes(Operation *op, Value a, Value b) {
  if (getTensor(a).getElementType() == getTensor(b).getElementType())
    return success();
  return op->emitOpError(
             "expected operands to have the same element type, got ")
         << a.getType() << " and " << b.getType();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult DotGeneralOp::verify() {
  auto lhs = getTensor(getLhs()), rhs = getTensor(getRhs());
  auto result = getTensor(getResult());
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  SmallVector<int64_t> shape, lhsDims, rhsDims;
  auto verifyPairs = [&](StringRef name, ArrayRef<int64_t> lhsList,
                         ArrayRef<int64_t> rhsList) -> LogicalResult {
    llvm::append_range(lhsDims, lhsList);
    llvm::append_range(rhsDims, rhsList);
    if (lhsList.size() != rhsList.size()) // (C1)
      return emitOpError("expected equally many ")
             << name << " dimensions of both operands, got " << lhsList.size()
             << " and " << rhsList.size();
    if (failed(verifyDims(*this, "dimensions of lhs", lhsDims, lhs.getRank(),
                          Dims::kDistinct)) || // (C1)
        failed(verifyDims(*this, "dimensions of rhs", rhsDims, rhs.getRank(),
                          Dims::kDistinct))) // (C1)
      return failure();
    for (auto [lhsDim, rhsDim] : llvm::zip(lhsList, rhsList))
      if (lhs.getDimSize(lhsDim) != rhs.getDimSize(rhsDim)) // (C2)
        return emitOpError("expected ")
               << name << " dimensions " << lhsDim << " and " << rhsDim
               << " to have the same size, got " << lhs.getDimSize(lhsDim)
               << " and " << rhs.getDimSize(rhsDim);
    return success();
  };
  if (failed(verifyPairs("batching", dims.getLhsBatchingDimensions(),
                         dims.getRhsBatchingDimensions())) ||
      failed(verifyPairs("contracting", dims.getLhsContractingDimensions(),
                         dims.getRhsContractingDimensions())) ||
      failed(verifyPrecision(*this, getPrecisionConfig())) || // (C3)
      failed(verifySameElementTypes(*this, getLhs(), getRhs())))
    return failure();
  for (int64_t dim : dims.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t i = 0; i < lhs.getRank(); ++i)
    if (!llvm::is_contained(lhsDims, i))
      shape.push_back(lhs.getDimSize(i));
  for (int64_t i = 0; i < rhs.getRank(); ++i)
    if (!llvm::is_contained(rhsDims, i))
      shape.push_back(rhs.getDimSize(i));
  return verifyTensor(*this, "the result", result, shape,
                      result.getElementType()); // (C4)
}

/// Verifies that two dimensions and the spatial ones name each of `rank` once.
static LogicalResult verifyConvDims(Operation *op, StringRef name,
                                    int64_t first, int64_t second,
                                    ArrayRef<int64_t> spatial, int64_t rank) {
  SmallVector<int64_t> dims(spatial);
  dims.append({first, second});
  if (failed(verifySize(op, name, dims.size(), rank)))
    return failure();
  return verifyDims(op, name, dims, rank, Dims::kDistinct);
}

LogicalResult ConvolutionOp::verify() {
  auto lhs = getTensor(getLhs()), rhs = getTensor(getRhs());
  auto result = getTensor(getResult());
  ConvDimensionNumbersAttr dims = getDimensionNumbers();
  if (failed(verifySameElementTypes(*this, getLhs(), getRhs())) ||
      failed(verifyConvDims(*this, "dimensions of the input",
                            dims.getInputBatchDimension(),
                            dims.getInputFeatureDimension(),
                            dims.getInputSpatialDimensions(), lhs.getRank())) ||
      failed(verifyConvDims(*this, "dimensions of the kernel",
                            dims.getKernelInputFeatureDimension(),
                            dims.getKernelOutputFeatureDimension(),
                            dims.getKernelSpatialDimensions(),
                            rhs.getRank())) ||
      failed(verifyConvDims(
          *this, "dimensions of the output", dims.getOutputBatchDimension(),
          dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions(),
          lhs.getRank()))) // (C1)
    return failure();
  if (rhs.getRank() != lhs.getRank()) // (C1)
    return emitOpError("expected operands of as many dimensions, got ")
           << lhs << " and " << rhs;

  SmallVector<int64_t> shape, sizes;
  for (int64_t dim : dims.getInputSpatialDimensions())
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : dims.getKernelSpatialDimensions())
    sizes.push_back(rhs.getDimSize(dim));
  FailureOr<SmallVector<int64_t>> counts =
      verifyWindow(*this, shape,
                   {sizes, getWindowStrides(), getLhsDilation(),
                    getRhsDilation(), getPaddingAttr()}); // (C2)
  if (failed(counts))
    return failure();
  if (getWindowReversal() &&
      failed(verifySize(*this, "window_reversal", getWindowReversal()->size(),
                        shape.size()))) // (C2)
    return failure();

  int64_t features = getFeatureGroupCount(), batches = getBatchGroupCount();
  if (features < 1 || batches < 1 || (features > 1 && batches > 1)) // (C3)
    return emitOpError("expected positive group counts, one of them 1, got ")
           << features << " of features and " << batches << " of the batch";
  int64_t batch = lhs.getDimSize(dims.getInputBatchDimension());
  int64_t inputFeature = lhs.getDimSize(dims.getInputFeatureDimension());
  int64_t kernelInput = rhs.getDimSize(dims.getKernelInputFeatureDimension());
  int64_t kernelOutput = rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  if (batch % batches != 0 || kernelOutput % batches != 0 ||
      kernelOutput % features != 0 ||
      multiplyAdd(kernelInput, features, 0) != inputFeature) // (C4)
    return emitOpError("expected ")
           << features << " groups of features and " << batches
           << " of the batch to divide input and kernel, got " << lhs << " and "
           << rhs;
  if (failed(verifyPrecision(*this, getPrecisionConfig()))) // (C6)
    return failure();
  SmallVector<int64_t> expected(lhs.getRank());
  expected[dims.getOutputBatchDimension()] = batch / batches;
  expected[dims.getOutputFeatureDimension()] = kernelOutput;
  for (auto [dim, count] :
       llvm::zip(dims.getOutputSpatialDimensions(), *counts))
    expected[dim] = count;
  return verifyTensor(*this, "the result", result, expected,
                      result.getElementType()); // (C5)
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

LogicalResult CholeskyOp::verify() {
  auto type = getTensor(getA());
  if (type.getRank() < 2 || type.getDimSize(type.getRank() - 1) !=
                                type.getDimSize(type.getRank() - 2)) // (C1)
    return emitOpError("expected square matrices, got ") << type;
  return success();
}

LogicalResult TriangularSolveOp::verify() {
  auto a = getTensor(getA()), b = getTensor(getB());
  if (a.getElementType() != b.getElementType() || a.getRank() != b.getRank() ||
      a.getRank() < 2) // (C1)
    return emitOpError("expected matrices of the same element type and number "
                       "of dimensions, got ")
           << a << " and " << b;
  int64_t rank = a.getRank();
  if (a.getShape().drop_back(2) != b.getShape().drop_back(2)) // (C2)
    return emitOpError("expected the same batching dimensions, got ")
           << a << " and " << b;
  int64_t size = b.getDimSize(getLeftSide() ? rank - 2 : rank - 1);
  if (a.getDimSize(rank - 1) != size || a.getDimSize(rank - 2) != size) // (C3)
    return emitOpError("expected matrices of ")
           << size << " rows and columns, got " << a;
  if (getTransposeA() == Transpose::TRANSPOSE_INVALID) // (C5)
    return emitOpError("expected transpose_a to be NO_TRANSPOSE, TRANSPOSE or "
                       "ADJOINT");
  return verifyTensor(*this, "the result", getResult().getType(), b.getShape(),
                      b.getElementType()); // (C4)
}

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

/// Verifies values that are vectors along the dimension of features, and values
/// that have the type of the first operand.
static LogicalResult verifyBatchNorm(Operation *op, int64_t featureIndex,
                                     ValueRange vectors, ValueRange tensors) {
  auto operand = getTensor(op->getOperand(0));
  if (failed(verifyDim(op, "feature_index", featureIndex,
                       operand.getRank()))) // (C1)
    return failure();
  for (Value vector : vectors)
    if (failed(verifyTensor(op, "a vector", vector.getType(),
                            {operand.getDimSize(featureIndex)},
                            operand.getElementType()))) // (C2) (C3)
      return failure();
  for (Value tensor : tensors)
    if (failed(verifyTensor(op, "a result", tensor.getType(),
                            operand.getShape(),
                            operand.getElementType()))) // (C4)
      return failure();
  return success();
}

LogicalResult BatchNormInferenceOp::verify() {
  return verifyBatchNorm(*this, getFeatureIndex(),
                         {getScale(), getOffset(), getMean(), getVariance()},
                         {getResult()});
}

LogicalResult BatchNormTrainingOp::verify() {
  return verifyBatchNorm(
      *this, getFeatureIndex(),
      {getScale(), getOffset(), getBatchMean(), getBatchVar()}, {getOutput()});
}

LogicalResult BatchNormGradOp::verify() {
  return verifyBatchNorm(
      *this, getFeatureIndex(),
      {getScale(), getMean(), getVariance(), getGradScale(), getGradOffset()},
      {getGradOutput(), getGradOperand()});
}
