//===- spill_test.cc - More arrays than hosts have memory -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/runtime_test_support.h"
#include "unittests/runtime/executor/no_threads.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

namespace fs = std::filesystem;

constexpr int64_t kFloats = 1024;
constexpr uint64_t kHostBytes = 64 << 10;

// Two hosts with little memory and a spill folder.
class SpillTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  SpillTest() { kernels_.functions["twice512"] = Twice<kFloats / 2>; }
  ClusterOptions Options() {
    ClusterOptions options;
    options.kernels = &kernels_;
    options.world = GetParam();
    options.seed = 11;
    options.workers = 2;
    options.spill.folder = folder_.path();
    options.spill.bytes = 8 << 20;
    return options;
  }
  static TestCluster StartSmall(const ClusterOptions& options) {
    proto::Cluster cluster = MakeCluster("1x2x1");
    for (auto& host : *cluster.mutable_islands(0)->mutable_hosts()) {
      host.set_memory_bytes(kHostBytes);
    }
    return StartOn(cluster, options);
  }
  // u in, 2u out.
  static proto::Plan TwicePlan(const std::string& name,
                               int64_t floats = kFloats) {
    return KernelPlan({.name = name, .layout = Rows({floats})}, "twice512");
  }
  static HostArray ValueOf(int i) {
    return Floats({kFloats}, Ramp(kFloats, static_cast<float>(i)));
  }
  static std::vector<float> TwiceOf(int i, float times = 2) {
    std::vector<float> values = Ramp(kFloats, static_cast<float>(i));
    for (float& value : values) value *= times;
    return values;
  }
  static uint64_t SpilledBytes(Client& client) {
    uint64_t bytes = 0;
    for (const auto& host : StatsOf(client).hosts) bytes += host.spilled_bytes;
    return bytes;
  }
  // Returns the files of all hosts; a simulation has none.
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".spill") files.push_back(entry.path());
    }
    return files;
  }

  // Twice that value, as an array of its own.
  static absl::StatusOr<ArrayHandle> MakeTwice(Client& client,
                                               ProgramHandle program, int i) {
    const absl::StatusOr<RunHandle> run =
        client.Launch(program, {LaunchArgument(ValueOf(i))});
    if (!run.ok()) return run.status();
    const absl::Status status = client.Await(*run);
    absl::StatusOr<ArrayHandle> made =
        status.ok() ? client.Keep(*run, 0) : status;
    EXPECT_TRUE(client.ReleaseRun(*run).ok());
    return made;
  }
  // Twice each value from 0.
  static std::vector<ArrayHandle> MakeMany(Client& client,
                                           ProgramHandle program, int count) {
    std::vector<ArrayHandle> made;
    for (int i = 0; i < count; ++i) {
      const absl::StatusOr<ArrayHandle> one = MakeTwice(client, program, i);
      EXPECT_TRUE(one.ok()) << i << ": " << one.status();
      made.push_back(one.ok() ? *one : ArrayHandle());
    }
    return made;
  }
  // The last ones first.
  static void ExpectMany(Client& client, const std::vector<ArrayHandle>& made) {
    for (size_t i = made.size(); i-- > 0;) {
      const absl::StatusOr<HostArray> value = client.Get(made[i]);
      ASSERT_TRUE(value.ok()) << i << ": " << value.status();
      EXPECT_EQ(Values(*value), TwiceOf(static_cast<int>(i))) << i;
    }
  }
  static void ReleaseMany(Client& client,
                          const std::vector<ArrayHandle>& made) {
    for (const ArrayHandle& array : made) {
      EXPECT_TRUE(client.Release(array).ok());
    }
  }

  TestFolder folder_;
  TestKernels kernels_;
};
INSTANTIATE_TEST_SUITE_P(Worlds, SpillTest, BothWorlds(), WorldName);

