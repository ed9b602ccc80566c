//===- body_reshard_test.cpp - Changes of layout in bodies ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/BodyReshard.h"

#include "mlir/AsmParser/AsmParser.h"
#include "gmock/gmock.h"

namespace mlir::pathways {
namespace {

struct BodyReshardTest : public ::testing::Test {
  BodyReshardTest() {
    context.loadDialect<PathwaysDialect>();
    mesh = cast<MeshAttr>(
        parseAttribute(R"(#pw.mesh<"x" = 2, "y" = 4>)", &context));
  }

  int64_t getBytes(ArrayRef<int64_t> shape, StringRef from, StringRef to) {
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    MovementCost cost =
        planBodyReshard(mesh, type, parse(from), parse(to)).cost;
    EXPECT_EQ(cost.ns > 0, cost.receivedBytes > 0);
    return cost.receivedBytes;
  }
  ShardingAttr parse(StringRef dims) {
    return cast<ShardingAttr>(
        parseAttribute(("#pw.sharding<" + dims + ">").str(), &context));
  }

  MLIRContext context;
  MeshAttr mesh;
};

TEST_F(BodyReshardTest, CostsCountWhatADeviceReceives) {
  StringRef whole = "[{}, {}]", rows = R"([{"y"}, {}])";
  EXPECT_EQ(getBytes({8, 8}, whole, whole), 0);
  EXPECT_EQ(getBytes({8, 8}, whole, R"([{"x"}, {"y"}])"), 0);
  EXPECT_EQ(getBytes({8, 8}, rows, whole), 3 * 16 * 4);
  EXPECT_EQ(getBytes({8, 8}, rows, R"([{}, {"y"}])"), 3 * 4 * 4);
  EXPECT_EQ(getBytes({8, 8}, R"([{}, {}] partial add {"y"})", whole),
            2 * 3 * 16 * 4);
}

TEST_F(BodyReshardTest, UnequalBlocksAreGatheredWithPaddingAndCut) {
  StringRef whole = "[{}, {}]", rows = R"([{"y"}, {}])";
  EXPECT_EQ(getBytes({7, 8}, rows, whole), 3 * 16 * 4);
  EXPECT_EQ(getBytes({8, 7}, whole, R"([{}, {"y"}])"), 0);
  EXPECT_EQ(getBytes({7, 8}, rows, rows), 0);
}

TEST_F(BodyReshardTest, OtherWaysDoWithoutAKindOfStep) {
  auto list = [&](StringRef from, StringRef to) {
    auto type = RankedTensorType::get({8, 8}, Float32Type::get(&context));
    std::vector<std::string> texts;
    for (const BodyReshard &reshard :
         BodyReshards(mesh).list(type, parse(from), parse(to))) {
      std::string &text = texts.emplace_back();
      for (const MovementStep &step : reshard.getAllSteps())
        text += (text.empty() ? "" : "; ") + describe(step);
    }
    return texts;
  };
  EXPECT_THAT(
      list(R"([{"y"}, {}])", R"([{}, {"y"}])"),
      ::testing::ElementsAre("all-to-all split 1 concat 0 over y",
                             "all-gather dim 0 over y; slice dim 1 over y"));
  EXPECT_THAT(list(R"([{}, {}] partial add {"y"})", R"([{"y"}, {}])"),
              ::testing::ElementsAre("reduce-scatter dim 0 over y",
                                     "all-reduce over y; slice dim 0 over y"));
  EXPECT_THAT(list(R"([{"y"}, {}])", "[{}, {}]"),
              ::testing::ElementsAre("all-gather dim 0 over y"));
  EXPECT_THAT(list("[{}, {}]", "[{}, {}]"), ::testing::ElementsAre(""));
}

} // namespace
} // namespace mlir::pathways
