//===- run_test.cc - Values: moves, collectives, state, failures ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <thread>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

struct RunCase {
  const char* name;
  ClusterOptions::WorldKind world;
  ClusterOptions::Dispatch dispatch;
  TimeNs host_work_ns;
};

class RunTest : public ::testing::TestWithParam<RunCase> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam().world;
    options.seed = 7;
    options.dispatch = GetParam().dispatch;
    options.host_work_ns = GetParam().host_work_ns;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(
    Worlds, RunTest,
    ::testing::Values(RunCase{"Sim", ClusterOptions::kSim,
                              ClusterOptions::kParallel, 0},
                      RunCase{"Threads", ClusterOptions::kThreads,
                              ClusterOptions::kParallel, 0},
                      RunCase{"SimSequential", ClusterOptions::kSim,
                              ClusterOptions::kSequential, 0},
                      RunCase{"ThreadsSequential", ClusterOptions::kThreads,
                              ClusterOptions::kSequential, 0},
                      RunCase{"SimSequentialSlow", ClusterOptions::kSim,
                              ClusterOptions::kSequential, 100'000},
                      RunCase{"SimParallelSlow", ClusterOptions::kSim,
                              ClusterOptions::kParallel, 100'000},
                      RunCase{"ThreadsParallelSlow", ClusterOptions::kThreads,
                              ClusterOptions::kParallel, 1'000}),
    [](const auto& info) { return info.param.name; });

TEST_P(RunTest, GoldenOnEveryTopology) {
  struct {
    const char* topology;
    std::vector<std::pair<uint32_t, int64_t>> where;
  } const cases[] = {
      {"1x1x8", {{0, 0}, {0, 2}, {0, 4}}}, {"1x1x2", {{0, 0}, {0, 0}, {0, 0}}},
      {"2x1x4", {{0, 0}, {1, 0}, {1, 2}}}, {"3x2x1", {{0, 0}, {1, 0}, {2, 0}}},
      {"1x6x1", {{0, 4}, {0, 2}, {0, 0}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.topology);
    auto runtime = Start(c.topology, Options());
    const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(c.where));
    for (int64_t steps : {1, 5}) {
      const RunHandle run =
          LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, steps);
      EXPECT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
      EXPECT_THAT(FetchValues(*runtime, run, "y"), ElementsAre(3, 5));
      EXPECT_THAT(FetchValues(*runtime, run, "z"), ElementsAre(2, 4));
      EXPECT_TRUE(runtime->ReleaseRun(run).ok());
    }
    EXPECT_TRUE(runtime->Unload(program).ok());
    for (const auto& device : StatsOf(*runtime).devices) {
      EXPECT_EQ(device.used_bytes, 0u) << device.name;
    }
    for (const auto& host : StatsOf(*runtime).hosts) {
      EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
      EXPECT_EQ(host.action_shards, 0u);
    }
    EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
    EXPECT_EQ(StatsOf(*runtime).programs, 0u);
  }
}

// Any layout to any other between slices of different size and place.
TEST_P(RunTest, UnevenMovesKeepValues) {
  auto runtime = Start("2x2x2", Options());
  const std::vector<std::vector<std::vector<std::string>>> cuts = {
      {{}, {}},       {{"x"}, {}},      {{}, {"x"}},
      {{"x"}, {"y"}}, {{"y", "x"}, {}}, {{}, {"x", "y"}}};
  for (const auto& from : cuts) {
    for (const auto& to : cuts) {
      const ProgramHandle program = LoadPlan(
          *runtime,
          ChainBuilder({.name = "move",
                        .slice = {.mesh = {{"x", 2}, {"y", 2}}},
                        .layout = Split({5, 7}, from)})
              .Feed("u", /*stepped=*/true)
              .Move("m0",
                    {.mesh = {{"x", 3}, {"y", 1}}, .island = 1, .base = 1},
                    Split({5, 7}, to))
              .MoveTo("m1", 0)
              .Fetch("w", /*stepped=*/true)
              .Finish());
      const std::vector<float> values = Ramp(4 * 35);
      const RunHandle run =
          LaunchPlan(*runtime, program, {Floats({4, 5, 7}, values)}, 4);
      EXPECT_THAT(FetchValues(*runtime, run, "w"), ElementsAreArray(values));
      EXPECT_TRUE(runtime->ReleaseRun(run).ok());
      EXPECT_TRUE(runtime->Unload(program).ok());
    }
  }
}

// A slice of four over two hosts, or all on one device.
struct CollectiveCase {
  proto::CollectiveKind kind;
  std::vector<int64_t> source, result;  // of a shard
  std::vector<float> expected;          // of all shards, in order
};

TEST_P(RunTest, Collectives) {
  // Shard r holds 4r+1 .. 4r+4.
  const CollectiveCase cases[] = {
      {proto::ALL_REDUCE,
       {4},
       {4},
       {28, 32, 36, 40, 28, 32, 36, 40, 28, 32, 36, 40, 28, 32, 36, 40}},
      {proto::ALL_GATHER, {4}, {16}, {}},
      {proto::REDUCE_SCATTER, {4}, {1}, {28, 32, 36, 40}},
      {proto::ALL_TO_ALL,
       {4},
       {4},
       {1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16}},
      {proto::PERMUTE,
       {4},
       {4},
       {13, 14, 15, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
  };
  for (const char* topology : {"1x1x1", "1x1x4", "1x2x2", "1x4x1"}) {
    auto runtime = Start(topology, Options());
    for (const CollectiveCase& c : cases) {
      SCOPED_TRACE(absl::StrCat(topology, " ", CollectiveKindName(c.kind)));
      const auto devices =
          static_cast<int64_t>(StatsOf(*runtime).devices.size());
      ChainBuilder b({.name = "collective",
                      .slice = {.shards = 4, .span = devices},
                      .layout = Rows({4 * c.source[0]})});
      b.Feed("u", /*stepped=*/true)
          .Gang("g", {.layout = Rows({4 * c.result[0]})});
      proto::Collective* collective =
          AddCollective(b, b.last_action(), c.kind, "x");
      collective->set_shift(1);
      collective->set_wrap(true);
      const ProgramHandle program =
          LoadPlan(*runtime, b.Fetch("v", /*stepped=*/true).Finish());
      std::vector<float> expected = c.expected;
      if (c.kind == proto::ALL_GATHER) {
        for (int r = 0; r < 4; ++r) {
          for (float v : Ramp(16)) expected.push_back(v);
        }
      }
      // The second step holds the first one's values times 1.
      std::vector<float> values = Ramp(16);
      for (int i = 0; i < 2; ++i) {
        for (float v : Ramp(16)) values.push_back(v);
      }
      const RunHandle run =
          LaunchPlan(*runtime, program, {Floats({3, 16}, values)}, 3);
      std::vector<float> three;
      for (int i = 0; i < 3; ++i) {
        three.insert(three.end(), expected.begin(), expected.end());
      }
      EXPECT_THAT(FetchValues(*runtime, run, "v"), ElementsAreArray(three));
      EXPECT_TRUE(runtime->Unload(program).ok());
    }
  }
}

// state' = state + x, the sum over all steps; several launches in flight.
proto::Plan CounterPlan(uint32_t window) {
  return ChainBuilder({.name = "counter", .steps_in_flight = window})
      .Feed("state")
      .Feed("x", /*stepped=*/true)
      .Run("add", "add1")
      .Fetch("next")
      .Fetch("all", /*stepped=*/true)
      .CarryResult()
      .Finish();
}

TEST_P(RunTest, CarriedAndSteppedWithManyLaunches) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, CounterPlan(3));
  std::vector<RunHandle> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(LaunchPlan(
        *runtime, program,
        {Floats({2}, {float(i), float(10 * i)}), Floats({4, 2}, Ramp(8))}, 4));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(FetchValues(*runtime, runs[i], "next"),
                ElementsAre(16 + i, 20 + 10 * i));
    EXPECT_THAT(FetchValues(*runtime, runs[i], "all"),
                ElementsAre(1 + i, 2 + 10 * i, 4 + i, 6 + 10 * i, 9 + i,
                            12 + 10 * i, 16 + i, 20 + 10 * i));
  }
  EXPECT_EQ(StatsOf(*runtime).steps_done, 80u);
}

// check(x) on two shards of two hosts; its result is summed up over steps.
proto::Plan FailingPlan() {
  PlanBuilder b("failing", 2);
  const uint32_t s = b.AddSlice("s", {{"x", 2}}, 0);
  const uint32_t t = b.AddSlice("t", {{"x", 2}}, 0);
  const layout::Layout rows = Rows({2});
  const uint32_t state = b.AddBuffer("state", s, rows, 2);
  const uint32_t x = b.AddBuffer("x", s, rows, 2);
  const uint32_t checked = b.AddBuffer("checked", s, rows, 2);
  const uint32_t next = b.AddBuffer("next", s, rows, 2);
  const uint32_t moved = b.AddBuffer("moved", t, Whole({2}), 2);
  const uint32_t feed = b.AddFeed("state", state);
  b.AddFeed("x", x, /*stepped=*/true);
  AddRun(b, b.AddGang("check", s, {x}, {checked}), "check1");
  AddRun(b, b.AddGang("add", s, {state, checked}, {next}), "add1");
  b.AddMove("m", checked, moved);
  const uint32_t fetch = b.AddFetch("next", next);
  b.AddFetch("x", x);
  b.AddFetch("moved", moved, /*stepped=*/true);
  b.Carry(feed, fetch);
  return b.Finish();
}

TEST_P(RunTest, FirstCauseIsReportedAndNextLaunchIsClean) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, FailingPlan());
  // Step 1 fails on shard 1, step 2 on shard 0.
  const RunHandle bad = LaunchPlan(
      *runtime, program,
      {Floats({2}, {0, 0}), Floats({4, 2}, {1, 2, 3, -4, -5, 6, 7, 8})}, 4);
  const RunHandle good =
      LaunchPlan(*runtime, program,
                 {Floats({2}, {100, 200}), Floats({2, 2}, {1, 2, 3, 4})}, 2);
  const absl::Status status = runtime->Await(bad);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "model.mlir:7:3: 'check' of program 'failing' failed at step 1 on "
            "shard 1 (island0/host1/device0): expected no negative element "
            "[PW6106]");
  EXPECT_EQ(runtime->Fetch(bad, "next").status(), status);
  EXPECT_EQ(runtime->Fetch(bad, "moved").status(), status);
  // Results that do not depend on the failure are still there.
  EXPECT_THAT(FetchValues(*runtime, bad, "x"), ElementsAre(7, 8));
  // Nothing leaks into the next launch.
  EXPECT_TRUE(runtime->Await(good).ok()) << runtime->Await(good);
  EXPECT_THAT(FetchValues(*runtime, good, "next"), ElementsAre(104, 206));
}

