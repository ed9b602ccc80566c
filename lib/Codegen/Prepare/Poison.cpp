//===- Poison.cpp - One defined result for every operand ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For some operands arith leaves the result undefined ("poison"): the folder,
// the vector body of a loop and its tail may then each compute another one.
// This stage runs before anything is folded and gives such ops one result. A
// shift by the width or more fails, a conversion to integers saturates, and
// promises that the program may break (no overflow, nothing lost) are dropped.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

static bool isShift(Operation *op) {
  return isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
}

static bool isFloatToInteger(Operation *op) {
  return isa<arith::FPToSIOp, arith::FPToUIOp>(op);
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

static void dropPromises(Operation *op) {
  MLIRContext *context = op->getContext();
  // Floating-point ops must be computed as written, in vector bodies and tails
  // alike.
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(fast.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(context, {}));
  if (auto wraps = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(wraps.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    context, arith::IntegerOverflowFlags::none));
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [](auto exact) { exact.setIsExact(false); });
}

//===----------------------------------------------------------------------===//
// Ops on tensors
//===----------------------------------------------------------------------===//

/// Replaces an elementwise op on tensors by the same op on elements.
static void writeOverElements(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(op->getNumOperands() + 1,
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, type, op->getOperands(), empty, maps, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        Operation *element =
            inner.create(loc, op->getName().getIdentifier(),
                         arguments.take_front(op->getNumOperands()),
                         type.getElementType(), op->getAttrs());
        linalg::YieldOp::create(inner, loc, element->getResults());
      });
  op->replaceAllUsesWith(generic);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// Returns true if `value`, or each element of it, is known to be below `bound`
/// as an unsigned number.
static bool isBelow(Value value, uint64_t bound, unsigned depth = 0) {
  if (depth > 8)
    return false;
  auto isBelowToo = [&](Value other) {
    return isBelow(other, bound, depth + 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    return op && argument.getArgNumber() < op.getNumDpsInputs() &&
           isBelowToo(op.getDpsInputs()[argument.getArgNumber()]);
  }
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (auto integer = dyn_cast<IntegerAttr>(constant))
      return integer.getValue().ult(bound);
    auto elements = dyn_cast<DenseIntElementsAttr>(constant);
    // A splat may have any number of elements, all of them equal.
    if (elements && elements.isSplat())
      return elements.getSplatValue<APInt>().ult(bound);
    return elements &&
           llvm::all_of(elements.getValues<APInt>(), [&](const APInt &element) {
             return element.ult(bound);
           });
  }
  // Returns true if a value below the bound is not negative, so that sign
  // extension keeps it.
  auto isPositive = [&](Value other) {
    unsigned width = widthOf(getElementTypeOrSelf(other.getType()));
    return width > 6 || bound <= uint64_t{1} << (width - 1);
  };
  return llvm::TypeSwitch<Operation *, bool>(value.getDefiningOp())
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto op) {
        return isBelowToo(op.getLhs()) || isBelowToo(op.getRhs());
      })
      .Case([&](arith::RemUIOp op) {
        // No divisor is 0: a check guards it.
        return isBelow(op.getRhs(), bound + 1, depth + 1);
      })
      .Case([&](arith::SelectOp op) {
        return isBelowToo(op.getTrueValue()) && isBelowToo(op.getFalseValue());
      })
      .Case([&](arith::ExtUIOp op) {
        unsigned width = widthOf(getElementTypeOrSelf(op.getIn().getType()));
        return (width < 6 && uint64_t{1} << width <= bound) ||
               isBelowToo(op.getIn());
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto op) {
        return isPositive(op.getIn()) && isBelowToo(op.getIn());
      })
      .Case<arith::TruncIOp, arith::IndexCastUIOp>(
          [&](auto op) { return isBelowToo(op.getIn()); })
      .Case([&](linalg::IndexOp op) {
        auto owner = op->getParentOfType<linalg::LinalgOp>();
        int64_t range = owner.getStaticLoopRanges()[op.getDim()];
        return !ShapedType::isDynamic(range) &&
               static_cast<uint64_t>(range) <= bound;
      })
      .Case([&](linalg::FillOp op) { return isBelowToo(op.value()); })
      .Case([&](linalg::BroadcastOp op) { return isBelowToo(op.getInput()); })
      .Case([&](linalg::TransposeOp op) { return isBelowToo(op.getInput()); })
      .Case([&](tensor::SplatOp op) { return isBelowToo(op.getInput()); })
      .Case([&](tensor::ExtractOp op) { return isBelowToo(op.getTensor()); })
      .Case<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp>([&](auto op) {
        return isBelowToo(op->getOperand(0)); // checks the source
      })
      .Default([](Operation *) { return false; });
}

