//===- recovery_test.cc - Runs that outlive lost hosts --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/checkpoint/checkpoint_folder.h"
#include "runtime/cluster/sim_cluster.h"
#include "runtime/faults/fault_schedule.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/recurrence.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

class RecoveryTest : public InWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, RecoveryTest, BothWorlds(), WorldName);

TEST_P(RecoveryTest, ManyLaunchesAreAsOne) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  const TestFolder folder;
  int count = 0;
  for (int64_t every : {0, 1, 3, 5, 10, 99}) {
    for (bool in_files : {false, true}) {
      if (in_files && every == 0) continue;
      SCOPED_TRACE(absl::StrCat(every, in_files ? " in files" : ""));
      RecoveryOptions options;
      options.mode = RecoveryOptions::kRebind;
      options.checkpoint_every = every;
      if (in_files)
        options.checkpoint_dir = folder / absl::StrCat("c", ++count);
      auto results =
          runtime->RunToEnd(program, Values3().Arguments(), kSteps, options);
      ASSERT_TRUE(results.ok()) << results.status();
      ExpectRight(*runtime, *results);
      const RecoveryReport& report = results->report;
      EXPECT_EQ(report.checkpoints, every == 0 ? 0
                                    : in_files ? (kSteps + every - 1) / every
                                               : (kSteps - 1) / every);
      EXPECT_EQ(report.checkpoint_bytes, report.checkpoints > 0 ? 8u : 0u);
      EXPECT_EQ(report.losses, 0);
      EXPECT_EQ(report.repeated_steps, 0);
    }
  }
  EXPECT_TRUE(runtime->Unload(program).ok());
  for (const auto& host : StatsOf(*runtime).hosts) {
    EXPECT_EQ(host.object_bytes, 0u);
  }
}

// A run's steps have the numbers that they have in one launch, from wherever it
// begins.
TEST_P(RecoveryTest, StepsAreNumberedFromTheFirstOne) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  Values3 values;
  values.first_step = 123;
  LaunchOptions launch;
  launch.first_step = values.first_step;
  auto run = runtime->Launch(program, values.Arguments(), kSteps, launch);
  ASSERT_TRUE(run.ok()) << run.status();
  auto w = runtime->Fetch(*run, "w2");
  ASSERT_TRUE(w.ok()) << w.status();
  EXPECT_EQ(Values(*w), values.After(kSteps));
  RecoveryOptions options;
  options.checkpoint_every = 3;
  auto results =
      runtime->RunToEnd(program, values.Arguments(), kSteps, options, launch);
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectRight(*runtime, *results, values);

  for (int64_t first :
       {int64_t{-1}, (int64_t{1} << 40) - kSteps + 1, INT64_MAX}) {
    launch.first_step = first;
    const std::string expected =
        first < 0
            ? "the first step of a launch is -1, expected at least 0"
            : absl::StrCat("a launch of program 'p' begins at step ", first,
                           " and has 10 steps, expected at most "
                           "1099511627776 together");
    EXPECT_EQ(
        runtime->Launch(program, values.Arguments(), kSteps, launch).status(),
        absl::InvalidArgumentError(expected));
    EXPECT_EQ(
        runtime->RunToEnd(program, values.Arguments(), kSteps, options, launch)
            .status(),
        absl::InvalidArgumentError(expected));
  }
  launch.first_step = (int64_t{1} << 40) - kSteps;
  EXPECT_TRUE(
      runtime->Launch(program, values.Arguments(), kSteps, launch).ok());
}

TEST_P(RecoveryTest, AResumedRunBeginsWhereTheFirstOneDid) {
  const TestFolder folder;
  RecoveryOptions options;
  options.checkpoint_every = 3;
  options.checkpoint_dir = folder / "checkpoints";
  options.resume = true;
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  Values3 values;
  values.first_step = 7;
  LaunchOptions launch;
  launch.first_step = 7;
  Values3 half = values;
  std::vector<float> xs = Values(half.x);
  xs.resize(10);
  half.x = Floats({5, 2}, xs);
  ASSERT_TRUE(
      runtime->RunToEnd(program, half.Arguments(), 5, options, launch).ok());
  EXPECT_EQ(
      runtime->RunToEnd(program, values.Arguments(), kSteps, options).status(),
      absl::InvalidArgumentError(
          absl::StrCat("'", folder / "checkpoints",
                       "/checkpoint-5' is a checkpoint of a run that begins at "
                       "step 7, expected a run that begins at step 0 "
                       "[PW5301]")));
  auto results =
      runtime->RunToEnd(program, values.Arguments(), kSteps, options, launch);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->report.resumed_at, 5);
  ExpectRight(*runtime, *results, values);
}