TEST_P(RunTest, CollectiveCarriesPoison) {
  for (const char* topology : {"1x1x1", "1x1x2", "1x2x1"}) {
    auto runtime = Start(topology, Options());
    const auto devices = static_cast<int64_t>(StatsOf(*runtime).devices.size());
    const ProgramHandle program = LoadPlan(
        *runtime,
        ChainBuilder(
            {.name = "poison", .slice = {.span = devices}, .credits = 1})
            .Feed("u")
            .Run("check", "check1")
            .Collective("sum", proto::ALL_REDUCE)
            .Fetch("v")
            .Finish());
    const RunHandle bad =
        LaunchPlan(*runtime, program, {Floats({2}, {1, -1})}, 3);
    EXPECT_THAT(std::string(runtime->Fetch(bad, 0).status().message()),
                HasSubstr("failed at step 0 on shard 1"));
    const RunHandle good =
        LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 3);
    EXPECT_THAT(FetchValues(*runtime, good, "v"), ElementsAre(3, 3));
  }
}

// Devices with members in several groups, which fail on different hosts: nobody
// waits for a group's end before it has done its part in the others.
TEST_P(RunTest, GroupsThatFailOnDifferentHostsEnd) {
  for (int64_t floats : {1, 8192}) {
    TestKernels kernels;
    kernels.functions = {{"check", floats == 1 ? Check<1> : Check<8192>}};
    ClusterOptions options = Options();
    options.kernels = &kernels;
    auto runtime = Start("1x2x1", options);
    const ProgramHandle program = LoadPlan(
        *runtime, ChainBuilder({.name = "poison",
                                .slice = {.mesh = {{"x", 2}, {"y", 4}},
                                          .devices = {0, 0, 0, 1, 1, 1, 1, 0}},
                                .layout = Split({8 * floats}, {{"x", "y"}}),
                                .credits = 1})
                      .Feed("u")
                      .Run("check", "check")
                      .Collective("sum", proto::ALL_REDUCE)
                      .Fetch("v")
                      .Finish());
    for (std::vector<int> failing :
         std::vector<std::vector<int>>{{0, 5}, {4, 1}, {0, 5, 6}, {}, {2, 7}}) {
      std::vector<float> values(8 * floats, 1);
      for (int shard : failing) values[shard * floats] = -1;
      const RunHandle run =
          LaunchPlan(*runtime, program, {Floats({8 * floats}, values)}, 2);
      const absl::Status status = runtime->Await(run);
      if (!failing.empty()) {
        EXPECT_THAT(std::string(status.message()),
                    HasSubstr(absl::StrCat(
                        "failed at step 0 on shard ",
                        *std::min_element(failing.begin(), failing.end()))));
        continue;
      }
      EXPECT_THAT(FetchValues(*runtime, run, "v"),
                  ::testing::Each(::testing::Eq(2)));
    }
  }
}

