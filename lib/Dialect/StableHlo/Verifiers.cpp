//===- Verifiers.cpp - Verifiers of elementwise operations and shapes -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;
using namespace mlir::pathways::stablehlo::detail;

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

LogicalResult CompareOp::verify() {
  if (getLhs().getType() != getRhs().getType()) // (C1)
    return emitOpError("expected operands to have the same type, got ")
           << getLhs().getType() << " and " << getRhs().getType();
  // (C2) is verified by a trait.
  ComparisonType type = getCompareType().value_or(ComparisonType::NOTYPE);
  Type element = getTensor(getLhs()).getElementType();
  auto isExpected = [&] {
    switch (type) {
    case ComparisonType::NOTYPE:
      return true;
    case ComparisonType::FLOAT:
    case ComparisonType::TOTALORDER:
      return isa<FloatType>(element);
    case ComparisonType::SIGNED:
      return element.isSignlessInteger() && !element.isInteger(1);
    case ComparisonType::UNSIGNED:
      return element.isUnsignedInteger() || element.isInteger(1);
    }
    return false;
  };
  if (!isExpected()) // (C3)
    return emitOpError("cannot compare ")
           << getLhs().getType() << " as " << stringifyComparisonType(type);
  return success();
}

LogicalResult SelectOp::verify() {
  auto type = getTensor(getResult());
  if (getTensor(getPred()).getRank() != 0 &&
      getTensor(getPred()).getShape() != type.getShape()) // (C1)
    return emitOpError("expected the predicate to be a scalar or to have the "
                       "shape of the result, got ")
           << getPred().getType() << " and " << type;
  for (Value value : {getOnTrue(), getOnFalse()})
    if (value.getType() != type) // (C2)
      return emitOpError("expected both values and the result to have the same "
                         "type, got ")
             << value.getType() << " and " << type;
  return success();
}

LogicalResult ClampOp::verify() {
  auto type = getTensor(getOperand());
  if (getResult().getType() != type) // (C1)
    return emitOpError(
               "expected operand and result to have the same type, got ")
           << type << " and " << getResult().getType();
  for (Value bound : {getMin(), getMax()})
    if (bound.getType() != type && bound.getType() != getScalar(type)) // (C2)
      return emitOpError("expected bounds to be ")
             << type << " or " << getScalar(type) << ", got "
             << bound.getType();
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  int32_t exponentBits = getExponentBits(), mantissaBits = getMantissaBits();
  if (exponentBits < 1) // (C1)
    return emitOpError("expected at least 1 exponent bit, got ")
           << exponentBits;
  if (mantissaBits < 0) // (C2)
    return emitOpError("expected at least 0 mantissa bits, got ")
           << mantissaBits;
  return success();
}

LogicalResult MapOp::verify() {
  auto result = getTensor(getResult());
  if (getInputs().empty())
    return emitOpError("expected at least one input");
  SmallVector<Type> scalars;
  for (Value input : getInputs()) {
    if (getTensor(input).getShape() != result.getShape()) // (C1)
      return emitOpError("expected inputs and result to have the same shape, "
                         "got ")
             << input.getType() << " and " << result;
    scalars.push_back(getScalar(getTensor(input)));
  }
  auto all = llvm::to_vector(llvm::seq<int64_t>(result.getRank()));
  if (getDimensions() != ArrayRef(all)) // (C2)
    return emitOpError("expected dimensions to be [")
           << all << "], got [" << getDimensions() << "]";
  return verifyRegion(*this, "computation", getComputation(), scalars,
                      TypeRange{getScalar(result)}); // (C3)
}

//===----------------------------------------------------------------------===//
// Constants and random numbers
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return verifyDim(*this, "iota_dimension", getIotaDimension(),
                   getTensor(getOutput()).getRank()); // (C1)
}

