//===- fault_test.cc - Lost, doubled and overtaking messages --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <atomic>

#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/program/local_kind.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Loses the `number`-th message of a kind.
FaultHook Lose(WireKind kind, int number) {
  auto count = std::make_shared<std::atomic<int>>(0);
  return [=](ActorId, ActorId, const WireMessage& message) {
    if (message.kind != kind || (*count)++ != number) return Fault::Deliver();
    return Fault::Drop();
  };
}

class LossTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options(FaultHook hook) {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 3;
    options.stall_timeout_ns = 100'000'000;
    options.fault_hook = std::move(hook);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, LossTest, BothWorlds(), WorldName);

TEST_P(LossTest, LostPieceIsNamedAndOthersGoOn) {
  // On the golden plan the pieces of step n are: to_b and to_c, two shards
  // each, then to_a. All slices are on different hosts.
  auto runtime = StartTurned("2x2x2", Options(Lose(kPieceMessage, 4 * 6)));
  const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  const ProgramHandle other = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 10);
  const absl::Status status = runtime->Await(run);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(
      std::string(status.message()),
      ::testing::ContainsRegex(
          "program 'golden' is stalled: 'to_[abc].recv' at step [0-9], "
          "shard [01] on island[01]/host[0-2]/device[0-3] waits for the data "
          "edge from 'to_[abc].send' to 'to_[abc].recv': 0 of 1 tokens "
          "arrived"));
  // The other program was behind it, or not: it ends.
  const RunHandle second =
      LaunchPlan(*runtime, other, {Floats({2}, {1, 2})}, 5);
  EXPECT_THAT(FetchValues(*runtime, second, "y"), ElementsAre(3, 5));
  const RunHandle refused =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})});
  EXPECT_EQ(runtime->Await(refused).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(runtime->Unload(program).ok());
  const ProgramHandle again = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  const RunHandle third = LaunchPlan(*runtime, again, {Floats({2}, {1, 2})}, 5);
  EXPECT_THAT(FetchValues(*runtime, third, "z"), ElementsAre(2, 4));
}

TEST_P(LossTest, LostCreditIsNamed) {
  auto runtime = StartTurned("2x2x2", Options(Lose(kTokenMessage, 3)));
  const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 10);
  EXPECT_THAT(std::string(runtime->Await(run).message()),
              ::testing::ContainsRegex("waits for the credit edge from "
                                       "'(a2|b|c)' to 'to_[abc].send': 0 of 1 "
                                       "tokens arrived"));
}

TEST_P(LossTest, LostContributionNamesTheAbsentShards) {
  auto runtime = StartTurned("1x2x2", Options(Lose(kContributionMessage, 5)));
  const ProgramHandle program =
      LoadPlan(*runtime, AllReducePlan({.slice = {.shards = 4}}));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({4}, {1, 2, 3, 4})}, 10);
  EXPECT_THAT(std::string(runtime->Await(run).message()),
              ::testing::ContainsRegex(
                  "'sum' at step 2, shard [0-3] on island0/host[01]/"
                  "device[0-3] waits in the collective of step 0 for shards "
                  "(0 1|2 3) \\[PW4106\\]$"));
}

// With several hosts, the other hosts wait for the one that misses the
// contribution; the error does not name them.
TEST_P(LossTest, WhoeverSentTheLostContributionIsNamed) {
  const proto::Plan plan = AllReducePlan({.slice = {.shards = 14}});
  // Seven hosts: four and two exchange, three hand over and hear the end.
  for (int number = 0; number < 19; ++number) {
    SCOPED_TRACE(number);
    auto sender = std::make_shared<std::atomic<int>>(-1);
    auto count = std::make_shared<std::atomic<int>>(0);
    ClusterOptions options =
        Options([=](ActorId from, ActorId, const WireMessage& message) {
          if (message.kind != kContributionMessage || (*count)++ != number) {
            return Fault::Deliver();
          }
          *sender = static_cast<int>(from);
          return Fault::Drop();
        });
    auto runtime = StartTurned("1x7x2", options);
    const ProgramHandle program = LoadPlan(*runtime, plan);
    const RunHandle run =
        LaunchPlan(*runtime, program, {Floats({14}, Ramp(14))});
    const std::string message(runtime->Await(run).message());
    // Before the executors come the controller and one scheduler.
    const int host = *sender - 2;
    EXPECT_THAT(message, ::testing::EndsWith(absl::StrCat(
                             "waits in the collective of step 0 for shards ",
                             2 * host, " ", 2 * host + 1, " [PW4106]")));
  }
}

