//===- prepared_plan_test.cc - A plan on these machines -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/prepared_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "unittests/runtime/controller/controller_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::Status StatusOf(proto::Plan plan, const std::string& topology) {
  return PreparedPlan::Create(MakePlanData(std::move(plan), {}),
                              MakeTopology(topology), /*resolver=*/nullptr,
                              /*run_kernels=*/false)
      .status();
}

TEST(PreparedPlanTest, SaysWhichShardsAreWhere) {
  const Topology topology = MakeTopology("2x2x2");
  const auto plan = Prepare(MovePlan("p", 3, 0, 1, /*base=*/1), topology);
  ASSERT_EQ(plan->slices().size(), 2u);
  const PreparedSlice& slice = plan->slices()[1];
  EXPECT_EQ(slice.island, 1);
  EXPECT_EQ(slice.num_shards, 3);
  EXPECT_THAT(slice.device_of, ElementsAre(1, 2, 3));
  EXPECT_THAT(slice.hosts, ElementsAre(Pair(2, 1), Pair(3, 2)));
  EXPECT_THAT(plan->ShardsOn(1, 2), ElementsAre(1));
  EXPECT_THAT(plan->ShardsOn(1, 0), IsEmpty());
  EXPECT_THAT(plan->hosts(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(plan->islands(), ElementsAre(0, 1));
  EXPECT_EQ(plan->window(), 2u);
}

TEST(PreparedPlanTest, ShardsMayShareADevice) {
  const Topology topology = MakeTopology("1x1x2");
  PlanBuilder b("p", 1);
  const uint32_t s = b.AddSlice("s", {{"x", 4}}, 0, 0, /*span=*/2);
  const uint32_t u = b.AddBuffer("u", s, Rows(4));
  b.AddFeed("u", u);
  b.AddFetch("u", u);
  const auto plan = Prepare(b.Finish(), topology);
  EXPECT_THAT(plan->slices()[0].device_of, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(plan->ShardsOn(0, 0), ElementsAre(0, 2));
  EXPECT_THAT(plan->ShardsOn(0, 1), ElementsAre(1, 3));
}

TEST(PreparedPlanTest, EdgesAreFoundFromBothEnds) {
  const auto plan = Prepare(MovePlan("p", 2), MakeTopology("1x1x2"));
  for (size_t e = 0; e < plan->edges().size(); ++e) {
    const PreparedEdge& edge = plan->edges()[e];
    EXPECT_THAT(plan->in_edges(edge.to), ::testing::Contains(e));
    EXPECT_THAT(plan->out_edges(edge.from), ::testing::Contains(e));
  }
  const uint32_t send = ActionOf(*plan, "m.send");
  bool moves = false;
  for (uint32_t e : plan->out_edges(send)) {
    const PreparedEdge& edge = plan->edges()[e];
    if (edge.kind != proto::DATA) continue;
    moves = true;
    EXPECT_EQ(edge.relation, proto::PIECES);
    EXPECT_EQ(edge.send, send);
    EXPECT_TRUE(edge.poisons);
    EXPECT_FALSE(edge.elided);
  }
  EXPECT_TRUE(moves);
}

TEST(PreparedPlanTest, ShardsHaveShapesAndBytes) {
  const auto plan =
      Prepare(MovePlan("p", 2, 0, 0, 0, /*elements=*/5), MakeTopology("1x1x2"));
  const PreparedBuffer& u = plan->buffers()[0];
  EXPECT_THAT(u.shape, ElementsAre(3));  // rounded up
  EXPECT_EQ(u.element_bytes, 4);
  EXPECT_TRUE(u.is_alone);
}

TEST(PreparedPlanTest, RefusesMachinesThatThereAreNot) {
  EXPECT_TRUE(StatusOf(MovePlan("p", 2, 0, 1), "2x1x2").ok());
  const absl::Status island = StatusOf(MovePlan("p", 2, 0, 1), "1x1x2");
  EXPECT_EQ(island.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(island.message()), HasSubstr("island 1"));
  const absl::Status device = StatusOf(MovePlan("p", 3), "1x1x2");
  EXPECT_EQ(device.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(device.message()), HasSubstr("device 2"));
}

TEST(RegistryTest, NumbersFromOneAndForgetsWhatIsRemoved) {
  Registry<const int> registry;
  EXPECT_EQ(registry.Add(std::make_shared<int>(5)), 1u);
  EXPECT_EQ(registry.Add(std::make_shared<int>(6)), 2u);
  EXPECT_EQ(*registry.Find(2), 6);
  registry.Remove(1);
  registry.Remove(1);
  EXPECT_EQ(registry.Find(1), nullptr);
  EXPECT_EQ(registry.Add(std::make_shared<int>(7)), 3u);
  registry.Set(40, std::make_shared<int>(8));
  EXPECT_EQ(*registry.Find(40), 8);
}

}  // namespace
}  // namespace pathways::testing
