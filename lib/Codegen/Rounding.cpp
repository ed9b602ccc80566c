//===- Rounding.cpp - Products and sums that are rounded once -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which products may be rounded together with the sums behind them:
// docs/kernels.md, "Rounding". The decision is made where ops still are those
// of the program. Fusion copies the marks, so a multiplication that fusion
// brings into a sum of another op stays unmarked, even if the two look like a
// contraction.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

StringRef mlir::pathways::getRoundingName(Rounding rounding) {
  switch (rounding) {
  case Rounding::EachOp:
    return "each_op";
  case Rounding::Strict:
    return "strict";
  case Rounding::Excess:
    return "excess";
  }
  llvm_unreachable("unknown rounding");
}

//===----------------------------------------------------------------------===//
// On tensors
//===----------------------------------------------------------------------===//

/// Calls `set` for multiplications, additions and subtractions of floats in
/// `root`, each as an op of its type.
template <typename Set> static void forEachPart(Operation *root, Set set) {
  root->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<arith::MulFOp, arith::AddFOp, arith::SubFOp>(set);
  });
}

static void mark(Operation *root) {
  forEachPart(root,
              [](auto op) { op.setFastmath(arith::FastMathFlags::contract); });
}

/// Returns the argument of `op` for an input that is `value`, which may be
/// widened, or null.
static BlockArgument getInput(linalg::GenericOp op, Value value) {
  if (auto widening = value.getDefiningOp<arith::ExtFOp>())
    value = widening.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody() &&
                 argument.getArgNumber() < op.getNumDpsInputs()
             ? argument
             : BlockArgument();
}

/// Returns true if `op` adds up products of two operands. It may have more
/// operands, such as one that only says how large a window is.
static bool sumsProducts(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return false;
  auto sum = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value before = op.getRegionOutputArgs().front();
  Value term = sum.getLhs() == before ? sum.getRhs() : sum.getLhs();
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!product || (sum.getLhs() != before && sum.getRhs() != before))
    return false;
  BlockArgument left = getInput(op, product.getLhs()),
                right = getInput(op, product.getRhs());
  return left && right && left != right;
}

void kernel::markProducts(ModuleOp module, Rounding rounding) {
  if (rounding == Rounding::Strict)
    return;
  module.walk([](linalg::GenericOp op) {
    if (sumsProducts(op))
      mark(op);
  });
}

void kernel::dropRoundings(ModuleOp module) {
  mark(module);
  module.walk([](arith::ExtFOp op) {
    auto rounding = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!rounding || !op.getType().isF32() ||
        !rounding.getIn().getType().isF32())
      return;
    op.replaceAllUsesWith(rounding.getIn());
    op.erase();
    if (rounding.use_empty())
      rounding.erase();
  });
}

//===----------------------------------------------------------------------===//
// On buffers
//===----------------------------------------------------------------------===//

static bool isMarked(arith::ArithFastMathInterface op) {
  return arith::bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::contract);
}

/// Returns the marked product of floats that only `user`, an op in the same
/// block, uses, if it is `value`. Otherwise returns null.
static arith::MulFOp getProduct(Value value, Operation *user) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() && isMarked(product) &&
                 product->getBlock() == user->getBlock()
             ? product
             : arith::MulFOp();
}

/// Replaces `op`, which adds or subtracts, by a fused multiply-add if one of
/// its operands is a product.
static void fuse(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  const bool subtracts = isa<arith::SubFOp>(op);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1), result;
  auto negated = [&](Value value) -> Value {
    return subtracts ? arith::NegFOp::create(b, value).getResult() : value;
  };
  arith::MulFOp product = getProduct(rhs, op);
  if (product) {
    result = math::FmaOp::create(b, negated(product.getLhs()), product.getRhs(),
                                 lhs);
  } else if ((product = getProduct(lhs, op))) {
    result = math::FmaOp::create(b, product.getLhs(), product.getRhs(),
                                 negated(rhs));
  } else {
    return;
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  product->erase();
}

void kernel::fuseMarkedProducts(ModuleOp module, const MatmulTiles &tiles,
                                Rounding rounding) {
  if (rounding == Rounding::Excess && tiles.hasFma) {
    SmallVector<Operation *> sums;
    module.walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp>(op) &&
          isMarked(cast<arith::ArithFastMathInterface>(op)))
        sums.push_back(op);
    });
    llvm::for_each(sums, fuse);
  }
  forEachPart(module,
              [](auto op) { op.setFastmath(arith::FastMathFlags::none); });
}
