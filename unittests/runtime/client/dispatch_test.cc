//===- dispatch_test.cc - Dispatch of the actions of a step to hosts ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests when hosts prepare actions, and what can fail meanwhile. run_test
// checks that both kinds of dispatch compute the same values.
//
//===----------------------------------------------------------------------===//

#include <atomic>

#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/program/local_kind.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::Le;

constexpr TimeNs kWorkNs = 1'000'000;
constexpr TimeNs kGangNs = 10'000;
constexpr TimeNs kLinkNs = 10'000;  // latency between islands
constexpr auto kParallel = ClusterOptions::kParallel;
constexpr auto kSequential = ClusterOptions::kSequential;

// `stages` islands of one device, each adds one to what comes from the one
// before. A stage is three actions: feed or recv, gang, send or fetch.
proto::Plan StagePlan(int stages, uint32_t window) {
  ChainBuilder b({.name = "stages",
                  .steps_in_flight = window,
                  .slice = {.shards = 1},
                  .credits = window});
  b.Feed("v", /*stepped=*/true);
  for (uint32_t i = 0; i < static_cast<uint32_t>(stages); ++i) {
    if (i > 0) b.Move(absl::StrCat("m", i), {.shards = 1, .island = i});
    b.Run(absl::StrCat("g", i), "add_one1", {.cost_ns = kGangNs});
  }
  return b.Fetch("sum", /*stepped=*/true).Finish();
}

ClusterOptions Slow(ClusterOptions::Dispatch dispatch, uint64_t seed = 1,
                    TimeNs work = kWorkNs) {
  ClusterOptions options = Sim(seed);
  options.dispatch = dispatch;
  options.host_work_ns = work;
  return options;
}

// Virtual time of one launch, whose results are checked.
TimeNs StageTime(const ClusterOptions& options, int stages, int64_t steps,
                 uint32_t window = 4) {
  auto runtime = Start(absl::StrCat(stages, "x1x1"), options);
  const ProgramHandle program = LoadPlan(*runtime, StagePlan(stages, window));
  const TimeNs start = StatsOf(*runtime).now_ns;
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({steps, 1}, Ramp(steps))}, steps);
  EXPECT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
  const TimeNs time = StatsOf(*runtime).now_ns - start;
  EXPECT_THAT(FetchValues(*runtime, run, "sum"),
              ElementsAreArray(Ramp(steps, 1 + stages)));
  return time;
}

// Launches with their way there and back, jitter of all links: far less than
// the time of one piece of host work, which everything below is made of.
constexpr TimeNs kSlackNs = kWorkNs / 4;

TEST(DispatchTest, SequentialStepWaitsForEachHostInTurn) {
  for (int stages : {1, 2, 5, 16}) {
    SCOPED_TRACE(stages);
    const TimeNs formula = 3 * stages * kWorkNs + (stages - 1) * kLinkNs;
    EXPECT_THAT(StageTime(Slow(kSequential), stages, 1),
                AllOf(Ge(formula), Le(formula + kSlackNs)));
  }
}

TEST(DispatchTest, ParallelStepWaitsForAllHostsAtOnce) {
  for (int stages : {1, 2, 5, 16}) {
    SCOPED_TRACE(stages);
    // The last action waits for the device too if there is one host.
    const TimeNs formula =
        3 * kWorkNs + (stages - 1) * (kLinkNs + (stages > 1 ? kGangNs : 0));
    EXPECT_THAT(StageTime(Slow(kParallel), stages, 1),
                AllOf(Ge(formula), Le(formula + kSlackNs)));
  }
}

// A host does one thing at a time: each step more takes its time once more,
// with either dispatch, since hosts work on different steps.
TEST(DispatchTest, StepsInFlightShareTheTimeOfHosts) {
  constexpr int kStages = 4, kSteps = 12;
  const TimeNs more = (kSteps - 1) * 3 * kWorkNs;
  EXPECT_THAT(
      StageTime(Slow(kParallel), kStages, kSteps),
      AllOf(Ge(3 * kWorkNs + more), Le(3 * kWorkNs + more + 2 * kSlackNs)));
  for (uint32_t window : {1, 4, 16}) {
    SCOPED_TRACE(window);
    EXPECT_THAT(StageTime(Slow(kSequential), kStages, kSteps, window),
                AllOf(Ge(3 * kStages * kWorkNs + more),
                      Le(3 * kStages * kWorkNs + more + 2 * kSlackNs)));
  }
}

