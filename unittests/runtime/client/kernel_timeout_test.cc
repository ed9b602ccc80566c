//===- kernel_timeout_test.cc - Effects of a kernel that does not end -----===//
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
#include "unittests/runtime/client/blocking_kernel.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kError[] =
    "model.mlir:3:8: 'wait' of program 'slow' has not returned for 10s at step "
    "0 on shard 0 (island0/host0/device1) [PW4102]";

// v = add_one1(u) on one device. `cost_ns`: what it takes in virtual time.
proto::Plan QuickPlan(const std::string& name, uint32_t island, int64_t device,
                      TimeNs cost_ns = 1) {
  return KernelPlan(
      {.name = name, .slice = {.shards = 1, .island = island, .base = device}},
      "add_one1", cost_ns);
}

// The sum over devices 1 and 2 of island 0, which are of different workers.
proto::Plan SumPlan() {
  return AllReducePlan({.name = "sum", .slice = {.base = 1}},
                       {.layout = Whole({1})});
}

// Kernels may take ten seconds: on threads by a clock that the test turns, and
// in a simulation in virtual time, where the plan says that they take longer.
class KernelTimeoutTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  bool simulated() const { return GetParam() == ClusterOptions::kSim; }
  TestCluster Begin(const std::string& topology, int workers) {
    ClusterOptions options;
    options.world = GetParam();
    options.workers = workers;
    options.kernels = &KernelsThatBlock();
    if (!simulated()) options.clock = clock_;
    // The clock turns faster than anybody can answer.
    options.stall_timeout_ns = 1'000'000 * kSecond;
    options.kernel_timeout_ns = 10 * kSecond;
    BlockedKernels::Hold();
    if (simulated()) BlockedKernels::Release();
    return Start(topology, options);
  }
  // On device 1.
  proto::Plan SlowPlan() {
    proto::Plan plan = BlockPlan("slow", 0, 1);
    if (!simulated()) return plan;
    for (proto::Action& action : *plan.mutable_actions()) {
      if (action.name() == "wait") action.set_cost_ns(11 * kSecond);
    }
    return plan;
  }
  void ExpectEnd(Client& runtime, RunHandle run) {
    std::atomic<bool> over{false};
    std::thread waiter([&] {
      const absl::Status status = runtime.Await(run);
      EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
      EXPECT_EQ(std::string(status.message()), kError);
      over = true;
    });
    TurnUntil(*clock_, kSecond, [&] { return over.load(); });
    waiter.join();
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};
INSTANTIATE_TEST_SUITE_P(Worlds, KernelTimeoutTest, BothWorlds(), WorldName);

// Devices 0 and 2 are on one worker, 1 and 3 on the other.
TEST_P(KernelTimeoutTest, ItsWorkerIsLostAndOthersGoOn) {
  auto runtime = Begin("1x1x4", 2);
  const ProgramHandle slow = LoadPlan(*runtime, SlowPlan());
  const ProgramHandle near =
      LoadPlan(*runtime, QuickPlan("near", 0, 3, 6 * kSecond));
  const ProgramHandle far = LoadPlan(*runtime, QuickPlan("far", 0, 2));
  const ProgramHandle sum = LoadPlan(*runtime, SumPlan());
  const RunHandle first = LaunchPlan(*runtime, slow, {Floats({1}, {4})}, 3);
  if (!simulated()) {
    AwaitState([&] { return BlockedKernels::entered() == 1; });
  }
  const RunHandle second = LaunchPlan(*runtime, near, {Floats({1}, {1})}, 3);
  const RunHandle third = LaunchPlan(*runtime, sum, {Floats({2}, {1, 2})});
  const RunHandle fourth = LaunchPlan(*runtime, far, {Floats({1}, {5})});
  ExpectEnd(*runtime, first);
  ExpectEnd(*runtime, second);
  ExpectEnd(*runtime, third);
  EXPECT_THAT(FetchValues(*runtime, fourth, "v"), ElementsAre(6));
  EXPECT_THAT(
      FetchValues(*runtime, LaunchPlan(*runtime, far, {Floats({1}, {7})}), "v"),
      ElementsAre(8));
  const absl::Status refused =
      runtime->Load(MakePlanData(QuickPlan("late", 0, 1), {})).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(refused.message()),
            absl::StrCat("program 'late' needs island0/host0/device1, whose "
                         "worker is lost: ",
                         kError));
  for (ProgramHandle program : {slow, near, sum, far}) {
    EXPECT_TRUE(runtime->Unload(program).ok());
  }
  // Devices that were not lost can be used again.
  const ProgramHandle again = LoadPlan(*runtime, QuickPlan("again", 0, 2));
  EXPECT_THAT(FetchValues(*runtime,
                          LaunchPlan(*runtime, again, {Floats({1}, {8})}), "v"),
              ElementsAre(9));
  runtime.reset();
  // Should it come back, it finds what it had, and stays.
  BlockedKernels::Release();
}