LogicalResult RngBitGeneratorOp::verify() {
  auto state = getTensor(getInitialState());
  if (getOutputState().getType() != state) // (C1)
    return emitOpError("expected both states to have the same type, got ")
           << state << " and " << getOutputState().getType();
  int64_t size = state.getRank() == 1 ? state.getDimSize(0) : -1;
  bool isSize = getRngAlgorithm() == RngAlgorithm::THREE_FRY ? size == 2
                : getRngAlgorithm() == RngAlgorithm::PHILOX
                    ? size == 2 || size == 3
                    : size >= 0;
  if (!isSize || !state.getElementType().isUnsignedInteger(64)) // (C2)
    return emitOpError("expected the state of ")
           << stringifyRngAlgorithm(getRngAlgorithm())
           << " to be a vector of ui64 of its size, got " << state;
  return success();
}

LogicalResult RngOp::verify() {
  auto result = getTensor(getResult());
  for (Value bound : {getA(), getB()})
    if (bound.getType() != getScalar(result)) // (C1) (C2)
      return emitOpError("expected both parameters to be ")
             << getScalar(result) << ", got " << bound.getType();
  if (getTensor(getShape()).getShape() !=
      ArrayRef<int64_t>{result.getRank()}) // (C3)
    return emitOpError("expected the shape to have ")
           << result.getRank() << " elements, got " << getShape().getType();
  if (getRngDistribution() == RngDistribution::NORMAL &&
      !isa<FloatType>(result.getElementType())) // (C4)
    return emitOpError("expected normal numbers to be floats, got ") << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Verifies that the result has the element type of the operand.
template <typename OpTy> static LogicalResult verifySameElements(OpTy op) {
  auto operand = getTensor(op->getOperand(0)),
       result = getTensor(op->getResult(0));
  if (operand.getElementType() == result.getElementType())
    return success();
  return op.emitOpError("expected operand and result to have the same element "
                        "type, got ")
         << operand << " and " << result;
}

LogicalResult BroadcastInDimOp::verify() {
  auto operand = getTensor(getOperand()), result = getTensor(getResult());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (failed(verifySize(*this, "broadcast_dimensions", dims.size(),
                        operand.getRank())) || // (C1)
      failed(verifyDims(*this, "broadcast_dimensions", dims, result.getRank(),
                        Dims::kDistinct)) || // (C2)
      failed(verifySameElements(*this)))     // (C4)
    return failure();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (operand.getDimSize(i) != 1 &&
        operand.getDimSize(i) != result.getDimSize(dim)) // (C3)
      return emitOpError("expected size 1 or ")
             << result.getDimSize(dim) << " of dimension " << i
             << " of the operand, got " << operand.getDimSize(i);
  return success();
}

LogicalResult TransposeOp::verify() {
  auto operand = getTensor(getOperand());
  if (failed(verifySize(*this, "permutation", getPermutation().size(),
                        operand.getRank())) ||
      failed(verifyDims(*this, "permutation", getPermutation(),
                        operand.getRank(), Dims::kDistinct))) // (C1)
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation())
    shape.push_back(operand.getDimSize(dim));
  return verifyTensor(*this, "the result", getResult().getType(), shape,
                      operand.getElementType()); // (C2) (C3)
}

LogicalResult ReverseOp::verify() {
  return verifyDims(*this, "dimensions", getDimensions(),
                    getTensor(getOperand()).getRank(),
                    Dims::kDistinct); // (C1)
}

LogicalResult ReshapeOp::verify() {
  auto operand = getTensor(getOperand()), result = getTensor(getResult());
  int64_t count = countElements(operand.getShape());
  if (count != countElements(result.getShape())) // (C1)
    return emitOpError("expected a result of ")
           << count << " elements, got " << result << " of "
           << countElements(result.getShape());
  return verifySameElements(*this); // (C2)
}

