//===- waiting_load_test.cc - Clients wait for memory of others -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/resources/load_queue.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two devices of 16384 bytes; a program of n floats on one has there two
// buffers of two credits.
class WaitingLoadTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  static TestCluster StartSmall() {
    ClusterOptions options = Sim(2);
    options.world = GetParam();
    proto::Cluster cluster = MakeCluster("1x2x1");
    for (auto& host : *cluster.mutable_islands(0)->mutable_hosts()) {
      host.mutable_devices(0)->set_memory_bytes(16384);
    }
    return StartTurnedOn(cluster, options);
  }
  static PlanData Copy(const std::string& name, int64_t floats,
                       int64_t device = 0) {
    return MakePlanData(ChainBuilder({.name = name,
                                      .slice = {.shards = 1, .base = device},
                                      .layout = Rows({floats})})
                            .Feed("v")
                            .MoveTo("copy", 0)
                            .Fetch("w")
                            .Finish(),
                        {});
  }
  // Waits on another thread. A simulation advances while some thread waits in
  // it, and so would find that the simulation has no more events before this
  // thread has done more.
  struct Waiter {
    std::promise<std::string> told;
    std::future<std::string> why = told.get_future();
    std::future<absl::StatusOr<ProgramHandle>> loaded;
  };
  static constexpr char kNoOther[] = "needs two threads";
  static std::unique_ptr<Waiter> LoadBeside(Client& client, PlanData plan,
                                            int64_t wait_ns = -1) {
    auto waiter = std::make_unique<Waiter>();
    Waiter* w = waiter.get();
    waiter->loaded = std::async(
        std::launch::async, [w, wait_ns, &client, plan = std::move(plan)] {
          bool first = true;
          return client.Load(plan, {.wait_ns = wait_ns,
                                    .on_waiting = [&](const std::string& why) {
                                      if (std::exchange(first, false)) {
                                        w->told.set_value(why);
                                      }
                                    }});
        });
    return waiter;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, WaitingLoadTest, BothWorlds(), WorldName);

TEST_P(WaitingLoadTest, ALoadWaitsUntilAnotherClientUnloads) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const ProgramHandle first = *runtime->Load(Copy("first", 512));
  std::unique_ptr<Waiter> waiter = LoadBeside(*other, Copy("second", 576));
  EXPECT_EQ(waiter->why.get(),
            "program 'second' needs 9216 of 16384 bytes of "
            "island0/host0/device0, held by program 'first' of client "
            "'client0' (8192)");
  // Others that fit go on meanwhile.
  EXPECT_TRUE(runtime->Load(Copy("elsewhere", 512, 1)).ok());
  EXPECT_TRUE(runtime->Unload(first).ok());
  const absl::StatusOr<ProgramHandle> second = waiter->loaded.get();
  ASSERT_TRUE(second.ok()) << second.status();
  const RunHandle run = LaunchPlan(*other, *second, {Floats({576}, Ramp(576))});
  EXPECT_EQ(FetchValues(*other, run, "w"), Ramp(576));
}

TEST_P(WaitingLoadTest, AClientThatLeavesMakesRoom) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall();
  std::unique_ptr<Client> holder = runtime.Connect("holder");
  ASSERT_TRUE(holder->Load(Copy("first", 768)).ok());
  std::unique_ptr<Waiter> waiter = LoadBeside(*runtime, Copy("second", 768));
  waiter->why.get();
  holder.reset();
  EXPECT_TRUE(waiter->loaded.get().ok());
}

TEST_P(WaitingLoadTest, OneThatWasPassedTooOftenComesFirst) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const std::unique_ptr<Client> third = runtime.Connect("third");
  const ProgramHandle first = *runtime->Load(Copy("first", 512));
  std::unique_ptr<Waiter> waiter = LoadBeside(*other, Copy("second", 576));
  waiter->why.get();
  absl::Status status;
  for (uint32_t i = 0; i <= LoadQueue::kMaxPassed && status.ok(); ++i) {
    const absl::StatusOr<ProgramHandle> small =
        third->Load(Copy("small", 8), {.wait_ns = 0});
    status = small.status();
    if (small.ok()) ASSERT_TRUE(third->Unload(*small).ok());
  }
  EXPECT_EQ(status,
            absl::ResourceExhaustedError(
                "other loads have waited longer for the same memory [PW3205]"));
  EXPECT_TRUE(runtime->Unload(first).ok());
  EXPECT_TRUE(waiter->loaded.get().ok());
}