// All actors are on the worker that is lost.
TEST_P(KernelTimeoutTest, TheOnlyWorkerIsLost) {
  auto runtime = Begin("1x1x2", 1);
  const ProgramHandle slow = LoadPlan(*runtime, SlowPlan());
  const RunHandle run = LaunchPlan(*runtime, slow, {Floats({1}, {4})});
  ExpectEnd(*runtime, run);
  EXPECT_TRUE(runtime->Unload(slow).ok());
  EXPECT_FALSE(runtime->Load(MakePlanData(QuickPlan("late", 0, 0), {})).ok());
  runtime.reset();
  BlockedKernels::Release();
}

TEST_P(KernelTimeoutTest, OtherHostsGoOn) {
  auto runtime = Begin("2x1x2", 2);
  const ProgramHandle slow = LoadPlan(*runtime, SlowPlan());
  const ProgramHandle other = LoadPlan(*runtime, QuickPlan("other", 1, 1));
  const RunHandle run = LaunchPlan(*runtime, slow, {Floats({1}, {4})});
  ExpectEnd(*runtime, run);
  EXPECT_THAT(FetchValues(*runtime,
                          LaunchPlan(*runtime, other, {Floats({1}, {1})}), "v"),
              ElementsAre(2));
  runtime.reset();
  BlockedKernels::Release();
}

// One that ends in time changes nothing.
TEST_P(KernelTimeoutTest, AKernelMayTakeItsTime) {
  auto runtime = Begin("1x1x2", 2);
  proto::Plan plan = SlowPlan();
  for (proto::Action& action : *plan.mutable_actions()) {
    if (action.name() == "wait") action.set_cost_ns(10 * kSecond);
  }
  const ProgramHandle slow = LoadPlan(*runtime, std::move(plan));
  const RunHandle run = LaunchPlan(*runtime, slow, {Floats({1}, {4})});
  if (!simulated()) {
    AwaitState([&] { return BlockedKernels::entered() == 1; });
    for (int i = 0; i < 7; ++i) clock_->Advance(kSecond);
    BlockedKernels::Release();
  }
  EXPECT_THAT(FetchValues(*runtime, run, "y"), ElementsAre(8));
  EXPECT_TRUE(runtime->Unload(slow).ok());
}

// Nobody waits for a kernel when the runtime ends.
TEST(KernelTimeoutThreadsTest, LeavingDoesNotWait) {
  auto clock = std::make_shared<ManualClock>();
  ClusterOptions options;
  options.workers = 2;
  options.kernels = &KernelsThatBlock();
  options.clock = clock;
  options.kernel_timeout_ns = 10 * kSecond;
  BlockedKernels::Hold();
  auto runtime = Start("1x1x2", options);
  const ProgramHandle slow = LoadPlan(*runtime, BlockPlan("slow", 0, 1));
  LaunchPlan(*runtime, slow, {Floats({1}, {4})});
  AwaitState([&] { return BlockedKernels::entered() == 1; });
  std::atomic<bool> gone{false};
  std::thread leaver([&] {
    runtime.reset();
    gone = true;
  });
  TurnUntil(*clock, kSecond, [&] { return gone.load(); });
  leaver.join();
  BlockedKernels::Release();
}

// The host's devices could go on, but nothing is prepared for them.
TEST(KernelTimeoutSimTest, HostWorkMayTakeNoLonger) {
  ClusterOptions options = Sim();
  options.host_work_ns = 11 * kSecond;
  options.kernel_timeout_ns = 10 * kSecond;
  auto runtime = Start("2x1x2", options);
  const ProgramHandle program = LoadPlan(*runtime, QuickPlan("p", 0, 1));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({1}, {4})});
  const absl::Status status = runtime->Await(run);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(
      std::string(status.message()),
      "'u.feed' of program 'p' is still being prepared for step 0 by host0 "
      "after 10s [PW4102]");
  EXPECT_TRUE(runtime->Unload(program).ok());
  EXPECT_THAT(
      std::string(runtime->Load(MakePlanData(QuickPlan("q", 0, 0), {}))
                      .status()
                      .message()),
      HasSubstr("program 'q' needs island0/host0/device0, whose worker is "
                "lost: 'u.feed' of program 'p'"));
  EXPECT_TRUE(runtime->Load(MakePlanData(QuickPlan("q", 1, 0), {})).ok());
}

}  // namespace
}  // namespace pathways::testing
