//===- Checks.cpp - Guards of ops that could trap -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of a kernel must not trap and must not leave its buffers. Each op that
// could is preceded by an assert, and its operand is replaced by a harmless one
// where the assert fails. The code runs to its end and then returns which
// assert was the first to fail. No branch leaves a loop, so loops stay simple.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "pathways/Support/SourcePlace.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

unsigned kernel::LocationTable::add(Location loc, StringRef message) {
  std::string place = getSourcePlace(loc);
  CodeLocation entry{place.empty() ? "unknown" : place, message.str()};
  auto it = llvm::find(entries, entry);
  if (it == entries.end()) {
    entries.push_back(std::move(entry));
    return entries.size();
  }
  return it - entries.begin() + 1;
}

namespace {

/// Guards the ops of one function.
class CheckInserter {
public:
  explicit CheckInserter(kernel::LocationTable &table) : table(table) {}

  LogicalResult run(func::FuncOp func);

private:
  using Builder = ImplicitLocOpBuilder;

  static Value constant(Builder &b, Type type, const APInt &value) {
    return arith::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  }
  static Value constant(Builder &b, Type type, int64_t value) {
    return constant(b, type,
                    APInt(width(type), value, /*isSigned=*/true,
                          /*implicitTrunc=*/true));
  }
  static unsigned width(Type type) {
    return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  }
  static Value compare(Builder &b, arith::CmpIPredicate predicate, Value lhs,
                       Value rhs) {
    return arith::CmpIOp::create(b, predicate, lhs, rhs);
  }

  cf::AssertOp require(Builder &b, Value condition, StringRef message) {
    return cf::AssertOp::create(b, condition, number(b.getLoc(), message));
  }
  std::string number(Location loc, StringRef message) {
    return std::to_string(table.add(loc, message));
  }

  void guardDivision(Operation *op, bool isSigned, bool isRemainder);
  void guardPower(math::IPowIOp op);
  void guardStep(scf::ForOp op);
  /// Asserts that `indices` of `op` are in bounds. Returns indices that are
  /// always in bounds.
  SmallVector<Value> guardIndices(Operation *op, ValueRange indices,
                                  ArrayRef<int64_t> shape);
  /// Returns `index` if it is in [0, last], which `ok` tells, otherwise 0.
  /// Returns the same value for the same index, so that a value that is read
  /// from a place and written back to it stays in its buffer.
  Value makeHarmless(Builder &b, Value ok, Value index, int64_t last);
  /// Returns true if `index` is known to be in [0, size). Looks at no more than
  /// `depth` operations before it.
  static bool isInBounds(Value index, int64_t size, int depth = 4);
  LogicalResult guardSlice(OffsetSizeAndStrideOpInterface op,
                           RankedTensorType large);

  kernel::LocationTable &table;
  /// Harmless indices by block, index and last index in bounds.
  llvm::DenseMap<std::tuple<Block *, Value, int64_t>, Value> harmless;
};

} // namespace

void CheckInserter::guardDivision(Operation *op, bool isSigned,
                                  bool isRemainder) {
  Builder b(op->getLoc(), op);
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  APInt known;
  bool isKnown = matchPattern(divisor, m_ConstantInt(&known));
  if (isKnown && !known.isZero() && !(isSigned && known.isAllOnes()))
    return;

  Value one = constant(b, type, 1);
  Value notZero =
      compare(b, arith::CmpIPredicate::ne, divisor, constant(b, type, 0));
  require(b, notZero, "integer division by zero");
  divisor = arith::SelectOp::create(b, notZero, divisor, one);
  if (isSigned) {
    Value isMinusOne =
        compare(b, arith::CmpIPredicate::eq, divisor, constant(b, type, -1));
    // The smallest number divided by -1 traps. Its remainder is 0, as for a
    // division by 1; its quotient does not exist.
    Value isBad = isMinusOne;
    if (!isRemainder) {
      Value isSmallest =
          compare(b, arith::CmpIPredicate::eq, dividend,
                  constant(b, type, APInt::getSignedMinValue(width(type))));
      isBad = arith::AndIOp::create(b, isMinusOne, isSmallest);
      Value isFine =
          arith::XOrIOp::create(b, isBad, constant(b, b.getI1Type(), 1));
      require(b, isFine, "integer division overflows");
    }
    divisor = arith::SelectOp::create(b, isBad, one, divisor);
  }
  op->setOperand(1, divisor);
}