TEST_P(WaitingLoadTest, WhoMayNotWaitIsRefused) {
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> other = runtime.Connect("other");
  ASSERT_TRUE(runtime->Load(Copy("first", 768)).ok());
  const absl::Status now =
      other->Load(Copy("second", 768), {.wait_ns = 0}).status();
  EXPECT_EQ(now.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(now.message()),
              HasSubstr("held by program 'first' of client 'client0'"));
  const absl::Status late =
      other->Load(Copy("second", 768), {.wait_ns = 2'000'000}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()),
              HasSubstr("(12288), which was not released within 2ms [PW3202]"));
}

TEST_P(WaitingLoadTest, ACircleOfClientsIsRefused) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const ProgramHandle left = *runtime->Load(Copy("left", 768, 0));
  const ProgramHandle right = *other->Load(Copy("right", 768, 1));
  std::unique_ptr<Waiter> waiter =
      LoadBeside(*other, Copy("also left", 768, 0));
  waiter->why.get();
  const absl::Status circle =
      runtime->Load(Copy("also right", 768, 1)).status();
  EXPECT_EQ(circle.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(
      std::string(circle.message()),
      HasSubstr(
          "the wait would deadlock, because these clients wait for each other: "
          "'client0' for "
          "program 'also right', 'other' for program 'also left' [PW3203]"));
  EXPECT_TRUE(runtime->Unload(left).ok());
  EXPECT_TRUE(waiter->loaded.get().ok());
  EXPECT_TRUE(other->Unload(right).ok());
}

TEST_P(WaitingLoadTest, AClientThatIsClosedWaitsNoMore) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> other = runtime.Connect("other");
  ASSERT_TRUE(runtime->Load(Copy("first", 768)).ok());
  std::unique_ptr<Waiter> waiter = LoadBeside(*other, Copy("second", 768));
  waiter->why.get();
  other->Close();
  EXPECT_EQ(waiter->loaded.get().status().code(), absl::StatusCode::kCancelled);
  // Its name is free, and nobody waits before who comes next.
  const std::unique_ptr<Client> again = runtime.Connect("other");
  const proto::ControllerStatus status =
      *runtime.cluster().Describe(absl::Seconds(10));
  EXPECT_EQ(status.waiting_loads_size(), 0);
}

// Programs that the client loaded while this load waited count.
TEST_P(WaitingLoadTest, AQuotaHoldsWhenTheWaitIsOver) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> poor =
      runtime.Connect("poor", {.quota_bytes = 13'000});
  const ProgramHandle held = *runtime->Load(Copy("held", 768));
  std::unique_ptr<Waiter> waiter = LoadBeside(*poor, Copy("waits", 512));
  waiter->why.get();
  ASSERT_TRUE(poor->Load(Copy("meanwhile", 512, 1)).ok());
  EXPECT_TRUE(runtime->Unload(held).ok());
  EXPECT_EQ(waiter->loaded.get().status().message(),
            "device memory of program 'waits': 8192 bytes; client 'poor' has "
            "8192 of the 13000 bytes of its quota [PW3201]");
}

TEST_P(WaitingLoadTest, AQuotaBoundsProgramsAndArrays) {
  TestCluster runtime = StartSmall();
  const std::unique_ptr<Client> poor =
      runtime.Connect("poor", {.quota_bytes = 10'000});
  const absl::StatusOr<ProgramHandle> first = poor->Load(Copy("first", 256));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(poor->Load(Copy("second", 512)).status().message(),
            "device memory of program 'second': 8192 bytes; client 'poor' has "
            "4096 of the 10000 bytes of its quota [PW3201]");
  // A launch has 1024 bytes each of argument and result.
  std::vector<RunHandle> runs;
  for (int i = 0; i < 2; ++i) {
    runs.push_back(LaunchPlan(*poor, *first, {Floats({256}, Ramp(256))}));
    ASSERT_TRUE(poor->Await(runs.back()).ok());
  }
  absl::Status refused;
  while (refused.ok()) {
    const RunHandle run = LaunchPlan(*poor, *first, {Floats({256}, Ramp(256))});
    refused = poor->Await(run);
    ASSERT_LT(runs.size(), 10u);
    runs.push_back(run);
  }
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("of the 10000 bytes of its quota [PW3201]"));
  for (const RunHandle& run : runs) poor->ReleaseRun(run).IgnoreError();
  EXPECT_TRUE(
      poor->Await(LaunchPlan(*poor, *first, {Floats({256}, Ramp(256))})).ok());
  // Others have none.
  EXPECT_TRUE(runtime->Load(Copy("second", 512)).ok());
}

}  // namespace
}  // namespace pathways::testing
