//===- Rewrite.cpp - Rewriting that reports its failures ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrite.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/Threading.h"
#include <mutex>

using namespace mlir;
using namespace mlir::pathways;

kernel::ErrorWatch::ErrorWatch(MLIRContext *context)
    : handler(context, [seen = seenError,
                        thread = llvm::get_threadid()](Diagnostic &diag) {
        if (diag.getSeverity() == DiagnosticSeverity::Error &&
            llvm::get_threadid() == thread)
          *seen = true;
        return failure(); // Other handlers must see it too.
      }) {}

bool kernel::hasOp(ModuleOp module,
                   llvm::function_ref<bool(Operation *)> isSought) {
  return module
      .walk([&](Operation *op) {
        return isSought(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the level for `module`. Simplifying regions only concerns their
/// blocks, so modules without branches skip it.
static GreedySimplifyRegionLevel levelFor(ModuleOp module) {
  bool hasBranches = kernel::hasOp(module, [](Operation *op) {
    return llvm::any_of(op->getRegions(), [](Region &region) {
      return !region.empty() && !region.hasOneBlock();
    });
  });
  return hasBranches ? GreedySimplifyRegionLevel::Aggressive
                     : GreedySimplifyRegionLevel::Disabled;
}

void kernel::applyPatternsToEnd(ModuleOp module, RewritePatternSet &&patterns) {
  FrozenRewritePatternSet frozen(std::move(patterns));
  // Scanning all ops takes less time than setting up the rewriter.
  if (frozen.getMatchAnyOpNativePatterns().empty() &&
      !hasOp(module, [&](Operation *op) {
        return frozen.getOpSpecificNativePatterns().contains(op->getName());
      }))
    return;
  foldAndApplyPatternsToEnd(module, frozen);
}

void kernel::foldAndApplyPatternsToEnd(
    ModuleOp module, const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
  config.setRegionSimplificationLevel(levelFor(module));
  // This cannot fail because the number of rounds is not bounded.
  (void)applyPatternsGreedily(module, patterns, config);
}

namespace {

/// Returns true if `dialect` has ops on whole tensors. Most canonicalization
/// patterns are for these ops, because each generic pattern of linalg is added
/// for every named op.
static bool isOnTensors(Dialect *dialect) {
  return isa<linalg::LinalgDialect, tensor::TensorDialect>(dialect);
}

/// The canonicalization patterns of all dialects of a context, with and without
/// those on tensors. Thread-safe.
class CanonicalPatterns : public DialectInterface::Base<CanonicalPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalPatterns)

  explicit CanonicalPatterns(Dialect *dialect) : Base(dialect) {}

  static FrozenRewritePatternSet gather(MLIRContext *context,
                                        bool withTensors) {
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects())
      if (withTensors || !isOnTensors(dialect))
        dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (withTensors || !isOnTensors(&op.getDialect()))
        op.getCanonicalizationPatterns(patterns, context);
    return std::move(patterns);
  }

  const FrozenRewritePatternSet &get(bool withTensors) const {
    Patterns &patterns = withTensors ? all : withoutTensors;
    std::call_once(patterns.once,
                   [&] { patterns.set = gather(getContext(), withTensors); });
    return patterns.set;
  }

private:
  struct Patterns {
    std::once_flag once;
    FrozenRewritePatternSet set;
  };
  mutable Patterns all, withoutTensors;
};

} // namespace

void kernel::registerSimplification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, func::FuncDialect *dialect) {
    dialect->addInterfaces<CanonicalPatterns>();
  });
}

void kernel::simplify(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto *func = context->getLoadedDialect<func::FuncDialect>();
  auto *known = func->getRegisteredInterface<CanonicalPatterns>();
  bool hasTensors = hasOp(
      module, [](Operation *op) { return isOnTensors(op->getDialect()); });
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(levelFor(module));
  // The number of rounds is bounded. Code that is left unsimplified is slower,
  // not wrong.
  (void)applyPatternsGreedily(
      module,
      known ? known->get(hasTensors)
            : CanonicalPatterns::gather(context, hasTensors),
      config);
  joinEqual(module);
}

void kernel::joinEqual(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  DominanceInfo dominance(module);
  eliminateCommonSubExpressions(rewriter, dominance, module);
}

namespace {

/// Keeps the name of the first pass that failed.
struct FailedPass : PassInstrumentation {
  explicit FailedPass(std::string &name) : name(name) {}

  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (name.empty())
      name = pass->getArgument().empty() ? pass->getName().str()
                                         : pass->getArgument().str();
  }

  std::string &name;
};

} // namespace

LogicalResult kernel::lowerAffine(ModuleOp module) {
  if (!hasOp(module, [](Operation *op) {
        return isa<affine::AffineDialect>(op->getDialect());
      }))
    return success();
  PassManager pm(module.getContext());
  pm.addPass(createLowerAffinePass());
  return runPasses(pm, module);
}

LogicalResult kernel::runPasses(PassManager &passes, ModuleOp module) {
  std::string name;
  // Verification between passes is off: no bug in these passes is known. The
  // input is verified, and LLVM verifies its own input again.
  passes.enableVerifier(false);
  passes.addInstrumentation(std::make_unique<FailedPass>(name));
  ErrorWatch watch(module.getContext());
  if (succeeded(passes.run(module)))
    return success();
  if (watch.hasSeenError())
    return failure();
  return module.emitError("code generation failed: pass '")
         << name << "' failed without an error";
}