// Nothing of it is there when it costs nothing.
TEST(DispatchTest, ParallelWithoutHostWorkSendsNothingMore) {
  for (ClusterOptions::Dispatch dispatch : {kParallel, kSequential}) {
    auto runtime = Start("4x1x1", Slow(dispatch, 1, 0));
    const ProgramHandle program = LoadPlan(*runtime, StagePlan(4, 2));
    const RunHandle run =
        LaunchPlan(*runtime, program, {Floats({10, 1}, Ramp(10))}, 10);
    EXPECT_TRUE(runtime->Await(run).ok());
    std::map<std::string, uint64_t> sent;
    for (const auto& [kind, count] : StatsOf(*runtime).messages) {
      sent[kind] = count;
    }
    const bool sequential = dispatch == kSequential;
    // Three movements; twelve entries on one host each.
    EXPECT_EQ(sent["enqueued"], sequential ? 30u : 0u);
    EXPECT_EQ(sent["enqueue"], sequential ? 120u : 0u);
    EXPECT_EQ(sent["action-fired"], sequential ? 120u : 0u);
    EXPECT_EQ(sent["host-work-done"], 0u);
  }
}

TEST(DispatchTest, DoubledAndOvertakingMessagesChangeNothing) {
  uint64_t dropped = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ClusterOptions options = Slow(kSequential, seed, seed % 3 * 7'000);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    auto runtime = Start("2x2x2", options);
    dropped += RunGoldenTwice(*runtime);
  }
  EXPECT_GT(dropped, 4000u);
}

// Two programs that share hosts, uneven movements, collectives, control edges,
// carried values, several launches: all end, with faults too.
TEST(DispatchTest, RandomPlansAllEnd) {
  constexpr int64_t kSteps = 5;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ClusterOptions options =
        Slow(seed % 4 == 0 ? kParallel : kSequential, seed, seed % 3 * 500);
    options.run_kernels = false;
    if (seed % 2) options.duplicate_probability = 0.2;
    if (seed % 2) options.reorder_probability = 0.2;
    if (seed % 4 == 0) options.host_work_ns += 100;
    auto runtime = Start(seed % 5 ? "2x2x2" : "2x1x4", options);
    uint64_t expected = 0;
    std::vector<RunHandle> runs;
    for (uint64_t p = 0; p < 2; ++p) {
      const proto::Plan plan = RandomPlan(seed + p);
      for (const proto::Action& action : plan.actions()) {
        expected += NumShards(plan.slices(action.slice()));
      }
      const ProgramHandle program = LoadPlan(*runtime, plan);
      for (int launch = 0; launch < 2; ++launch) {
        std::vector<HostArray> arguments;
        for (const proto::Argument& argument : plan.interface().arguments()) {
          const proto::Layout& layout = plan.layouts(
              plan.buffers(plan.actions(argument.action()).results(0))
                  .layout());
          HostArray array;
          array.element = static_cast<ElementType>(layout.element());
          if (argument.stepped()) array.shape.push_back(kSteps);
          for (int64_t size : layout.shape()) array.shape.push_back(size);
          arguments.push_back(std::move(array));
        }
        runs.push_back(
            LaunchPlan(*runtime, program, std::move(arguments), kSteps));
      }
    }
    for (RunHandle run : runs) {
      ASSERT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
    }
    ASSERT_EQ(StatsOf(*runtime).firings, expected * 2 * kSteps);
  }
}

class DispatchLossTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  // Loses what says that a send of the last firing was enqueued. (Of an earlier
  // firing the next message says it too.)
  ClusterOptions Options(uint64_t firing) {
    ClusterOptions options;
    options.world = GetParam();
    options.stall_timeout_ns = 100'000'000;
    options.dispatch = kSequential;
    options.fault_hook = [=](ActorId, ActorId, const WireMessage& message) {
      return message.kind == kEnqueuedMessage && message.step == firing
                 ? Fault::Drop()
                 : Fault::Deliver();
    };
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, DispatchLossTest, BothWorlds(), WorldName);

TEST_P(DispatchLossTest, LostMessageIsNamedAndOthersGoOn) {
  auto runtime = StartTurned("3x1x1", Options(9));
  const ProgramHandle program = LoadPlan(*runtime, StagePlan(3, 2));
  const ProgramHandle other = LoadPlan(*runtime, StagePlan(3, 2));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({10, 1}, Ramp(10))}, 10);
  const absl::Status status = runtime->Await(run);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(std::string(status.message()),
            "program 'stages' is stalled: 'm1.recv' at step 9, shard 0 on "
            "island1/host1/device0 is not prepared: host0 did not report that "
            "it enqueued 'm1.send' [PW4106]");
  const RunHandle second =
      LaunchPlan(*runtime, other, {Floats({2, 1}, {1, 2})}, 2);
  EXPECT_THAT(FetchValues(*runtime, second, "sum"), ElementsAre(4, 5));
  EXPECT_TRUE(runtime->Unload(program).ok());
  const ProgramHandle again = LoadPlan(*runtime, StagePlan(3, 2));
  const RunHandle third =
      LaunchPlan(*runtime, again, {Floats({2, 1}, {1, 2})}, 2);
  EXPECT_THAT(FetchValues(*runtime, third, "sum"), ElementsAre(4, 5));
}

// A later message says what a lost one did.
TEST_P(DispatchLossTest, LaterMessageMakesUpForALostOne) {
  auto runtime = StartTurned("3x1x1", Options(4));
  const ProgramHandle program = LoadPlan(*runtime, StagePlan(3, 2));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({10, 1}, Ramp(10))}, 10);
  EXPECT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
}

// A failure in the middle of a sequential pipeline poisons what it feeds, and
// that is prepared, passed and freed like anything else.
TEST(DispatchTest, FailuresPassThrough) {
  auto runtime = Start("2x1x1", Slow(kSequential));
  const ProgramHandle program = LoadPlan(
      *runtime, ChainBuilder({.name = "checked", .slice = {.shards = 1}})
                    .Feed("u", /*stepped=*/true)
                    .Run("check", "check1")
                    .Move("m", {.shards = 1, .island = 1})
                    .Run("twice", "twice1")
                    .Fetch("z", /*stepped=*/true)
                    .Finish());
  const RunHandle bad =
      LaunchPlan(*runtime, program, {Floats({3, 1}, {1, -2, 3})}, 3);
  const RunHandle good =
      LaunchPlan(*runtime, program, {Floats({3, 1}, {1, 2, 3})}, 3);
  EXPECT_THAT(
      std::string(runtime->Await(bad).message()),
      ::testing::HasSubstr("'check' of program 'checked' failed at step 1"));
  EXPECT_THAT(FetchValues(*runtime, good, "z"), ElementsAre(2, 4, 6));
  EXPECT_TRUE(runtime->ReleaseRun(bad).ok());
  EXPECT_TRUE(runtime->ReleaseRun(good).ok());
  EXPECT_TRUE(runtime->Unload(program).ok());
  for (const auto& host : StatsOf(*runtime).hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
}

TEST(DispatchTest, WorkOutOfRangeIsRefused) {
  for (TimeNs work : {TimeNs{-1}, TimeNs{3'600'000'000'001}}) {
    ClusterOptions options = Slow(kSequential, 1, work);
    EXPECT_EQ(
        Cluster::Create(MakeCluster("1x1x1"), options).status(),
        absl::InvalidArgumentError(absl::StrCat(
            "the host work is ", work, " ns, expected 0 to 3600000000000")));
  }
}

}  // namespace
}  // namespace pathways::testing
