//===- contributions_test.cc - Partial arrays go on as they were ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/checkpoint/saved_array.h"
#include "runtime/cluster/sim_cluster.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/recurrence.h"

namespace pathways::testing {
namespace {

constexpr int64_t kRanks = 4;

layout::Layout PartialSum() {
  layout::Layout layout;
  layout.shape = {1};
  layout.dims = {{}};
  layout.partial = {"x"};
  layout.reduction = layout::Reduction::kAdd;
  return layout;
}

// Each of `ranks` shards adds its element of x, which is stepped, to its
// contribution to `acc`, which is carried. Results: `acc`, and what it is after
// each step.
proto::Plan AccumulatePlan(int64_t ranks, int64_t base = 0) {
  return ChainBuilder({.name = "accumulate",
                       .slice = {.shards = ranks, .base = base},
                       .layout = PartialSum()})
      .Feed("acc")
      .Feed("x", /*stepped=*/true, Rows({ranks}))
      .Run("add", "add1")
      .Fetch("acc")
      .Fetch("all", /*stepped=*/true)
      .CarryResult()
      .Finish();
}

// Steps [first, first + steps) of x: numbers whose sum depends on the order.
HostArray Terms(int64_t first, int64_t steps) {
  std::vector<float> values;
  for (int64_t i = first * kRanks; i < (first + steps) * kRanks; ++i) {
    values.push_back(1.0f / static_cast<float>(i % 13 + 3));
  }
  return Floats({steps, kRanks}, values);
}

LaunchArguments Arguments(LaunchArgument acc, int64_t first, int64_t steps) {
  LaunchArguments arguments;
  arguments.emplace_back(std::move(acc));
  arguments.emplace_back(Terms(first, steps));
  return arguments;
}

class ContributionsTest : public InWorldTest {
 protected:
  static constexpr int64_t kHalf = kSteps / 2;

  // Starts again on 3 hosts of 2 devices, and runs the first half.
  void Begin() {
    cluster_.emplace(Start("1x3x2", Options()));
    program_ = LoadPlan(**cluster_, AccumulatePlan(kRanks));
    acc_ = RunHalf(Floats({1}, {0.5f}), 0);
  }
  Client& client() { return **cluster_; }

  ArrayHandle RunHalf(LaunchArgument acc, int64_t first) {
    auto run = client().Launch(program_,
                               Arguments(std::move(acc), first, kHalf), kHalf);
    EXPECT_TRUE(run.ok()) << run.status();
    auto kept = client().Keep(*run, "acc");
    EXPECT_TRUE(kept.ok()) << kept.status();
    EXPECT_TRUE(client().Await(*run).ok());
    return *kept;
  }
  std::vector<float> Get(ArrayHandle array) {
    auto values = client().Get(array);
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? Values(*values) : std::vector<float>();
  }
  std::vector<float> SecondHalf() { return Get(RunHalf(acc_, kHalf)); }
  std::vector<float> Undisturbed() {
    Begin();
    return SecondHalf();
  }

  std::optional<TestCluster> cluster_;
  ProgramHandle program_;
  ArrayHandle acc_;
};
INSTANTIATE_TEST_SUITE_P(Worlds, ContributionsTest, BothWorlds(), WorldName);

TEST_P(ContributionsTest, TheOrderOfTheSumMatters) {
  const std::vector<float> right = Undisturbed();
  Begin();
  // The client reads one number, and writes it back as the contribution of rank
  // 0.
  auto sum = client().Get(acc_);
  ASSERT_TRUE(sum.ok());
  EXPECT_NE(Get(RunHalf(*sum, kHalf)), right);
}

TEST_P(ContributionsTest, ARebindMovesEachRanks) {
  const std::vector<float> right = Undisturbed();
  Begin();
  RebindOptions elsewhere;
  elsewhere.avoid = {"host0"};
  ASSERT_TRUE(client().Rebind(program_, elsewhere).ok());
  EXPECT_EQ(SecondHalf(), right);
}

TEST_P(ContributionsTest, WhoIsSuspendedGoesOnFromThem) {
  const std::vector<float> right = Undisturbed();
  const TestFolder folder;
  for (const std::string& where : {std::string(), folder / "suspended"}) {
    Begin();
    const std::vector<float> before = Get(acc_);
    ASSERT_TRUE(client().Suspend(where).ok());
    EXPECT_EQ(Get(acc_), before);
    ASSERT_TRUE(client().Resume().ok());
    EXPECT_EQ(SecondHalf(), right) << where;
  }
}

TEST_P(ContributionsTest, FilesHaveEachRanks) {
  const std::vector<float> right = Undisturbed();
  const TestFolder folder;
  Begin();
  ASSERT_TRUE(client().Save(acc_, folder / "acc").ok());
  const auto saved = SavedArray::Open(folder / "acc");
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ((*saved)->shape(), std::vector<int64_t>{1});
  EXPECT_EQ((*saved)->contributions(),
            (layout::Contributions{layout::Reduction::kAdd, {kRanks}}));
  const std::vector<float> sum = Get(acc_);
  Begin();
  auto loaded = client().LoadArray(folder / "acc");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Get(*loaded), sum);
  // The loaded array is saved as it was.
  ASSERT_TRUE(client().Save(*loaded, folder / "again").ok());
  EXPECT_EQ(ReadFile(folder / "again/index.json"),
            ReadFile(folder / "acc/index.json"));
  EXPECT_EQ(Get(RunHalf(*loaded, kHalf)), right);
  // It has not lost them by that.
  EXPECT_EQ(Get(RunHalf(*loaded, kHalf)), right);
}

// Values that are with the client after a suspension are saved, too.
TEST_P(ContributionsTest, WhatIsWithTheClientIsSaved) {
  const std::vector<float> right = Undisturbed();
  const TestFolder folder;
  Begin();
  ASSERT_TRUE(client().Suspend().ok());
  ASSERT_TRUE(client().Save(acc_, folder / "acc").ok());
  ASSERT_TRUE(client().Resume().ok());
  auto loaded = client().LoadArray(folder / "acc");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Get(RunHalf(*loaded, kHalf)), right);
}

