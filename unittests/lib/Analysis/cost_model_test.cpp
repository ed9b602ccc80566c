//===- cost_model_test.cpp - Cost model -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/CostModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

struct CostModelTest : public ::testing::Test {
  CostModelTest() {
    context.loadDialect<PathwaysDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, tensor::TensorDialect>();
  }

  uint64_t getBodyNs(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    return CostModel().getBodyNs(*module->getOps<func::FuncOp>().begin());
  }

  MLIRContext context;
};

TEST_F(CostModelTest, NothingIsFree) {
  EXPECT_EQ(CostModel().getMovementNs(::pathways::proto::FEED, 0), 1u);
  EXPECT_EQ(getBodyNs("func.func @f() { return }"), 1u);
}

TEST_F(CostModelTest, WhatWasMeasuredIsNotEstimated) {
  ::pathways::proto::Profile measured;
  measured.set_version(::pathways::kProfileVersion);
  measured.set_program("p");
  measured.set_fingerprint("0123456789abcdef0123456789abcdef");
  auto *entry = measured.add_computations();
  entry->set_name("f");
  entry->set_signature("00ff");
  entry->set_ns(70);
  auto *feed = measured.add_movements();
  feed->set_kind(::pathways::proto::FEED);
  feed->set_bytes(4096);
  feed->set_ns(9);
  auto profile = ::pathways::Profile::Create(measured, "p");
  ASSERT_TRUE(profile.ok());
  const CostModel costs(&*profile);
  EXPECT_TRUE(costs.hasProfile());
  EXPECT_EQ(costs.getMovementNs(::pathways::proto::FEED, 4096), 9u);
  // For other kinds of actions nothing was measured.
  EXPECT_EQ(costs.getMovementNs(::pathways::proto::SEND, 4096), 513u);
  EXPECT_EQ(costs.getMeasuredNs({"f", "00ff"}), 70u);
  EXPECT_EQ(costs.getMeasuredNs({"f", "00fe"}), std::nullopt);
  EXPECT_EQ(CostModel().getMeasuredNs({"f", "00ff"}), std::nullopt);
}

TEST_F(CostModelTest, AProductCostsItsLoops) {
  EXPECT_EQ(getBodyNs(R"(
    func.func @f(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>)
                         outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    })"),
            1u + 4 * 16 * 8 / 8);
}

TEST_F(CostModelTest, WhatIsCommunicatedCostsMore) {
  EXPECT_EQ(getBodyNs(R"(
    func.func @f(%a: tensor<64xf32>) -> tensor<64xf32> attributes {pw.local_view} {
      %0 = pw.all_reduce %a add over ["d"] : tensor<64xf32>
      return %0 : tensor<64xf32>
    })"),
            1u + 64);
}

TEST_F(CostModelTest, AnEndlessBodyCostsWhatAPlanAccepts) {
  EXPECT_EQ(getBodyNs(R"(
    func.func @f(%a: tensor<281474976710656x65536xf32>) -> tensor<281474976710656x65536xf32> {
      %0 = arith.addf %a, %a : tensor<281474976710656x65536xf32>
      return %0 : tensor<281474976710656x65536xf32>
    })"),
            uint64_t{1} << 50);
}

} // namespace
} // namespace mlir::pathways
