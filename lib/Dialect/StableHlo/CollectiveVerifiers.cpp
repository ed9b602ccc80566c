//===- CollectiveVerifiers.cpp - Verifiers of communication ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <set>

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;
using namespace mlir::pathways::stablehlo::detail;

/// Verifies groups of processes. Groups that a mesh names are kept as they are.
static LogicalResult verifyGroups(Operation *op, Attribute attribute) {
  if (isa<OpaqueAttr>(attribute))
    return success();
  auto groups = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!groups || groups.getType().getRank() != 2 ||
      !groups.getElementType().isSignlessInteger(64))
    return op->emitOpError(
               "expected replica_groups to be a matrix of i64, got ")
           << attribute;
  // A DenseSet could not hold the largest number.
  std::set<int64_t> seen;
  for (int64_t process : groups.getValues<int64_t>()) {
    if (process < -1)
      return op->emitOpError("expected process numbers of at least 0, or -1, "
                             "got ")
             << process;
    if (process >= 0 && !seen.insert(process).second)
      return op->emitOpError("expected process numbers to differ, got ")
             << process << " twice";
  }
  return success();
}

/// Verifies groups of numbers that count over all replicas and partitions.
template <typename OpTy> static LogicalResult verifyDeviceGroups(OpTy op) {
  if (failed(verifyGroups(op, op.getReplicaGroups())))
    return failure();
  ChannelHandleAttr channel = op.getChannelHandleAttr();
  if (op.getUseGlobalDeviceIds() && (!channel || channel.getHandle() <= 0))
    return op.emitOpError("expected a positive channel handle with "
                          "use_global_device_ids");
  return success();
}

/// Verifies that operands and results correspond in number and element types.
static LogicalResult verifyPairs(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumOperands() != op->getNumResults())
    return op->emitOpError("expected operands and as many results, got ")
           << op->getNumOperands() << " and " << op->getNumResults();
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyDeviceGroups(*this)) || // (C2) (C4)
      failed(verifyPairs(*this)))
    return failure();
  int64_t dim = getAllGatherDim(), size = getGroupSize();
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    auto type = getTensor(operand);
    if (failed(verifyDim(*this, "all_gather_dim", dim, type.getRank()))) // (C1)
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    // All processes are one group if there are no groups; their number is not
    // known then.
    shape[dim] = size > 0 ? multiplyAdd(shape[dim], size, 0)
                 : getTensor(result).getRank() > dim
                     ? getTensor(result).getDimSize(dim)
                     : 0;
    if (failed(verifyTensor(*this, "the result", result.getType(), shape,
                            type.getElementType()))) // (C3)
      return failure();
  }
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyDeviceGroups(*this)) || // (C1) (C4)
      failed(verifyPairs(*this)))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    auto type = getTensor(operand), resultType = getTensor(result);
    if (failed(verifyTensor(*this, "the result", resultType, type.getShape(),
                            resultType.getElementType())) || // (C2)
        failed(verifyReducer(*this, "computation", getComputation(),
                             type.getElementType(),
                             resultType.getElementType()))) // (C3)
      return failure();
  }
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  auto type = getTensor(getOperand()), result = getTensor(getResult());
  int64_t dim = getScatterDimension(), size = getGroupSize();
  if (failed(verifyDeviceGroups(*this)) || // (C2) (C5)
      failed(verifyDim(*this, "scatter_dimension", dim,
                       type.getRank()))) // (C1)
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  if (size > 0) {
    if (shape[dim] % size != 0) // (C3)
      return emitOpError("expected the size of a group to divide ")
             << shape[dim] << ", got " << size;
    shape[dim] /= size;
  } else if (result.getRank() > dim) {
    shape[dim] = result.getDimSize(dim);
  }
  if (failed(verifyTensor(*this, "the result", result, shape,
                          result.getElementType()))) // (C3)
    return failure();
  return verifyReducer(*this, "computation", getComputation(),
                       type.getElementType(), result.getElementType()); // (C4)
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups())) || // (C3)
      failed(verifyPairs(*this)))
    return failure();
  int64_t split = getSplitDimension(), concat = getConcatDimension();
  int64_t count = getSplitCount();
  if (count < 1) // (C2)
    return emitOpError("expected a positive split_count, got ") << count;
  if (getGroupSize() > 0 && getGroupSize() != count) // (C3)
    return emitOpError("expected groups of split_count processes, got ")
           << getGroupSize() << " and " << count;
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    auto type = getTensor(operand);
    if (failed(verifyDim(*this, "split_dimension", split, type.getRank())) ||
        failed(verifyDim(*this, "concat_dimension", concat,
                         type.getRank()))) // (C1)
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    if (shape[split] % count != 0) // (C2)
      return emitOpError("expected split_count to divide ")
             << shape[split] << ", got " << count;
    shape[split] /= count;
    shape[concat] = multiplyAdd(shape[concat], count, 0);
    if (failed(verifyTensor(*this, "the result", result.getType(), shape,
                            type.getElementType()))) // (C4)
      return failure();
  }
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  return verifyGroups(*this, getReplicaGroups()); // (C1)
}

LogicalResult CollectivePermuteOp::verify() {
  DenseIntElementsAttr pairs = getSourceTargetPairs();
  if (pairs.getType().getRank() != 2 ||
      pairs.getType().getDimSize(1) != 2) // (C1)
    return emitOpError("expected source_target_pairs to be a matrix with 2 "
                       "columns, got ")
           << pairs.getType();
  std::set<int64_t> sources, targets;
  bool isSource = true;
  for (int64_t process : pairs.getValues<int64_t>()) {
    if (process < 0) // (C2)
      return emitOpError("expected process numbers of at least 0, got ")
             << process;
    if (!(isSource ? sources : targets).insert(process).second) // (C2)
      return emitOpError("expected ")
             << (isSource ? "sources" : "targets") << " to differ, got "
             << process << " twice";
    isSource = !isSource;
  }
  return success();
}