LogicalResult BitcastConvertOp::verify() {
  auto operand = getTensor(getOperand()), result = getTensor(getResult());
  int64_t from = operand.getElementTypeBitWidth();
  int64_t to = result.getElementTypeBitWidth();
  // The wider type, with a dimension of parts, is the narrower one.
  SmallVector<int64_t> wide(from >= to ? operand.getShape()
                                       : result.getShape());
  ArrayRef<int64_t> narrow =
      from >= to ? result.getShape() : operand.getShape();
  if (from != to) // (C2)
    wide.push_back(std::max(from, to) / std::min(from, to));
  if (ArrayRef(wide) != narrow) // (C1)
    return emitOpError("expected ")
           << (from >= to ? "a result" : "an operand") << " of shape [" << wide
           << "], got " << (from >= to ? result : operand);
  return success();
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one input"); // (C1)
  auto first = getTensor(getInputs().front());
  int64_t dimension = getDimension();
  if (failed(verifyDim(*this, "dimension", dimension, first.getRank()))) // (C2)
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  shape[dimension] = 0;
  for (Value input : getInputs()) {
    auto type = getTensor(input);
    bool isAlike = type.getRank() == first.getRank() &&
                   type.getElementType() == first.getElementType();
    for (int64_t i = 0; isAlike && i < first.getRank(); ++i)
      isAlike = i == dimension || type.getDimSize(i) == first.getDimSize(i);
    if (!isAlike) // (C1) (C3)
      return emitOpError("expected inputs to differ only in the size of "
                         "dimension ")
             << dimension << ", got " << first << " and " << type;
    shape[dimension] =
        multiplyAdd(1, shape[dimension], type.getDimSize(dimension));
  }
  return verifyTensor(*this, "the result", getResult().getType(), shape,
                      first.getElementType()); // (C4)
}

LogicalResult PadOp::verify() {
  auto operand = getTensor(getOperand());
  size_t rank = operand.getRank();
  if (getPaddingValue().getType() != getScalar(operand)) // (C1)
    return emitOpError("expected the padding value to be ")
           << getScalar(operand) << ", got " << getPaddingValue().getType();
  if (failed(
          verifySize(*this, "low padding", getEdgePaddingLow().size(), rank)) ||
      failed(verifySize(*this, "high padding", getEdgePaddingHigh().size(),
                        rank)) ||
      failed(verifySize(*this, "interior padding", getInteriorPadding().size(),
                        rank)) || // (C2)
      failed(verifyAtLeast(*this, "interior padding", getInteriorPadding(),
                           0))) // (C3)
    return failure();
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = operand.getDimSize(i);
    size = multiplyAdd(std::max<int64_t>(size - 1, 0), getInteriorPadding()[i],
                       size);
    size = multiplyAdd(1, size, getEdgePaddingLow()[i]);
    shape.push_back(multiplyAdd(1, size, getEdgePaddingHigh()[i]));
  }
  return verifyTensor(*this, "the result", getResult().getType(), shape,
                      operand.getElementType()); // (C4)
}

LogicalResult SliceOp::verify() {
  auto operand = getTensor(getOperand());
  size_t rank = operand.getRank();
  if (failed(
          verifySize(*this, "start_indices", getStartIndices().size(), rank)) ||
      failed(
          verifySize(*this, "limit_indices", getLimitIndices().size(), rank)) ||
      failed(verifySize(*this, "strides", getStrides().size(), rank)) || // (C1)
      failed(verifyAtLeast(*this, "strides", getStrides(), 1)))          // (C3)
    return failure();
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t start = getStartIndices()[i], limit = getLimitIndices()[i];
    int64_t stride = getStrides()[i];
    if (start < 0 || start > limit || limit > operand.getDimSize(i)) // (C2)
      return emitOpError("expected a range within 0:")
             << operand.getDimSize(i) << " of dimension " << i << ", got "
             << start << ":" << limit;
    int64_t size = limit - start;
    shape.push_back(size / stride + (size % stride != 0));
  }
  return verifyTensor(*this, "the result", getResult().getType(), shape,
                      operand.getElementType()); // (C4) (C5)
}

LogicalResult DynamicSliceOp::verify() {
  auto operand = getTensor(getOperand());
  size_t rank = operand.getRank();
  if (failed(
          verifySize(*this, "start_indices", getStartIndices().size(), rank)) ||
      failed(verifySize(*this, "slice_sizes", getSliceSizes().size(),
                        rank)) ||                                      // (C1)
      failed(verifyIndices(*this, getStartIndices())) ||               // (C2)
      failed(verifyAtLeast(*this, "slice_sizes", getSliceSizes(), 0))) // (C3)
    return failure();
  for (auto [i, size] : llvm::enumerate(getSliceSizes()))
    if (size > operand.getDimSize(i)) // (C3)
      return emitOpError("expected a slice size of at most ")
             << operand.getDimSize(i) << " of dimension " << i << ", got "
             << size;
  return verifyTensor(*this, "the result", getResult().getType(),
                      getSliceSizes(), operand.getElementType()); // (C3) (C4)
}

