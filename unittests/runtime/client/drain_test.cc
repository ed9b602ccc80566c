//===- drain_test.cc - Devices that programs leave ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <thread>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DrainTest : public InWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, DrainTest, BothWorlds(), WorldName);

// u in, 2u out, on two devices from `base` on.
proto::Plan DoublePlan(const std::string& name, int64_t base = 0) {
  return KernelPlan({.name = name, .slice = {.base = base}}, "twice1");
}

// Returns for each device whether it holds anything.
std::vector<bool> UsedOf(Client& client) {
  std::vector<bool> used;
  for (const auto& device : StatsOf(client).devices) {
    used.push_back(device.used_bytes > 0);
  }
  return used;
}

std::vector<float> Double(Client& client, ProgramHandle program, float value) {
  const RunHandle run =
      LaunchPlan(client, program, {Floats({2}, {value, value + 1})});
  std::vector<float> values = FetchValues(client, run, "v");
  EXPECT_TRUE(client.ReleaseRun(run).ok());
  return values;
}

TEST_P(DrainTest, TakesNoProgramsUntilItIsUndone) {
  auto runtime = StartTurned("1x2x2", Options());
  const auto away = [&] {
    absl::StatusOr<std::vector<bool>> away = runtime->AwayDevices();
    EXPECT_TRUE(away.ok()) << away.status();
    return *away;
  };
  EXPECT_THAT(away(), ElementsAre(false, false, false, false));
  ASSERT_TRUE(runtime->Drain({"host0", "host0"}).ok());
  EXPECT_THAT(away(), ElementsAre(true, true, false, false));
  EXPECT_EQ(runtime->Load(MakePlanData(DoublePlan("p"), {})).status(),
            absl::UnavailableError("program 'p' needs island0/host0/device0, "
                                   "which is drained [PW4103]"));
  const ProgramHandle other = LoadPlan(*runtime, DoublePlan("q", /*base=*/2));
  EXPECT_THAT(Double(*runtime, other, 1), ElementsAre(2, 4));

  // One that waits for them has them when they are drained no more.
  LoadOptions patient;
  patient.await_devices = true;
  patient.wait_ns = 1'000'000;
  std::string why;
  patient.on_waiting = [&](const std::string& text) { why = text; };
  const absl::Status late =
      runtime->Load(MakePlanData(DoublePlan("p"), {}), patient).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  EXPECT_EQ(why, "program 'p' needs island0/host0/device0, which is drained");
  ASSERT_TRUE(runtime->Undrain({"island0/host0/device0"}).ok());
  EXPECT_THAT(away(), ElementsAre(false, true, false, false));
  ASSERT_TRUE(runtime->Undrain({"island0"}).ok());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p"));
  EXPECT_THAT(Double(*runtime, program, 2), ElementsAre(4, 6));

  const absl::Status unknown = runtime->Drain({"host7"});
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("'host7'"));
}

// A device that is away is not all that a load may lack.
TEST_P(DrainTest, NobodyWaitsForDevicesInVain) {
  auto runtime = StartTurned("1x2x2", Options());
  const SliceHandle mine = *runtime->ReserveSlice({.shape = {2}});
  ASSERT_THAT(*runtime->DevicesOf(mine),
              ElementsAre("island0/host0/device0", "island0/host0/device1"));
  ASSERT_TRUE(runtime->Drain({"host1"}).ok());
  LoadOptions patient;
  patient.await_devices = true;
  EXPECT_EQ(
      runtime->Load(MakePlanData(DoublePlan("p", /*base=*/1), {}), patient)
          .status(),
      absl::ResourceExhaustedError(
          "program 'p' needs island0/host1/device0, which is drained; its own "
          "client holds that memory and cannot release it while it waits "
          "[PW3204]"));
}

