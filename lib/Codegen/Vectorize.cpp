//===- Vectorize.cpp - Scalar code in the lanes of vectors ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;

static bool isDense(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getRank() > 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

bool kernel::isDense(Value buffer) {
  return ::isDense(cast<MemRefType>(buffer.getType()));
}

bool kernel::isDenseAsOne(Value buffer, ArrayRef<ReassociationIndices> groups) {
  auto type = cast<MemRefType>(buffer.getType());
  return memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups) &&
         ::isDense(memref::CollapseShapeOp::computeCollapsedType(type, groups));
}

bool kernel::isWrittenOut(Operation &op) {
  return isa<math::AbsFOp, math::FmaOp, math::SqrtOp, math::RsqrtOp,
             math::CopySignOp, math::AbsIOp>(op) ||
         (isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp, math::SinOp,
              math::CosOp, math::PowFOp>(op) &&
          op.getResult(0).getType().isF32());
}

SmallVector<ReassociationIndices> kernel::groupsOf(int64_t rank,
                                                   int64_t joined) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < rank; ++d) {
    if (d < rank - joined)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return groups;
}

void kernel::turnAround(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows) {
  const int64_t lanes = rows.size();
  // Rows whose numbers differ in one bit exchange the lanes whose numbers
  // differ in it.
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & bit ? lanes + lane - bit : lane);
      high.push_back(lane & bit ? lanes + lane : lane + bit);
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & bit)
        continue;
      Value first = rows[i], second = rows[i + bit];
      rows[i] = vector::ShuffleOp::create(b, first, second, low);
      rows[i + bit] = vector::ShuffleOp::create(b, first, second, high);
    }
  }
}

bool kernel::canBeInLanes(Block &body, bool hasHalves) {
  auto isElement = [&](Type type) {
    return type.isF32() || type.isF64() || type.isBF16() ||
           (type.isF16() && hasHalves) || type.isInteger(1) ||
           type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
           type.isInteger(64);
  };
  if (!llvm::all_of(body.getArgumentTypes(), isElement))
    return false;
  // Remainders claim to be speculatable, but a remainder by 0 traps, and
  // masked-off lanes hold zeros.
  auto mayTrap = [](Operation &op) {
    return isa<arith::RemSIOp, arith::RemUIOp>(op) &&
           !matchPattern(op.getOperand(1), m_NonZero());
  };
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    if (op.getNumResults() != 1 || !isElement(op.getResult(0).getType()))
      return false;
    if (op.hasTrait<OpTrait::ConstantLike>())
      return true;
    return (isa<arith::ArithDialect>(op.getDialect()) || isWrittenOut(op)) &&
           !isa<arith::RemFOp>(op) && !mayTrap(op) &&
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

kernel::Lanes::Lanes(Type element, int64_t vectorBytes) : element(element) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  most = std::max<int64_t>(vectorBytes / bytes, 1);
  hasMasks = vectorBytes == 64 && bytes >= 4;
}

SmallVector<int64_t> kernel::Lanes::widthsOf(int64_t count) const {
  SmallVector<int64_t> widths(count / most, most);
  int64_t left = count % most;
  // One partial vector is cheaper than several small ones.
  if (hasMasks && left > 0)
    widths.push_back(left);
  for (int64_t width = most; !hasMasks && left > 0; left -= width) {
    while (width > left)
      width /= 2;
    widths.push_back(width);
  }
  return widths;
}

VectorType kernel::Lanes::typeOf(int64_t width) const {
  bool isFull = areFull || !llvm::isPowerOf2_64(width);
  return VectorType::get(isFull ? most : width, element);
}

/// Returns a mask of the first `width` lanes of `type`.
static Value maskOf(ImplicitLocOpBuilder &b, VectorType type, int64_t width) {
  SmallVector<bool> used(type.getDimSize(0), false);
  std::fill_n(used.begin(), width, true);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type.clone(b.getI1Type()), used));
}

Value kernel::Lanes::load(ImplicitLocOpBuilder &b, Value buffer,
                          ValueRange where, int64_t width) const {
  VectorType type = typeOf(width);
  if (type.getDimSize(0) == width)
    return vector::LoadOp::create(b, type, buffer, where);
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, type, buffer, where,
                                      maskOf(b, type, width), zeros);
}

void kernel::Lanes::store(ImplicitLocOpBuilder &b, Value lanes, Value buffer,
                          ValueRange where, int64_t width) const {
  VectorType type = typeOf(width);
  if (type.getDimSize(0) == width)
    vector::StoreOp::create(b, lanes, buffer, where);
  else
    vector::MaskedStoreOp::create(b, buffer, where, maskOf(b, type, width),
                                  lanes);
}
