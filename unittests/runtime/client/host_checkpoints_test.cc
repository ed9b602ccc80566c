//===- host_checkpoints_test.cc - Checkpoints of a run on other hosts -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/host_checkpoints.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/client/recurrence.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

std::vector<uint64_t> ArrayBytes(Client& client) {
  std::vector<uint64_t> bytes;
  for (const auto& host : StatsOf(client).hosts) {
    bytes.push_back(host.object_bytes);
  }
  return bytes;
}

// When its last program is unloaded.
void ExpectNothingAfter(Client& client, ProgramHandle program) {
  EXPECT_TRUE(client.Unload(program).ok());
  EXPECT_EQ(StatsOf(client).programs, 0u);
  for (uint64_t left : ArrayBytes(client)) EXPECT_EQ(left, 0u);
}

absl::StatusOr<RecoveredResults> RunAll(Client& client, ProgramHandle program,
                                        const RecoveryOptions& options) {
  return client.RunToEnd(program, Values3().Arguments(), kSteps, options);
}

RecoveryOptions OnHosts(int64_t every) {
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRebind;
  options.checkpoint_every = every;
  options.checkpoints_on_hosts = true;
  return options;
}

class HostCheckpointsTest : public InWorldTest {
 protected:
  // Returns the value of w after all steps, on the hosts of the program.
  static ArrayHandle Advance(Client& client, ProgramHandle program) {
    auto run = client.Launch(program, Values3().Arguments(), kSteps);
    EXPECT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(client.Await(*run).ok());
    auto w = client.Keep(*run, 0);
    EXPECT_TRUE(w.ok()) << w.status();
    EXPECT_TRUE(client.ReleaseRun(*run).ok());
    return *w;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, HostCheckpointsTest, BothWorlds(), WorldName);

TEST_P(HostCheckpointsTest, CopiesAreOnOtherHosts) {
  // One other host of the island; two of another island.
  const std::pair<const char*, std::vector<uint64_t>> cases[] = {
      {"1x3x1", {4, 4, 8}}, {"2x2x1", {4, 4, 4, 4}}};
  for (const auto& [topology, bytes] : cases) {
    SCOPED_TRACE(topology);
    auto runtime = Start(topology, Options());
    const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
    const ArrayHandle w = Advance(*runtime, program);
    {
      const Topology devices = *Topology::Create(MakeCluster(topology));
      HostCheckpoints checkpoints(
          &*runtime, &devices, [] { return false; }, program);
      ASSERT_EQ(checkpoints.Prepare({}), absl::OkStatus());
      // Arguments that are not carried are not looked at.
      const auto copies = checkpoints.Copy({w, {}, {}});
      ASSERT_TRUE(copies.ok()) << copies.status();
      ASSERT_EQ(copies->size(), 3u);
      EXPECT_EQ(ArrayBytes(*runtime), bytes);
      EXPECT_EQ((*copies)[1].id, 0u);
      EXPECT_TRUE(runtime->Release(w).ok());
      const auto back = runtime->Get((*copies)[0]);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(Values(*back), Values3().After(kSteps));
      EXPECT_TRUE(runtime->Release((*copies)[0]).ok());
    }
    ExpectNothingAfter(*runtime, program);
  }
}

TEST_P(HostCheckpointsTest, ARunHasItsCutsThere) {
  auto runtime = Start("1x3x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  for (int64_t every : {1, 3, 10}) {
    auto results = RunAll(*runtime, program, OnHosts(every));
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->report.checkpoints, (kSteps - 1) / every);
    EXPECT_EQ(results->report.checkpoint_bytes, every < kSteps ? 8u : 0u);
    ExpectRight(*runtime, *results);
  }
  ExpectNothingAfter(*runtime, program);
}

TEST_P(HostCheckpointsTest, WithoutAnotherHostThereAreNone) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  RecoveryOptions options = OnHosts(2);
  EXPECT_EQ(RunAll(*runtime, program, options).status(),
            absl::ResourceExhaustedError(
                "a checkpoint of program 'p' needs a host with 'cpu' devices "
                "that the "
                "program is not on; it is on 2 of 2 [PW4107]"));
  options.checkpoint_dir = "somewhere";
  EXPECT_EQ(
      RunAll(*runtime, program, options).status(),
      absl::InvalidArgumentError("checkpoints cannot be kept both on hosts and "
                                 "in a folder, got folder 'somewhere'"));
}