void CheckInserter::guardPower(math::IPowIOp op) {
  Builder b(op.getLoc(), op);
  Value base = op.getLhs(), exponent = op.getRhs();
  Value baseNotZero = compare(b, arith::CmpIPredicate::ne, base,
                              constant(b, base.getType(), 0));
  Value notNegative = compare(b, arith::CmpIPredicate::sge, exponent,
                              constant(b, exponent.getType(), 0));
  Value ok = arith::OrIOp::create(b, baseNotZero, notNegative);
  require(b, ok, "zero raised to a negative power");
  Value safe =
      arith::SelectOp::create(b, ok, base, constant(b, base.getType(), 1));
  op.getLhsMutable().assign(safe);
}

void CheckInserter::guardStep(scf::ForOp op) {
  APInt known;
  if (matchPattern(op.getStep(), m_ConstantInt(&known)) &&
      known.isStrictlyPositive())
    return;
  Builder b(op.getLoc(), op);
  Type type = op.getStep().getType();
  Value ok =
      compare(b, arith::CmpIPredicate::sgt, op.getStep(), constant(b, type, 0));
  require(b, ok, "step of a loop is below 1");
  // Such a loop would never end, so it runs no iteration.
  Value safe =
      arith::SelectOp::create(b, ok, op.getStep(), constant(b, type, 1));
  Value end =
      arith::SelectOp::create(b, ok, op.getUpperBound(), op.getLowerBound());
  op.getStepMutable().assign(safe);
  op.getUpperBoundMutable().assign(end);
}

bool CheckInserter::isInBounds(Value index, int64_t size, int depth) {
  APInt known;
  if (matchPattern(index, m_ConstantInt(&known)))
    return !known.isNegative() && known.slt(size);
  if (auto loopIndex = index.getDefiningOp<linalg::IndexOp>()) {
    auto owner = loopIndex->getParentOfType<linalg::LinalgOp>();
    SmallVector<int64_t> ranges = owner.getStaticLoopRanges();
    int64_t range = ranges[loopIndex.getDim()];
    return !ShapedType::isDynamic(range) && range <= size;
  }
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return false;
    APInt lower, upper;
    return matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
           matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) &&
           !lower.isNegative() && upper.sle(size);
  }
  if (depth == 0)
    return false;
  auto isBounded = [&](Value x) { return isInBounds(x, size, depth - 1); };
  auto areBoth = [&](Value x, Value y) { return isBounded(x) && isBounded(y); };
  return TypeSwitch<Operation *, bool>(index.getDefiningOp())
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto cast) { return isBounded(cast.getIn()); })
      .Case([&](arith::SelectOp op) {
        return areBoth(op.getTrueValue(), op.getFalseValue());
      })
      .Case([&](arith::MinUIOp op) {
        return isBounded(op.getLhs()) || isBounded(op.getRhs());
      })
      .Case([&](arith::MinSIOp op) {
        auto inner = op.getLhs().getDefiningOp<arith::MaxSIOp>();
        return areBoth(op.getLhs(), op.getRhs()) ||
               (inner && areBoth(inner.getRhs(), op.getRhs()));
      })
      .Case([&](arith::MaxSIOp op) {
        auto inner = op.getLhs().getDefiningOp<arith::MinSIOp>();
        return areBoth(op.getLhs(), op.getRhs()) ||
               (inner && areBoth(inner.getRhs(), op.getRhs()));
      })
      .Default(false);
}

Value CheckInserter::makeHarmless(Builder &b, Value ok, Value index,
                                  int64_t last) {
  // The walk is in the order of a block, so the known value dominates.
  Value &known = harmless[{b.getInsertionBlock(), index, last}];
  if (!known)
    known =
        arith::SelectOp::create(b, ok, index, constant(b, b.getIndexType(), 0));
  return known;
}

SmallVector<Value> CheckInserter::guardIndices(Operation *op,
                                               ValueRange indices,
                                               ArrayRef<int64_t> shape) {
  Builder b(op->getLoc(), op);
  SmallVector<Value> safe;
  for (auto [index, size] : llvm::zip_equal(indices, shape)) {
    if (isInBounds(index, size)) {
      safe.push_back(index);
      continue;
    }
    Value ok = compare(b, arith::CmpIPredicate::ult, index,
                       constant(b, b.getIndexType(), size));
    cf::AssertOp check = require(b, ok, "index out of bounds");
    if (Attribute late = op->getAttr(kernel::kLateAssertAttrName))
      check->setAttr(kernel::kLateAssertAttrName, late);
    safe.push_back(makeHarmless(b, ok, index, size - 1));
  }
  return safe;
}

