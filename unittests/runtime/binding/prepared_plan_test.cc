//===- prepared_plan_test.cc - A plan on these machines -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/prepared_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::Status StatusOf(proto::Plan plan, const std::string& topology) {
  return PreparedPlan::Create(MakePlanData(std::move(plan), {}),
                              MakeTopology(topology), /*resolver=*/nullptr,
                              /*runs_code=*/false)
      .status();
}

TEST(PreparedPlanTest, SaysWhichShardsAreWhere) {
  const Topology topology = MakeTopology("2x2x2");
  const auto plan = Prepare(MovePlan("p", 3, 0, 1, /*base=*/1), topology);
  ASSERT_EQ(plan->slices().size(), 2u);
  EXPECT_EQ(plan->slices()[1].num_shards, 3);
  const SliceBinding& slice = plan->bound(1);
  EXPECT_THAT(slice.device_of, ElementsAre(5, 6, 7));
  EXPECT_THAT(slice.hosts, ElementsAre(Pair(2, 1), Pair(3, 2)));
  EXPECT_THAT(slice.ShardsOn(6), ElementsAre(1));
  EXPECT_THAT(slice.ShardsOn(4), IsEmpty());
  EXPECT_THAT(plan->binding().hosts(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(plan->binding().islands(), ElementsAre(0, 1));
  EXPECT_EQ(plan->window(), 2u);
}

TEST(PreparedPlanTest, ShardsMayShareADevice) {
  const Topology topology = MakeTopology("1x1x2");
  const auto plan =
      Prepare(IdentityPlan({.slice = {.shards = 4, .span = 2}}), topology);
  EXPECT_THAT(plan->bound(0).device_of, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(plan->bound(0).ShardsOn(0), ElementsAre(0, 2));
  EXPECT_THAT(plan->bound(0).ShardsOn(1), ElementsAre(1, 3));
}

// Equal runs of shards, each on its own island.
TEST(PreparedPlanTest, ASliceIsCutOverIslands) {
  proto::Plan wide = IdentityPlan(
      {.slice = {
           .mesh = {{"x", 2}, {"y", 3}}, .island = 1, .base = 2, .span = 3}});
  proto::Binding* binding = wide.mutable_slices(0)->mutable_binding();
  binding->add_more()->set_base(1);
  const auto plan = Prepare(wide, MakeTopology("2x3x2"));
  EXPECT_THAT(plan->bound(0).device_of, ElementsAre(8, 9, 10, 1, 2, 3));
  EXPECT_THAT(plan->bound(0).hosts,
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(4, 2), Pair(5, 1)));
  EXPECT_THAT(plan->bound(0).ShardsOn(2), ElementsAre(4));
  EXPECT_THAT(plan->binding().islands(), ElementsAre(0, 1));
  EXPECT_THAT(StatusOf(wide, "1x3x2").message(),
              HasSubstr("slice 's' is bound to island 1, but the cluster has "
                        "1 islands"));
  binding->mutable_more(0)->set_base(4);
  EXPECT_THAT(StatusOf(wide, "2x3x2").message(),
              HasSubstr("slice 's' puts shard 5 on device 6 of island0, which "
                        "has 6 devices"));
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

proto::Target* TargetOf(proto::Cluster* cluster, int host) {
  return cluster->mutable_islands(0)
      ->mutable_hosts(host)
      ->mutable_devices(0)
      ->mutable_target();
}

TEST(PreparedPlanTest, ASliceHasOneCpuType) {
  proto::Cluster cluster = *ReadTopology("1x2x1");
  for (int host : {0, 1}) {
    TargetOf(&cluster, host)->set_triple("x86_64-unknown-linux-gnu");
    TargetOf(&cluster, host)->add_features("+avx2");
  }
  TargetOf(&cluster, 0)->set_cpu("znver4");
  TargetOf(&cluster, 1)->set_cpu("znver5");
  TargetOf(&cluster, 1)->add_features("+avxvnni");
  const Topology topology = *Topology::Create(cluster);
  EXPECT_EQ(PreparedPlan::Create(MakePlanData(MovePlan("p", 2), {}), topology,
                                 nullptr, /*runs_code=*/false)
                .status(),
            absl::InvalidArgumentError(
                "slice 's' lies on hosts of two CPU types: host0 has "
                "'x86_64-unknown-linux-gnu znver4', host1 has "
                "'x86_64-unknown-linux-gnu znver5 +avxvnni'"));
  // Slices on one host each may differ.
  TargetOf(&cluster, 1)->set_triple("aarch64-unknown-linux-gnu");
  EXPECT_TRUE(PreparedPlan::Create(MakePlanData(MovePlan("p", 1, 0, 0, 1), {}),
                                   *Topology::Create(cluster), nullptr,
                                   /*runs_code=*/false)
                  .ok());
}

// Gives each kernel its own number of segments, and notes what is asked.
class NotingResolver final : public KernelResolver {
 public:
  std::vector<std::string> asked;
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t>,
                                         const proto::Target& target) override {
    asked.push_back(kernel.name() + " " + target.cpu());
    return ResolvedKernel{
        std::vector<KernelFunction>(kernel.segments_size(), nullptr), nullptr};
  }
};

TEST(PreparedPlanTest, CodeIsLoadedForDevicesThatAreHere) {
  ChainBuilder b({.slice = {.shards = 1}});
  b.Feed("u0").Run("g0", "k0").Fetch("v0");
  b.Begin({.shards = 1, .base = 1}).Feed("u1").Run("g1", "k1").Fetch("v1");
  const PlanData plan = MakePlanData(b.Finish(), {});
  proto::Cluster cluster = *ReadTopology("1x2x1");
  TargetOf(&cluster, 0)->set_cpu("one");
  TargetOf(&cluster, 1)->set_cpu("two");
  const Topology topology = *Topology::Create(cluster);
  NotingResolver all, second;
  const auto whole = PreparedPlan::Create(plan, topology, &all, true);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_THAT(all.asked, ElementsAre("k0 one", "k1 two"));
  const auto part = PreparedPlan::Create(
      plan, topology, &second, true, [](int32_t host) { return host == 1; });
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_THAT(second.asked, ElementsAre("k1 two"));
  EXPECT_EQ((*part)->kernel(0, 0), nullptr);
  EXPECT_NE((*part)->kernel(1, 1), nullptr);
  // A process without a host still knows where values are.
  NotingResolver none;
  const auto nowhere = PreparedPlan::Create(plan, topology, &none, true,
                                            [](int32_t) { return false; });
  ASSERT_TRUE(nowhere.ok()) << nowhere.status();
  EXPECT_TRUE(none.asked.empty());
  EXPECT_NE((*nowhere)->argument_placement(1), nullptr);
}

TEST(RegistryTest, ForgetsWhatIsRemoved) {
  Registry<const int> registry;
  registry.Set(40, std::make_shared<int>(8));
  registry.Set(41, std::make_shared<int>(9));
  EXPECT_EQ(*registry.Find(40), 8);
  registry.Remove(40);
  registry.Remove(40);
  EXPECT_EQ(registry.Find(40), nullptr);
  EXPECT_EQ(*registry.Find(41), 9);
}

}  // namespace
}  // namespace pathways::testing
