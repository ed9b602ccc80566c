//===- long_work_test.cc - Kernels and host work without an end -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/client/blocking_kernel.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ClusterOptions Threads(int workers, std::shared_ptr<ManualClock> clock,
                       Warnings* warnings) {
  ClusterOptions options;
  options.workers = workers;
  options.kernels = &KernelsThatBlock();
  options.clock = std::move(clock);
  options.stall_timeout_ns = 10 * kSecond;
  options.on_long_work = warnings->Hook();
  return options;
}

// The kernel is on the only worker, with all other actors.
TEST(LongWorkTest, AKernelIsReportedOnce) {
  auto clock = std::make_shared<ManualClock>();
  Warnings warnings;
  BlockedKernels::Hold();
  auto runtime = Start("1x1x2", Threads(1, clock, &warnings));
  const ProgramHandle program = LoadPlan(*runtime, BlockPlan("slow", 0, 1));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({1}, {4})}, 3);
  AwaitState([&] { return BlockedKernels::entered() == 1; });
  clock->Advance(5 * kSecond);
  EXPECT_THAT(warnings.texts(), IsEmpty());
  TurnUntil(*clock, kSecond, [&] { return !warnings.texts().empty(); });
  const std::string text =
      "model.mlir:3:8: 'wait' of program 'slow' has not returned for 10s at "
      "step 0 on shard 0 (island0/host0/device1)";
  EXPECT_THAT(warnings.texts(), ElementsAre(text));
  const LongWork work = warnings.all()[0];
  EXPECT_EQ(work.kind, LongWork::kKernel);
  EXPECT_EQ(work.program, "slow");
  EXPECT_EQ(work.action, "wait");
  EXPECT_EQ(work.location, "model.mlir:3:8");
  EXPECT_EQ(work.place, "island0/host0/device1");
  EXPECT_EQ(work.ns, 10 * kSecond);
  for (int i = 0; i < 100; ++i) clock->Advance(kSecond);
  BlockedKernels::Release();
  // It returned in the end, so the run goes on.
  EXPECT_THAT(FetchValues(*runtime, run, "y"), ElementsAre(8));
  EXPECT_THAT(warnings.texts(), ElementsAre(text));
}

// While a kernel keeps one program's device from answering, another program's
// lost message is found.
TEST(LongWorkTest, OtherStallsAreFoundMeanwhile) {
  auto clock = std::make_shared<ManualClock>();
  Warnings warnings;
  BlockedKernels::Hold();
  ClusterOptions options = Threads(3, clock, &warnings);
  std::atomic<bool> lost{false};
  options.fault_hook = [&](ActorId, ActorId, const WireMessage& message) {
    if (message.kind != kPieceMessage) return Fault::Deliver();
    lost = true;
    return Fault::Drop();
  };
  auto runtime = Start("1x3x1", options);
  const ProgramHandle blocked = LoadPlan(*runtime, BlockPlan("slow", 0, 1));
  const ProgramHandle mover =
      LoadPlan(*runtime, TransferPlan({.name = "mover", .slice = {.shards = 1}},
                                      {.shards = 1, .base = 2}));
  const RunHandle first = LaunchPlan(*runtime, blocked, {Floats({1}, {4})});
  AwaitState([&] { return BlockedKernels::entered() == 1; });
  const RunHandle second = LaunchPlan(*runtime, mover, {Floats({1}, {1})});
  AwaitState([&] { return lost.load(); });
  std::atomic<bool> ended{false};
  std::thread waiter([&] {
    EXPECT_THAT(std::string(runtime->Await(second).message()),
                HasSubstr("program 'mover' is stalled: 'm.recv'"));
    ended = true;
  });
  TurnUntil(*clock, kSecond, [&] { return ended.load(); });
  waiter.join();
  BlockedKernels::Release();
  EXPECT_THAT(FetchValues(*runtime, first, "y"), ElementsAre(8));
}

// A kernel takes the time that the plan says, in virtual time.
TEST(LongWorkTest, AKernelIsReportedInASimulation) {
  Warnings warnings;
  ClusterOptions options = Sim();
  options.stall_timeout_ns = 10 * kSecond;
  options.on_long_work = warnings.Hook();
  auto runtime = Start("2x2x2", options);
  proto::Plan plan = GoldenPlan(kThreeHosts);
  for (proto::Action& action : *plan.mutable_actions()) {
    if (action.name() == "b") action.set_cost_ns(11 * kSecond);
    if (action.name() == "c") action.set_cost_ns(10 * kSecond);
  }
  const ProgramHandle program = LoadPlan(*runtime, std::move(plan));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})});
  EXPECT_THAT(FetchValues(*runtime, run, "y"), ElementsAre(3, 5));
  EXPECT_THAT(warnings.texts(),
              ::testing::UnorderedElementsAre(
                  "'b' of program 'golden' has not returned for 10s at step 0 "
                  "on shard 0 (island0/host1/device0)",
                  "'b' of program 'golden' has not returned for 10s at step 0 "
                  "on shard 1 (island0/host1/device1)"));
}

class HostWorkTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {};
INSTANTIATE_TEST_SUITE_P(Worlds, HostWorkTest, BothWorlds(), WorldName);

TEST_P(HostWorkTest, IsReportedOnce) {
  auto clock = std::make_shared<ManualClock>();
  Warnings warnings;
  BlockedKernels::Release();
  ClusterOptions options = Threads(2, clock, &warnings);
  options.world = GetParam();
  options.host_work_ns = 30 * kSecond;
  auto runtime = Start("1x1x2", options);
  const ProgramHandle program = LoadPlan(*runtime, BlockPlan("slow", 0, 1));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({1}, {4})});
  std::thread waiter([&] { EXPECT_TRUE(runtime->Await(run).ok()); });
  auto pieces = [&] {
    for (const auto& [kind, count] : StatsOf(*runtime).messages) {
      if (kind == "host-work-done") return count;
    }
    return uint64_t{0};
  };
  for (uint64_t k = 1; k <= 3; ++k) {
    AwaitState([&] { return pieces() >= k; });
    for (int i = 0; i < 3; ++i) clock->Advance(10 * kSecond);
  }
  waiter.join();
  EXPECT_THAT(FetchValues(*runtime, run, "y"), ElementsAre(8));
  // Feed, gang and fetch, one after the other.
  ASSERT_EQ(warnings.texts().size(), 3u);
  EXPECT_EQ(warnings.texts()[1],
            "model.mlir:3:8: 'wait' of program 'slow' is still being prepared "
            "for step 0 by host0 after 10s");
  EXPECT_EQ(warnings.all()[1].kind, LongWork::kHostWork);
}

}  // namespace
}  // namespace pathways::testing
