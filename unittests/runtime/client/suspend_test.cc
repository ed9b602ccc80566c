//===- suspend_test.cc - A client gives way, and comes back ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class SuspendTest : public InWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, SuspendTest, BothWorlds(), WorldName);

// u in, 2u out, on two devices.
proto::Plan DoublePlan(const std::string& name) {
  return KernelPlan({.name = name}, "twice1");
}

// Returns the bytes that devices and hosts hold of programs and arrays.
std::vector<uint64_t> BytesOf(Client& client) {
  const ClusterStats stats = StatsOf(client);
  std::vector<uint64_t> bytes;
  for (const auto& device : stats.devices) bytes.push_back(device.used_bytes);
  for (const auto& host : stats.hosts) bytes.push_back(host.object_bytes);
  return bytes;
}

TEST_P(SuspendTest, LeavesNothingAndComesBackElsewhere) {
  const TestFolder folder;
  for (bool in_files : {false, true}) {
    SCOPED_TRACE(in_files);
    auto runtime = Start("1x2x2", Options());
    const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p"));
    auto array = runtime->Put(Floats({2}, {1, 3}));
    ASSERT_TRUE(array.ok());
    const auto step = [&] {
      auto run = runtime->Launch(program, {*array});
      ASSERT_TRUE(run.ok()) << run.status();
      auto next = runtime->Keep(*run, 0);
      ASSERT_TRUE(next.ok()) << next.status();
      EXPECT_TRUE(runtime->Release(*array).ok());
      EXPECT_TRUE(runtime->ReleaseRun(*run).ok());
      array = next;
    };
    step();
    step();
    const std::string path = in_files ? folder / "suspended" : std::string();
    absl::Status status = runtime->Suspend(path);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_THAT(BytesOf(*runtime), Each(0u));
    EXPECT_EQ(runtime->Suspend().code(), absl::StatusCode::kFailedPrecondition);
    // The client still has its arrays.
    auto value = runtime->Get(*array);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_THAT(Values(*value), ElementsAre(4, 12));

    status = runtime->Resume({.avoid = {"host0"}});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(runtime->Resume().code(), absl::StatusCode::kFailedPrecondition);
    step();
    value = runtime->Get(*array);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_THAT(Values(*value), ElementsAre(8, 24));
    const std::vector<uint64_t> bytes = BytesOf(*runtime);
    EXPECT_EQ(bytes[0], 0u);
    EXPECT_GT(bytes[2], 0u);
    if (!in_files) continue;
    // Not over what is there, and it goes on then.
    status = runtime->Suspend(path);
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
    step();
    value = runtime->Get(*array);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_THAT(Values(*value), ElementsAre(16, 48));
  }
}

TEST_P(SuspendTest, WhatCannotBeResumedIsTriedAgain) {
  auto runtime = Start("1x1x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p"));
  ASSERT_TRUE(runtime->Suspend().ok());
  auto other = runtime.Connect("other");
  EXPECT_TRUE(other->Drain({"host0"}).ok());
  const absl::Status few = runtime->Resume();
  EXPECT_EQ(few.code(), absl::StatusCode::kResourceExhausted) << few;
  EXPECT_EQ(runtime->Resume({.avoid = {"host9"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(other->Undrain({"host0"}).ok());
  ASSERT_TRUE(runtime->Resume().ok());
  EXPECT_THAT(
      FetchValues(*runtime,
                  LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}), "v"),
      ElementsAre(2, 4));
}

// Threads that launch and load notice nothing but that it takes longer.
TEST(SuspendThreadsTest, CallsWait) {
  auto runtime = Start("1x2x2", ClusterOptions());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const float v = float(t * 100 + i);
        auto run = runtime->Launch(program, {Floats({2}, {v, -v})});
        ASSERT_TRUE(run.ok()) << run.status();
        auto result = runtime->Fetch(*run, "v");
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_THAT(Values(*result), ElementsAre(2 * v, -2 * v));
        EXPECT_TRUE(runtime->ReleaseRun(*run).ok());
        if (i % 16 != t) continue;
        auto loaded = runtime->Load(
            MakePlanData(DoublePlan("q" + std::to_string(t)), {}));
        ASSERT_TRUE(loaded.ok()) << loaded.status();
        EXPECT_TRUE(runtime->Discard(*loaded).ok());
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const absl::Status suspended = runtime->Suspend();
    EXPECT_TRUE(suspended.ok()) << suspended;
    const absl::Status resumed =
        runtime->Resume({.avoid = {i % 2 == 0 ? "host0" : "host1"}});
    EXPECT_TRUE(resumed.ok()) << resumed;
  }
  for (std::thread& thread : threads) thread.join();
}

// If several threads suspend and resume at the same time, one of them does so
// at a time.
TEST(SuspendThreadsTest, OneAtATime) {
  auto runtime = Start("1x2x2", ClusterOptions());
  std::vector<ProgramHandle> programs;
  for (int p = 0; p < 4; ++p) {
    programs.push_back(LoadPlan(*runtime, DoublePlan("p" + std::to_string(p))));
  }
  const uint64_t loaded = StatsOf(*runtime).programs;
  std::atomic<int> suspends{0}, resumes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const bool suspend = (t + i) % 2 == 0;
        const absl::Status status =
            suspend ? runtime->Suspend() : runtime->Resume();
        if (status.ok()) {
          ++(suspend ? suspends : resumes);
          continue;
        }
        EXPECT_THAT(std::string(status.ToString()),
                    ::testing::MatchesRegex(
                        "FAILED_PRECONDITION: client '.*' is (suspended "
                        "already|not suspended|being suspended|being "
                        "resumed)"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (suspends > resumes) {
    EXPECT_EQ(runtime->Resume(), absl::OkStatus());
    ++resumes;
  }
  EXPECT_EQ(suspends, resumes);
  EXPECT_GT(suspends, 0);
  // Each is there once.
  EXPECT_EQ(StatsOf(*runtime).programs, loaded);
  for (ProgramHandle program : programs) {
    EXPECT_THAT(
        FetchValues(*runtime,
                    LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}), "v"),
        ElementsAre(2, 4));
  }
}

}  // namespace
}  // namespace pathways::testing