TEST_P(SpillTest, ArraysOfSeveralTimesTheMemoryAreKeptAndRead) {
  {
    TestCluster runtime = StartSmall(Options());
    const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice"));
    // Each host has two kilobytes of each.
    constexpr int kArrays = 5 * 2 * kHostBytes / (kFloats * 4);
    const std::vector<ArrayHandle> kept = MakeMany(*runtime, program, kArrays);
    EXPECT_GE(SpilledBytes(*runtime), 4 * 2 * kHostBytes);
    EXPECT_EQ(Files().empty(), GetParam() == ClusterOptions::kSim);
    // The first ones are arguments of further launches, several at a time.
    std::vector<RunHandle> runs;
    for (int i = 0; i < 12; ++i) {
      runs.push_back(*runtime->Launch(program, {LaunchArgument(kept[i])}));
    }
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(Values(*runtime->Fetch(runs[i], "v")), TwiceOf(i, 4)) << i;
      EXPECT_TRUE(runtime->ReleaseRun(runs[i]).ok());
    }
    ExpectMany(*runtime, kept);
    ReleaseMany(*runtime, kept);
    EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
    EXPECT_EQ(SpilledBytes(*runtime), 0u);
    EXPECT_THAT(Files(), IsEmpty());
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

// Each of them needs a quarter of the memory, and all are open at once: those
// that have no room wait for those before them.
TEST_P(SpillTest, LaunchesWaitForWhatOthersUse) {
  constexpr int64_t kLarge = 4 * kFloats;
  ClusterOptions options = Options();
  kernels_.functions["twice512"] = Twice<kLarge / 2>;
  TestCluster runtime = StartSmall(options);
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice", kLarge));
  const ProgramHandle others = LoadPlan(*other, TwicePlan("other", kLarge));
  auto value = [](int i) {
    return Floats({kLarge}, Ramp(kLarge, static_cast<float>(i)));
  };
  std::vector<RunHandle> runs, other_runs;
  constexpr int kLaunches = 16;
  for (int i = 0; i < kLaunches; ++i) {
    runs.push_back(*runtime->Launch(program, {LaunchArgument(value(i))}));
    other_runs.push_back(*other->Launch(others, {LaunchArgument(value(-i))}));
  }
  for (int i = kLaunches - 1; i >= 0; --i) {
    std::vector<float> want = Ramp(kLarge, static_cast<float>(i));
    for (float& v : want) v *= 2;
    EXPECT_EQ(Values(*runtime->Fetch(runs[i], "v")), want) << i;
    want = Ramp(kLarge, static_cast<float>(-i));
    for (float& v : want) v *= 2;
    EXPECT_EQ(Values(*other->Fetch(other_runs[i], "v")), want) << i;
  }
  EXPECT_GT(SpilledBytes(*runtime), 0u);
}

TEST_P(SpillTest, AFullFolderIsAnErrorForWhoNeedsTheMemory) {
  ClusterOptions options = Options();
  options.spill.bytes = kHostBytes;
  TestCluster runtime = StartSmall(options);
  const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice"));
  std::vector<ArrayHandle> kept;
  absl::Status status;
  while (status.ok() && kept.size() < 1000) {
    const absl::StatusOr<ArrayHandle> made =
        MakeTwice(*runtime, program, static_cast<int>(kept.size()));
    status = made.status();
    if (made.ok()) kept.push_back(*made);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(
      std::string(status.message()),
      MatchesRegex(
          ".* needs 2048 bytes of host memory of host[01], where "
          "[0-9]+ of 65536 bytes are used, and no array can be spilled: .* "
          "has [0-9]+ of the 65536 bytes that it may have, but [0-9]+ more "
          "bytes must be spilled \\[PW3402\\]"));
  // Memory and files together are full, but for what is written together.
  EXPECT_GE(kept.size(), 32 + 16u);
  // Nothing is lost, and what is released makes room.
  ExpectMany(*runtime, kept);
  ReleaseMany(*runtime, kept);
  const RunHandle run = *runtime->Launch(program, {LaunchArgument(ValueOf(7))});
  EXPECT_EQ(Values(*runtime->Fetch(run, "v")), TwiceOf(7));
}

TEST_P(SpillTest, WhatADeadOwnerHadIsGone) {
  TestCluster runtime = StartSmall(Options());
  std::unique_ptr<Client> owner = runtime.Connect("owner");
  const ProgramHandle program = LoadPlan(*owner, TwicePlan("twice"));
  for (int i = 0; i < 64; ++i) {
    const RunHandle run = *owner->Launch(program, {LaunchArgument(ValueOf(i))});
    ASSERT_TRUE(owner->Await(run).ok());
  }
  EXPECT_GT(SpilledBytes(*runtime), 0u);
  owner.reset();
  runtime.Connect("owner");
  EXPECT_EQ(SpilledBytes(*runtime), 0u);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_P(SpillTest, ADamagedFileCostsItsArray) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << "has no folder";
  TestCluster runtime = StartSmall(Options());
  const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice"));
  const std::vector<ArrayHandle> kept = MakeMany(*runtime, program, 64);
  // The first byte of a file is of one array.
  const std::vector<std::string> files = Files();
  ASSERT_FALSE(files.empty());
  {
    std::fstream file(files[0], std::ios::in | std::ios::out);
    const char before = static_cast<char>(file.peek());
    file.seekp(0);
    file.put(static_cast<char>(before ^ 1));
  }
  int lost = 0;
  for (int i = 0; i < 64; ++i) {
    const absl::StatusOr<HostArray> value = runtime->Get(kept[i]);
    if (value.ok()) {
      EXPECT_EQ(Values(*value), TwiceOf(i)) << i;
      continue;
    }
    ++lost;
    EXPECT_EQ(value.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(value.status().message()),
                HasSubstr(files[0] + " at byte 0: the checksum of 2048 bytes"));
    const RunHandle run = *runtime->Launch(program, {LaunchArgument(kept[i])});
    const absl::Status failed = runtime->Await(run);
    EXPECT_EQ(failed.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(failed.message()), HasSubstr("[PW3403]"));
  }
  EXPECT_EQ(lost, 1);
}

TEST_P(SpillTest, AFolderThatIsNotThereIsToldAtTheStart) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << "has no folder";
  ClusterOptions options = Options();
  options.spill.folder = folder_ / "none";
  const absl::Status status =
      Cluster::Create(MakeCluster("1x1x1"), options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("none: No such file or directory [PW3401]"));
  options.spill = {.folder = folder_.path(), .begin = 0.5, .end = 0.6};
  EXPECT_EQ(Cluster::Create(MakeCluster("1x1x1"), options).status(),
            absl::InvalidArgumentError(
                "spilling begins at 0.5 and ends at 0.6 of a host's memory, "
                "expected 0 < end <= begin <= 1"));
}

// A program whose pieces go from host to host needs memory of both, which kept
// arrays have; nobody waits for their owner.
TEST_P(SpillTest, ALoadDoesNotWaitForArraysThatNobodyUses) {
  TestCluster runtime = StartSmall(Options());
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice"));
  const std::vector<ArrayHandle> kept = MakeMany(*runtime, program, 24);
  proto::Plan move = TransferPlan(
      {.name = "move", .slice = {.shards = 1}, .layout = Rows({6000})},
      {.shards = 1, .base = 1});
  const absl::StatusOr<ProgramHandle> moved =
      other->Load(MakePlanData(std::move(move), {}),
                  {.on_waiting = [](const std::string& why) {
                    ADD_FAILURE() << "waits: " << why;
                  }});
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_GT(SpilledBytes(*runtime), 0u);
  ExpectMany(*runtime, kept);
}

// Its disk has a thread when it is first needed.
TEST_P(SpillTest, WithoutAThreadForItAHostWritesAndReadsItself) {
  TestCluster runtime = StartSmall(Options());
  const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice"));
  const NoThreads none;
  const std::vector<ArrayHandle> kept = MakeMany(*runtime, program, 64);
  EXPECT_GT(SpilledBytes(*runtime), 0u);
  ExpectMany(*runtime, kept);
}

}  // namespace
}  // namespace pathways::testing