LogicalResult DynamicUpdateSliceOp::verify() {
  auto operand = getTensor(getOperand()), update = getTensor(getUpdate());
  size_t rank = operand.getRank();
  if (failed(verifySize(*this, "start_indices", getStartIndices().size(),
                        rank)) ||                      // (C1)
      failed(verifyIndices(*this, getStartIndices()))) // (C2)
    return failure();
  bool isWithin = update.getRank() == operand.getRank() &&
                  update.getElementType() == operand.getElementType();
  for (size_t i = 0; isWithin && i < rank; ++i)
    isWithin = update.getDimSize(i) <= operand.getDimSize(i);
  if (!isWithin) // (C3) (C4)
    return emitOpError("expected an update of at most the size of the operand, "
                       "got ")
           << update << " and " << operand;
  return verifyTensor(*this, "the result", getResult().getType(),
                      operand.getShape(), operand.getElementType()); // (C4)
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

LogicalResult OptimizationBarrierOp::verify() {
  if (TypeRange(getOperandTypes()) != TypeRange(getResultTypes())) // (C1)
    return emitOpError("expected results to have the types of the operands, "
                       "got (")
           << getResultTypes() << ") and (" << getOperandTypes() << ")";
  return success();
}

LogicalResult TupleOp::verify() {
  auto tuple = cast<TupleType>(getResult().getType());
  if (tuple.getTypes() != ArrayRef(llvm::to_vector(getOperandTypes())))
    return emitOpError("expected a tuple of the types of the operands, got ")
           << tuple;
  return success();
}

LogicalResult GetTupleElementOp::verify() {
  auto tuple = cast<TupleType>(getOperand().getType());
  if (failed(verifyDim(*this, "index", static_cast<int32_t>(getIndex()),
                       tuple.size())))
    return failure();
  if (tuple.getType(getIndex()) != getResult().getType())
    return emitOpError("expected the result to be ")
           << tuple.getType(getIndex()) << ", got " << getResult().getType();
  return success();
}

LogicalResult PartitionIdOp::verify() {
  return verifyTensor(*this, "the result", getResult().getType(), {},
                      IntegerType::get(getContext(), 32,
                                       IntegerType::Unsigned)); // (C1)
}

LogicalResult ReplicaIdOp::verify() {
  return verifyTensor(*this, "the result", getResult().getType(), {},
                      IntegerType::get(getContext(), 32,
                                       IntegerType::Unsigned)); // (C1)
}

LogicalResult
CompositeOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  Operation *callee =
      symbolTables.lookupNearestSymbolFrom(*this, getDecompositionAttr());
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (!function) // (C1)
    return emitOpError("expected a function named ") << getDecomposition();
  if (TypeRange(function.getArgumentTypes()) != TypeRange(getOperandTypes()) ||
      TypeRange(function.getResultTypes()) != TypeRange(getResultTypes())) {
    InFlightDiagnostic error = emitOpError(
        "expected the decomposition to have the types of operands and results");
    error.attachNote(callee->getLoc())
        << getDecomposition() << " is defined here";
    return error;
  }
  return success();
}

LogicalResult chlo::TopKOp::verify() {
  auto operand = getTensor(getOperand());
  int64_t k = getK();
  if (operand.getRank() == 0 || k < 0 || k > operand.getShape().back()) // (C1)
    return emitOpError("expected at least ")
           << k << " elements in the last dimension, got " << operand;
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = k;
  if (failed(verifyTensor(*this, "values", getValues().getType(), shape,
                          operand.getElementType())))
    return failure();
  return verifyTensor(*this, "indices", getIndices().getType(), shape,
                      IntegerType::get(getContext(), 32)); // (C2)
}
