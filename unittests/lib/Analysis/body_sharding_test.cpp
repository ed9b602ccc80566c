//===- body_sharding_test.cpp - Shardings of values in a body -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/BodySharding.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

struct BodyShardingTest : public ::testing::Test {
  BodyShardingTest() {
    DialectRegistry registry;
    registerTensorShardingModels(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<PathwaysDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
  }

  template <typename T> T parse(const std::string &text) {
    auto attribute = dyn_cast_or_null<T>(parseAttribute(text, &context));
    EXPECT_TRUE(attribute) << text;
    return attribute;
  }

  /// Propagates the shardings of a function, given as lists like `[{"x"},
  /// {?}]`.
  BodySharding &propagate(const std::string &function, const std::string &mesh,
                          ArrayRef<std::string> operands,
                          ArrayRef<std::string> results,
                          ShardingRound last = ShardingRound::All) {
    module = parseSourceString<ModuleOp>(function, &context);
    EXPECT_TRUE(module);
    SmallVector<ShardingAttr> given, asked;
    for (const std::string &text : operands)
      given.push_back(parse<ShardingAttr>("#pw.sharding<" + text + ">"));
    for (const std::string &text : results)
      asked.push_back(parse<ShardingAttr>("#pw.sharding<" + text + ">"));
    body = &(*module->getOps<func::FuncOp>().begin()).front();
    sharding.emplace(*body, parse<MeshAttr>("#pw.mesh<" + mesh + ">"), given,
                     asked);
    sharding->propagate(last);
    return *sharding;
  }

  static std::string text(ShardingAttr sharding) {
    std::string text;
    llvm::raw_string_ostream(text) << sharding;
    return text;
  }
  std::string argument(unsigned index) {
    return text(sharding->get(body->getArgument(index)));
  }
  std::string result(unsigned index) {
    return text(sharding->getResult(index));
  }
  Value returned(unsigned index) {
    return body->getTerminator()->getOperand(index);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *body = nullptr;
  std::optional<BodySharding> sharding;
};

constexpr char kProduct[] = R"(
  func.func @f(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>)
                       outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
    %1 = arith.negf %0 : tensor<8x6xf32>
    return %1 : tensor<8x6xf32>
  })";

TEST_F(BodyShardingTest, GoesForwardAndBackward) {
  propagate(kProduct, R"("m" = 2, "n" = 2, "k" = 2)",
            {R"([{"m"}, {?}])", R"([{"k"}, {?}])", "[{?}, {?}]"},
            {R"([{?}, {"n"}])"});
  EXPECT_EQ(argument(0), R"(#pw.sharding<[{"m"}, {"k", ?}]>)");
  EXPECT_EQ(argument(1), R"(#pw.sharding<[{"k"}, {"n", ?}]>)");
  EXPECT_EQ(argument(2), R"(#pw.sharding<[{"m", ?}, {"n", ?}]>)");
  EXPECT_EQ(result(0), R"(#pw.sharding<[{"m", ?}, {"n"}]>)");
}

TEST_F(BodyShardingTest, SaysWhoBroughtAnAxis) {
  BodySharding &shardings =
      propagate(kProduct, R"("m" = 2)",
                {R"([{"m"}, {}])", "[{?}, {?}]", "[{?}, {?}]"}, {"[{?}, {?}]"});
  auto origin = shardings.getResultOrigin(0, StringAttr::get(&context, "m"));
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->kind, BodySharding::Origin::Operand);
  EXPECT_EQ(origin->index, 0u);
  EXPECT_TRUE(isa<func::ReturnOp>(origin->through));
  EXPECT_FALSE(shardings.getResultOrigin(0, StringAttr::get(&context, "n")));
}

TEST_F(BodyShardingTest, LaterRoundsWait) {
  propagate(kProduct, R"("m" = 2)",
            {R"([{"m"}, {}])", "[{?}, {?}]", "[{?}, {?}]"}, {"[{?}, {?}]"},
            ShardingRound::Alike);
  EXPECT_EQ(result(0), "#pw.sharding<[{?}, {?}]>");
}

