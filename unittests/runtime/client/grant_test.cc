//===- grant_test.cc - Launches share devices by grants -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <deque>
#include <memory>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/scheduler/grant_order.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

class GrantTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options(uint64_t seed = 3) {
    ClusterOptions options = Sim(seed);
    options.world = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, GrantTest, BothWorlds(), WorldName);

// v + 1 for each element, a gang of 0.1 ms on `devices` devices.
proto::Plan Increment(const std::string& name, int64_t devices) {
  return ChainBuilder({.name = name, .slice = {.shards = devices}})
      .Feed("v")
      .Run("inc", "add_one1", {.cost_ns = 100'000})
      .Fetch("w")
      .CarryResult()
      .Finish();
}

// The newcomer runs beside the endless launch of another client.
TEST(GrantSimTest, ANewcomerStartsWithinTheHorizon) {
  ClusterOptions options = Sim(7);
  options.run_kernels = false;
  auto runtime = Start("1x1x2", options);
  const std::unique_ptr<Client> newcomer = runtime.Connect("newcomer");
  const ProgramHandle endless = LoadPlan(*runtime, Increment("endless", 2));
  const ProgramHandle shortly = LoadPlan(*newcomer, Increment("shortly", 2));
  HostArray shape;
  shape.element = ElementType::kF32;
  shape.shape = {2};
  // A hundred seconds of device time.
  LaunchPlan(*runtime, endless, {shape}, 1'000'000);
  // Twenty milliseconds of it pass.
  for (int i = 0; i < 20; ++i) {
    const RunHandle other = LaunchPlan(*newcomer, shortly, {shape}, 10);
    const TimeNs start = StatsOf(*runtime).now_ns;
    ASSERT_TRUE(newcomer->Await(other).ok());
    // Its own millisecond, and what was granted before it came.
    EXPECT_LT(StatsOf(*runtime).now_ns - start, kGrantHorizonNs * 3 / 2) << i;
  }
  const uint64_t before = StatsOf(*runtime).controller_messages;
  const TimeNs start = StatsOf(*runtime).now_ns;
  const RunHandle last = LaunchPlan(*newcomer, shortly, {shape}, 10'000);
  ASSERT_TRUE(newcomer->Await(last).ok());
  // Half of the devices' time is the newcomer's.
  const TimeNs took = StatsOf(*runtime).now_ns - start;
  EXPECT_NEAR(double(took), 2e9, 0.4e9);
  // Messages grow with time, not with steps: 20,000 of them.
  EXPECT_LT(StatsOf(*runtime).controller_messages - before,
            4 * static_cast<uint64_t>(took) / kChunkNs + 100);
}

TEST_P(GrantTest, StepsOfALongLaunchFollowEachOtherOverItsGrants) {
  auto runtime = Start("1x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, Increment("long", 4));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({4}, {0, 10, 20, 30})}, 3000);
  const RunHandle next =
      LaunchPlan(*runtime, program, {Floats({4}, {1, 1, 1, 1})}, 500);
  EXPECT_EQ(FetchValues(*runtime, run, "w"),
            (std::vector<float>{3000, 3010, 3020, 3030}));
  EXPECT_EQ(FetchValues(*runtime, next, "w"),
            (std::vector<float>{501, 501, 501, 501}));
}

// Each keeps so many launches open, and neither gets ahead of the other.
TEST_P(GrantTest, LaunchesOfTwoClientsInterleave) {
  constexpr int kLaunches = 5000;  // of each
  constexpr int kOpen = 16;
  auto runtime = Start("2x1x2", Options());
  const std::unique_ptr<Client> second = runtime.Connect("second");
  Client* const clients[] = {&*runtime, second.get()};
  ProgramHandle programs[2];
  std::deque<RunHandle> open[2];
  for (int c = 0; c < 2; ++c) {
    programs[c] = LoadPlan(*clients[c], Increment(absl::StrCat("p", c), 2));
  }
  auto value = [](int c, int i) { return static_cast<float>(2 * i + c); };
  for (int i = 0; i < kLaunches + kOpen; ++i) {
    TimeNs ended[2] = {0, 0};
    for (int c = 0; c < 2; ++c) {
      Client& client = *clients[c];
      if (i < kLaunches) {
        const float v = value(c, i);
        open[c].push_back(
            LaunchPlan(client, programs[c], {Floats({2}, {v, -v})}));
      }
      if (i < kOpen) continue;
      const float v = value(c, i - kOpen);
      ASSERT_EQ(FetchValues(client, open[c].front(), "w"),
                (std::vector<float>{v + 1, 1 - v}));
      ASSERT_TRUE(client.ReleaseRun(open[c].front()).ok());
      open[c].pop_front();
      if (i % 100 == 0) ended[c] = StatsOf(client).now_ns;
    }
    if (GetParam() == ClusterOptions::kSim) {
      ASSERT_LT(ended[1] - ended[0], kGrantHorizonNs) << i;
    }
  }
}

}  // namespace
}  // namespace pathways::testing
