//===- share_test.cc - Clients share devices as they were told ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/scheduler/grant_order.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

constexpr TimeNs kStepNs = 330'000;

// Takes kStepNs of a core.
int32_t Work(void* const* buffers, const int32_t*, void*, uint64_t) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(kStepNs);
  while (std::chrono::steady_clock::now() < end) {
  }
  return Map<1>(buffers, [](float v) { return v + 1; });
}

TestKernels& WorkKernels() {
  static auto* const kernels = [] {
    auto* k = new TestKernels;
    k->functions = {{"work", Work}};
    return k;
  }();
  return *kernels;
}

// v + 1 for each element, on each island's devices by themselves.
proto::Plan Steps(const std::string& name, const std::vector<uint32_t>& islands,
                  uint64_t cost_ns = kStepNs) {
  ChainBuilder b({.name = name, .slice = {.island = islands[0]}});
  for (uint32_t island : islands) {
    if (island != islands[0]) b.Begin({.island = island});
    b.Feed(absl::StrCat("v", island))
        .Run(absl::StrCat("inc", island), "work", {.cost_ns = cost_ns})
        .Fetch(absl::StrCat("w", island))
        .CarryResult();
  }
  return b.Finish();
}

class ShareTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  TestCluster StartShared(const std::string& topology, bool values = false) {
    ClusterOptions options = Sim(5);
    options.world = GetParam();
    options.kernels = &WorkKernels();
    if (is_sim() && !values) options.run_kernels = false;
    return Start(topology, options);
  }
  bool is_sim() const { return GetParam() == ClusterOptions::kSim; }

  static HostArray Value() { return Floats({2}, {0, 0}); }
  static RunHandle Go(Client& client, ProgramHandle program, int64_t steps,
                      size_t arguments, const LaunchOptions& how = {}) {
    LaunchArguments values;
    for (size_t i = 0; i < arguments; ++i) values.emplace_back(Value());
    const absl::StatusOr<RunHandle> run =
        client.Launch(program, std::move(values), steps, how);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *run : RunHandle{};
  }
  // Returns the device time of all clients at one time, by name.
  static std::map<std::string, double> Times(TestCluster& runtime) {
    const auto status = runtime.cluster().Describe(absl::Seconds(10));
    EXPECT_TRUE(status.ok()) << status.status();
    std::map<std::string, double> times;
    for (const proto::ClientStatus& one : status->clients()) {
      times[one.name()] = static_cast<double>(one.device_time_ns());
    }
    return times;
  }
  // Some virtual time passes.
  static void Step(TestCluster& runtime) { StatsOf(*runtime); }
  static double TimeOf(TestCluster& runtime, const std::string& client) {
    return Times(runtime)[client];
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ShareTest, BothWorlds(), WorldName);

// Each client that always has work gets its share of device time, to 2 % in a
// simulation of a second and to 5 % on threads, and devices are busy.
TEST_P(ShareTest, DeviceTimeGoesByWeight) {
  const double accuracy = is_sim() ? 0.02 : 0.05;
  for (const std::vector<double>& weights :
       {std::vector<double>{1, 1, 1, 1}, {1, 2, 4, 8}}) {
    TestCluster runtime = StartShared("2x1x2");
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<std::string> names;
    double all = 0;
    for (double weight : weights) {
      all += weight;
      names.push_back(absl::StrCat("c", clients.size()));
      clients.push_back(runtime.Connect(names.back(), {.weight = weight}));
      Go(*clients.back(), LoadPlan(*clients.back(), Steps(names.back(), {0})),
         1'000'000, 1);
    }
    // Time goes by, in a simulation on the other island.
    const ProgramHandle clock = LoadPlan(*runtime, Steps("clock", {1}));
    auto pass = [&] {
      if (!is_sim()) return;
      EXPECT_TRUE(runtime->Await(Go(*runtime, clock, 10, 1)).ok());
    };
    std::map<std::string, double> first, now;
    // The first one was alone: what it was granted then is counted against it
    // when the others have come, so that they are ahead until they have caught
    // up.
    auto is_even = [&] {
      double sum = 0;
      for (const std::string& name : names) {
        if (first[name] == 0) return false;
        sum += first[name];
      }
      return sum > 1e9;
    };
    while (!is_even()) {
      pass();
      first = Times(runtime);
    }
    const TimeNs start = StatsOf(*runtime).now_ns;
    // If a grant takes longer than others of its kind, the client repays that
    // later. So threads are looked at more than once: the machine may have
    // stood still in a grant just before the first look, or be busy with
    // something else for seconds.
    double sum = 0, worst = 1;
    for (double until = 1e9; until < 1e10 && worst > accuracy; until += 3e8) {
      if (is_sim() && until > 1e9) break;
      while (sum < until) {
        pass();
        now = Times(runtime);
        sum = 0;
        for (const std::string& name : names) sum += now[name] - first[name];
      }
      worst = 0;
      for (size_t c = 0; c < names.size(); ++c) {
        const double share = (now[names[c]] - first[names[c]]) / sum;
        worst = std::max(worst, std::abs(share * all / weights[c] - 1));
      }
    }
    EXPECT_LE(worst, accuracy);
    if (is_sim()) {
      const auto took = static_cast<double>(StatsOf(*runtime).now_ns - start);
      EXPECT_GE(sum, 0.98 * took);
    }
  }
}

