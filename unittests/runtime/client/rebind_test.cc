//===- rebind_test.cc - Programs go to other devices ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <thread>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RebindTest : public InWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, RebindTest, BothWorlds(), WorldName);

// u in, 2u out, where the next step finds it.
proto::Plan DoublePlan(const std::string& name, int64_t shards,
                       int64_t base = 0) {
  return KernelPlan({.name = name, .slice = {.shards = shards, .base = base}},
                    "twice1");
}

// Bytes of programs, by device.
std::vector<uint64_t> BytesOn(Client& client) {
  std::vector<uint64_t> bytes;
  for (const auto& device : StatsOf(client).devices) {
    bytes.push_back(device.used_bytes);
  }
  return bytes;
}

TEST_P(RebindTest, GoesAndComesBack) {
  auto runtime = Start("1x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p", 2));
  auto run = [&](float value) {
    return FetchValues(
        *runtime,
        LaunchPlan(*runtime, program, {Floats({2}, {value, value + 1})}), "v");
  };
  EXPECT_THAT(run(1), ElementsAre(2, 4));
  const std::vector<uint64_t> before = BytesOn(*runtime);
  ASSERT_GT(before[0], 0u);
  ASSERT_EQ(before[2], 0u);

  ASSERT_TRUE(runtime->Rebind(program, {.avoid = {"host0"}}).ok());
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(0, 0, before[0], before[1]));
  EXPECT_THAT(run(2), ElementsAre(4, 6));
  // Where it is already.
  ASSERT_TRUE(runtime->Rebind(program, {.avoid = {"host0"}}).ok());

  const absl::Status few =
      runtime->Rebind(program, {.avoid = {"host0", "island0/host1/device1"}});
  EXPECT_EQ(few.code(), absl::StatusCode::kResourceExhausted) << few;
  EXPECT_THAT(std::string(few.message()),
              HasSubstr("program 'p' is on 2 devices of island0, 2 of which "
                        "must be avoided"));
  EXPECT_THAT(run(3), ElementsAre(6, 8));
  ASSERT_TRUE(
      runtime
          ->Rebind(program, {.avoid = {"host0", "island0/host1/device1"},
                             .oversubscribe = true})
          .ok());
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(0, 0, 2 * before[0], 0));
  EXPECT_THAT(run(4), ElementsAre(8, 10));

  ASSERT_TRUE(runtime->Rebind(program).ok());
  EXPECT_EQ(BytesOn(*runtime), before);
  EXPECT_THAT(run(5), ElementsAre(10, 12));
  ASSERT_TRUE(runtime->Unload(program).ok());
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(0, 0, 0, 0));
  const absl::Status gone = runtime->Rebind(program);
  EXPECT_EQ(gone.code(), absl::StatusCode::kFailedPrecondition) << gone;
}

TEST_P(RebindTest, LaunchesBeforeAndArraysAreTakenAlong) {
  auto runtime = Start("1x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p", 2));
  auto array = runtime->Put(Floats({2}, {1, 3}));
  ASSERT_TRUE(array.ok());
  std::vector<RunHandle> runs;
  for (int i = 0; i < 12; ++i) {
    auto run = runtime->Launch(program, {*array});
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*run);
    auto next = runtime->Keep(*run, 0);
    ASSERT_TRUE(next.ok()) << next.status();
    array = *next;
    if (i % 4 != 3) continue;
    // Launches may be under way.
    const absl::Status moved =
        runtime->Rebind(program, {.avoid = {i % 8 == 3 ? "host0" : "host1"}});
    ASSERT_TRUE(moved.ok()) << moved;
  }
  auto last = runtime->Get(*array);
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_THAT(Values(*last), ElementsAre(4096, 3 * 4096));
  for (RunHandle run : runs) EXPECT_TRUE(runtime->Await(run).ok());
}