// One group has many members on the first host, the other group on the second
// host.
TEST_P(RunTest, GroupsThatAreLargeOnDifferentHostsEnd) {
  auto runtime = Start("1x2x1", Options());
  constexpr int64_t kFloats = 4096;
  const ProgramHandle program = LoadPlan(
      *runtime, AllReducePlan({.name = "mixed",
                               .slice = {.mesh = {{"x", 3}, {"y", 2}},
                                         .devices = {0, 0, 0, 1, 1, 1}},
                               .layout = Split({6 * kFloats}, {{"x", "y"}}),
                               .credits = 1}));
  const RunHandle run =
      LaunchPlan(*runtime, program,
                 {Floats({6 * kFloats}, std::vector<float>(6 * kFloats, 1))});
  EXPECT_THAT(FetchValues(*runtime, run, "v"),
              ::testing::Each(::testing::Eq(3)));
}

TEST_P(RunTest, ArraysAreHeldCountedAndReleased) {
  auto runtime = Start("1x2x1", Options());
  const std::unique_ptr<Client> bob = runtime.Connect("bob");
  const ProgramHandle program = LoadPlan(*runtime, CounterPlan(2));
  absl::StatusOr<ArrayHandle> x = runtime->Put(Floats({2, 2}, {1, 2, 3, 4}));
  absl::StatusOr<ArrayHandle> bobs = bob->Put(Floats({1}, {1}));
  ASSERT_TRUE(x.ok() && bobs.ok());
  absl::StatusOr<RunHandle> run =
      runtime->Launch(program, {Floats({2}, {0, 0}), *x}, 2);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(runtime->Release(*x).ok());  // the run still has it
  EXPECT_EQ(runtime->Get(*x).status().code(), absl::StatusCode::kNotFound);
  absl::StatusOr<ArrayHandle> kept = runtime->Keep(*run, 0);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_THAT(Values(*runtime->Get(*kept)), ElementsAre(4, 6));
  runtime.Reconnect();
  EXPECT_EQ(StatsOf(*bob).object_bytes, 4u);  // its own
  EXPECT_EQ(StatsOf(*bob).programs, 0u);
  EXPECT_TRUE(bob->Release(*bobs).ok());
  EXPECT_EQ(StatsOf(*bob).object_bytes, 0u);
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
}

