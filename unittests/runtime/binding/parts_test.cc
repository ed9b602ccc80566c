//===- parts_test.cc - Parts of arrays on a host --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PartsTest, EachBlockIsThereOnceInTheOrderOfShards) {
  // Rows over x; y replicates.
  const layout::Mesh mesh = {{"x", 2}, {"y", 2}};
  const Parts parts = CutParts(Rows({6}), mesh, 4, {0, 1, 2, 3});
  ASSERT_THAT(parts.parts, SizeIs(2));
  EXPECT_EQ(parts.parts[0].shard, 0);
  EXPECT_EQ(parts.parts[0].offset, 0u);
  EXPECT_EQ(parts.parts[0].bytes, 12u);
  EXPECT_EQ(parts.parts[1].shard, 2);
  EXPECT_EQ(parts.parts[1].offset, 12u);
  EXPECT_THAT(parts.part_of, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(parts.step_bytes, 24u);
}

TEST(PartsTest, OnlyTheShardsAskedFor) {
  const layout::Mesh mesh = {{"x", 2}, {"y", 2}};
  const Parts parts = CutParts(Rows({6}), mesh, 4, {3});
  ASSERT_THAT(parts.parts, SizeIs(1));
  EXPECT_EQ(parts.parts[0].shard, 3);
  EXPECT_EQ(parts.parts[0].offset, 0u);
  EXPECT_THAT(parts.part_of, ElementsAre(0));
}

// Shards are rounded up: of 5 rows on 4 shards, two each, the last has none
// and the third has one.
TEST(PartsTest, ShardsBehindTheEndHaveNone) {
  const Parts parts = CutParts(Rows({5}), {{"x", 4}}, 2, {0, 1, 2, 3});
  EXPECT_THAT(parts.part_of, ElementsAre(0, 1, 2, -1));
  ASSERT_THAT(parts.parts, SizeIs(3));
  EXPECT_EQ(parts.parts[2].bytes, 2u);
  EXPECT_EQ(parts.step_bytes, 10u);
}

// Each contribution to a block of a partial array is a part; other equal blocks
// are copies.
TEST(PartsTest, EachContributionIsThereOnce) {
  const layout::Mesh mesh = {{"x", 2}, {"y", 2}, {"z", 2}};
  layout::Layout layout = Rows({6});
  layout.partial = {"z"};
  layout.reduction = layout::Reduction::kAdd;
  const Parts parts = CutParts(layout, mesh, 4, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(parts.part_of, ElementsAre(0, 1, 0, 1, 2, 3));
  ASSERT_THAT(parts.parts, SizeIs(4));
  EXPECT_EQ(parts.parts[1].contribution, 1);
  EXPECT_EQ(parts.parts[2].contribution, 0);
  EXPECT_EQ(parts.step_bytes, 48u);
}

TEST(PartsTest, AnArrayIsOnTheHostsThatHaveBlocks) {
  const Topology topology = MakeTopology("1x2x2");
  const auto plan = Prepare(MovePlan("p", 4), topology);
  const auto placement =
      MakeArrayPlacement(*plan, topology, /*buffer=*/0, /*stepped=*/true);
  ASSERT_THAT(placement->hosts, SizeIs(2));
  EXPECT_EQ(placement->hosts[0].host, 0);
  EXPECT_EQ(placement->hosts[1].host, 1);
  EXPECT_EQ(placement->hosts[1].parts.parts[0].shard, 2);
  EXPECT_EQ(placement->hosts[1].parts.step_bytes, 8u);
  EXPECT_TRUE(placement->stepped);
  // One element: shards of the second host have none.
  const auto small = Prepare(MovePlan("p", 4, 0, 0, 0, 1), topology);
  EXPECT_THAT(MakeArrayPlacement(*small, topology, 0, false)->hosts, SizeIs(1));
}

TEST(PartsTest, AnArrayFitsWhereItWouldBePlacedAlike) {
  const Topology topology = MakeTopology("2x1x2");
  const auto plan = Prepare(MovePlan("p", 2, 0, 1), topology);
  const auto again = Prepare(MovePlan("q", 2, 0, 1), topology);
  auto at = [&](const PreparedPlan& of, int buffer, bool stepped) {
    return MakeArrayPlacement(of, topology, buffer, stepped);
  };
  const auto u = at(*plan, 0, false);
  EXPECT_TRUE(u->Fits(*u));
  EXPECT_TRUE(u->Fits(*at(*again, 0, false)));
  EXPECT_FALSE(u->Fits(*at(*plan, 0, true)));
  EXPECT_FALSE(u->Fits(*at(*plan, 2, false)));  // on the other island
}

}  // namespace
}  // namespace pathways::testing
