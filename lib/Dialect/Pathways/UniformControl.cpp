//===- UniformControl.cpp - Control flow that all shards share ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/UniformControl.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;

/// Largest depth of arithmetic that is followed.
static constexpr unsigned kMostDepth = 16;

static bool isArithmetic(Operation *op) {
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         op->getNumOperands() > 0 && isPure(op) &&
         op->getResult(0).getType().isIntOrIndex();
}

static bool isKnown(Value value, unsigned depth = 0);

/// Returns why shards may run `loop` differently; empty if they run it alike.
static std::string reasonOf(scf::ForOp loop, unsigned depth) {
  if (!isKnown(loop.getLowerBound(), depth))
    return "whose lower bound is not a constant";
  if (!isKnown(loop.getUpperBound(), depth))
    return "whose upper bound is not a constant";
  if (!isKnown(loop.getStep(), depth))
    return "whose step is not a constant";
  return "";
}

/// Returns true if `value` is a constant once loops are unrolled.
static bool isKnown(Value value, unsigned depth) {
  if (depth > kMostDepth)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           reasonOf(loop, depth + 1).empty();
  }
  Operation *op = value.getDefiningOp();
  if (op->hasTrait<OpTrait::ConstantLike>())
    return value.getType().isIntOrIndex();
  return isArithmetic(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isKnown(operand, depth + 1);
         });
}

std::optional<Uncertain> mlir::pathways::findUncertain(Operation *op,
                                                       Operation *function) {
  for (Operation *around = op->getParentOp(); around && around != function;
       around = around->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(around)) {
      std::string reason = reasonOf(loop, 0);
      if (!reason.empty())
        return Uncertain{around, reason};
    } else if (auto branch = dyn_cast<scf::IfOp>(around)) {
      if (!isKnown(branch.getCondition()))
        return Uncertain{around, "whose condition is not a constant"};
    } else {
      return Uncertain{around, ""};
    }
  }
  return std::nullopt;
}

/// Returns `value` as the constant that its operation has or folds to.
static Attribute foldValue(Value value, unsigned depth = 0) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  if (depth > kMostDepth || !isArithmetic(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(foldValue(operand, depth + 1));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto attribute = dyn_cast<Attribute>(results[0]))
    return attribute;
  auto folded = cast<Value>(results[0]);
  return folded == value ? Attribute() : foldValue(folded, depth + 1);
}

std::optional<llvm::APInt> mlir::pathways::evaluate(Value value) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(foldValue(value)))
    return integer.getValue();
  return std::nullopt;
}
