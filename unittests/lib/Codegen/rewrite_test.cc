//===- rewrite_test.cc - Rewriting that reports its failures --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mlir;
using namespace mlir::pathways;

namespace {

class RewriteTest : public testing::Test {
protected:
  RewriteTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      errors.push_back(diag.str());
      return success();
    });
    module = parseSourceString<ModuleOp>(R"(
      func.func @f() -> i32 {
        %c = arith.constant 0 : i32
        return %c : i32
      })",
                                         &context);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> errors;
};

/// Fails at every function, with a diagnostic if it is asked for one.
struct FailingPass : PassWrapper<FailingPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FailingPass)
  explicit FailingPass(bool saysWhy) : saysWhy(saysWhy) {}

  StringRef getArgument() const override { return "failing"; }
  void runOnOperation() override {
    if (saysWhy)
      getOperation().emitError("a reason");
    signalPassFailure();
  }
  bool saysWhy;
};

TEST_F(RewriteTest, APassThatFailsSilentlyIsNamed) {
  PassManager passes(&context);
  passes.nest<func::FuncOp>().addPass(
      std::make_unique<FailingPass>(/*saysWhy=*/false));
  EXPECT_TRUE(failed(kernel::runPasses(passes, *module)));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0],
            "code generation failed: pass 'failing' failed without an error");
}

TEST_F(RewriteTest, AReasonStaysTheOnlyError) {
  PassManager passes(&context);
  passes.nest<func::FuncOp>().addPass(
      std::make_unique<FailingPass>(/*saysWhy=*/true));
  EXPECT_TRUE(failed(kernel::runPasses(passes, *module)));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "a reason");
}

TEST_F(RewriteTest, ErrorsOfOtherThreadsDoNotCount) {
  kernel::ErrorWatch watch(&context);
  module->emitWarning("no error");
  std::thread([&] { module->emitError("of another"); }).join();
  EXPECT_FALSE(watch.hasSeenError());
  module->emitError("of this one");
  EXPECT_TRUE(watch.hasSeenError());
  EXPECT_EQ(errors.size(), 3u);
}

/// Marks an op once the previous op is marked. Ops are visited from the last to
/// the first, so each round marks one.
struct MarkNext : RewritePattern {
  explicit MarkNext(MLIRContext *context)
      : RewritePattern("test.op", /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Operation *before = op->getPrevNode();
    if (op->hasAttr("marked") || (before && !before->hasAttr("marked")))
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op->setAttr("marked", rewriter.getUnitAttr()); });
    return success();
  }
};

TEST_F(RewriteTest, PatternsHaveAsManyRoundsAsTheyNeed) {
  context.allowUnregisteredDialects();
  std::string text = "func.func @f() {\n";
  for (int i = 0; i < 100; ++i)
    text += "\"test.op\"() : () -> ()\n";
  module = parseSourceString<ModuleOp>(text + "return\n}", &context);
  ASSERT_TRUE(module);
  RewritePatternSet patterns(&context);
  patterns.add<MarkNext>(&context);
  kernel::applyPatternsToEnd(*module, std::move(patterns));
  int marked = 0;
  module->walk([&](Operation *op) { marked += op->hasAttr("marked"); });
  EXPECT_EQ(marked, 100);
  EXPECT_TRUE(errors.empty());
}

} // namespace
