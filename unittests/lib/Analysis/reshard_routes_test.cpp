//===- reshard_routes_test.cpp - Routes inside of bodies
//---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ReshardRoutes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

struct ReshardRoutesTest : public ::testing::Test {
  ReshardRoutesTest() {
    context.loadDialect<PathwaysDialect>();
    mesh = cast<MeshAttr>(
        parseAttribute(R"(#pw.mesh<"x" = 2, "y" = 4>)", &context));
  }

  int64_t getBytes(ArrayRef<int64_t> shape, StringRef from, StringRef to) {
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    MovementCost cost = ReshardRoutes(mesh).getCost(
        type, cast<ShardingAttr>(parse(from)), cast<ShardingAttr>(parse(to)));
    EXPECT_EQ(cost.ns > 0, cost.receivedBytes > 0);
    return cost.receivedBytes;
  }
  Attribute parse(StringRef dims) {
    return parseAttribute(("#pw.sharding<" + dims + ">").str(), &context);
  }

  MLIRContext context;
  MeshAttr mesh;
};

TEST_F(ReshardRoutesTest, CostsCountWhatADeviceReceives) {
  StringRef whole = "[{}, {}]", rows = R"([{"y"}, {}])";
  EXPECT_EQ(getBytes({8, 8}, whole, whole), 0);
  EXPECT_EQ(getBytes({8, 8}, whole, R"([{"x"}, {"y"}])"), 0);
  EXPECT_EQ(getBytes({8, 8}, rows, whole), 3 * 16 * 4);
  EXPECT_EQ(getBytes({8, 8}, rows, R"([{}, {"y"}])"), 3 * 4 * 4);
  EXPECT_EQ(getBytes({8, 8}, R"([{}, {}] partial add {"y"})", whole),
            2 * 3 * 16 * 4);
}

TEST_F(ReshardRoutesTest, UnequalBlocksAreGatheredWithPaddingAndCut) {
  StringRef whole = "[{}, {}]", rows = R"([{"y"}, {}])";
  EXPECT_EQ(getBytes({7, 8}, rows, whole), 3 * 16 * 4);
  EXPECT_EQ(getBytes({8, 7}, whole, R"([{}, {"y"}])"), 0);
  EXPECT_EQ(getBytes({7, 8}, rows, rows), 0);
}

TEST_F(ReshardRoutesTest, ARouteIsSearchedForOnce) {
  ReshardRoutes routes(mesh);
  auto type = RankedTensorType::get({8, 8}, Float32Type::get(&context));
  auto from = cast<ShardingAttr>(parse(R"([{"y"}, {}])"));
  auto to = cast<ShardingAttr>(parse("[{}, {}]"));
  const MovementRoute &route = routes.get(type, from, to);
  ASSERT_EQ(route.steps.size(), 1u);
  EXPECT_EQ(describe(route.steps[0]), "all-gather dim 0 over y");
  EXPECT_EQ(&routes.get(type, from, to), &route);
}

} // namespace
} // namespace mlir::pathways
