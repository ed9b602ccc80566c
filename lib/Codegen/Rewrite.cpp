//===- Rewrite.cpp - Rewriting that ends well or says why -----------------===//
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
        return failure(); // Others are to see it too.
      }) {}

bool kernel::hasOp(ModuleOp module,
                   llvm::function_ref<bool(Operation *)> isSought) {
  return module
      .walk([&](Operation *op) {
        return isSought(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What is to be simplified of regions is their blocks.
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
  // To look at all ops takes less time than to set the rewriter up.
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
  // Without a bound there is nothing that it could fail of.
  (void)applyPatternsGreedily(module, patterns, config);
}

namespace {

/// Whether `dialect` has ops on tensors as a whole. Most patterns there are
/// are for these, as each of theirs is for each op with a name in linalg.
static bool isOnTensors(Dialect *dialect) {
  return isa<linalg::LinalgDialect, tensor::TensorDialect>(dialect);
}

/// The patterns of all dialects of a context, with those on tensors and
/// without. Thread-safe.
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
  // In some rounds, which may leave something: that is slower, not wrong.
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

/// Keeps the name of the pass that failed first.
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
  // Of what is between passes nothing is known to be wrong. What comes in is
  // verified, and what goes to LLVM, by LLVM once more.
  passes.enableVerifier(false);
  passes.addInstrumentation(std::make_unique<FailedPass>(name));
  ErrorWatch watch(module.getContext());
  if (succeeded(passes.run(module)))
    return success();
  if (watch.hasSeenError())
    return failure();
  return module.emitError("code generation failed: pass '")
         << name << "' gave up and did not say why";
}