TEST_P(RunTest, MemoryIsAdmittedAtomically) {
  proto::Cluster cluster = MakeCluster("1x1x2");
  for (auto& device :
       *cluster.mutable_islands(0)->mutable_hosts(0)->mutable_devices()) {
    device.set_memory_bytes(4096);
  }
  ClusterOptions options = Options();
  options.kernels = &Kernels();
  options.workers = 2;
  auto runtime = StartOn(cluster, options);
  auto plan = [](const char* name, int64_t elements) {
    return IdentityPlan({.name = name,
                         .steps_in_flight = 1,
                         .layout = Rows({elements}),
                         .credits = 1});
  };
  absl::StatusOr<ProgramHandle> large =
      runtime->Load(MakePlanData(plan("large", 4096), {}));
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      large.status().message(),
      "program 'large' needs 8192 bytes on island0/host0/device0 "
      "(largest buffers: 'u' 8192), where 0 of 4096 bytes are used [PW3101]");
  const std::unique_ptr<Client> ann = runtime.Connect("ann");
  const ProgramHandle first = LoadPlan(*ann, plan("first", 1280));
  absl::StatusOr<ProgramHandle> second =
      runtime->Load(MakePlanData(plan("second", 1280), {}), {.wait_ns = 0});
  EXPECT_EQ(second.status().message(),
            "program 'second' needs 2560 bytes on island0/host0/device0 "
            "(largest buffers: 'u' 2560), where 2560 of 4096 bytes are used; "
            "held by program 'first' of client 'ann' (2560) [PW3101]");
  EXPECT_TRUE(ann->Unload(first).ok());
  LoadPlan(*runtime, plan("second", 1280));
}

