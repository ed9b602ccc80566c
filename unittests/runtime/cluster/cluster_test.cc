//===- cluster_test.cc - Actors of a process, and admission of clients ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/cluster.h"

#include <memory>
#include <vector>

#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

class ClusterTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ClusterTest, BothWorlds(), WorldName);

TEST_P(ClusterTest, RefusesWhatIsOutOfRange) {
  ClusterOptions options = Options();
  options.trace_events = -1;
  EXPECT_EQ(
      Cluster::Create(MakeCluster("1x1x1"), options).status(),
      absl::InvalidArgumentError("trace_events is -1, expected at least 0"));
  EXPECT_EQ(Cluster::Create(proto::Cluster(), Options()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(ClusterTest, RefusesADirectoryOfAnotherCluster) {
  ProcessPart part;
  part.directory = Directory({0}, std::vector<HostLocation>(2));
  EXPECT_EQ(Cluster::Create(MakeCluster("1x1x1"), Options(), part).status(),
            absl::InvalidArgumentError("a directory of 1 islands and 2 hosts, "
                                       "expected 1 and 1"));
}

TEST_P(ClusterTest, ANameIsOneClients) {
  auto runtime = Start("1x1x2", Options());
  EXPECT_EQ(runtime->name(), "client0");
  EXPECT_EQ(runtime.cluster().Connect("client0").status(),
            absl::AlreadyExistsError(
                "another client has the name 'client0' [PW6110]"));
  std::unique_ptr<Client> other = runtime.Connect("other");
  other.reset();
  EXPECT_EQ(runtime.Connect("other")->name(), "other");
}

TEST_P(ClusterTest, ThereArePlacesForSoMany) {
  auto runtime = Start("1x1x2", Options());
  std::vector<std::unique_ptr<Client>> clients;
  for (uint32_t i = 1; i < kMaxProcessClients; ++i) {
    clients.push_back(runtime.Connect(absl::StrCat("client", i)));
  }
  EXPECT_EQ(runtime.cluster().Connect("late").status(),
            absl::ResourceExhaustedError(
                "cannot add client 'late': the cluster already has 128 "
                "clients, which is the limit"));
  clients.front().reset();
  // Its place is free when the controller has said so, which this waits for.
  StatsOf(*runtime);
  EXPECT_EQ(runtime.Connect("late")->name(), "late");
}

TEST_P(ClusterTest, NothingWaitsAfterShutdown) {
  auto runtime = Start("1x2x1", Options());
  runtime.Shutdown();
  EXPECT_EQ(runtime.cluster().Connect("late").status(),
            absl::CancelledError("the runtime was shut down"));
  EXPECT_EQ(runtime->Stats().status().code(), absl::StatusCode::kCancelled);
}

TEST_P(ClusterTest, ANameIsFreeAgainWhenItsClientWasClosed) {
  auto runtime = Start("1x2x1", Options());
  for (int i = 0; i < 100; ++i) runtime.Reconnect();
  EXPECT_EQ(StatsOf(*runtime).programs, 0u);
}

TEST_P(ClusterTest, CountsFirings) {
  auto runtime = Start("2x2x2", Options());
  EXPECT_EQ(runtime.cluster().firings(), 0u);
  RunGoldenTwice(*runtime);
  EXPECT_EQ(runtime.cluster().firings(), StatsOf(*runtime).firings);
  EXPECT_GT(runtime.cluster().firings(), 0u);
}

TEST_P(ClusterTest, EndsWhateverIsUnderWay) {
  auto runtime = Start("2x2x2", Options());
  const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 1'000'000'000);
}

// The message of a connecting client may overtake the one that says that the
// last client of its name left.
TEST(ClusterFaultTest, ANameIsFreeWhateverOvertakesWhat) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    auto runtime = Start("1x2x1", options);
    for (int i = 0; i < 5; ++i) runtime.Reconnect();
  }
}

}  // namespace
}  // namespace pathways::testing