TEST_P(DrainTest, StatusSaysWhichDevicesAreAway) {
  auto cluster = Cluster::Create(*ReadTopology("1x2x2"), Options());
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  auto client = (*cluster)->Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  auto away = [&] {
    absl::StatusOr<proto::ControllerStatus> status =
        (*cluster)->Describe(absl::Seconds(10));
    EXPECT_TRUE(status.ok()) << status.status();
    std::vector<std::string> all;
    for (const proto::AwayStatus& one : status->away()) {
      all.push_back(
          absl::StrCat(one.name(), " ", one.devices(), " ", one.why()));
    }
    return all;
  };
  EXPECT_THAT(away(), ElementsAre());
  ASSERT_TRUE((*client)->Drain({"host0", "island0/host1/device1"}).ok());
  EXPECT_THAT(away(), ElementsAre("host0 2 drained",
                                  "island0/host1/device1 1 drained"));
  ASSERT_TRUE((*client)->Undrain({"host0"}).ok());
  EXPECT_THAT(away(), ElementsAre("island0/host1/device1 1 drained"));
}

TEST_P(DrainTest, WaitsForWhoIsThereAndNamesThem) {
  auto runtime = StartTurned("1x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p"));
  EXPECT_EQ(runtime->Drain({"host0"}, /*wait_ns=*/1'000'000),
            absl::DeadlineExceededError(
                "the drained devices are still used by program "
                "'p' of client 'client0' [PW4104]"));
  // It goes on meanwhile, and stays where there is nothing else.
  EXPECT_THAT(Double(*runtime, program, 1), ElementsAre(2, 4));
  ASSERT_TRUE(runtime->Rebind(program, {.avoid = {"host0"}}).ok());
  EXPECT_TRUE(runtime->Drain({"host0"}).ok());
  EXPECT_THAT(UsedOf(*runtime), ElementsAre(false, false, true, true));
}

TEST_P(DrainTest, AnElasticClientLeavesWithItsNextLaunch) {
  auto runtime = StartTurned("1x2x2", Options());
  ClientOptions elastic;
  elastic.elastic = true;
  auto client = runtime.Connect("elastic", elastic);
  const ProgramHandle program = LoadPlan(*client, DoublePlan("p"));
  EXPECT_THAT(Double(*client, program, 1), ElementsAre(2, 4));
  EXPECT_FALSE(runtime->Drain({"host0"}, /*wait_ns=*/0).ok());
  EXPECT_THAT(Double(*client, program, 2), ElementsAre(4, 6));
  EXPECT_TRUE(runtime->Drain({"host0"}).ok());
  EXPECT_THAT(UsedOf(*runtime), ElementsAre(false, false, true, true));
  // To where there is nothing it does not go.
  EXPECT_FALSE(runtime->Drain({"host1"}, /*wait_ns=*/0).ok());
  EXPECT_THAT(Double(*client, program, 3), ElementsAre(6, 8));
  ASSERT_TRUE(runtime->Undrain({"host0"}).ok());
  EXPECT_FALSE(runtime->Drain({"host1"}, /*wait_ns=*/0).ok());
  EXPECT_THAT(Double(*client, program, 4), ElementsAre(8, 10));
  EXPECT_THAT(UsedOf(*runtime), ElementsAre(true, true, false, false));
}