TEST_P(RunTest, PlansThatDoNotFitTheClusterAreRefused) {
  auto runtime = Start("1x1x2", Options());
  auto error = [&](proto::Plan plan) {
    absl::StatusOr<ProgramHandle> p =
        runtime->Load(MakePlanData(std::move(plan), {}));
    return std::string(p.status().message());
  };
  EXPECT_EQ(error(GoldenPlan({{0, 0}, {1, 0}, {0, 0}})),
            "slice 's1' is bound to island 1, but the cluster has 1 islands");
  EXPECT_EQ(error(GoldenPlan({{0, 0}, {0, 1}, {0, 0}})),
            "slice 's1' puts shard 1 on device 2 of island0, which has 2 "
            "devices");
  proto::Plan gpu = GoldenPlan({{0, 0}, {0, 0}, {0, 0}});
  gpu.mutable_slices(2)->set_kind("gpu");
  EXPECT_EQ(error(gpu),
            "slice 's2' asks for devices of kind 'gpu', but "
            "island0/host0/device0 is of kind 'cpu'");
  proto::Plan unknown = GoldenPlan({{0, 0}, {0, 0}, {0, 0}});
  unknown.mutable_kernels(0)->set_name("mystery");
  EXPECT_EQ(error(unknown), "device island0/host0/device0: no kernel mystery");
}

TEST_P(RunTest, PlansWithNothingToDo) {
  auto runtime = Start("1x2x1", Options());
  PlanBuilder nothing("nothing", 1);
  PlanBuilder unused("unused", 1);
  unused.AddSlice("s", {{"x", 2}}, 0);
  for (PlanBuilder* b : {&nothing, &unused}) {
    const ProgramHandle program = LoadPlan(*runtime, b->Finish());
    const RunHandle run = LaunchPlan(*runtime, program, {}, 3);
    EXPECT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
    EXPECT_TRUE(runtime->Unload(program).ok());
  }
}

TEST_P(RunTest, TablesLargerThanHostMemoryAreRefused) {
  proto::Cluster cluster = MakeCluster("1x1x1");
  cluster.mutable_islands(0)->mutable_hosts(0)->set_memory_bytes(1 << 20);
  ClusterOptions options = Options();
  options.kernels = &Kernels();
  auto runtime = StartOn(cluster, options);
  absl::StatusOr<ProgramHandle> program = runtime->Load(MakePlanData(
      IdentityPlan({.name = "wide", .slice = {.shards = 1 << 16, .span = 1}}),
      {}));
  EXPECT_EQ(program.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("the tables of program 'wide' need "));
  EXPECT_EQ(StatsOf(*runtime).devices[0].used_bytes, 0u);
  EXPECT_EQ(StatsOf(*runtime).programs, 0u);
}

TEST_P(RunTest, ManyClientsAtOnce) {
  auto runtime = Start("2x2x2", Options());
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      const std::string name = absl::StrCat("tenant", c);
      for (int round = 0; round < 3; ++round) {
        const std::unique_ptr<Client> client = runtime.Connect(name);
        const ProgramHandle program =
            LoadPlan(*client, GoldenPlan({{0, 0}, {0, 2}, {1, 0}}));
        for (int i = 0; i < 5; ++i) {
          const RunHandle run =
              LaunchPlan(*client, program, {Floats({2}, {float(c), 2})}, 4);
          EXPECT_THAT(FetchValues(*client, run, "y"),
                      ElementsAre(2 * c + 1, 5));
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (int c = 0; c < 4; ++c) runtime.Connect(absl::StrCat("tenant", c));
  EXPECT_EQ(StatsOf(*runtime).programs, 0u);
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
}

TEST_P(RunTest, ShutdownWakesThoseWhoWait) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, CounterPlan(2));
  std::vector<float> x(2 * 300000, 1);
  const RunHandle run = LaunchPlan(
      *runtime, program, {Floats({2}, {0, 0}), Floats({300000, 2}, x)}, 300000);
  absl::Status status;
  std::atomic<bool> waiting{false};
  std::thread client([&] {
    waiting = true;
    status = runtime->Await(run);
  });
  while (!waiting) std::this_thread::yield();
  // Either it had ended, or it was cut off; it never hangs.
  runtime.Shutdown();
  client.join();
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled)
      << status;
  EXPECT_EQ(runtime->Load(MakePlanData(CounterPlan(2), {})).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_P(RunTest, ShutdownInTheMiddleOfWork) {
  for (int i = 0; i < 5; ++i) {
    auto runtime = Start("1x2x1", Options());
    const ProgramHandle program = LoadPlan(*runtime, CounterPlan(2));
    std::vector<float> x(2 * 100000, 1);
    LaunchPlan(*runtime, program, {Floats({2}, {0, 0}), Floats({100000, 2}, x)},
               100000);
    runtime.reset();
  }
}

}  // namespace
}  // namespace pathways::testing