/// Makes a shift by the width or more fail.
static void guardShift(Operation *op) {
  Value amount = op->getOperand(1);
  Type type = amount.getType();
  unsigned width = widthOf(type);
  if (isBelow(amount, width))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, amount,
                                   constant(width));
  std::string text;
  llvm::raw_string_ostream(text)
      << "shift of " << type << " by " << width << " or more";
  auto check = cf::AssertOp::create(b, ok, text);
  check->setAttr(kernel::kLateAssertAttrName, b.getUnitAttr());
  op->setOperand(1, arith::SelectOp::create(b, ok, amount, constant(0)));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Rounds towards zero if the type can hold the result. Larger numbers become
/// the largest number of the type, smaller ones the least, and NaN becomes 0.
static void saturate(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value in = op->getOperand(0);
  auto from = cast<FloatType>(in.getType());
  Type to = op->getResult(0).getType();
  bool isSigned = isa<arith::FPToSIOp>(op);
  unsigned width = to.getIntOrFloatBitWidth();
  // Both ends are powers of two, or 0, so floats represent them exactly.
  const llvm::fltSemantics &semantics = from.getFloatSemantics();
  APFloat end = scalbn(APFloat(semantics, 1), width - isSigned,
                       APFloat::rmNearestTiesToEven);
  APFloat begin = isSigned ? -end : APFloat::getZero(semantics);
  auto number = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(from, value));
  };
  auto integer = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(to, value));
  };
  auto is = [&](arith::CmpFPredicate predicate, const APFloat &bound) -> Value {
    return arith::CmpFOp::create(b, predicate, in, number(bound));
  };
  Value zero = number(APFloat::getZero(semantics));
  Value notBelow = is(arith::CmpFPredicate::OGE, begin); // false for NaN
  Value isAbove = is(arith::CmpFPredicate::OGE, end);
  Value safe = arith::SelectOp::create(b, notBelow, in, zero);
  safe = arith::SelectOp::create(b, isAbove, zero, safe);
  op->setOperand(0, safe);

  b.setInsertionPointAfter(op);
  Value whole = op->getResult(0);
  Value result =
      arith::SelectOp::create(b, isAbove,
                              integer(isSigned ? APInt::getSignedMaxValue(width)
                                               : APInt::getMaxValue(width)),
                              whole);
  Operation *first = result.getDefiningOp();
  if (isSigned) // Unsigned numbers below 0 have become 0 already.
    result = arith::SelectOp::create(b, is(arith::CmpFPredicate::OLT, begin),
                                     integer(APInt::getSignedMinValue(width)),
                                     result);
  whole.replaceAllUsesExcept(result, first);
}

void kernel::removePoison(func::FuncOp func) {
  SmallVector<Operation *> onTensors, onElements;
  SmallVector<linalg::LinalgOp> named;
  func.walk([&](Operation *op) {
    // A program may use this attribute name for its own purposes.
    op->removeDiscardableAttr(kLateAssertAttrName);
    dropPromises(op);
    if (!isShift(op) && !isFloatToInteger(op))
      return;
    if (isa<TensorType>(op->getResult(0).getType())) {
      onTensors.push_back(op);
      return;
    }
    auto owner = dyn_cast<linalg::LinalgOp>(op->getParentOp());
    if (owner && !isa<linalg::GenericOp>(owner) &&
        (named.empty() || named.back() != owner))
      named.push_back(owner);
  });
  for (Operation *op : onTensors)
    writeOverElements(op);
  // The body of a named op follows from its name, so it cannot change before
  // the op is written as linalg.generic.
  IRRewriter rewriter(func.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
  func.walk([&](Operation *op) { onElements.push_back(op); });
  for (Operation *op : onElements) {
    if (isShift(op))
      guardShift(op);
    else if (isFloatToInteger(op))
      saturate(op);
  }
}