// A mesh of other sizes has other ranks: it gets the sum, as that of rank 0,
// and the array keeps its contributions.
TEST_P(ContributionsTest, OtherRanksGetTheSum) {
  const std::vector<float> right = Undisturbed();
  const TestFolder folder;
  Begin();
  ASSERT_TRUE(client().Save(acc_, folder / "acc").ok());
  auto loaded = client().LoadArray(folder / "acc");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<float> sum = Get(*loaded);
  const ProgramHandle two = LoadPlan(client(), AccumulatePlan(2));
  for (ArrayHandle array : {*loaded, acc_}) {
    LaunchArguments arguments;
    arguments.emplace_back(array);
    arguments.emplace_back(Floats({1, 2}, {1, 0.25}));
    auto run = client().Launch(two, std::move(arguments));
    ASSERT_TRUE(run.ok()) << run.status();
    auto value = client().Fetch(*run, "acc");
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(Values(*value), std::vector<float>{sum[0] + 1 + 0.25f});
  }
  EXPECT_EQ(Get(RunHalf(*loaded, kHalf)), right);
  EXPECT_EQ(SecondHalf(), right);
}

// Tests a run in pieces, with checkpoints of each kind, from an array on hosts.
TEST_P(ContributionsTest, ARunInPiecesKeepsThem) {
  Begin();
  auto whole = client().Launch(
      program_, Arguments(Floats({1}, {0.5f}), 0, kSteps), kSteps);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const std::vector<float> right = Values(*client().Fetch(*whole, "acc"));
  const std::vector<float> all = Values(*client().Fetch(*whole, "all"));
  const TestFolder folder;
  for (int where = 0; where < 4; ++where) {
    SCOPED_TRACE(where);
    RecoveryOptions options;
    options.mode =
        where == 3 ? RecoveryOptions::kFail : RecoveryOptions::kRebind;
    options.checkpoint_every = 3;
    if (where == 1) options.checkpoint_dir = folder / "cuts";
    options.checkpoints_on_hosts = where == 2;
    auto results = client().RunToEnd(
        program_, Arguments(Floats({1}, {0.5f}), 0, kSteps), kSteps, options);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(Get(results->arrays[0]), right);
    EXPECT_EQ(Get(results->arrays[1]), all);
    EXPECT_EQ(results->report.checkpoint_bytes, 4u * kRanks);
    // Results go on, too.
    EXPECT_EQ(Get(RunHalf(results->arrays[0], 0)), [&] {
      const ArrayHandle kept = *client().Keep(*whole, "acc");
      return Get(RunHalf(kept, 0));
    }());
  }
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRetry;
  options.checkpoint_every = 2;
  auto results = client().RunToEnd(program_, Arguments(acc_, kHalf, kHalf),
                                   kHalf, options);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Get(results->arrays[0]), right);
}

// A host is lost at any time, and the run goes on elsewhere or where it was.
TEST(ContributionsLossTest, ALossChangesNoBit) {
  std::vector<float> right;
  int losses = 0;
  for (uint64_t control = 0; control < 200; control += 3) {
    SCOPED_TRACE(absl::StrCat("control message ", control));
    const bool retries = control % 2 == 0;
    const std::string faults =
        control == 0
            ? std::string()
            : absl::StrCat(
                  "faults { at_control: ", control,
                  " crash { host: 'host1' noticed_after_seconds: 1e-4 ",
                  retries ? "restart_after_seconds: 0.01" : "", "} }");
    const auto cluster = Open(faults, control + 1, "1x5x2");
    auto client = cluster->front().Connect("client0");
    ASSERT_TRUE(client.ok());
    absl::StatusOr<ProgramHandle> program =
        (*client)->Load(MakePlanData(AccumulatePlan(kRanks), {}));
    if (!program.ok()) continue;
    RecoveryOptions options;
    options.mode = retries ? RecoveryOptions::kRetry : RecoveryOptions::kRebind;
    options.checkpoint_every = control == 0 ? 0 : 2;
    options.checkpoints_on_hosts = control % 5 == 1;
    auto results = (*client)->RunToEnd(
        *program, Arguments(Floats({1}, {0.5f}), 0, kSteps), kSteps, options);
    // The host was lost while the program that copies checkpoints was loaded.
    if (options.checkpoints_on_hosts && absl::IsUnavailable(results.status()))
      continue;
    ASSERT_TRUE(results.ok()) << results.status();
    auto acc = (*client)->Get(results->arrays[0]);
    ASSERT_TRUE(acc.ok()) << acc.status();
    if (control == 0) right = Values(*acc);
    EXPECT_EQ(Values(*acc), right);
    losses += static_cast<int>(results->report.losses);
  }
  EXPECT_GT(losses, 10);
}

}  // namespace
}  // namespace pathways::testing