TEST_P(RecoveryTest, ArraysOnHostsAreCopiedBefore) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  const TestFolder folder;
  for (bool in_files : {false, true}) {
    const Values3 values;
    LaunchArguments arguments;
    for (const HostArray& value : {values.w, values.x, values.c}) {
      auto array = runtime->Put(value);
      ASSERT_TRUE(array.ok());
      arguments.emplace_back(*array);
    }
    // From then on they are on hosts.
    auto run = runtime->Launch(program, arguments, kSteps);
    ASSERT_TRUE(run.ok() && runtime->Await(*run).ok());
    RecoveryOptions options;
    options.checkpoint_every = 4;
    if (in_files) options.checkpoint_dir = folder / "checkpoints";
    auto results = runtime->RunToEnd(program, arguments, kSteps, options);
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectRight(*runtime, *results);
  }
}

TEST_P(RecoveryTest, AnotherProcessResumes) {
  const TestFolder folder;
  RecoveryOptions options;
  options.checkpoint_every = 3;
  options.checkpoint_dir = folder / "checkpoints";
  options.resume = true;  // nothing is there yet
  {
    auto runtime = Start("1x2x1", Options());
    const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
    // Half of it: the end is a checkpoint, too.
    Values3 values;
    std::vector<float> xs = Values(values.x);
    xs.resize(10);
    values.x = Floats({5, 2}, xs);
    auto results = runtime->RunToEnd(program, values.Arguments(), 5, options);
    ASSERT_TRUE(results.ok()) << results.status();
  }
  auto runtime = Start("1x1x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  auto results =
      runtime->RunToEnd(program, Values3().Arguments(), kSteps, options);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->report.resumed_at, 5);
  ExpectRight(*runtime, *results);

  options.resume = false;
  EXPECT_EQ(runtime->RunToEnd(program, Values3().Arguments(), kSteps, options)
                .status(),
            absl::AlreadyExistsError(absl::StrCat(
                "'", folder / "checkpoints",
                "/checkpoint-10' was saved by an earlier run; resume "
                "that run, or use another folder [PW5301]")));
  options.resume = true;
  const absl::Status fewer =
      runtime->RunToEnd(program, Values3().Arguments(), kSteps, options)
          .status();
  EXPECT_EQ(fewer.code(), absl::StatusCode::kInvalidArgument) << fewer;
  EXPECT_THAT(
      std::string(fewer.message()),
      HasSubstr(
          "is a checkpoint after 10 steps, expected fewer than the 10 steps"));
  const ProgramHandle other = LoadPlan(*runtime, RecurrencePlan("q"));
  const absl::Status wrong =
      runtime->RunToEnd(other, Values3().Arguments(), kSteps, options).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument) << wrong;
  EXPECT_THAT(
      std::string(wrong.message()),
      HasSubstr("is a checkpoint of program 'p' (no fingerprint), expected a "
                "checkpoint of program 'q' (no fingerprint)"));
  // A file of it is damaged.
  const std::string block = folder / "checkpoints/checkpoint-10/w/block-0.npy";
  std::string bytes = ReadFile(block);
  bytes.back() ^= 1;
  WriteFile(block, bytes);
  std::vector<float> longer = Values(Values3().x);
  longer.resize(24);
  const absl::Status damaged =
      runtime
          ->RunToEnd(program,
                     {Values3().w, Floats({12, 2}, longer), Values3().c}, 12,
                     options)
          .status();
  EXPECT_EQ(damaged.code(), absl::StatusCode::kDataLoss) << damaged;
}

