//===- RegionVerifiers.cpp - Verifiers of operations with regions ---------===//
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

/// The type that a condition returns.
static Type getConditionType(MLIRContext *context) {
  return RankedTensorType::get({}, IntegerType::get(context, 1));
}

//===----------------------------------------------------------------------===//
// Reductions and windows
//===----------------------------------------------------------------------===//

/// Verifies inputs and init values of a reduction and that its results have
/// `shape`, and its region. A caller has verified that there are inputs.
static LogicalResult verifyReduction(Operation *op, OperandRange inputs,
                                     OperandRange inits, Region &body,
                                     ArrayRef<int64_t> shape) {
  SmallVector<Type> inputElements, elements;
  for (auto [input, init, result] :
       llvm::zip(inputs, inits, op->getResults())) {
    auto type = getTensor(input);
    if (init.getType() != getScalar(type)) // (C1)
      return op->emitOpError("expected the init value to be ")
             << getScalar(type) << ", got " << init.getType();
    auto resultType = getTensor(result);
    if (failed(verifyTensor(op, "the result", resultType, shape,
                            resultType.getElementType()))) // (C3)
      return failure();
    inputElements.push_back(type.getElementType());
    elements.push_back(resultType.getElementType());
  }
  return verifyReducer(op, "body", body, inputElements, elements); // (C4)
}

/// Verifies that there is at least one input, as many init values and results
/// as inputs, and that inputs have the same shape.
static LogicalResult verifyInputs(Operation *op, OperandRange inputs,
                                  size_t inits) {
  size_t count = inputs.size();
  if (count == 0 || inits != count || op->getNumOperands() != 2 * count ||
      op->getNumResults() != count)
    return op->emitOpError(
               "expected inputs and as many init values and results, "
               "got ")
           << op->getNumOperands() << " operands and " << op->getNumResults()
           << " results";
  for (Value input : inputs)
    if (getTensor(input).getShape() != getTensor(inputs.front()).getShape())
      return op->emitOpError("expected inputs to have the same shape, got ")
             << inputs.front().getType() << " and " << input.getType();
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyInputs(*this, getInputs(), getInitValues().size()))) // (C1)
    return failure();
  auto input = getTensor(getInputs().front());
  if (failed(verifyDims(*this, "dimensions", getDimensions(), input.getRank(),
                        Dims::kDistinct))) // (C2)
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < input.getRank(); ++i)
    if (!llvm::is_contained(getDimensions(), i))
      shape.push_back(input.getDimSize(i));
  return verifyReduction(*this, getInputs(), getInitValues(), getBody(), shape);
}

LogicalResult ReduceWindowOp::verify() {
  if (failed(verifyInputs(*this, getInputs(), getInitValues().size()))) // (C1)
    return failure();
  FailureOr<SmallVector<int64_t>> shape = verifyWindow(
      *this, getTensor(getInputs().front()).getShape(),
      {getWindowDimensions(), getWindowStrides(), getBaseDilations(),
       getWindowDilations(), getPaddingAttr()}); // (C2)
  if (failed(shape))
    return failure();
  return verifyReduction(*this, getInputs(), getInitValues(), getBody(),
                         *shape); // (C3)
}

LogicalResult SelectAndScatterOp::verify() {
  auto operand = getTensor(getOperand()), source = getTensor(getSource());
  auto result = getTensor(getResult());
  Type scalar = getScalar(operand);
  if (getInitValue().getType() != scalar ||
      source.getElementType() != operand.getElementType()) // (C1)
    return emitOpError("expected source and a scalar init value to have the "
                       "element type of ")
           << operand << ", got " << source << " and "
           << getInitValue().getType();
  FailureOr<SmallVector<int64_t>> counts =
      verifyWindow(*this, operand.getShape(),
                   {getWindowDimensions(), getWindowStrides(), std::nullopt,
                    std::nullopt, getPaddingAttr()}); // (C2)
  if (failed(counts) ||
      failed(verifyTensor(*this, "the source", source, *counts,
                          source.getElementType())) || // (C3)
      failed(verifyTensor(*this, "the result", result, operand.getShape(),
                          result.getElementType())) || // (C4)
      failed(verifyRegion(*this, "select", getSelect(),
                          TypeRange{scalar, scalar},
                          TypeRange{getConditionType(getContext())}))) // (C5)
    return failure();
  return verifyReducer(*this, "scatter", getScatter(), operand.getElementType(),
                       result.getElementType()); // (C4) (C5)
}

LogicalResult SortOp::verify() {
  if (getInputs().empty()) // (C1)
    return emitOpError("expected at least one input");
  auto first = getTensor(getInputs().front());
  SmallVector<Type> arguments;
  for (Value input : getInputs()) {
    if (getTensor(input).getShape() != first.getShape()) // (C1)
      return emitOpError("expected inputs to have the same shape, got ")
             << first << " and " << input.getType();
    arguments.append(2, getScalar(getTensor(input)));
  }
  int64_t rank = first.getRank(), dimension = getDimension();
  if (dimension < -rank || dimension >= rank) // (C2)
    return emitOpError("expected dimension to be at least ")
           << -rank << " and less than " << rank << ", got " << dimension;
  if (TypeRange(getOperandTypes()) != TypeRange(getResultTypes())) // (C3)
    return emitOpError("expected results to have the types of inputs, got (")
           << getResultTypes() << ") and (" << getOperandTypes() << ")";
  return verifyRegion(*this, "comparator", getComparator(), arguments,
                      TypeRange{getConditionType(getContext())}); // (C4)
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult WhileOp::verify() {
  if (TypeRange(getOperandTypes()) != TypeRange(getResultTypes())) // (C1)
    return emitOpError("expected results to have the types of the operands, "
                       "got (")
           << getResultTypes() << ") and (" << getOperandTypes() << ")";
  if (failed(verifyRegion(*this, "cond", getCond(), getOperandTypes(),
                          TypeRange{getConditionType(getContext())}))) // (C2)
    return failure();
  return verifyRegion(*this, "body", getBody(), getOperandTypes(),
                      getOperandTypes()); // (C3)
}

LogicalResult IfOp::verify() {
  if (failed(verifyScalar(*this, "the predicate", getPred().getType()))) // (C1)
    return failure();
  if (failed(verifyRegion(*this, "true_branch", getTrueBranch(), {},
                          getResultTypes()))) // (C2)
    return failure();
  return verifyRegion(*this, "false_branch", getFalseBranch(), {},
                      getResultTypes()); // (C2)
}

LogicalResult CaseOp::verify() {
  if (failed(verifyTensor(*this, "the index", getIndex().getType(), {},
                          IntegerType::get(getContext(), 32)))) // (C1)
    return failure();
  if (getBranches().empty()) // (C2)
    return emitOpError("expected at least one region");
  for (Region &branch : getBranches())
    if (failed(verifyRegion(*this, "branches", branch, {},
                            getResultTypes()))) // (C2)
      return failure();
  return success();
}
