//===- HalfPrecisionOperands.cpp - Products of bf16 -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values inside a segment are f32. The operands of a product nevertheless count
// as bf16 if both are bf16 arrays of the segment or were rounded to bf16, even
// if their elements were moved or padded since then. Targets that multiply bf16
// recognize this by the body of the product; for the others the operands are
// widened to f32 again.
//
//===----------------------------------------------------------------------===//

#include "Prepare/HalfPrecisionOperands.h"

#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

//===----------------------------------------------------------------------===//
// On tensors
//===----------------------------------------------------------------------===//

/// Returns true if `op` widens its only operand from bf16 to f32, element by
/// element.
static bool isWidening(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }) ||
      !llvm::hasNItems(op.getBody()->getOperations(), 2))
    return false;
  auto extension = dyn_cast<arith::ExtFOp>(op.getBody()->front());
  return extension && extension.getIn() == op.getBody()->getArgument(0) &&
         extension.getIn().getType().isBF16() && extension.getType().isF32() &&
         op.getBody()->getTerminator()->getOperand(0) == extension;
}

/// Returns true if `op` only moves the elements of its only operand.
static bool isMove(Operation *op) {
  if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::CastOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumDpsInputs() == 1 &&
         generic.getNumDpsInits() == 1 &&
         isa<RankedTensorType>(generic.getDpsInputs()[0].getType()) &&
         llvm::hasSingleElement(*generic.getBody()) &&
         generic.getBody()->getTerminator()->getOperand(0) ==
             generic.getBody()->getArgument(0);
}

/// Returns the number that `op` pads its operand with if bf16 can represent it.
static std::optional<APFloat> narrowPadding(tensor::PadOp op) {
  FloatAttr padding;
  Value value = op.getConstantPaddingValue();
  if (!value || !matchPattern(value, m_Constant(&padding)))
    return std::nullopt;
  APFloat number = padding.getValue();
  bool isOther = false;
  number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &isOther);
  return isOther ? std::nullopt : std::optional(number);
}

/// Returns the bf16 array that became `value` by moving, padding and widening,
/// or a null value.
static Value narrowOrigin(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && isWidening(generic))
      return generic.getDpsInputs()[0];
    auto pad = dyn_cast<tensor::PadOp>(op);
    if (pad ? !narrowPadding(pad) : !isMove(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

/// Returns `value`, which has a bf16 origin, without the widening.
static Value narrowed(OpBuilder &b, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op);
      generic && isWidening(generic))
    return generic.getDpsInputs()[0];
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  Value source = narrowed(b, op->getOperand(0));
  auto type = cast<RankedTensorType>(value.getType()).clone(b.getBF16Type());
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = arith::ConstantOp::create(
        b, op->getLoc(), b.getFloatAttr(b.getBF16Type(), *narrowPadding(pad)));
    return tensor::PadOp::create(b, op->getLoc(), type, source,
                                 pad.getMixedLowPad(), pad.getMixedHighPad(),
                                 padding);
  }
  IRMapping mapping;
  mapping.map(op->getOperand(0), source);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    mapping.map(generic.getDpsInits()[0],
                tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                        type.getElementType())
                    .getResult());
  Operation *moved = b.clone(*op, mapping);
  moved->getResult(0).setType(type);
  for (Region &region : moved->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(type.getElementType());
  return moved->getResult(0);
}

void kernel::takeNarrowOperands(ModuleOp module) {
  SmallVector<linalg::GenericOp> ops;
  module.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    // sum, product, terminator
    if (dimOfSteps(op) < 0 ||
        !llvm::hasNItems(op.getBody()->getOperations(), 3) ||
        !getElementTypeOrSelf(op.getDpsInits()[0].getType()).isF32() ||
        !llvm::all_of(op.getDpsInputs(), narrowOrigin))
      continue;
    OpBuilder b(op);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      operand->set(narrowed(b, operand->get()));
      BlockArgument argument = op.getMatchingBlockArgument(operand);
      argument.setType(b.getBF16Type());
      OpBuilder inside = OpBuilder::atBlockBegin(op.getBody());
      auto wide =
          arith::ExtFOp::create(inside, op.getLoc(), b.getF32Type(), argument);
      argument.replaceAllUsesExcept(wide, wide);
    }
  }
}

//===----------------------------------------------------------------------===//
// On buffers
//===----------------------------------------------------------------------===//

/// Returns the op that widens the elements of `operand` in the body of `op`, or
/// null.
static arith::ExtFOp wideningOf(linalg::GenericOp op, OpOperand *operand) {
  BlockArgument argument = op.getMatchingBlockArgument(operand);
  if (!argument.getType().isBF16() || !argument.hasOneUse() ||
      !isa<MemRefType>(operand->get().getType()))
    return {};
  return dyn_cast<arith::ExtFOp>(*argument.user_begin());
}

static void widenOperand(linalg::GenericOp op, OpOperand *operand) {
  arith::ExtFOp widening = wideningOf(op, operand);
  Value source = operand->get();
  auto type = cast<MemRefType>(source.getType());
  Operation *at = outermostUser(source, op);
  // This op belongs to no op of the program, so it has no location.
  ImplicitLocOpBuilder b(UnknownLoc::get(op.getContext()), at);
  Value wide = memref::AllocOp::create(
      b, MemRefType::get(type.getShape(), b.getF32Type()));
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  linalg::GenericOp::create(
      b, ValueRange(source), ValueRange(wide), ArrayRef{map, map},
      SmallVector<utils::IteratorType>(type.getRank(),
                                       utils::IteratorType::parallel),
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(
            inner, loc,
            arith::ExtFOp::create(inner, loc, inner.getF32Type(), args[0])
                .getResult());
      });
  operand->set(wide);
  BlockArgument argument = op.getMatchingBlockArgument(operand);
  argument.setType(b.getF32Type());
  widening.replaceAllUsesWith(static_cast<Value>(argument));
  widening.erase();
}

void kernel::widenNarrowOperands(func::FuncOp func) {
  SmallVector<std::pair<linalg::GenericOp, OpOperand *>> narrow;
  func.walk([&](linalg::GenericOp op) {
    if (!op.hasPureBufferSemantics() || dimOfSteps(op) < 0)
      return;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (wideningOf(op, operand))
        narrow.push_back({op, operand});
  });
  if (narrow.empty())
    return;
  // Hoists views of unchanged buffers out of the loops.
  func.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  for (auto [op, operand] : narrow)
    widenOperand(op, operand);
}
