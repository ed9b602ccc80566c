//===- Loops.cpp - Loops for the remaining ops on buffers -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Returns the dimensions of a buffer in groups. The dimensions of each group
/// lie in memory like one dimension in all of `types`.
SmallVector<ReassociationIndices> joinDimensions(ArrayRef<MemRefType> types) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, e = types.front().getRank(); d < e; ++d) {
    if (d > 0) {
      SmallVector<ReassociationIndices> joined = groups;
      joined.back().push_back(d);
      SmallVector<ReassociationIndices> whole = joined;
      for (int64_t rest = d + 1; rest < e; ++rest)
        whole.push_back({rest});
      if (llvm::all_of(types, [&](MemRefType type) {
            return memref::CollapseShapeOp::isGuaranteedCollapsible(type,
                                                                    whole);
          })) {
        groups = joined;
        continue;
      }
    }
    groups.push_back({d});
  }
  return groups;
}

/// Writes copies as loops if one of the buffers is strided. Copies of dense
/// buffers become memcpy.
struct CopyByLoops : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::CopyOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSource() == op.getTarget()) {
      rewriter.eraseOp(op);
      return success();
    }
    auto isDense = [](Value value) {
      auto type = cast<MemRefType>(value.getType());
      return type.hasStaticShape() && type.getLayout().isIdentity();
    };
    if (isDense(op.getSource()) && isDense(op.getTarget()))
      return failure();
    Value source = op.getSource(), target = op.getTarget();
    // Joins short adjacent rows to one row.
    auto sourceType = cast<MemRefType>(source.getType()),
         targetType = cast<MemRefType>(target.getType());
    if (sourceType.hasStaticShape() && targetType.hasStaticShape()) {
      SmallVector<ReassociationIndices> groups =
          joinDimensions({sourceType, targetType});
      if (static_cast<int64_t>(groups.size()) < sourceType.getRank()) {
        source = memref::CollapseShapeOp::create(rewriter, op.getLoc(), source,
                                                 groups);
        target = memref::CollapseShapeOp::create(rewriter, op.getLoc(), target,
                                                 groups);
      }
    }
    AffineMap map = rewriter.getMultiDimIdentityMap(
        cast<MemRefType>(target.getType()).getRank());
    SmallVector<utils::IteratorType> iterators(map.getNumDims(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, ValueRange(source), ValueRange(target),
        ArrayRef<AffineMap>{map, map}, iterators,
        [](OpBuilder &b, Location loc, ValueRange args) {
          linalg::YieldOp::create(b, loc, args.front());
        });
    return success();
  }
};

/// Joins the short rows of a dense buffer that is set to one number to one row.
struct FillFlat : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1)
      return failure();
    Value buffer = op.getDpsInits()[0];
    auto type = cast<MemRefType>(buffer.getType());
    Value value = kernel::valueSetBy(op, buffer);
    if (!value || type.getRank() < 2 || !type.hasStaticShape() ||
        !type.getLayout().isIdentity())
      return failure();
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all.front(), llvm::seq<int64_t>(type.getRank()));
    Value flat =
        memref::CollapseShapeOp::create(rewriter, op.getLoc(), buffer, all);
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, flat);
    return success();
  }
};

} // namespace

/// Lets LLVM add a sum along the innermost loop in lanes if lowerReductions did
/// not write it. The order of the sum is then fixed by the shape and the
/// target, and is the same for every element of the result. This holds only for
/// loops that are too long to be unrolled: after unrolling, LLVM would add
/// several elements at once, in other orders.
static void addInLanes(linalg::GenericOp op) {
  constexpr int64_t kLeastTerms = 256;
  auto iterators = op.getIteratorTypesArray();
  // Windows add term by term.
  if (iterators.empty() || !linalg::isReductionIterator(iterators.back()) ||
      op.getStaticLoopRanges().back() < kLeastTerms || kernel::isWindowed(op))
    return;
  Block *body = op.getBody();
  for (auto [yielded, result] : llvm::zip_equal(
           body->getTerminator()->getOperands(), op.getRegionOutputArgs())) {
    Operation *add = yielded.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp>(add) || !add->hasOneUse() ||
        !result.hasOneUse() || !llvm::is_contained(add->getOperands(), result))
      continue;
    cast<arith::AddFOp>(add).setFastmath(arith::FastMathFlags::reassoc);
  }
}

/// Returns true if vectorizing the loops that `op` becomes is worth it.
static bool hasManyElements(linalg::LinalgOp op) {
  constexpr uint64_t kMany = 16;
  uint64_t count = 1;
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size))
      return true;
    count = llvm::SaturatingMultiply<uint64_t>(count, size);
  }
  return count > kMany;
}

LogicalResult kernel::lowerToLoops(ModuleOp module, const MatmulTiles &tiles,
                                   bool &leavesLoops) {
  MLIRContext *context = module.getContext();
  RewritePatternSet copies(context);
  copies.add<CopyByLoops, FillFlat>(context);
  // Folds the output of earlier stages, because the next ones look for specific
  // ops.
  foldAndApplyPatternsToEnd(module, std::move(copies));
  lowerElementwise(module, tiles);
  if (tiles.hasRanges) {
    useRanges(module);
    useReciprocals(module);
  }
  module.walk([&](linalg::LinalgOp op) { leavesLoops |= hasManyElements(op); });
  RewritePatternSet patterns(context);
  addFloatPatterns(patterns, tiles.hasPowers);
  addMaxNumPatterns(patterns);
  addDoublePatterns(patterns);
  // Vector bodies and tails use the same straight code. This approximation is
  // within a few units in the last place; the other functions call the C
  // library.
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::TanhOp::getOperationName();
  });
  applyPatternsToEnd(module, std::move(patterns));
  if (!tiles.addsInOrder)
    module.walk(addInLanes);
  if (hasOp(module, llvm::IsaPred<linalg::LinalgOp>)) {
    PassManager pm(context);
    pm.nest<func::FuncOp>().addPass(createConvertLinalgToLoopsPass());
    if (failed(runPasses(pm, module)))
      return failure();
  }
  simplify(module);
  return success();
}
