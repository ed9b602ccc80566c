//===- region_node_test.cpp - Passes and nodes with regions ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No pass ignores the contents of a region: each pass transforms them or
// reports that it cannot.
//
//===----------------------------------------------------------------------===//

#include "../Analysis/test_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Transforms/Passes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct RegionNodeTest : public ::testing::Test {
  RegionNodeTest()
      : handler(&context, [&](Diagnostic &diagnostic) {
          said.push_back(diagnostic.str());
        }) {
    DialectRegistry registry;
    registerPathwaysLoweringDialects(registry);
    registry.insert<test::TestDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.disableMultithreading();
  }

  /// Runs `pass` over a program that repeats `region`, in which !a is the type
  /// of %x and %y, and !b the type of such an array without cuts.
  bool run(const std::string &region, std::unique_ptr<Pass> pass,
           bool isNested = false) {
    module = parseSourceString<ModuleOp>(R"(
      !a = !pw.array<8xf32, @s, [{"d"}]>
      !b = !pw.array<8xf32, @s, [{}]>
      pw.slice @s mesh <"d" = 2>
      pw.bind @s to island 0 devices base 0 strides [1]
      func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
        return %a : tensor<4xf32>
      }
      func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
        return %a : tensor<4xf32>
      }
      func.func private @global(%a: tensor<8xf32>) -> tensor<8xf32> {
        return %a : tensor<8xf32>
      }
      func.func private @endless(%a: tensor<8xf32>) -> tensor<8xf32> {
        %0 = func.call @endless(%a) : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }
      pw.program @p(%x: !a, %y: !a) -> (!a) {
        %0 = pw.call @f(%x) : (!a) -> !a
        "test.repeat"() ({
    )" + region + R"(
          "test.yield"() : () -> ()
        }) : () -> ()
        pw.return %0 : !a
      }
    )",
                                         &context);
    if (!module)
      return false;
    PassManager passes(&context);
    if (isNested)
      passes.addNestedPass<ProgramOp>(std::move(pass));
    else
      passes.addPass(std::move(pass));
    return succeeded(passes.run(*module));
  }

  template <typename T> std::vector<T> getAll() {
    std::vector<T> found;
    module->walk([&](T op) { found.push_back(op); });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> said;
  ScopedDiagnosticHandler handler;
};

TEST_F(RegionNodeTest, CheckProgramSeesCalls) {
  EXPECT_FALSE(
      run("%1 = pw.call @endless(%x) : (!a) -> !a", createCheckProgram()));
  EXPECT_THAT(said, ElementsAre(HasSubstr("recursion cannot be compiled")));
}

TEST_F(RegionNodeTest, PartitionCutsCallees) {
  EXPECT_TRUE(run("%1 = pw.call @global(%x) : (!a) -> !a", createPartition()));
  EXPECT_EQ(getAll<CallOp>()[1].getCallee(), "global_sharded");
}

TEST_F(RegionNodeTest, InsertTransfersReplacesReshards) {
  EXPECT_TRUE(run("%1 = pw.reshard %x : !a -> !b", createInsertTransfers()));
  EXPECT_THAT(getAll<ReshardOp>(), IsEmpty());
  ASSERT_EQ(getAll<TransferOp>().size(), 1u);
  EXPECT_TRUE(isa<test::RepeatOp>(getAll<TransferOp>()[0]->getParentOp()));
}

TEST_F(RegionNodeTest, ExplainMovementSeesTransfers) {
  EXPECT_TRUE(run("%1 = pw.transfer %x : !a -> !b", createExplainMovement()));
  EXPECT_THAT(said, ElementsAre(HasSubstr("moves 32 bytes over ICI")));
}

TEST_F(RegionNodeTest, DedupComputationsRetargetsCalls) {
  EXPECT_TRUE(
      run("%1 = pw.call @g(%x) : (!a) -> !a", createDedupComputations()));
  for (CallOp call : getAll<CallOp>())
    EXPECT_EQ(call.getCallee(), "f");
}

TEST_F(RegionNodeTest, ResolveDonationCopiesWhatIsReadAgain) {
  EXPECT_TRUE(run("%1 = pw.call @f(%y) donate(%y) : (!a) -> !a",
                  createResolveDonation(), /*isNested=*/true));
  // A single donation conflicts with itself when the region is repeated.
  EXPECT_THAT(said,
              ElementsAre(HasSubstr("donated again later; a copy is made")));
  EXPECT_EQ(getAll<CopyOp>().size(), 1u);
}

TEST_F(RegionNodeTest, ResolveDonationCopiesWhatIsDonatedTwice) {
  EXPECT_TRUE(run(R"(
    %1 = pw.call @f(%0) : (!a) -> !a
    %2 = pw.call @f(%1) donate(%1) : (!a) -> !a
    %3 = pw.call @g(%1) donate(%1) : (!a) -> !a
  )",
                  createResolveDonation(), /*isNested=*/true));
  EXPECT_THAT(said,
              ElementsAre(HasSubstr("donated again later; a copy is made")));
  EXPECT_EQ(getAll<CopyOp>().size(), 1u);
}

TEST_F(RegionNodeTest, ResolveDonationLeavesWhatTheRegionMade) {
  EXPECT_TRUE(run(R"(
    %1 = pw.call @f(%y) : (!a) -> !a
    %2 = pw.call @f(%1) donate(%1) : (!a) -> !a
  )",
                  createResolveDonation(), /*isNested=*/true));
  EXPECT_THAT(said, IsEmpty());
}

TEST_F(RegionNodeTest, ResolveDonationRefusesOthersThanCalls) {
  EXPECT_FALSE(run("%1 = \"test.take\"(%y) : (!a) -> !a",
                   createResolveDonation(), /*isNested=*/true));
  EXPECT_THAT(said,
              ElementsAre(HasSubstr("donates an operand, but is not a call")));
}

TEST_F(RegionNodeTest, LowerToPlanRefusesRegions) {
  EXPECT_FALSE(run("%1 = pw.call @f(%x) : (!a) -> !a", createLowerToPlan()));
  EXPECT_THAT(said, ElementsAre(HasSubstr(
                        "'test.repeat' op cannot become an action of a plan")));
}

TEST_F(RegionNodeTest, OnlyNodesStandInRegions) {
  EXPECT_FALSE(run("%1 = arith.constant 1 : i32", createCheckProgram()));
  EXPECT_THAT(said, ElementsAre(HasSubstr("is not allowed in the body")));
}

TEST_F(RegionNodeTest, NodesStandNowhereElse) {
  EXPECT_FALSE(parseSourceString<ModuleOp>(R"(
    pw.slice @s mesh <>
    func.func @f(%x: !pw.array<8xf32, @s, [{}]>) {
      %0 = pw.copy %x : !pw.array<8xf32, @s, [{}]>
      return
    }
  )",
                                           &context));
  EXPECT_THAT(said,
              ElementsAre(HasSubstr("must be directly in a 'pw.program'")));
}

} // namespace
} // namespace mlir::pathways
