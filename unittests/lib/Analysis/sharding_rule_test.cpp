//===- sharding_rule_test.cpp - Sharding rules of operations --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
constexpr int64_t kWhole = ShardingRule::kWhole;

struct ShardingRuleTest : public ::testing::Test {
  ShardingRuleTest() {
    DialectRegistry registry;
    registerTensorShardingModels(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<PathwaysDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        scf::SCFDialect, tensor::TensorDialect>();
  }

  /// Returns the rule of the operation that defines the returned value, in a
  /// function with these arguments and results.
  std::optional<ShardingRule> ruleOf(const std::string &arguments,
                                     const std::string &results,
                                     const std::string &body) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") -> (" + results + ") {" + body + "}",
        &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    return getShardingRule(
        function.front().getTerminator()->getOperand(0).getDefiningOp());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ShardingRuleTest, AProductAddsUpOneFactor) {
  auto rule =
      ruleOf("%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>",
             "tensor<2x5xf32>", R"(
    %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>)
                       outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
    return %0 : tensor<2x5xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], ElementsAre(0, 2));
  EXPECT_THAT(rule->operands[1], ElementsAre(2, 1));
  EXPECT_THAT(rule->results[0], ElementsAre(0, 1));
  EXPECT_EQ(rule->factors[2].size, 3);
  EXPECT_TRUE(rule->factors[2].isReduced && rule->factors[2].isCuttable);
  EXPECT_EQ(rule->reductions[0], ReductionKind::Add);
  EXPECT_EQ(rule->combiners[0], "arith.addf");
  EXPECT_EQ(rule->inits[0], 2u);
}

TEST_F(ShardingRuleTest, ASumThatIsLookedAtIsNotCut) {
  auto rule = ruleOf("%a: tensor<4xf32>, %c: tensor<f32>", "tensor<f32>", R"(
    %0 = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>], iterator_types = ["reduction"]}
        ins(%a : tensor<4xf32>) outs(%c : tensor<f32>) {
    ^bb0(%x: f32, %s: f32):
      %1 = arith.mulf %s, %s : f32
      %2 = arith.addf %1, %x : f32
      linalg.yield %2 : f32
    } -> tensor<f32>
    return %0 : tensor<f32>)");
  ASSERT_TRUE(rule);
  EXPECT_FALSE(rule->factors[0].isCuttable);
}

TEST_F(ShardingRuleTest, AWindowIsNotCut) {
  auto rule = ruleOf("%a: tensor<6xf32>, %k: tensor<3xf32>, %c: tensor<4xf32>",
                     "tensor<4xf32>", R"(
    %0 = linalg.conv_1d ins(%a, %k : tensor<6xf32>, tensor<3xf32>)
                        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], ElementsAre(kWhole));
  for (const ShardingRule::Factor &factor : rule->factors)
    EXPECT_FALSE(factor.isCuttable);
}