TEST_P(RecoveryTest, ARunIsResumedWithItsOwnInputsAlone) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  const TestFolder folder;
  RecoveryOptions options;
  options.checkpoint_every = 3;
  options.checkpoint_dir = folder / "checkpoints";
  auto first =
      runtime->RunToEnd(program, Values3().Arguments(), kSteps, options);
  ASSERT_TRUE(first.ok()) << first.status();
  options.resume = true;
  // Two steps more, with another element of an input.
  const auto resume = [&](int argument, int element) {
    Values3 values;
    std::vector<float> xs = Values(values.x);
    xs.resize(2 * (kSteps + 2), 3);
    values.x = Floats({kSteps + 2, 2}, xs);
    HostArray* const inputs[] = {&values.w, &values.x, &values.c};
    inputs[argument]->data[4 * element] ^= 1;
    return runtime->RunToEnd(program, values.Arguments(), kSteps + 2, options)
        .status();
  };
  for (int argument : {0, 1, 2}) {
    const absl::Status other = resume(argument, 1);
    EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument) << other;
    EXPECT_FALSE(IsOfSteps(other));
    const std::string of[] = {"its values", "its first 10 steps", "its values"};
    EXPECT_THAT(std::string(other.message()),
                ::testing::MatchesRegex(absl::StrCat(
                    "input '.' differs from that of the run that saved "
                    "'.*/checkpoints/checkpoint-10': the CRC-32 of ",
                    of[argument],
                    " is 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8} "
                    "\\[PW5301\\]")));
  }
  const absl::Status later = resume(1, 2 * kSteps);
  EXPECT_TRUE(later.ok()) << later;
}

