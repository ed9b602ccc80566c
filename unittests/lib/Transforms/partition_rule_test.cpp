//===- partition_rule_test.cpp - Operations with their own rule -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Analysis/test_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Transforms/Passes.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

/// The pass does not know the operation, which provides its own sharding rule.
TEST(PartitionRuleTest, AnOperationBringsItsRule) {
  DialectRegistry registry;
  registerPathwaysLoweringDialects(registry);
  registry.insert<test::TestDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(R"(
    pw.slice @s mesh <"d" = 2>
    func.func private @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %0 = "test.reverse"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }
    pw.program @rows(%x: !pw.array<4x6xf32, @s, [{"d"}, {}]>) -> (!pw.array<4x6xf32, @s, [{"d"}, {}]>) {
      %0 = pw.call @f(%x) : (!pw.array<4x6xf32, @s, [{"d"}, {}]>) -> !pw.array<4x6xf32, @s, [{"d"}, {}]>
      pw.return %0 : !pw.array<4x6xf32, @s, [{"d"}, {}]>
    }
    pw.program @columns(%x: !pw.array<4x6xf32, @s, [{}, {"d"}]>) -> (!pw.array<4x6xf32, @s, [{}, {"d"}]>) {
      %0 = pw.call @f(%x) : (!pw.array<4x6xf32, @s, [{}, {"d"}]>) -> !pw.array<4x6xf32, @s, [{}, {"d"}]>
      pw.return %0 : !pw.array<4x6xf32, @s, [{}, {"d"}]>
    }
  )",
                                            &context);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addPass(createPartition());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  std::vector<int64_t> rows;
  std::vector<unsigned> gathers;
  for (auto function : module->getOps<func::FuncOp>()) {
    gathers.push_back(0);
    function.walk([&](AllGatherOp) { ++gathers.back(); });
    function.walk([&](test::ReverseOp op) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      EXPECT_EQ(type.getDimSize(1), 6);
      rows.push_back(type.getDimSize(0));
    });
  }
  EXPECT_EQ(rows, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(gathers, (std::vector<unsigned>{0, 1}));
}

} // namespace
} // namespace mlir::pathways
