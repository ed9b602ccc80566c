//===- Lanes.cpp - Scalar code in the lanes of vectors --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;

bool kernel::isDense(Value buffer) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(buffer.getType());
  return type.getRank() > 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

bool kernel::canBeInLanes(Block &body, bool hasHalves) {
  auto isElement = [&](Type type) {
    return type.isF32() || type.isF64() || type.isBF16() ||
           (type.isF16() && hasHalves) || type.isInteger(1) ||
           type.isInteger(8) || type.isInteger(32) || type.isInteger(64);
  };
  if (!llvm::all_of(body.getArgumentTypes(), isElement))
    return false;
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    if (op.getNumResults() != 1 || !isElement(op.getResult(0).getType()))
      return false;
    if (op.hasTrait<OpTrait::ConstantLike>())
      return true;
    // Others of math, and these of f64, become calls.
    bool isWrittenOut =
        isa<math::AbsFOp, math::FmaOp, math::SqrtOp, math::RsqrtOp,
            math::CopySignOp, math::AbsIOp>(op) ||
        (isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp>(op) &&
         op.getResult(0).getType().isF32());
    return (isa<arith::ArithDialect>(op.getDialect()) || isWrittenOut) &&
           !isa<arith::RemFOp>(op) &&
           OpTrait::hasElementwiseMappableTraits(&op) && isSpeculatable(&op) &&
           llvm::all_of(op.getOperandTypes(), isElement);
  });
}

Value kernel::inLanes(ImplicitLocOpBuilder &b, Value value, Block &body,
                      IRMapping &values, int64_t width) {
  if (Value known = values.lookupOrNull(value))
    return known;
  auto type = VectorType::get(width, value.getType());
  Operation *op = value.getDefiningOp();
  Value made;
  if (op && op->getBlock() == &body && !op->hasTrait<OpTrait::ConstantLike>()) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(inLanes(b, operand, body, values, width));
    made = b.create(op->getLoc(), op->getName().getIdentifier(), operands,
                    TypeRange(type), op->getAttrs())
               ->getResult(0);
  } else {
    if (op && op->getBlock() == &body)
      value = b.clone(*op)->getResult(0);
    made = vector::BroadcastOp::create(b, type, value);
  }
  values.map(value, made);
  return made;
}