TEST_P(LossTest, LostControlEdgeIsNamed) {
  auto runtime = StartTurned("1x2x1", Options(Lose(kBroadcastMessage, 4)));
  ChainBuilder b({.name = "after", .slice = {.shards = 1}});
  b.Feed("u").Run("first", "twice1");
  const uint32_t first = b.last_action();
  b.Fetch("v");
  b.Begin({.shards = 1, .base = 1}).Feed("w").Run("second", "twice1");
  b.AddControl(first, b.last_action());
  const ProgramHandle program = LoadPlan(*runtime, b.Fetch("z").Finish());
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({1}, {1}), Floats({1}, {1})}, 10);
  EXPECT_THAT(std::string(runtime->Await(run).message()),
              ::testing::ContainsRegex(
                  "waits for the (control edge from 'first' to 'second'|credit "
                  "edge from 'second' to 'first'): 0 of 1 tokens arrived"));
}

TEST(FaultTest, DoubledAndOvertakingMessagesChangeNothing) {
  uint64_t dropped = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    auto runtime = Start("2x2x2", options);
    dropped += RunGoldenTwice(*runtime);
  }
  EXPECT_GT(dropped, 1000u);
}

// `first` on one island feeds `second` on another one.
proto::Plan CrossPlan(const std::string& name, uint32_t from, uint32_t to) {
  return ChainBuilder({.name = name, .slice = {.island = from}})
      .Feed("u")
      .Run("first", "twice1")
      .Move("m", {.island = to})
      .Run("second", "twice1")
      .Fetch("z")
      .Finish();
}

// A sum over two devices of the island.
proto::Plan PairPlan(const std::string& name, int64_t one, int64_t two) {
  return AllReducePlan({.name = name, .slice = {.devices = {one, two}}});
}

// Launches programs that share devices in opposite order and returns the first
// error.
absl::Status RunCrossing(Client& runtime, int launches) {
  const ProgramHandle a = LoadPlan(runtime, CrossPlan("there", 0, 1));
  const ProgramHandle b = LoadPlan(runtime, CrossPlan("back", 1, 0));
  std::vector<RunHandle> runs;
  for (int i = 0; i < launches; ++i) {
    runs.push_back(LaunchPlan(runtime, a, {Floats({2}, {1, 2})}, 3));
    runs.push_back(LaunchPlan(runtime, b, {Floats({2}, {3, 4})}, 3));
  }
  absl::Status first;
  for (RunHandle run : runs) first.Update(runtime.Await(run));
  if (first.ok()) {
    EXPECT_THAT(FetchValues(runtime, runs[0], "z"), ElementsAre(4, 8));
    EXPECT_THAT(FetchValues(runtime, runs[1], "z"), ElementsAre(12, 16));
  }
  return first;
}

absl::Status RunCycle(Client& runtime, int launches) {
  const ProgramHandle a = LoadPlan(runtime, PairPlan("a", 0, 1));
  const ProgramHandle b = LoadPlan(runtime, PairPlan("b", 1, 2));
  const ProgramHandle c = LoadPlan(runtime, PairPlan("c", 2, 0));
  std::vector<RunHandle> runs;
  for (int i = 0; i < launches; ++i) {
    for (ProgramHandle p : {a, b, c}) {
      runs.push_back(LaunchPlan(runtime, p, {Floats({2}, {1, 2})}, 3));
    }
  }
  absl::Status first;
  for (RunHandle run : runs) first.Update(runtime.Await(run));
  for (RunHandle run : runs) {
    EXPECT_THAT(FetchValues(runtime, run, "v"), ElementsAre(3, 3));
  }
  return first;
}

TEST(FaultTest, ProgramsThatCrossNeverDeadlock) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.reorder_probability = 0.5;
    EXPECT_TRUE(RunCrossing(*Start("2x2x1", options), 3).ok());
    EXPECT_TRUE(RunCycle(*Start("1x3x1", options), 3).ok());
  }
  EXPECT_TRUE(RunCrossing(*Start("2x2x1"), 100).ok());
  EXPECT_TRUE(RunCycle(*Start("1x3x1"), 100).ok());
}

// Checks that the same programs deadlock without the order of tickets, and that
// the error names the cycle.
TEST(FaultTest, WithoutTicketOrderTheCycleIsNamed) {
  int deadlocks = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ClusterOptions options = Sim(seed);
    options.reorder_probability = 0.5;
    options.ticket_order = false;
    const absl::Status status = RunCrossing(*Start("2x2x1", options), 1);
    if (status.ok()) continue;
    ++deadlocks;
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("programs wait for each other"));
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr("; 'there': 'first' at step 0, shard 0 on "
                  "island0/host0/device0 is behind 'second' of 'back'"));
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr("; 'back': 'first' at step 0, shard 0 on "
                  "island1/host2/device0 is behind 'second' of 'there'"));
  }
  EXPECT_GT(deadlocks, 10);
}

}  // namespace
}  // namespace pathways::testing