LogicalResult CheckInserter::guardSlice(OffsetSizeAndStrideOpInterface op,
                                        RankedTensorType large) {
  Builder b(op->getLoc(), op);
  auto sizes = op.getStaticSizes(), strides = op.getStaticStrides();
  if (ShapedType::isDynamicShape(sizes) || ShapedType::isDynamicShape(strides))
    return op->emitOpError("has sizes or strides that are not constant, which "
                           "a kernel does not support");
  SmallVector<int64_t> offsets(op.getStaticOffsets());
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    // Distance from the offset to the last element that is accessed.
    int64_t span = 0;
    if (sizes[dim] > 0 &&
        llvm::MulOverflow<int64_t>(sizes[dim] - 1, strides[dim], span))
      span = std::numeric_limits<int64_t>::max();
    if (strides[dim] < 1)
      return op->emitOpError("expected positive strides, got ")
             << strides[dim] << " in dimension " << dim;
    int64_t room = large.getDimSize(dim) - (sizes[dim] > 0 ? 1 : 0);
    int64_t last = room - span; // largest offset that fits
    if (span > room)
      return op->emitOpError("takes ")
             << sizes[dim] << " elements with stride " << strides[dim]
             << " from dimension " << dim << ", which has "
             << large.getDimSize(dim);
    if (!ShapedType::isDynamic(offset)) {
      if (offset < 0 || offset > last)
        return op->emitOpError("offset ")
               << offset << " of dimension " << dim << " is out of bounds, "
               << "expected at most " << last;
      continue;
    }
    OpOperand &operand =
        op->getOpOperand(op.getOffsetSizeAndStrideStartOperandIndex() +
                         llvm::count_if(ArrayRef(offsets).take_front(dim),
                                        ShapedType::isDynamic));
    if (last < std::numeric_limits<int64_t>::max() &&
        isInBounds(operand.get(), last + 1))
      continue;
    Value ok = compare(b, arith::CmpIPredicate::ule, operand.get(),
                       constant(b, b.getIndexType(), last));
    require(b, ok, "slice out of bounds");
    operand.set(makeHarmless(b, ok, operand.get(), last));
  }
  return success();
}

LogicalResult CheckInserter::run(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    Builder b(op->getLoc(), op);
    LogicalResult status =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(
                [&](auto) {
                  guardDivision(op, /*isSigned=*/true, /*isRemainder=*/false);
                  return success();
                })
            .Case([&](arith::RemSIOp) {
              guardDivision(op, /*isSigned=*/true, /*isRemainder=*/true);
              return success();
            })
            .Case<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(
                [&](auto) {
                  guardDivision(op, /*isSigned=*/false, /*isRemainder=*/false);
                  return success();
                })
            .Case([&](math::IPowIOp power) {
              guardPower(power);
              return success();
            })
            .Case([&](scf::ForOp loop) {
              guardStep(loop);
              return success();
            })
            .Case([&](cf::AssertOp assertion) {
              assertion.setMsg(number(op->getLoc(), assertion.getMsg()));
              return success();
            })
            .Case([&](tensor::ExtractOp extract) {
              auto type = cast<RankedTensorType>(extract.getTensor().getType());
              SmallVector<Value> safe =
                  guardIndices(op, extract.getIndices(), type.getShape());
              extract.getIndicesMutable().assign(safe);
              if (type.getNumElements() == 0) {
                // An empty tensor has no element to read, not even at a
                // harmless index.
                Value zero = arith::ConstantOp::create(
                    b, type.getElementType(),
                    b.getZeroAttr(type.getElementType()));
                extract.replaceAllUsesWith(zero);
                extract.erase();
              }
              return success();
            })
            .Case([&](tensor::InsertOp insert) {
              auto type = cast<RankedTensorType>(insert.getType());
              SmallVector<Value> safe =
                  guardIndices(op, insert.getIndices(), type.getShape());
              insert.getIndicesMutable().assign(safe);
              if (type.getNumElements() == 0) {
                insert.replaceAllUsesWith(insert.getDest());
                insert.erase();
              }
              return success();
            })
            .Case([&](tensor::ExtractSliceOp slice) {
              return guardSlice(slice, slice.getSourceType());
            })
            .Case([&](tensor::InsertSliceOp slice) {
              return guardSlice(slice, slice.getDestType());
            })
            .Default([](Operation *) { return success(); });
    if (failed(status))
      return failure();
  }
  return success();
}

LogicalResult kernel::insertChecks(func::FuncOp func, LocationTable &table) {
  return CheckInserter(table).run(func);
}
