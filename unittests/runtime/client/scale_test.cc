//===- scale_test.cc - Many plans, many devices, one seed -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

std::vector<HostArray> ShapesOnly(const proto::Plan& plan, int64_t steps) {
  std::vector<HostArray> arguments;
  for (const proto::Argument& argument : plan.interface().arguments()) {
    const proto::Layout& layout = plan.layouts(
        plan.buffers(plan.actions(argument.action()).results(0)).layout());
    HostArray array;
    array.element = static_cast<ElementType>(layout.element());
    if (argument.stepped()) array.shape.push_back(steps);
    for (int64_t size : layout.shape()) array.shape.push_back(size);
    arguments.push_back(std::move(array));
  }
  return arguments;
}

TEST(ScaleTest, RandomPlansAllEnd) {
  constexpr int64_t kSteps = 6;
  uint64_t firings = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ClusterOptions options = Sim(seed);
    options.run_kernels = false;
    auto runtime = Start(seed % 2 ? "2x2x2" : "2x1x4", options);
    const proto::Plan plan = RandomPlan(seed);
    uint64_t expected = 0;
    for (const proto::Action& action : plan.actions()) {
      expected += NumShards(plan.slices(action.slice()));
    }
    const ProgramHandle program = LoadPlan(*runtime, plan);
    const RunHandle one =
        LaunchPlan(*runtime, program, ShapesOnly(plan, kSteps), kSteps);
    const RunHandle two =
        LaunchPlan(*runtime, program, ShapesOnly(plan, kSteps), kSteps);
    ASSERT_TRUE(runtime->Await(one).ok()) << runtime->Await(one);
    ASSERT_TRUE(runtime->Await(two).ok()) << runtime->Await(two);
    ASSERT_EQ(StatsOf(*runtime).firings, expected * 2 * kSteps);
    firings += StatsOf(*runtime).firings;
  }
  EXPECT_GT(firings, 1'000'000u);
}

TEST(ScaleTest, RandomPlansEndOnThreads) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    auto runtime = Start("2x2x2");
    const proto::Plan plan = RandomPlan(seed);
    std::vector<HostArray> arguments = ShapesOnly(plan, 4);
    for (HostArray& array : arguments) {
      array.data.resize(array.numElements() * elementBytes(array.element), 0);
    }
    const ProgramHandle program = LoadPlan(*runtime, plan);
    const RunHandle run =
        LaunchPlan(*runtime, program, std::move(arguments), 4);
    ASSERT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
  }
}

TEST(ScaleTest, OneSeedOneHash) {
  uint64_t hash = 0;
  for (int i = 0; i < 100; ++i) {
    ClusterOptions options = Sim(11);
    options.duplicate_probability = 0.1;
    options.reorder_probability = 0.1;
    auto runtime = Start("2x2x2", options);
    const ProgramHandle program =
        LoadPlan(*runtime, GoldenPlan({{0, 0}, {0, 2}, {1, 0}}));
    const RunHandle run =
        LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 20);
    ASSERT_TRUE(runtime->Await(run).ok());
    // Once: to ask for it is an event too.
    const uint64_t got = StatsOf(*runtime).event_hash;
    if (i == 0) hash = got;
    ASSERT_EQ(got, hash) << "run " << i;
  }
  ClusterOptions options = Sim(12);
  auto runtime = Start("2x2x2", options);
  const ProgramHandle program =
      LoadPlan(*runtime, GoldenPlan({{0, 0}, {0, 2}, {1, 0}}));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 20);
  ASSERT_TRUE(runtime->Await(run).ok());
  EXPECT_NE(StatsOf(*runtime).event_hash, hash);
}

// Two stages of n devices each way, sums inside rows of 8.
proto::Plan WidePlan(int64_t rows) {
  const layout::Mesh mesh = {{"d", rows}, {"x", 8}};
  return ChainBuilder({.name = "wide",
                       .slice = {.mesh = mesh},
                       .layout = Split({rows, 8}, {{"d"}, {"x"}})})
      .Feed("u")
      .Collective("sum", proto::ALL_REDUCE, {.cost_ns = 1000})
      .MoveTo("m", 0, Split({rows, 8}, {{"x"}, {"d"}}))
      .Gang("g", {.cost_ns = 1000})
      .Fetch("z")
      .Finish();
}

TEST(ScaleTest, TablesAreProportionalToOwnShards) {
  std::vector<uint64_t> entries, edges;
  for (int64_t hosts : {2, 512}) {
    ClusterOptions options = Sim();
    options.run_kernels = false;
    auto runtime = Start(absl::StrCat("1x", hosts, "x8"), options);
    const proto::Plan plan = WidePlan(hosts);
    const ProgramHandle program = LoadPlan(*runtime, plan);
    const uint64_t before = StatsOf(*runtime).controller_messages;
    const RunHandle run =
        LaunchPlan(*runtime, program, ShapesOnly(plan, 10), 10);
    ASSERT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
    const ClusterStats stats = StatsOf(*runtime);
    // One launch, one answer of each host that has it prepared and one of the
    // island, whatever the steps and devices.
    EXPECT_EQ(stats.controller_messages - before, 2u + uint64_t(hosts));
    EXPECT_EQ(stats.firings, uint64_t(hosts) * 8 * plan.actions_size() * 10);
    for (const auto& host : stats.hosts) {
      EXPECT_EQ(host.own_shards, 8u);
      EXPECT_EQ(host.action_shards, 8u * plan.actions_size());
    }
    entries.push_back(stats.hosts[1].action_shards);
    edges.push_back(stats.hosts[1].edge_entries);
    EXPECT_TRUE(runtime->Unload(program).ok());
  }
  EXPECT_EQ(entries[0], entries[1]);
  EXPECT_EQ(edges[0], edges[1]);
}

}  // namespace
}  // namespace pathways::testing
