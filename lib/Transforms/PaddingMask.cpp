//===- PaddingMask.cpp - Masks for padding --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PaddingMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns whether the current element in a body of loops is outside of
/// padding.
static Value isElement(OpBuilder &builder, Location loc,
                       ArrayRef<PaddedDim> dims) {
  Value isAll;
  for (const PaddedDim &padded : dims) {
    Value index = linalg::IndexOp::create(builder, loc, padded.dim);
    Value isBefore = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, index, padded.extent);
    isAll =
        isAll ? arith::AndIOp::create(builder, loc, isAll, isBefore) : isBefore;
  }
  return isAll;
}

/// Selects `value` if `isElement`, otherwise `other`.
static Value choose(OpBuilder &builder, Location loc, Value isElement,
                    Value value, TypedAttr other) {
  return arith::SelectOp::create(
      builder, loc, isElement, value,
      arith::ConstantOp::create(builder, loc, other));
}

Value mlir::pathways::maskPadding(ImplicitLocOpBuilder &builder, Value tensor,
                                  ArrayRef<PaddedDim> dims, TypedAttr element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty =
      tensor::EmptyOp::create(builder, type.getShape(), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, type, tensor, empty, {identity, identity}, iterators,
             [&](OpBuilder &inner, Location loc, ValueRange elements) {
               linalg::YieldOp::create(inner, loc,
                                       choose(inner, loc,
                                              isElement(inner, loc, dims),
                                              elements[0], element));
             })
      .getResult(0);
}

/// Returns the argument that `value` only widens, which keeps zeros; null if
/// there is none.
static BlockArgument getWidened(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    value = op->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

bool mlir::pathways::addsProducts(linalg::LinalgOp op,
                                  ArrayRef<unsigned> loops) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  Operation *sum =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  BlockArgument before = op.getRegionOutputArgs()[0];
  Value added = sum->getOperand(sum->getOperand(0) == before ? 1 : 0);
  Operation *product = added.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return false;
  BlockArgument left = getWidened(product->getOperand(0)),
                right = getWidened(product->getOperand(1));
  auto isInput = [&](BlockArgument argument) {
    return argument && argument.getOwner() == op.getBlock() &&
           argument != before;
  };
  if (!isInput(left) || !isInput(right) || left == right)
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return llvm::all_of(loops, [&](unsigned loop) {
      return op.getMatchingIndexingMap(operand).isFunctionOfDim(loop);
    });
  });
}

bool mlir::pathways::mayFailInBody(linalg::LinalgOp op) {
  return op.getBlock()
      ->walk([](Operation *inner) {
        return getHarmlessOperands(inner)->empty() ? WalkResult::advance()
                                                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

linalg::GenericOp
mlir::pathways::maskInBody(RewriterBase &rewriter, linalg::LinalgOp op,
                           ArrayRef<PaddedDim> loops,
                           ArrayRef<std::optional<ReductionKind>> reductions) {
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic) {
    rewriter.setInsertionPoint(op);
    generic = *linalg::generalizeNamedOp(rewriter, op);
  }
  SmallVector<Operation *> inners;
  generic.getBlock()->walk([&](Operation *inner) { inners.push_back(inner); });
  OpBuilder builder = OpBuilder::atBlockBegin(generic.getBlock());
  Value isValid = isElement(builder, generic.getLoc(), loops);
  auto mask = [&](Operation *inner, unsigned operand, TypedAttr other) {
    builder.setInsertionPoint(inner);
    inner->setOperand(operand, choose(builder, inner->getLoc(), isValid,
                                      inner->getOperand(operand), other));
  };
  for (Operation *inner : inners) {
    // The variable is needed: a range-based for keeps no part of a temporary
    // alive.
    auto harmlessOperands = getHarmlessOperands(inner);
    for (auto [operand, harmless] : *harmlessOperands)
      mask(inner, operand, harmless);
  }
  for (auto [before, kind] :
       llvm::zip_equal(generic.getRegionOutputArgs(), reductions)) {
    if (!kind)
      continue;
    Operation *combiner = *before.user_begin();
    mask(combiner, combiner->getOperand(0) == before ? 1 : 0,
         getNeutral(*kind, before.getType()));
  }
  return generic;
}
