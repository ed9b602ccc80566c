//===- cut_choice_test.cpp - Choice of the factors to cut -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/CutChoice.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

struct CutChoiceTest : public ::testing::Test {
  CutChoiceTest() {
    DialectRegistry registry;
    registerTensorShardingModels(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<PathwaysDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, tensor::TensorDialect>();
    mesh = cast<MeshAttr>(
        parseAttribute(R"(#pw.mesh<"x" = 4, "y" = 2>)", &context));
  }

  ShardingAttr sharding(const std::string &text) {
    if (text.empty())
      return {};
    return cast<ShardingAttr>(
        parseAttribute("#pw.sharding<" + text + ">", &context));
  }

  /// Ranks the ways to cut a product of MxK and KxN, as "m|n|k" with the axes
  /// of each.
  std::vector<std::string> rank(int64_t m, int64_t n, int64_t k,
                                const std::string &a, const std::string &b,
                                const std::string &wanted,
                                bool isThere = false) {
    auto type = [](int64_t rows, int64_t columns) {
      return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
             "xf32>";
    };
    module = parseSourceString<ModuleOp>(
        "func.func @f(%a: " + type(m, k) + ", %b: " + type(k, n) +
            ", %c: " + type(m, n) + ") -> " + type(m, n) +
            " { %0 = linalg.matmul ins(%a, %b : " + type(m, k) + ", " +
            type(k, n) + ") outs(%c : " + type(m, n) + ") -> " + type(m, n) +
            " return %0 : " + type(m, n) + " }",
        &context);
    Operation *op = (*module->getOps<func::FuncOp>().begin())
                        .front()
                        .getTerminator()
                        ->getOperand(0)
                        .getDefiningOp();
    ShardingRule rule = *getShardingRule(op);
    auto there = [&](unsigned, ShardingAttr) { return isThere; };
    BodyReshards reshards(mesh);
    CutProblem problem{op,
                       rule,
                       mesh,
                       reshards,
                       {sharding(a), sharding(b), {}},
                       {sharding(wanted)},
                       there};
    std::vector<std::string> texts;
    options = rankCuts(problem);
    for (const CutOption &option : options) {
      std::string &text = texts.emplace_back();
      for (ArrayAttr axes : option.cut) {
        text += text.empty() ? "" : "|";
        for (auto axis : axes.getAsRange<StringAttr>())
          text += axis.getValue();
        if (axes.empty())
          text += "-";
      }
    }
    return texts;
  }

  MLIRContext context;
  MeshAttr mesh;
  OwningOpRef<ModuleOp> module;
  SmallVector<CutOption> options;
};

TEST_F(CutChoiceTest, FollowsOperands) {
  EXPECT_EQ(rank(256, 256, 256, R"([{"x"}, {}])", R"([{}, {"y"}])", "")[0],
            "x|y|-");
}

TEST_F(CutChoiceTest, SumsAreCutWhereOperandsAre) {
  EXPECT_EQ(rank(256, 256, 256, R"([{}, {"x"}])", R"([{"x"}, {}])", "")[0],
            "-|-|x");
}

TEST_F(CutChoiceTest, FollowsWhatIsWanted) {
  EXPECT_EQ(rank(256, 256, 256, "[{}, {}]", "[{}, {}]", R"([{"y"}, {"x"}])")[0],
            "y|x|-");
}

TEST_F(CutChoiceTest, TheSmallerOneIsGathered) {
  // Both are cut along the same axis, so the small matrix is gathered.
  EXPECT_EQ(rank(4096, 16, 16, R"([{"x"}, {}])", R"([{}, {"x"}])", "")[0],
            "x|-|-");
  EXPECT_EQ(rank(16, 4096, 16, R"([{"x"}, {}])", R"([{}, {"x"}])", "")[0],
            "-|x|-");
}

TEST_F(CutChoiceTest, WhatIsThereCostsNothing) {
  rank(256, 256, 256, R"([{"x"}, {}])", "[{}, {}]", "[{}, {}]");
  uint64_t ns = options.back().ns;
  rank(256, 256, 256, R"([{"x"}, {}])", "[{}, {}]", "[{}, {}]",
       /*isThere=*/true);
  EXPECT_LT(options.front().ns, ns);
}

TEST_F(CutChoiceTest, BlocksNeedNotBeEqual) {
  // The rows can be cut as wanted, along the longest prefix of the axes that
  // gives equal blocks, or not at all.
  std::vector<std::string> ways =
      rank(6, 8, 8, "", "[{}, {}]", R"([{"y", "x"}, {}])");
  EXPECT_EQ(ways[0], "yx|-|-");
  std::sort(ways.begin(), ways.end());
  EXPECT_EQ(ways, (std::vector<std::string>{"-|-|-", "yx|-|-", "y|-|-"}));
  EXPECT_EQ(rank(3, 8, 8, "", "[{}, {}]", R"([{"y", "x"}, {}])")[0], "yx|-|-");
}

TEST_F(CutChoiceTest, PaddingIsComputedToo) {
  // With nine rows a shard of eight has two, as with sixteen rows.
  rank(16, 4096, 4096, R"([{"y", "x"}, {}])", "[{}, {}]", "");
  uint64_t even = options.front().ns;
  rank(9, 4096, 4096, R"([{"y", "x"}, {}])", "[{}, {}]", "");
  EXPECT_NEAR(options.front().ns, even, even / 1000);
}

TEST_F(CutChoiceTest, OnlyEqualBlocksWhereThereMustBeNoPadding) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: tensor<6x8xf32>) -> tensor<48xf32> {
      %0 = tensor.collapse_shape %a [[0, 1]] : tensor<6x8xf32> into tensor<48xf32>
      return %0 : tensor<48xf32>
    })",
                                       &context);
  Operation *op = &(*module->getOps<func::FuncOp>().begin()).front().front();
  ShardingRule rule = *getShardingRule(op);
  auto there = [](unsigned, ShardingAttr) { return false; };
  BodyReshards reshards(mesh);
  CutProblem problem{
      op, rule, mesh, reshards, {sharding(R"([{"y", "x"}, {}])")}, {{}}, there};
  for (const CutOption &option : rankCuts(problem))
    EXPECT_LT(option.cut[0].size(), 2u);
}