TEST_F(ShardingRuleTest, ADiagonalIsNotCut) {
  auto rule = ruleOf("%a: tensor<4x4xf32>, %c: tensor<4xf32>", "tensor<4xf32>",
                     R"(
    %0 = linalg.generic {indexing_maps = [affine_map<(d) -> (d, d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
        ins(%a : tensor<4x4xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
    } -> tensor<4xf32>
    return %0 : tensor<4xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_FALSE(rule->factors[0].isCuttable);
}

TEST_F(ShardingRuleTest, ElementsGoTogether) {
  auto rule = ruleOf("%a: tensor<2x3xf32>, %c: i1", "tensor<2x3xf32>", R"(
    %0 = arith.select %c, %a, %a : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], IsEmpty());
  EXPECT_THAT(rule->operands[1], ElementsAre(0, 1));
  EXPECT_THAT(rule->results[0], ElementsAre(0, 1));
}

TEST_F(ShardingRuleTest, AReshapeKeepsTheMajorDimension) {
  auto rule = ruleOf("%a: tensor<12x5xf32>", "tensor<1x4x3x5xf32>", R"(
    %0 = tensor.expand_shape %a [[0, 1, 2], [3]] output_shape [1, 4, 3, 5] : tensor<12x5xf32> into tensor<1x4x3x5xf32>
    return %0 : tensor<1x4x3x5xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], ElementsAre(0, 1));
  EXPECT_THAT(rule->results[0], ElementsAre(kWhole, 0, kWhole, 1));
  EXPECT_EQ(rule->factors[0].size, 4);
  // The padding of four blocks of three would lie among the twelve elements.
  EXPECT_FALSE(rule->factors[0].allowsPadding);
  EXPECT_TRUE(rule->factors[1].allowsPadding);
}

TEST_F(ShardingRuleTest, ASliceKeepsWhatItHasAllOf) {
  auto rule = ruleOf("%a: tensor<4x6x5xf32>", "tensor<4x5xf32>", R"(
    %0 = tensor.extract_slice %a[0, 2, 0] [4, 1, 5] [1, 1, 1] : tensor<4x6x5xf32> to tensor<4x5xf32>
    return %0 : tensor<4x5xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], ElementsAre(0, kWhole, 1));
  EXPECT_THAT(rule->results[0], ElementsAre(0, 1));
}

TEST_F(ShardingRuleTest, WhatIsInsertedGoesAlong) {
  auto rule =
      ruleOf("%a: tensor<4x2xf32>, %b: tensor<4x6xf32>", "tensor<4x6xf32>", R"(
    %0 = tensor.insert_slice %a into %b[0, 3] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
    return %0 : tensor<4x6xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], ElementsAre(0, kWhole));
  EXPECT_THAT(rule->operands[1], ElementsAre(0, kWhole));
  EXPECT_THAT(rule->results[0], ElementsAre(0, kWhole));
}

TEST_F(ShardingRuleTest, ElementsOfScatteredSlicesAreApart) {
  auto rule = ruleOf("%s: tensor<2x3x1x6xf32>, %d: tensor<3x5x6xf32>, "
                     "%i: tensor<2x1xi32>",
                     "tensor<3x5x6xf32>", R"(
    %0 = tensor.scatter %s into %d[%i] scatter_dims([1]) unique
        : (tensor<2x3x1x6xf32>, tensor<3x5x6xf32>, tensor<2x1xi32>) -> tensor<3x5x6xf32>
    return %0 : tensor<3x5x6xf32>)");
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->operands[0], ElementsAre(kWhole, 0, kWhole, 1));
  EXPECT_THAT(rule->operands[1], ElementsAre(0, kWhole, 1));
  EXPECT_THAT(rule->operands[2], ElementsAre(kWhole, kWhole));
  EXPECT_THAT(rule->results[0], ElementsAre(0, kWhole, 1));
}

TEST_F(ShardingRuleTest, APaddedOrConcatenatedDimensionStaysWhole) {
  auto pad = ruleOf("%a: tensor<4x2xf32>, %z: f32", "tensor<4x5xf32>", R"(
    %0 = tensor.pad %a low[0, 1] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
    } : tensor<4x2xf32> to tensor<4x5xf32>
    return %0 : tensor<4x5xf32>)");
  ASSERT_TRUE(pad);
  EXPECT_THAT(pad->operands[0], ElementsAre(0, kWhole));
  auto concat = ruleOf("%a: tensor<4x2xf32>", "tensor<4x4xf32>", R"(
    %0 = tensor.concat dim(1) %a, %a : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>)");
  ASSERT_TRUE(concat);
  EXPECT_THAT(concat->operands[1], ElementsAre(0, kWhole));
  EXPECT_THAT(concat->results[0], ElementsAre(0, kWhole));
}

