//===- LowerStableHlo.cpp - Lowering of stablehlo to bodies ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CustomCalls.h"
#include "Patterns.h"
#include "Types.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_LOWERSTABLEHLO
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

class BodyTypes : public TypeConverter {
public:
  BodyTypes() {
    addConversion([](Type type) { return removeSign(type); });
    addConversion([](RankedTensorType type) -> Type {
      return type.clone(removeSign(type.getElementType()));
    });
    // A token carries no data, and a tuple becomes its elements.
    addConversion([](stablehlo::TokenType, SmallVectorImpl<Type> &) {
      return success();
    });
    addConversion([this](TupleType type, SmallVectorImpl<Type> &types) {
      return convertTypes(type.getTypes(), types);
    });
    auto cast = [](OpBuilder &b, Type type, ValueRange values, Location loc) {
      return UnrealizedConversionCastOp::create(b, loc, type, values)
          .getResult(0);
    };
    addSourceMaterialization(cast);
    addTargetMaterialization(cast);
    addTargetMaterialization([](OpBuilder &b, TypeRange types,
                                ValueRange values, Location loc) {
      auto casts = UnrealizedConversionCastOp::create(b, loc, types, values);
      return SmallVector<Value>(casts.getResults());
    });
  }
};

class LowerStableHloPass
    : public mlir::pathways::impl::LowerStableHloBase<LowerStableHloPass> {
  void runOnOperation() override {
    inlineScalarCalls(getOperation());
    BodyTypes types;
    RewritePatternSet patterns(&getContext());
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   types);
    populateReturnOpTypeConversionPattern(patterns, types);
    populateCallOpTypeConversionPattern(patterns, types);
    populateCollectivePatterns(types, patterns);
    populateControlFlowPatterns(types, patterns);
    populateShapePatterns(types, patterns);
    populateChloMathPatterns(types, patterns);
    populateElementwisePatterns(types, patterns);
    populateProductPatterns(types, patterns);
    populateReductionPatterns(types, patterns);
    populateWindowPatterns(types, patterns);
    populateIndexingPatterns(types, patterns);
    populateSortPatterns(types, patterns);
    populateLinearAlgebraPatterns(types, patterns);
    populateRandomPatterns(types, patterns);
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, linalg::LinalgDialect,
                           math::MathDialect, PathwaysDialect, scf::SCFDialect,
                           tensor::TensorDialect>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
      return types.isSignatureLegal(function.getFunctionType()) &&
             types.isLegal(&function.getBody());
    });
    target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp>(
        [&](Operation *op) { return types.isLegal(op); });
    // Operations of stablehlo are neither legal nor illegal: those that no
    // pattern matches stay, so that errors list all of them.
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))) ||
        failed(refuseOperations(getOperation())))
      return signalPassFailure();
    removeCasts();
  }

  /// Removes pairs of casts, which join results of this pass to those of
  /// earlier passes.
  void removeCasts() {
    DenseSet<UnrealizedConversionCastOp> casts;
    getOperation().walk(
        [&](UnrealizedConversionCastOp cast) { casts.insert(cast); });
    if (!casts.empty())
      reconcileUnrealizedCasts(casts);
  }
};

} // namespace