TEST_P(RecoveryTest, WhatIsNoLossEndsIt) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program =
      LoadPlan(*runtime, ChainBuilder({.name = "checked"})
                             .Feed("u", /*stepped=*/true)
                             .Run("check", "check1")
                             .Fetch("v")
                             .Finish());
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRetry;
  options.checkpoint_every = 1;
  LaunchArguments arguments;
  arguments.emplace_back(Floats({4, 2}, {1, 1, 1, 1, 1, -1, 1, 1}));
  const absl::Status failed =
      runtime->RunToEnd(program, arguments, 4, options).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kInvalidArgument) << failed;
  EXPECT_TRUE(IsOfSteps(failed));
  EXPECT_THAT(std::string(failed.message()),
              HasSubstr("'check' of program 'checked' failed at step 2"));
  LaunchOptions later;
  later.first_step = 1000;
  EXPECT_THAT(
      std::string(runtime->RunToEnd(program, arguments, 4, options, later)
                      .status()
                      .message()),
      HasSubstr("'check' of program 'checked' failed at step 1002"));

  for (int64_t every : {-1, 1}) {
    options.checkpoint_every = every;
    options.max_losses = every;
    options.resume = every == 1;
    const absl::Status wrong =
        runtime->RunToEnd(program, arguments, 4, options).status();
    EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_FALSE(IsOfSteps(wrong));
  }
  EXPECT_EQ(runtime->RunToEnd({}, arguments, 4, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = {};
  EXPECT_EQ(runtime->RunToEnd(program, arguments, 5, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Keep waits for a run whose carried result has no elements.
TEST_P(RecoveryTest, AFailureThatKeepReportsIsOfTheSteps) {
  auto runtime = Start("1x2x1", Options());
  PlanBuilder b("checked", 2);
  const uint32_t s = b.AddSlice("s", {{"x", 2}}, /*island=*/0);
  const uint32_t u = b.AddBuffer("u", s, Rows({2}), 2);
  const uint32_t v = b.AddBuffer("v", s, Rows({2}), 2);
  const uint32_t before = b.AddBuffer("before", s, Rows({0}), 2);
  const uint32_t after = b.AddBuffer("after", s, Rows({0}), 2);
  b.AddFeed("u", u, /*stepped=*/true);
  const uint32_t feed = b.AddFeed("before", before);
  AddRun(b, b.AddGang("check", s, {u}, {v}), "check1");
  AddRun(b, b.AddGang("empty", s, {before}, {after}), "twice0");
  b.AddFetch("v", v);
  b.Carry(feed, b.AddFetch("after", after));
  const ProgramHandle program = LoadPlan(*runtime, b.Finish());
  for (int64_t every : {0, 1, 2, 3}) {
    RecoveryOptions options;
    options.mode = RecoveryOptions::kRetry;
    options.checkpoint_every = every;
    LaunchArguments arguments;
    arguments.emplace_back(Floats({5, 2}, {1, 1, 1, 1, 1, 1, 1, -1, 1, 1}));
    arguments.emplace_back(Floats({0}, {}));
    const absl::Status failed =
        runtime->RunToEnd(program, arguments, 5, options).status();
    EXPECT_EQ(failed.code(), absl::StatusCode::kInvalidArgument) << failed;
    EXPECT_TRUE(IsOfSteps(failed)) << every;
    EXPECT_THAT(std::string(failed.message()), HasSubstr("failed at step 3"));
  }
}

// A host, or two of them, end at any time, and come again later or not.
TEST(RecoveryLossTest, GoesOnFromTheLastCut) {
  int losses = 0, lost_loads = 0, repeated = 0;
  for (uint64_t control = 1; control < 240; control += 2) {
    const bool retries = control % 4 == 1;
    const bool in_files = control % 3 == 0;
    SCOPED_TRACE(absl::StrCat("control message ", control,
                              retries ? ", retry" : ", rebind"));
    std::string faults =
        absl::StrCat("faults { at_control: ", control,
                     " crash { host: 'host1' noticed_after_seconds: 1e-4 ",
                     retries ? "restart_after_seconds: 0.01" : "", "} }");
    if (control % 5 == 0) {
      absl::StrAppend(&faults, "faults { at_control: ", control + 7,
                      " crash { host: 'host2' noticed_after_seconds: 1e-4 "
                      "restart_after_seconds: 0.01 } }");
    }
    const auto cluster = Open(faults, control, "1x4x1");
    auto client = cluster->front().Connect("client0");
    ASSERT_TRUE(client.ok());
    absl::StatusOr<ProgramHandle> program =
        (*client)->Load(MakePlanData(RecurrencePlan("p", /*base=*/1), {}));
    if (!program.ok()) {
      ++lost_loads;
      continue;
    }
    const TestFolder folder;
    RecoveryOptions options;
    options.mode = retries ? RecoveryOptions::kRetry : RecoveryOptions::kRebind;
    options.checkpoint_every = 2;
    if (in_files) options.checkpoint_dir = folder / "checkpoints";
    auto results =
        (*client)->RunToEnd(*program, Values3().Arguments(), kSteps, options);
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectRight(**client, *results);
    losses += static_cast<int>(results->report.losses);
    repeated += static_cast<int>(results->report.repeated_steps);
    EXPECT_TRUE((*client)->Unload(*program).ok());
  }
  EXPECT_GT(losses, 20);
  EXPECT_GT(repeated, 0);
  EXPECT_LT(lost_loads, 60);
}

// The run retries where it is when the loss happens, which is not where it was
// compiled for.
TEST(RecoveryLossTest, ARetryGoesOnWhereItWas) {
  int losses = 0;
  for (uint64_t control = 30; control < 150; control += 5) {
    SCOPED_TRACE(absl::StrCat("control message ", control));
    const auto cluster =
        Open(absl::StrCat("faults { at_control: ", control,
                          " crash { host: 'host3' noticed_after_seconds: 1e-4 "
                          "restart_after_seconds: 0.01 } }"),
             control, "1x4x1");
    auto client = cluster->front().Connect("client0");
    ASSERT_TRUE(client.ok());
    const auto used = [&] {
      std::vector<bool> used;
      for (const auto& device : StatsOf(**client).devices) {
        used.push_back(device.used_bytes > 0);
      }
      return used;
    };
    const absl::StatusOr<ProgramHandle> program =
        (*client)->Load(MakePlanData(RecurrencePlan("p", /*base=*/1), {}));
    ASSERT_TRUE(program.ok()) << program.status();
    const absl::Status moved =
        (*client)->Rebind(*program, {.avoid = {"host0", "host1"}});
    const std::vector<bool> there = {false, false, true, true};
    if (!moved.ok() || used() != there) continue;  // it was lost before
    RecoveryOptions options;
    options.mode = RecoveryOptions::kRetry;
    options.checkpoint_every = 2;
    auto results =
        (*client)->RunToEnd(*program, Values3().Arguments(), kSteps, options);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(used(), there);
    ExpectRight(**client, *results);
    losses += static_cast<int>(results->report.losses);
  }
  EXPECT_GT(losses, 5);
}

// At the published rates of a large training, ten billion times as fast: of a
// hundred losses each is outlived.
TEST(RecoveryLossTest, AHundredOfAHundred) {
  const proto::Cluster machines = MakeCluster("1x4x1");
  const absl::StatusOr<proto::FaultSchedule> faults =
      ReadFaults("llama3*1e10", *Topology::Create(machines));
  ASSERT_TRUE(faults.ok()) << faults.status();
  int64_t losses = 0;
  int runs = 0;
  for (uint64_t seed = 1; losses < 100 && runs < 400; ++seed, ++runs) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.kernels = &Kernels();
    SimCluster::Parts parts;
    parts.faults = *faults;
    auto cluster = SimCluster::Create(machines, options, std::move(parts));
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    auto client = (*cluster)->front().Connect("client0");
    ASSERT_TRUE(client.ok());
    LoadOptions patient;
    patient.await_devices = true;
    const absl::StatusOr<ProgramHandle> program = (*client)->Load(
        MakePlanData(RecurrencePlan("p", /*base=*/1, /*cost_ns=*/1'000'000),
                     {}),
        patient);
    ASSERT_TRUE(program.ok()) << program.status();
    RecoveryOptions recovery;
    recovery.mode =
        seed % 2 == 0 ? RecoveryOptions::kRetry : RecoveryOptions::kRebind;
    recovery.checkpoint_every = 2;
    recovery.max_losses = 10;
    auto results =
        (*client)->RunToEnd(*program, Values3().Arguments(), kSteps, recovery);
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectRight(**client, *results);
    losses += results->report.losses;
  }
  EXPECT_GE(losses, 100) << "of " << runs << " runs";
}

TEST(RecoveryLossTest, TooManyLossesEndIt) {
  const auto cluster = Open(R"(
    hazards {
      per_host_hour: 7e5
      fault {
        crash {
          host: 'host1'
          noticed_after_seconds: 1e-5
          restart_after_seconds: 1e-4
        }
      }
    })",
                            1, "1x2x1");
  auto client = cluster->front().Connect("client0");
  ASSERT_TRUE(client.ok());
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRetry;
  options.max_losses = 3;
  std::vector<std::string> events;
  options.on_event = [&](const std::string& what) { events.push_back(what); };
  absl::StatusOr<ProgramHandle> program = absl::UnknownError("");
  while (!program.ok()) {
    program = (*client)->Load(
        MakePlanData(RecurrencePlan("p", 0, /*cost_ns=*/10'000'000), {}));
  }
  const absl::Status failed =
      (*client)
          ->RunToEnd(*program, Values3().Arguments(), kSteps, options)
          .status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kUnavailable) << failed;
  EXPECT_TRUE(IsOfSteps(failed));
  EXPECT_THAT(std::string(failed.message()),
              HasSubstr("4 losses after step 0: "));
  EXPECT_EQ(events.size(), 3u);
}

TEST(RecoveryLossTest, ARetryWaitsSoLong) {
  const auto cluster = Open(
      "faults { at_control: 40 crash { host: 'host1' noticed_after_seconds: "
      "1e-4 } }",
      1, "1x2x1");
  auto client = cluster->front().Connect("client0");
  ASSERT_TRUE(client.ok());
  const ProgramHandle program = LoadPlan(**client, RecurrencePlan("p"));
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRebind;  // to nothing: there are too few
  options.checkpoint_every = 1;
  options.load.wait_ns = 5'000'000;
  std::string why;
  options.load.on_waiting = [&](const std::string& text) { why = text; };
  const absl::Status failed =
      (*client)
          ->RunToEnd(program, Values3().Arguments(), kSteps, options)
          .status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kDeadlineExceeded) << failed;
  EXPECT_EQ(why, "program 'p' needs host1, which is gone (epoch 1)");
}

}  // namespace
}  // namespace pathways::testing