TEST_P(DrainTest, ArraysAreNotLeftBehind) {
  auto runtime = StartTurned("1x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, DoublePlan("p"));
  ClientOptions elastic;
  elastic.elastic = true;
  auto client = runtime.Connect("elastic", elastic);
  const ProgramHandle other = LoadPlan(*client, DoublePlan("q", /*base=*/2));
  const auto keep = [](Client& of, ProgramHandle program) {
    const RunHandle run = LaunchPlan(of, program, {Floats({2}, {1, 2})});
    EXPECT_TRUE(of.Await(run).ok());
    auto array = of.Keep(run, 0);
    EXPECT_TRUE(array.ok()) << array.status();
    EXPECT_TRUE(of.ReleaseRun(run).ok());
    return *array;
  };
  const ArrayHandle mine = keep(*runtime, program);
  const ArrayHandle its = keep(*client, other);
  EXPECT_TRUE(runtime->Unload(program).ok());
  // On a device of a host alone it may stay.
  EXPECT_TRUE(runtime->Drain({"island0/host0/device0"}).ok());
  EXPECT_EQ(runtime->Drain({"host0"}, /*wait_ns=*/1'000'000),
            absl::DeadlineExceededError("the drained devices are still used by "
                                        "arrays of client 'client0' [PW4104]"));
  EXPECT_TRUE(runtime->Release(mine).ok());
  EXPECT_TRUE(runtime->Drain({"host0"}).ok());
  EXPECT_TRUE(runtime->Undrain({"host0"}).ok());

  EXPECT_EQ(runtime->Drain({"host1"}, /*wait_ns=*/0),
            absl::DeadlineExceededError(
                "the drained devices are still used by program 'q' of client "
                "'elastic', arrays of client 'elastic' [PW4104]"));
  EXPECT_THAT(Double(*client, other, 3), ElementsAre(6, 8));
  EXPECT_TRUE(runtime->Drain({"host1"}).ok());
  auto value = client->Get(its);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_THAT(Values(*value), ElementsAre(2, 4));
}

// Each step adds one, on both devices of host0.
proto::Plan CountPlan() {
  return ChainBuilder({})
      .Feed("u")
      .Run("add_one", "add_one1")
      .Fetch("v")
      .CarryResult()
      .Finish();
}

TEST_P(DrainTest, ARunMovesAtACut) {
  auto runtime = StartTurned("1x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, CountPlan());
  auto operator_client = runtime.Connect("operator");
  std::vector<std::string> events;
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRebind;
  options.checkpoint_every = 1;
  options.on_event = [&](const std::string& what) {
    events.push_back(what);
    // It has left host0, and comes back.
    if (events.size() == 1) {
      EXPECT_TRUE(operator_client->Undrain({"host0"}).ok());
    }
  };
  EXPECT_FALSE(operator_client->Drain({"host0"}, /*wait_ns=*/0).ok());
  LaunchArguments arguments;
  arguments.emplace_back(Floats({2}, {1, 2}));
  auto results = runtime->RunToEnd(program, std::move(arguments), 12, options);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->report.moves, 2);
  EXPECT_EQ(results->report.losses, 0);
  EXPECT_EQ(events.size(), 2u);
  const auto last = runtime->Get(results->arrays[0]);
  ASSERT_TRUE(last.ok());
  EXPECT_THAT(Values(*last), ElementsAre(13, 14));
  EXPECT_THAT(UsedOf(*runtime), ElementsAre(true, true, false, false));
}

TEST_P(DrainTest, ARunBeginsElsewhereAndComesBack) {
  auto runtime = StartTurned("1x2x2", Options());
  EXPECT_TRUE(runtime->Drain({"host0"}).ok());
  const auto refused = runtime->Load(MakePlanData(CountPlan(), {}));
  EXPECT_THAT(refused.status().message(),
              HasSubstr("island0/host0/device0, which is drained"));
  LoadOptions load;
  load.place = LoadPlace::kPresent;
  const auto program = runtime->Load(MakePlanData(CountPlan(), {}), load);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(UsedOf(*runtime), ElementsAre(false, false, true, true));
  std::vector<std::string> events;
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRebind;
  options.checkpoint_every = 1;
  options.on_event = [&](const std::string& what) { events.push_back(what); };
  for (const int moves : {0, 1, 0}) {
    LaunchArguments arguments;
    arguments.emplace_back(Floats({2}, {1, 2}));
    auto results =
        runtime->RunToEnd(*program, std::move(arguments), 6, options);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->report.moves, moves);
    EXPECT_EQ(events.size(), static_cast<size_t>(moves));
    events.clear();
    const auto last = runtime->Get(results->arrays[0]);
    ASSERT_TRUE(last.ok());
    EXPECT_THAT(Values(*last), ElementsAre(7, 8));
    if (moves == 0) EXPECT_TRUE(runtime->Undrain({"host0"}).ok());
  }
  EXPECT_THAT(UsedOf(*runtime), ElementsAre(true, true, false, false));
}

// Two wait for the same host; one of them undoes it.
TEST(DrainThreadsTest, UndoneWhileSomebodyWaits) {
  auto runtime = Start("1x2x2", ClusterOptions());
  LoadPlan(*runtime, DoublePlan("p"));
  absl::Status waited;
  std::thread thread([&] { waited = runtime->Drain({"host0"}); });
  while (true) {
    const auto away = runtime->AwayDevices();
    ASSERT_TRUE(away.ok());
    if ((*away)[0]) break;
  }
  EXPECT_TRUE(runtime->Undrain({"island0/host0/device1"}).ok());
  thread.join();
  EXPECT_EQ(waited,
            absl::CancelledError("island0/host0/device1 is no longer drained"));
}

}  // namespace
}  // namespace pathways::testing
