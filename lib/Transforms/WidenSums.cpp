//===- WidenSums.cpp - Parts of sums in f32 -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns `value` as f32; a product that is used only here is computed in f32.
static Value widen(OpBuilder &builder, Value value) {
  if (auto product = value.getDefiningOp<arith::MulFOp>();
      product && product->hasOneUse()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(product);
    for (OpOperand &operand : product->getOpOperands())
      operand.set(arith::ExtFOp::create(builder, product.getLoc(),
                                        builder.getF32Type(), operand.get()));
    product.getResult().setType(builder.getF32Type());
    return value;
  }
  return arith::ExtFOp::create(builder, value.getLoc(), builder.getF32Type(),
                               value);
}

Operation *mlir::pathways::widenSums(RewriterBase &rewriter,
                                     linalg::LinalgOp op,
                                     ArrayRef<Value> inits) {
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic) {
    rewriter.setInsertionPoint(op);
    generic = *linalg::generalizeNamedOp(rewriter, op);
  }
  auto wide = [&](Type type) -> Type {
    return cast<RankedTensorType>(type).clone(rewriter.getF32Type());
  };
  for (auto [index, init] : llvm::enumerate(inits)) {
    OpResult result = generic->getResult(index);
    if (!isWidened(getElementTypeOrSelf(result.getType())))
      continue;
    generic.getDpsInitOperand(index)->set(init);
    result.setType(wide(result.getType()));
    BlockArgument before = generic.getRegionOutputArgs()[index];
    Operation *combiner = *before.user_begin();
    before.setType(rewriter.getF32Type());
    OpBuilder builder(combiner);
    for (OpOperand &operand : combiner->getOpOperands())
      if (operand.get() != before)
        operand.set(widen(builder, operand.get()));
    combiner->getResult(0).setType(rewriter.getF32Type());
  }
  return generic;
}