/// The table is gathered however the operation is cut.
TEST_F(CutChoiceTest, WhatABodyReadsCosts) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: tensor<8xi32>, %t: tensor<4096xf32>) -> tensor<8xf32> {
      %e = tensor.empty() : tensor<8xf32>
      %0 = linalg.map ins(%a : tensor<8xi32>) outs(%e : tensor<8xf32>)
        (%n: i32, %o: f32) {
          %k = arith.index_cast %n : i32 to index
          %v = tensor.extract %t[%k] : tensor<4096xf32>
          linalg.yield %v : f32
        }
      return %0 : tensor<8xf32>
    })",
                                       &context);
  Operation *op =
      &*std::next((*module->getOps<func::FuncOp>().begin()).front().begin());
  ShardingRule rule = *getShardingRule(op);
  auto isThere = [](unsigned, ShardingAttr) { return false; };
  BodyReshards reshards(mesh);
  CutProblem problem{op,   rule,   mesh, reshards, {sharding(R"([{"x"}])"), {}},
                     {{}}, isThere};
  const uint64_t without = rankCuts(problem).front().ns;
  problem.captures = {sharding(R"([{"x"}])")};
  const uint64_t gather =
      reshards
          .get(RankedTensorType::get(4096, Builder(&context).getF32Type()),
               sharding(R"([{"x"}])"), sharding("[{}]"))
          .cost.ns;
  EXPECT_GT(gather, 0u);
  EXPECT_EQ(rankCuts(problem).front().ns, without + gather);
}

TEST_F(CutChoiceTest, TheCheapestIsFirst) {
  rank(64, 64, 64, R"([{"x"}, {"y"}])", R"([{"y"}, {"x"}])", "[{}, {}]");
  ASSERT_GT(options.size(), 4u);
  for (size_t i = 1; i < options.size(); ++i)
    EXPECT_LE(options[i - 1].ns, options[i].ns);
}

/// A mesh of three axes allows too many combinations to compare all of them.
TEST_F(CutChoiceTest, ManyWaysAreBounded) {
  std::string text = "func.func @f(";
  std::string names, types;
  constexpr int kOperands = 24;
  for (int i = 0; i < kOperands; ++i) {
    text += (i ? ", %a" : "%a") + std::to_string(i) + ": tensor<8x8x8x8xf32>";
    names += (i ? ", %a" : "%a") + std::to_string(i);
    types += i ? ", tensor<8x8x8x8xf32>" : "tensor<8x8x8x8xf32>";
  }
  const std::string id = "affine_map<(a, b, c, d) -> (a, b, c, d)>";
  std::string maps;
  for (int i = 0; i <= kOperands; ++i)
    maps += (i ? ", " : "") + id;
  std::string arguments;
  for (int i = 0; i <= kOperands; ++i)
    arguments += (i ? ", %b" : "%b") + std::to_string(i) + ": f32";
  text += ", %o: tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32> { %0 = "
          "linalg.generic {indexing_maps = [" +
          maps +
          "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
          "\"parallel\"]} ins(" +
          names + " : " + types + ") outs(%o : tensor<8x8x8x8xf32>) { ^bb0(" +
          arguments +
          "): linalg.yield %b0 : f32 } -> tensor<8x8x8x8xf32> return %0 : "
          "tensor<8x8x8x8xf32> }";
  module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  Operation *op = &(*module->getOps<func::FuncOp>().begin()).front().front();
  mesh = cast<MeshAttr>(
      parseAttribute(R"(#pw.mesh<"x" = 2, "y" = 2, "z" = 2>)", &context));
  ShardingRule rule = *getShardingRule(op);
  const std::string axes[] = {"\"x\"",        "\"y\"",        "\"z\"",
                              "\"x\", \"y\"", "\"y\", \"x\"", "\"z\", \"y\""};
  auto isThere = [](unsigned, ShardingAttr) { return false; };
  BodyReshards reshards(mesh);
  CutProblem problem{op,
                     rule,
                     mesh,
                     reshards,
                     SmallVector<ShardingAttr>(kOperands + 1),
                     {sharding("[{}, {}, {}, {}]")},
                     isThere};
  for (int i = 0; i < kOperands; ++i) {
    std::string dims[4];
    dims[i % 4] = axes[i / 4];
    problem.operands[i] = sharding("[{" + dims[0] + "}, {" + dims[1] + "}, {" +
                                   dims[2] + "}, {" + dims[3] + "}]");
  }
  SmallVector<CutOption> found = rankCuts(problem);
  EXPECT_GE(found.size(), 1u);
  EXPECT_LE(found.size(), 512u);
}

} // namespace
} // namespace mlir::pathways