// Each launches one step after another, two ahead.
TEST_P(ShareTest, ManyClientsOfShortLaunchesKeepDevicesBusy) {
  if (!is_sim()) GTEST_SKIP() << "about time, which is real";
  for (int count : {1, 4, 8, 16}) {
    TestCluster runtime = StartShared("1x1x2");
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<ProgramHandle> programs;
    for (int c = 0; c < count; ++c) {
      clients.push_back(runtime.Connect(absl::StrCat("c", c)));
      programs.push_back(
          LoadPlan(*clients.back(), Steps(absl::StrCat("p", c), {0})));
    }
    std::vector<std::vector<RunHandle>> runs(clients.size());
    const TimeNs start = StatsOf(*runtime).now_ns;
    const int rounds = 960 / count;
    for (int i = 0; i < rounds; ++i) {
      for (size_t c = 0; c < clients.size(); ++c) {
        if (i >= 2)
          ASSERT_EQ(clients[c]->Await(runs[c][i - 2]), absl::OkStatus());
        runs[c].push_back(Go(*clients[c], programs[c], 1, 1));
      }
    }
    for (size_t c = 0; c < clients.size(); ++c) {
      ASSERT_TRUE(clients[c]->Await(runs[c].back()).ok());
    }
    const auto took = static_cast<double>(StatsOf(*runtime).now_ns - start);
    EXPECT_GE(double(rounds) * count * kStepNs, 0.98 * took) << count;
  }
}

