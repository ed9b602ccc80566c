//===- client_launches_test.cc - Launches of a client ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/client/client.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

class ClientLaunchesTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  TestCluster Make(const std::string& topology) {
    ClusterOptions options;
    options.world = GetParam();
    return Start(topology, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ClientLaunchesTest, BothWorlds(), WorldName);

// v = u + 1 on one device.
proto::Plan AddPlan(const std::string& name, int64_t device) {
  return KernelPlan({.name = name, .slice = {.shards = 1, .base = device}},
                    "add_one1");
}

// y = u + x on two hosts, for each x.
proto::Plan SumPlan() {
  return ChainBuilder({.name = "sum"})
      .Feed("u")
      .Feed("x", /*stepped=*/true)
      .Run("add", "add1")
      .Fetch("y")
      .Fetch("all", /*stepped=*/true)
      .Finish();
}

TEST_P(ClientLaunchesTest, ErrorsNameBothSides) {
  auto runtime = Make("1x2x1");
  const ProgramHandle program = LoadPlan(*runtime, SumPlan());
  auto error = [&](LaunchArguments arguments, int64_t steps) {
    return std::string(runtime->Launch(program, std::move(arguments), steps)
                           .status()
                           .message());
  };
  EXPECT_EQ(error({}, 1), "program 'sum' takes 2 arguments, got 0");
  EXPECT_EQ(error({Floats({2}, {1, 2}), Floats({2}, {1, 2})}, 1),
            "argument 'x' of program 'sum' is 2xf32, expected 1x2xf32 (one "
            "index per step) [PW5103]");
  HostArray wrong = Floats({2}, {1, 2});
  wrong.element = ElementType::kI32;
  EXPECT_EQ(error({wrong, Floats({1, 2}, {1, 2})}, 1),
            "argument 'u' of program 'sum' is 2xi32, expected 2xf32 [PW5103]");
  EXPECT_EQ(error({Floats({2}, {1}), Floats({1, 2}, {1, 2})}, 1),
            "argument 'u' of program 'sum' has 4 bytes, expected 8");
  EXPECT_EQ(error({}, 0),
            "program 'sum' was launched for 0 steps, expected 1 to "
            "1099511627776");
  const uint64_t owner = program.owner;
  EXPECT_EQ(error({ArrayHandle{99, owner}, Floats({1, 2}, {1, 2})}, 1),
            "argument 'u': array 99 does not exist or was released [PW6101]");
  EXPECT_EQ(runtime->Launch({77, owner}, {}).status().message(),
            "program 77 is not loaded [PW6102]");
  EXPECT_EQ(runtime->Unload({77, owner}).message(),
            "program 77 is not loaded [PW6102]");
  EXPECT_EQ(runtime->Await({77, owner}).message(),
            "run 77 does not exist or was released [PW6101]");
  const RunHandle run = LaunchPlan(
      *runtime, program, {Floats({2}, {1, 2}), Floats({1, 2}, {1, 2})});
  EXPECT_TRUE(runtime->Await(run).ok());
  EXPECT_EQ(runtime->Fetch(run, "nix").status().message(),
            "program 'sum' has no result 'nix'; it has 'y', 'all' [PW6108]");
  EXPECT_EQ(runtime->Fetch(run, 2).status().message(),
            "program 'sum' has 2 results, but result 2 is asked for [PW6108]");
}

// Nothing of it goes to the hosts, and arrays that it would have brought there
// are as they were.
TEST_P(ClientLaunchesTest, OneThatIsRefusedLeavesItsArguments) {
  auto runtime = Make("1x2x1");
  const ProgramHandle program = LoadPlan(*runtime, SumPlan());
  const ArrayHandle u = *runtime->Put(Floats({2}, {1, 2}));
  const ArrayHandle gone = *runtime->Put(Floats({2, 2}, {0, 0, 0, 0}));
  EXPECT_TRUE(runtime->Release(gone).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        runtime->Launch(program, {u, gone}, 2).status(),
        absl::NotFoundError(
            "argument 'x': array 2 does not exist or was released [PW6101]"));
  }
  for (const auto& host : StatsOf(*runtime).hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
  const absl::StatusOr<RunHandle> run =
      runtime->Launch(program, {u, Floats({2, 2}, {1, 2, 3, 4})}, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(FetchValues(*runtime, *run, "all"), ElementsAre(2, 4, 4, 6));
}

// With as many open as may be but for one, which others take in turn.
TEST_P(ClientLaunchesTest, WhatDoesNotEndLeavesRoomToWhatEnds) {
  auto runtime = Make("1x1x2");
  const ProgramHandle endless = LoadPlan(*runtime, AddPlan("endless", 0));
  const ProgramHandle brief = LoadPlan(*runtime, AddPlan("brief", 1));
  const ArrayHandle one = *runtime->Put(Floats({1}, {1}));
  std::vector<RunHandle> runs;
  for (size_t i = 0; i + 1 < kMaxLaunches; ++i) {
    runs.push_back(*runtime->Launch(endless, {one}, int64_t{1} << 40));
  }
  ArrayHandle last = *runtime->Put(Floats({1}, {0}));
  for (int i = 0; i < 5; ++i) {
    const absl::StatusOr<RunHandle> run = runtime->Launch(brief, {last});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(runtime->Release(last).ok());
    last = *runtime->Keep(*run, 0);
  }
  EXPECT_THAT(Values(*runtime->Get(last)), ElementsAre(5));
  for (RunHandle run : runs) EXPECT_FALSE(*runtime->IsReady(run));
  // A caller that finds no room is notified when there will be none.
  EXPECT_TRUE(runtime->Launch(endless, {one}).ok());
  runtime->Close();
  EXPECT_EQ(runtime->Launch(endless, {one}).status(),
            absl::CancelledError("client 'client0' was closed [PW6105]"));
}

}  // namespace
}  // namespace pathways::testing