TEST_P(RebindTest, WithoutMemoryForBothTheOldOneGoesFirst) {
  proto::Cluster cluster = MakeCluster("1x1x2");
  for (proto::Device& device :
       *cluster.mutable_islands(0)->mutable_hosts(0)->mutable_devices()) {
    device.set_memory_bytes(1024);
  }
  auto runtime = StartOn(cluster, Options());
  auto pass = [](int64_t columns) {
    return IdentityPlan(
        {.steps_in_flight = 1, .layout = Rows({2, columns}), .credits = 1});
  };
  auto passes = [&](ProgramHandle program, int64_t columns) {
    std::vector<float> values;
    for (int64_t i = 0; i < 2 * columns; ++i) values.push_back(float(i));
    EXPECT_EQ(
        FetchValues(
            *runtime,
            LaunchPlan(*runtime, program, {Floats({2, columns}, values)}), "u"),
        values);
  };
  const RebindOptions to_one = {.avoid = {"island0/host0/device0"},
                                .oversubscribe = true};
  const ProgramHandle program = LoadPlan(*runtime, pass(80));
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(384, 384));
  absl::Status moved = runtime->Rebind(program, to_one);
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(0, 768));
  passes(program, 80);
  moved = runtime->Rebind(program);
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(384, 384));
  passes(program, 80);
  ASSERT_TRUE(runtime->Unload(program).ok());

  // One device has no room for both shards: it stays where it was.
  const ProgramHandle large = LoadPlan(*runtime, pass(160));
  moved = runtime->Rebind(large, to_one);
  EXPECT_EQ(moved.code(), absl::StatusCode::kResourceExhausted) << moved;
  EXPECT_THAT(std::string(moved.message()),
              HasSubstr("needs 1280 bytes on island0/host0/device1"));
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(640, 640));
  passes(large, 160);
}

TEST_P(RebindTest, RefusesWhatIsNotThere) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p", 1));
  const absl::Status unknown = runtime->Rebind(program, {.avoid = {"host7"}});
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()),
              HasSubstr("there is no island, host or device 'host7'"));
  auto other = runtime.Connect("other");
  EXPECT_EQ(other->Rebind(program).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runtime->Rebind({}).code(), absl::StatusCode::kInvalidArgument);
}

// A host ends at any time, and the program goes on without it.
TEST(RebindLossTest, GoesOnWithoutALostHost) {
  int lost_loads = 0, lost_runs = 0;
  for (uint64_t control = 0; control < 80; ++control) {
    SCOPED_TRACE(control);
    ClusterOptions options = Sim(control);
    options.host_stops = {
        {.host = 1, .control = control, .tell_after = 1'000'000}};
    auto runtime = Start("1x2x2", options);
    absl::StatusOr<ProgramHandle> program =
        runtime->Load(MakePlanData(DoublePlan("p", 2, /*base=*/2), {}));
    if (!program.ok()) {
      ++lost_loads;
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      auto run = runtime->Launch(*program, {Floats({2}, {1, 2})});
      lost_runs += run.ok() && !runtime->Await(*run).ok();
    }
    const absl::Status moved = runtime->Rebind(*program, {.avoid = {"host1"}});
    ASSERT_TRUE(moved.ok()) << moved;
    EXPECT_THAT(
        FetchValues(*runtime,
                    LaunchPlan(*runtime, *program, {Floats({2}, {3, 4})}), "v"),
        ElementsAre(6, 8));
    EXPECT_TRUE(runtime->Unload(*program).ok());
  }
  EXPECT_GT(lost_loads, 0);
  EXPECT_GT(lost_runs, 0);
}

// Many threads launch while the program goes to and fro.
TEST(RebindThreadsTest, LaunchesWaitForIt) {
  auto runtime = Start("1x2x2", ClusterOptions());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p", 2));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const float v = float(t * 100 + i);
        auto run = runtime->Launch(program, {Floats({2}, {v, -v})});
        auto result = run.ok() ? runtime->Fetch(*run, "v")
                               : absl::StatusOr<HostArray>(run.status());
        EXPECT_TRUE(result.ok()) << result.status();
        if (!result.ok()) continue;
        EXPECT_THAT(Values(*result), ElementsAre(2 * v, -2 * v));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const absl::Status moved =
        runtime->Rebind(program, {.avoid = {i % 2 == 0 ? "host0" : "host1"}});
    EXPECT_TRUE(moved.ok()) << moved;
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pathways::testing