// One of a higher priority waits for what is granted and for nobody else: a
// chunk at most.
TEST_P(ShareTest, AHighPriorityWaitsForAChunk) {
  if (!is_sim()) GTEST_SKIP() << "about time, which is real";
  TestCluster runtime = StartShared("1x1x2");
  const std::unique_ptr<Client> fast =
      runtime.Connect("fast", {.priority = 10});
  const ProgramHandle mine = LoadPlan(*fast, Steps("fast", {0}, 20'000));
  auto take = [&] {
    const TimeNs before = StatsOf(*runtime).now_ns;
    EXPECT_TRUE(fast->Await(Go(*fast, mine, 1, 1)).ok());
    return StatsOf(*runtime).now_ns - before;
  };
  const TimeNs alone = take();
  std::vector<std::unique_ptr<Client>> others;
  for (int c = 0; c < 3; ++c) {
    others.push_back(runtime.Connect(absl::StrCat("c", c)));
    Go(*others.back(),
       LoadPlan(*others.back(), Steps(absl::StrCat("p", c), {0}, 100'000)),
       1'000'000, 1);
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_LE(take(), alone + kChunkNs + 100'000) << i;
  }
}

// A launch may say more than its client does.
TEST_P(ShareTest, ALaunchHasItsOwnPriorityAndPassesItOn) {
  TestCluster runtime = StartShared("1x1x2", /*values=*/true);
  const std::unique_ptr<Client> busy = runtime.Connect("busy", {.priority = 1});
  Go(*busy, LoadPlan(*busy, Steps("busy", {0})), 1'000'000, 1);
  const ProgramHandle first = LoadPlan(*runtime, Steps("first", {0}));
  const ProgramHandle second = LoadPlan(*runtime, Steps("second", {0}));
  const RunHandle filling = Go(*runtime, first, 100, 1);
  const double before = TimeOf(runtime, "busy");
  const absl::StatusOr<ArrayHandle> filled = runtime->Keep(filling, "w0");
  ASSERT_TRUE(filled.ok()) << filled.status();
  LaunchArguments arguments;
  arguments.emplace_back(*filled);
  const absl::StatusOr<RunHandle> urgent =
      runtime->Launch(second, std::move(arguments), 1, {.priority = 2});
  ASSERT_TRUE(urgent.ok()) << urgent.status();
  ASSERT_TRUE(runtime->Await(*urgent).ok());
  // Alone, the first launch would have aged for a hundred grants.
  EXPECT_LT(TimeOf(runtime, "busy") - before, 2e9);
}

// Programs on two islands and on one of them: each client has its share of the
// island that both want.
TEST_P(ShareTest, ProgramsOverIslandsHaveTheirShareOnEach) {
  if (!is_sim()) GTEST_SKIP() << "islands would share cores";
  TestCluster runtime = StartShared("2x1x2");
  const std::unique_ptr<Client> wide = runtime.Connect("wide", {.weight = 2});
  const std::unique_ptr<Client> left = runtime.Connect("left");
  const std::unique_ptr<Client> right = runtime.Connect("right");
  Go(*left, LoadPlan(*left, Steps("left", {0})), 1'000'000, 1);
  Go(*right, LoadPlan(*right, Steps("right", {1})), 1'000'000, 1);
  const ProgramHandle both = LoadPlan(*wide, Steps("both", {0, 1}));
  const TimeNs start = StatsOf(*runtime).now_ns;
  ASSERT_TRUE(wide->Await(Go(*wide, both, 2000, 2)).ok());
  const auto took = static_cast<double>(StatsOf(*runtime).now_ns - start);
  EXPECT_NEAR(TimeOf(runtime, "wide"), 2 * took * 2 / 3, 0.05 * took);
  EXPECT_NEAR(TimeOf(runtime, "left"), took / 3, 0.05 * took);
  EXPECT_NEAR(TimeOf(runtime, "right"), took / 3, 0.05 * took);
}

// Granted steps run, and the rest does not. Later launches are not affected,
// except those that read its results, which fail with it.
TEST_P(ShareTest, ALaunchIsCancelledWithinTheHorizon) {
  TestCluster runtime = StartShared("1x1x2", /*values=*/true);
  const ProgramHandle program = LoadPlan(*runtime, Steps("p", {0}));
  const ProgramHandle other = LoadPlan(*runtime, Steps("q", {0}));
  for (int i = 0; i < 10; ++i) {
    const RunHandle run = Go(*runtime, program, 1'000'000'000, 1);
    const RunHandle behind = Go(*runtime, program, 3, 1);
    const absl::StatusOr<ArrayHandle> result = runtime->Keep(run, "w0");
    ASSERT_TRUE(result.ok()) << result.status();
    LaunchArguments arguments;
    arguments.emplace_back(*result);
    const absl::StatusOr<RunHandle> reads =
        runtime->Launch(other, std::move(arguments));
    ASSERT_TRUE(reads.ok()) << reads.status();
    // At once, or after a while.
    const double before = TimeOf(runtime, "client0");
    while (i % 2 == 1 && TimeOf(runtime, "client0") < before + 3e6) {
      if (is_sim()) Step(runtime);
    }
    ASSERT_TRUE(runtime->Cancel(run).ok());
    ASSERT_TRUE(runtime->Cancel(run).ok());
    const absl::Status status = runtime->Await(run);
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    EXPECT_EQ(
        status.message(),
        "a launch of program 'p' was cancelled by client 'client0' [PW6104]");
    EXPECT_EQ(runtime->Await(*reads), status);
    EXPECT_FALSE(runtime->Fetch(*reads, "w0").ok());
    EXPECT_FALSE(runtime->Fetch(run, "w0").ok());
    EXPECT_EQ(FetchValues(*runtime, behind, "w0"), (std::vector<float>{3, 3}));
    // It is over, and cannot be cancelled any more.
    ASSERT_TRUE(runtime->Cancel(behind).ok());
    EXPECT_TRUE(runtime->Await(behind).ok());
    for (RunHandle one : {run, behind, *reads}) {
      EXPECT_TRUE(runtime->ReleaseRun(one).ok());
    }
    EXPECT_TRUE(runtime->Release(*result).ok());
  }
  EXPECT_FALSE(runtime->Cancel(RunHandle{}).ok());
  EXPECT_TRUE(runtime->Unload(program).ok());
  EXPECT_TRUE(runtime->Unload(other).ok());
  for (const auto& host : StatsOf(*runtime).hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
}

TEST_P(ShareTest, WhatIsOutOfRangeIsRefused) {
  TestCluster runtime = StartShared("1x1x2");
  Cluster& cluster = runtime.cluster();
  auto refused = [&](const ClientOptions& how) {
    return std::string(cluster.Connect("c", how).status().message());
  };
  EXPECT_EQ(refused({.weight = 0}), "the weight is 0, expected 0.001 to 1000");
  EXPECT_EQ(refused({.weight = std::nan("")}),
            "the weight is nan, expected 0.001 to 1000");
  EXPECT_EQ(refused({.priority = -101}),
            "the priority is -101, expected -100 to 100");
  EXPECT_EQ(refused({.run_ahead = 65}),
            "run_ahead is 65 launches, expected 1 to 64");
  const ProgramHandle program = LoadPlan(*runtime, Steps("p", {0}));
  for (const LaunchOptions& how :
       {LaunchOptions{.priority = 101}, LaunchOptions{.deadline_ns = -1}}) {
    LaunchArguments values;
    values.emplace_back(Value());
    EXPECT_EQ(
        runtime->Launch(program, std::move(values), 1, how).status().code(),
        absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace pathways::testing