TEST_F(BodyShardingTest, WhatIsClosedStays) {
  propagate(kProduct, R"("m" = 2, "n" = 2)",
            {R"([{"m"}, {}])", R"([{}, {"n"}])", "[{}, {?}]"}, {R"([{}, {}])"});
  EXPECT_EQ(argument(0), R"(#pw.sharding<[{"m"}, {}]>)");
  EXPECT_EQ(argument(2), R"(#pw.sharding<[{}, {"n", ?}]>)");
  EXPECT_EQ(result(0), "#pw.sharding<[{}, {}]>");
}

TEST_F(BodyShardingTest, OnlyAxesOfMoreThanOneThatLeaveNobodyWithNothing) {
  // Eight rows become three, three and two. Six columns cut by four would be
  // three times two, and leave one shard with none.
  propagate(
      kProduct, R"("three" = 3, "one" = 1, "four" = 4)",
      {R"([{"three"}, {"one"}])", R"([{"one", ?}, {"four"}])", "[{?}, {?}]"},
      {"[{?}, {?}]"});
  EXPECT_EQ(argument(0), R"(#pw.sharding<[{"three"}, {}]>)");
  EXPECT_EQ(argument(1), R"(#pw.sharding<[{?}, {"four"}]>)");
  EXPECT_EQ(result(0), R"(#pw.sharding<[{"three", ?}, {?}]>)");
}

TEST_F(BodyShardingTest, AnAxisCutsOneDimension) {
  propagate(kProduct, R"("x" = 2)",
            {R"([{"x"}, {?}])", R"([{?}, {"x"}])", "[{?}, {?}]"},
            {"[{?}, {?}]"});
  // %a has more bytes than %b.
  EXPECT_EQ(result(0), R"(#pw.sharding<[{"x", ?}, {?}]>)");
  EXPECT_EQ(argument(1), R"(#pw.sharding<[{?}, {"x"}]>)");
}

TEST_F(BodyShardingTest, AConstraintHolds) {
  propagate(R"(
    func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = arith.negf %a : tensor<8xf32>
      %1 = pw.constrain %0 [{"x"}] : tensor<8xf32>
      %2 = pw.constrain %1 [{"y"}] : tensor<8xf32>
      return %2 : tensor<8xf32>
    })",
            R"("x" = 2, "y" = 2)", {"[{?}]"}, {"[{?}]"});
  EXPECT_EQ(argument(0), R"(#pw.sharding<[{"x", ?}]>)");
  EXPECT_EQ(result(0), R"(#pw.sharding<[{"y", ?}]>)");
}

TEST_F(BodyShardingTest, LoopsCarryOneSharding) {
  propagate(R"(
    func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> tensor<8xf32> {
        %p = arith.constant true
        %1 = scf.if %p -> tensor<8xf32> {
          %2 = arith.addf %x, %b : tensor<8xf32>
          scf.yield %2 : tensor<8xf32>
        } else {
          scf.yield %n : tensor<8xf32>
        }
        scf.yield %1 : tensor<8xf32>
      }
      return %0 : tensor<8xf32>
    })",
            R"("x" = 2)", {"[{?}]", "[{?}]", "[{?}]"}, {R"([{"x"}])"});
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(argument(i), R"(#pw.sharding<[{"x", ?}]>)") << i;
}

TEST_F(BodyShardingTest, WhatIsMadeAnywhereSaysNothing) {
  propagate(R"(
    func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %one = arith.constant dense<1.0> : tensor<8xf32>
      %0 = arith.addf %a, %one : tensor<8xf32>
      %1 = arith.addf %b, %one : tensor<8xf32>
      return %0, %1 : tensor<8xf32>, tensor<8xf32>
    })",
            R"("x" = 2)", {R"([{"x"}])", "[{?}]"}, {"[{?}]", "[{?}]"});
  EXPECT_EQ(result(0), R"(#pw.sharding<[{"x", ?}]>)");
  EXPECT_EQ(result(1), "#pw.sharding<[{?}]>");
  EXPECT_EQ(argument(1), "#pw.sharding<[{?}]>");
}

} // namespace
} // namespace mlir::pathways