TEST_F(ShardingRuleTest, PaddingIsHarmlessOrIsMadeSo) {
  auto sum = ruleOf("%a: tensor<4xi32>", "tensor<4xi32>", R"(
    %0 = arith.addi %a, %a : tensor<4xi32>
    return %0 : tensor<4xi32>)");
  EXPECT_TRUE(sum->factors[0].allowsPadding);
  EXPECT_TRUE(llvm::none_of(sum->harmless, [](auto value) { return value; }));
  auto quotient = ruleOf("%a: tensor<4xi32>", "tensor<4xi32>", R"(
    %0 = arith.divsi %a, %a : tensor<4xi32>
    return %0 : tensor<4xi32>)");
  EXPECT_TRUE(quotient->factors[0].allowsPadding);
  Builder builder(&context);
  EXPECT_THAT(quotient->harmless,
              ElementsAre(TypedAttr(), builder.getI32IntegerAttr(1)));
}

TEST_F(ShardingRuleTest, WhoLooksUpNothingLooksUpTheFirst) {
  auto lookUp = [&](const std::string &table) {
    return ruleOf("%t: " + table + ", %i: tensor<5x1xi64>", "tensor<5xf32>",
                  "%0 = tensor.gather %t[%i] gather_dims([0]) : (" + table +
                      ", tensor<5x1xi64>) -> tensor<5xf32>"
                      "\n return %0 : tensor<5xf32>");
  };
  Builder builder(&context);
  auto some = lookUp("tensor<3xf32>");
  EXPECT_TRUE(some->factors[0].allowsPadding);
  EXPECT_THAT(some->harmless,
              ElementsAre(TypedAttr(), builder.getI64IntegerAttr(0)));
  EXPECT_FALSE(lookUp("tensor<0xf32>")->factors[0].allowsPadding);
}

TEST_F(ShardingRuleTest, BodiesThatPaddingCouldKeepBusyAllowNone) {
  auto generic = [&](const std::string &body) {
    return ruleOf("%a: tensor<4xi64>, %t: tensor<0xi64>", "tensor<4xi64>",
                  R"(%0 = linalg.generic {
          indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
          iterator_types = ["parallel"]}
          ins(%a : tensor<4xi64>) outs(%a : tensor<4xi64>) {
        ^bb0(%x: i64, %y: i64):)" +
                      body + R"(
          linalg.yield %r : i64
        } -> tensor<4xi64>
        return %0 : tensor<4xi64>)")
        ->factors[0]
        .allowsPadding;
  };
  EXPECT_TRUE(generic("%r = arith.divsi %x, %y : i64"));
  EXPECT_FALSE(generic(R"(
      %0 = arith.index_cast %x : i64 to index
      %r = tensor.extract %t[%0] : tensor<0xi64>)"));
  EXPECT_FALSE(generic(R"(
      %0 = arith.constant 1 : i64
      %r = scf.for %i = %0 to %x step %0 iter_args(%s = %y) -> i64 : i64 {
        scf.yield %i : i64
      })"));
}

TEST_F(ShardingRuleTest, ASoftmaxKeepsWhatItSumsOver) {
  auto rule = ruleOf("%a: tensor<2x3x5xf32>", "tensor<2x3x5xf32>", R"(
    %e = tensor.empty() : tensor<2x3x5xf32>
    %0 = linalg.softmax dimension(1) ins(%a : tensor<2x3x5xf32>)
                                     outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32>)");
  ASSERT_TRUE(rule);
  for (ArrayRef<int64_t> dims :
       {rule->operands[0], rule->operands[1], rule->results[0]})
    EXPECT_THAT(dims, ElementsAre(0, kWhole, 1));
  EXPECT_EQ(rule->factors[0].size, 2);
  EXPECT_EQ(rule->factors[1].size, 5);
  EXPECT_TRUE(rule->factors[0].allowsPadding);
}

TEST_F(ShardingRuleTest, WinogradTransformsKeepTiles) {
  auto filter = ruleOf("%a: tensor<2x3x3x5xf32>, %c: tensor<6x6x5x2xf32>",
                       "tensor<6x6x5x2xf32>", R"(
    %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>)
        outs(%c : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
    return %0 : tensor<6x6x5x2xf32>)");
  ASSERT_TRUE(filter);
  EXPECT_THAT(filter->operands[0], ElementsAre(0, kWhole, kWhole, 1));
  EXPECT_THAT(filter->results[0], ElementsAre(kWhole, kWhole, 1, 0));
  auto input = ruleOf("%a: tensor<2x10x10x5xf32>, %c: tensor<6x6x2x2x2x5xf32>",
                      "tensor<6x6x2x2x2x5xf32>", R"(
    %0 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<2x10x10x5xf32>)
        outs(%c : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
    return %0 : tensor<6x6x2x2x2x5xf32>)");
  ASSERT_TRUE(input);
  EXPECT_THAT(input->operands[0], ElementsAre(0, kWhole, kWhole, 1));
  EXPECT_THAT(input->results[0],
              ElementsAre(kWhole, kWhole, kWhole, kWhole, 0, 1));
  auto output = ruleOf("%a: tensor<6x6x2x2x2x5xf32>, %c: tensor<2x8x8x5xf32>",
                       "tensor<2x8x8x5xf32>", R"(
    %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x2x2x2x5xf32>)
        outs(%c : tensor<2x8x8x5xf32>) -> tensor<2x8x8x5xf32>
    return %0 : tensor<2x8x8x5xf32>)");
  ASSERT_TRUE(output);
  EXPECT_THAT(output->operands[0],
              ElementsAre(kWhole, kWhole, kWhole, kWhole, 0, 1));
  EXPECT_THAT(output->results[0], ElementsAre(0, kWhole, kWhole, 1));
}