// Devices of the other host have memory for checkpoints from the beginning on.
TEST_P(HostCheckpointsTest, MemoryForThemIsTakenBefore) {
  auto runtime = Start("1x3x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, RecurrencePlan("p"));
  auto other = runtime.Connect("other");
  const auto slice = other->ReserveSlice({}, {});
  ASSERT_TRUE(slice.ok()) << slice.status();
  RecoveryOptions options = OnHosts(2);
  options.load.wait_ns = 0;
  const absl::Status refused = RunAll(*runtime, program, options).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("program 'checkpoint of p' needs "),
                    HasSubstr("island0/host2/device0"),
                    HasSubstr("slice 'slice' of client 'other'")));
}

std::string Crash(const std::string& host, uint64_t control, bool restarts) {
  return absl::StrCat("faults { at_control: ", control, " crash { host: '",
                      host, "' noticed_after_seconds: 1e-4 ",
                      restarts ? "restart_after_seconds: 0.01" : "", "} }");
}

// A host of the program ends at any time, or one of the checkpoints, or both.
TEST(HostCheckpointsLossTest, ACutOutlivesTheHostsOfItsProgram) {
  int losses = 0, checkpoints_lost = 0;
  for (uint64_t control = 60; control < 420; control += 2) {
    SCOPED_TRACE(absl::StrCat("control message ", control));
    const bool both = control % 3 == 0, restarts = control % 4 == 0;
    std::string faults;
    if (control % 3 != 2) faults += Crash("host1", control, restarts);
    if (control % 3 != 1) faults += Crash("host3", control + both, restarts);
    const auto cluster = Open(faults, control, "1x5x1");
    auto client = cluster->front().Connect("client0");
    ASSERT_TRUE(client.ok());
    absl::StatusOr<ProgramHandle> program =
        (*client)->Load(MakePlanData(RecurrencePlan("p", /*base=*/1), {}));
    if (!program.ok()) continue;
    RecoveryOptions options = OnHosts(2);
    options.on_event = [&](const std::string& what) {
      if (what.find("the checkpoint after step ") != 0) return;
      // Together with a host of the program: it goes on from the beginning.
      EXPECT_TRUE(both) << what;
      EXPECT_THAT(what, HasSubstr(" is lost: "));
      ++checkpoints_lost;
    };
    auto results = RunAll(**client, *program, options);
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectRight(**client, *results);
    losses += static_cast<int>(results->report.losses);
    ExpectNothingAfter(**client, *program);
  }
  EXPECT_GT(losses, 20);
  EXPECT_GT(checkpoints_lost, 5);
}

// The only other host ends, and costs nothing but that.
TEST(HostCheckpointsLossTest, WithoutAnotherHostACutIsWithTheClient) {
  int with_client = 0;
  for (uint64_t control = 60; control < 300; control += 10) {
    SCOPED_TRACE(absl::StrCat("control message ", control));
    const auto cluster =
        Open(Crash("host2", control, /*restarts=*/false), control, "1x3x1");
    auto client = cluster->front().Connect("client0");
    ASSERT_TRUE(client.ok());
    const ProgramHandle program = LoadPlan(**client, RecurrencePlan("p"));
    RecoveryOptions options = OnHosts(2);
    std::vector<std::string> events;
    options.on_event = [&](const std::string& what) { events.push_back(what); };
    auto results = RunAll(**client, program, options);
    if (results.status().code() == absl::StatusCode::kResourceExhausted) {
      continue;  // it ended before the run began
    }
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectRight(**client, *results);
    EXPECT_EQ(results->report.losses, 0);
    EXPECT_EQ(results->report.checkpoints, 4);
    for (const std::string& event : events) {
      EXPECT_THAT(
          event,
          HasSubstr(" is kept in the client: a checkpoint of program 'p' "
                    "needs a host with 'cpu' devices"));
      ++with_client;
    }
  }
  EXPECT_GT(with_client, 10);
}

}  // namespace
}  // namespace pathways::testing
