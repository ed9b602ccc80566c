//===- sim_cluster_test.cc - Hosts of a simulation go and come ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/sim_cluster.h"

#include <memory>
#include <string>

#include "google/protobuf/text_format.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<SimCluster> Open(const std::string& faults,
                                 ClusterOptions options = Sim()) {
  options.kernels = &Kernels();
  SimCluster::Parts parts;
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(faults, &parts.faults));
  absl::StatusOr<std::unique_ptr<SimCluster>> made =
      SimCluster::Create(MakeCluster("2x2x2"), options, std::move(parts));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

std::unique_ptr<Client> ClientOf(SimCluster& cluster) {
  absl::StatusOr<std::unique_ptr<Client>> client =
      cluster.front().Connect("client0");
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

TEST(SimClusterTest, HostsRunInProcessesOfTheirOwn) {
  const auto cluster = Open("");
  const auto client = ClientOf(*cluster);
  RunGoldenTwice(*client);
  EXPECT_EQ(StatsOf(*client).processes.size(), 5u);
}

TEST(SimClusterTest, AHostComesAgainAndRuns) {
  const auto cluster = Open(R"(
    faults {
      at_seconds: 0.001
      crash { host: "host1" restart_after_seconds: 0.001 }
    })");
  const auto client = ClientOf(*cluster);
  const ProgramHandle program = LoadPlan(*client, GoldenPlan(kThreeHosts));
  cluster->world().RunFor(1'500'000);
  EXPECT_EQ(
      client->Load(MakePlanData(GoldenPlan(kThreeHosts), {})).status(),
      absl::UnavailableError(
          "program 'golden' needs host1, which is gone (epoch 1) [PW4101]"));
  cluster->world().RunFor(1'500'000);
  EXPECT_EQ(cluster->EpochOf(1), 2u);
  EXPECT_TRUE(client->Unload(program).ok());
  RunGoldenTwice(*client);
}

TEST(SimClusterTest, AFullStoreRefusesLaunchesUntilItIsNot) {
  const auto cluster = Open(R"(
    faults {
      at_seconds: 0.001
      for_seconds: 0.001
      full_store { host: "host1" bytes: 1 }
    })");
  const auto client = ClientOf(*cluster);
  const ProgramHandle program = LoadPlan(*client, GoldenPlan(kThreeHosts));
  cluster->world().RunFor(1'000'000);
  const RunHandle run = LaunchPlan(*client, program, {Floats({2}, {1, 2})});
  const absl::Status status = client->Await(run);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("host1"));
  EXPECT_TRUE(client->Unload(program).ok());
  cluster->world().RunFor(2'000'000);
  RunGoldenTwice(*client);
}

TEST(SimClusterTest, ADeadClientEndsItsProcess) {
  const auto cluster = Open(R"(
    faults { at_control: 20 client_death { client: "client0" } })");
  const auto client = ClientOf(*cluster);
  EXPECT_EQ(client->Load(MakePlanData(GoldenPlan(kThreeHosts), {})).status(),
            absl::UnavailableError("client 'client0' has died"));
}

// A cluster and a process of a client, "client0".
struct Apart {
  explicit Apart(const std::string& faults) {
    SimCluster::Parts parts;
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(faults, &parts.faults));
    parts.on_client_death = [this](const std::string& name,
                                   const absl::Status& why) {
      EXPECT_EQ(name, "client0");
      process->Shutdown(why);
    };
    ClusterOptions options = Sim();
    options.kernels = &Kernels();
    cluster =
        SimCluster::Create(MakeCluster("2x2x2"), options, std::move(parts))
            .value();
    process = cluster
                  ->OpenClients(0, "client0",
                                [](std::shared_ptr<World> w) { return w; })
                  .value();
    client = process->Connect("client0").value();
  }

  std::unique_ptr<SimCluster> cluster;
  std::unique_ptr<Cluster> process;
  std::unique_ptr<Client> client;
};

// Messages of a client to the controller take time, arrive twice and out of
// order, and are held up. The only effect is that everything takes longer.
TEST(SimClusterTest, ConnectionsOfClientsMayBeBad) {
  Apart quiet("");
  RunGoldenTwice(*quiet.client);
  Apart bad(R"(
    faults { bad_link { some: "clients" others: "controller"
                        controls { drop: 0.2 duplicate: 0.5 reorder: 0.5 } } }
    faults { at_seconds: 1e-4 for_seconds: 1e-2
             partition { some: "client:client0" } }
    faults { at_seconds: 3e-4 for_seconds: 1e-2 pause { host: "clients" } })");
  RunGoldenTwice(*bad.client);
  EXPECT_GT(bad.cluster->world().stats().duplicated, 5u);
  EXPECT_GT(bad.cluster->world().stats().reordered, 5u);
  EXPECT_GT(bad.cluster->world().Now(), 10'000'000);
  EXPECT_LT(quiet.cluster->world().Now(), 10'000'000);
}

TEST(SimClusterTest, AConnectionThatIsCutForGoodEnds) {
  Apart cut(R"(
    faults { at_control: 20
             partition { some: "client:client0" others: "controller" } })");
  EXPECT_EQ(
      cut.client->Load(MakePlanData(GoldenPlan(kThreeHosts), {})).status(),
      absl::CancelledError("the controller is gone: the connection with it has "
                           "ended [PW7106]"));
}

TEST(SimClusterTest, FaultsNeedASimulation) {
  ClusterOptions options;
  options.faults = "jumbled";
  EXPECT_EQ(OpenSimulation(MakeCluster("1x1x1"), options).status(),
            absl::InvalidArgumentError(
                "faults can only be injected in a simulation"));
}

TEST(SimClusterTest, PresetsByName) {
  ClusterOptions options = Sim();
  options.kernels = &Kernels();
  options.faults = "jumbled";
  const auto cluster = OpenSimulation(MakeCluster("2x2x2"), options);
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  absl::StatusOr<std::unique_ptr<Client>> client =
      (*cluster)->Connect("client0");
  ASSERT_TRUE(client.ok());
  EXPECT_GT(RunGoldenTwice(**client), 0u);
}

}  // namespace
}  // namespace pathways::testing