TEST_F(ShardingRuleTest, WhatABodyReadsFromOutsideIsWhole) {
  auto rule =
      ruleOf("%t: tensor<7x3xf32>, %n: tensor<4xi32>", "tensor<4xf32>", R"(
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.map ins(%n : tensor<4xi32>) outs(%e : tensor<4xf32>)
      (%x: i32, %o: f32) {
        %k = arith.index_cast %x : i32 to index
        %v = tensor.extract %t[%k, %c0] : tensor<7x3xf32>
        linalg.yield %v : f32
      }
    return %0 : tensor<4xf32>)");
  ASSERT_TRUE(rule);
  ASSERT_EQ(rule->captures.size(), 1u);
  EXPECT_THAT(rule->captures[0], ElementsAre(kWhole, kWhole));
}

TEST_F(ShardingRuleTest, EmptyBlocksAreCounted) {
  EXPECT_EQ(countEmptyBlocks(10, 4), 0); // 3, 3, 3, 1
  EXPECT_EQ(countEmptyBlocks(5, 4), 1);  // 2, 2, 1, 0
  EXPECT_EQ(countEmptyBlocks(1, 8), 7);
  EXPECT_EQ(countEmptyBlocks(0, 8), 0);
}

TEST_F(ShardingRuleTest, WhatCannotBeCommunicatedHasNone) {
  EXPECT_FALSE(ruleOf("%a: i32", "i32", R"(
    %0 = arith.addi %a, %a : i32
    return %0 : i32)"));
  EXPECT_FALSE(ruleOf("%a: tensor<4xi4>", "tensor<4xi4>", R"(
    %0 = arith.addi %a, %a : tensor<4xi4>
    return %0 : tensor<4xi4>)"));
  EXPECT_FALSE(ruleOf("%a: tensor<?xf32>", "tensor<?xf32>", R"(
    %0 = arith.addf %a, %a : tensor<?xf32>
    return %0 : tensor<?xf32>)"));
  EXPECT_FALSE(ruleOf("%a: tensor<4xf32>, %c: i1", "tensor<4xf32>", R"(
    %0 = scf.if %c -> tensor<4xf32> {
      scf.yield %a : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    return %0 : tensor<4xf32>)"));
}

} // namespace
} // namespace mlir::pathways
