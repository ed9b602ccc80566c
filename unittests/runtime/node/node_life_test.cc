//===- node_life_test.cc - Processes that come and go ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/client/runtime_test_support.h"
#include "unittests/runtime/node/node_cluster.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

// A worker for each of these hosts of "2x2x2".
class NodeLifeTest : public ::testing::Test {
 protected:
  NodeLifeTest() { cluster_.kernels = &Kernels(); }

  void Begin() {
    for (const char* host : {"host0", "host1", "host2", "host3"}) {
      cluster_.Add({host});
    }
    ClusterOptions options;
    options.kernels = &Kernels();
    options.workers = 2;
    const absl::Status begun = cluster_.Begin(options);
    ASSERT_TRUE(begun.ok()) << begun;
  }
  static std::unique_ptr<Client> Connect(Cluster& cluster,
                                         const std::string& name) {
    auto client = cluster.Connect(name);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  static std::vector<float> Run(Client& client) {
    const ProgramHandle program = LoadPlan(client, GoldenPlan(kThreeHosts));
    const RunHandle run =
        LaunchPlan(client, program, {Floats({2}, {0.1f, 0.7f})}, 200);
    std::vector<float> values = FetchValues(client, run, "y");
    for (float z : FetchValues(client, run, "z")) values.push_back(z);
    return values;
  }
  static uint64_t Programs(Client& client) {
    auto stats = client.Stats();
    EXPECT_TRUE(stats.ok()) << stats.status();
    return stats->programs;
  }

  NodeCluster cluster_{"2x2x2"};
};

TEST_F(NodeLifeTest, ClientsOfOtherProcessesHaveTheSameBits) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  auto near = Connect(cluster_.cluster(), "near");
  const std::vector<float> expected = Run(*near);
  ASSERT_EQ(expected.size(), 4u);
  Cluster& one = cluster_.AddClients();
  Cluster& other = cluster_.AddClients();
  EXPECT_EQ(one.topology().num_hosts(), 4);
  auto first = Connect(one, "first");
  auto second = Connect(other, "second");
  EXPECT_EQ(Run(*first), expected);
  EXPECT_EQ(Run(*second), expected);
  auto taken = one.Connect("near");
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(NodeLifeTest, WhatAClientHadGoesWithItsProcess) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  auto near = Connect(cluster_.cluster(), "near");
  const std::vector<float> expected = Run(*near);
  const uint64_t programs = Programs(*near);
  Cluster& far = cluster_.AddClients();
  auto gone = Connect(far, "c");
  (void)Run(*gone);
  // Endless, as far as this test goes; and one that keeps an array.
  const ProgramHandle program = LoadPlan(*gone, GoldenPlan(kThreeHosts));
  (void)LaunchPlan(*gone, program, {Floats({2}, {0.1f, 0.7f})}, 1'000'000'000);
  EXPECT_EQ(Programs(*near), programs + 2);
  cluster_.Cut(4);
  EXPECT_EQ(cluster_.End(4).code(), absl::StatusCode::kAborted);
  cluster_.AwaitNote("client process 5 is gone");
  // Its name is free when its programs are.
  auto next = Connect(cluster_.cluster(), "c");
  EXPECT_EQ(Programs(*near), programs);
  EXPECT_EQ(Run(*near), expected);
  EXPECT_EQ(Run(*next), expected);
}

TEST_F(NodeLifeTest, CallsEndWithTheController) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  Cluster& far = cluster_.AddClients();
  auto client = Connect(far, "c");
  const ProgramHandle program = LoadPlan(*client, GoldenPlan(kThreeHosts));
  const RunHandle run =
      LaunchPlan(*client, program, {Floats({2}, {0.1f, 0.7f})}, 1'000'000'000);
  cluster_.End();
  const absl::Status ended = client->Await(run);
  EXPECT_EQ(ended.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(ended.message(),
              ::testing::AllOf(
                  HasSubstr("the controller at 'local:controller' is gone"),
                  ::testing::EndsWith(" [PW7106]")));
}

// Two workers that live, and cannot reach each other: one of them has to go,
// whichever of the two says so.
TEST_F(NodeLifeTest, ACutLinkCostsOneOfItsEnds) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  auto client = Connect(cluster_.cluster(), "c");
  (void)Run(*client);
  cluster_.process(1).links().Unlink(4);
  EXPECT_EQ(cluster_.AwaitNote("the worker of 'host3' is gone"),
            "the worker of 'host3' is gone: its link with the worker of "
            "'host1' broke: the other side closed the connection");
  EXPECT_EQ(cluster_.End(3).code(), absl::StatusCode::kCancelled);
}

TEST_F(NodeLifeTest, AKernelThatDoesNotReturnCostsItsWorker) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  auto client = Connect(cluster_.cluster(), "c");
  const std::vector<float> expected = Run(*client);
  MembershipInbox& inbox = cluster_.process().inbox();
  inbox.GetStuck(2, 2, absl::DeadlineExceededError("of another life"));
  inbox.GetStuck(2, 1, absl::DeadlineExceededError("'k' hangs"));
  EXPECT_EQ(cluster_.AwaitNote("the worker of 'host1' is gone"),
            "the worker of 'host1' is gone: 'k' hangs");
  EXPECT_EQ(
      cluster_.End(1),
      absl::CancelledError("the controller refused this process: the worker of "
                           "'host1' was dropped: 'k' hangs"));
  cluster_.Add({"host1"});
  cluster_.AwaitNote("the worker of 'host1' has joined");
  // Told again, as hosts do.
  inbox.GetStuck(2, 1, absl::DeadlineExceededError("'k' hangs"));
  EXPECT_EQ(Run(*client), expected);
}

// The end of a link of who was there before says nothing of who is there now.
TEST_F(NodeLifeTest, ALinkOfAnotherLifeThatBreaksCostsNobody) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  auto client = Connect(cluster_.cluster(), "c");
  cluster_.Cut(1);
  EXPECT_EQ(cluster_.End(1).code(), absl::StatusCode::kAborted);
  cluster_.AwaitNote("the worker of 'host1' is gone");
  cluster_.Add({"host1"});
  cluster_.AwaitNote("the worker of 'host1' has joined");
  cluster_.ForgetNotes();
  cluster_.process(0).inbox().Go(PeerId{1'000'000}, 2,
                                 absl::UnavailableError("late"));
  // Heard by the first worker after that, and reported.
  cluster_.process(3).links().Unlink(1);
  cluster_.AwaitNote(
      "the worker of 'host0' has no link with the worker of 'host3'");
  EXPECT_FALSE(cluster_.Noted("has no link with the worker of 'host1'"));
}

TEST_F(NodeLifeTest, AWorkerTakesThePlaceOfOneThatIsGone) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  auto near = Connect(cluster_.cluster(), "near");
  auto far = Connect(cluster_.AddClients(), "far");
  const std::vector<float> expected = Run(*near);
  for (uint32_t life = 2; life < 5; ++life) {
    const size_t gone = life == 2 ? 1 : life + 2;
    cluster_.Cut(gone);
    EXPECT_EQ(cluster_.End(gone).code(), absl::StatusCode::kAborted);
    cluster_.AwaitNote("the worker of 'host1' is gone");
    const auto refused = far->Load(MakePlanData(GoldenPlan(kThreeHosts), {}));
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(refused.status().message(), HasSubstr("host1"));
    cluster_.Add({"host1"});
    cluster_.AwaitNote("the worker of 'host1' has joined");
    EXPECT_EQ(Run(*near), expected);
    EXPECT_EQ(Run(*far), expected);
    cluster_.ForgetNotes();
  }
}

// A cluster that begins with two of its four hosts.
TEST(LateHostsTest, HostsComeWhenTheyLike) {
  NodeCluster cluster("2x2x2", /*min_hosts=*/2);
  cluster.kernels = &Kernels();
  ClusterOptions options;
  options.kernels = &Kernels();
  cluster.Add({"host0"});
  cluster.Add({"host3"});
  const absl::Status begun = cluster.Begin(options);
  ASSERT_TRUE(begun.ok()) << begun;
  EXPECT_EQ(cluster.AwaitNote("hosts have joined"),
            "2 of 4 hosts have joined; 'host1', 'host2' may join later");
  Cluster& elsewhere = cluster.AddClients();
  auto near = *cluster.cluster().Connect("near");
  auto far = *elsewhere.Connect("far");
  const auto plan = MakePlanData(GoldenPlan(kThreeHosts), {});
  const auto refused = far->Load(plan);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refused.status().message(), HasSubstr("host1"));
  // The program lacks as many devices where it must not share them.
  EXPECT_EQ(far->Load(plan, {.place = LoadPlace::kPresent}).status(),
            refused.status());
  const auto crowded =
      far->Load(plan, {.place = LoadPlace::kPresent, .oversubscribe = true});
  ASSERT_TRUE(crowded.ok()) << crowded.status();
  // One with both is not what the others were told of.
  cluster.Add({"host1", "host2"});
  EXPECT_EQ(cluster.End(3).message(),
            "the controller refused this process: the cluster began without a "
            "worker for 'host1'; a worker that joins later must have only that "
            "host, but this worker has 'host1', 'host2'");
  // Somebody waits for them.
  absl::StatusOr<ProgramHandle> waits = absl::UnknownError("not called");
  std::thread loads([&] { waits = far->Load(plan, {.await_devices = true}); });
  cluster.Add({"host2"});
  cluster.AwaitNote("the worker of 'host2' has joined");
  cluster.Add({"host1"});
  loads.join();
  ASSERT_TRUE(waits.ok()) << waits.status();
  const auto run = [](Client& client, ProgramHandle program) {
    const RunHandle run =
        LaunchPlan(client, program, {Floats({2}, {0.1f, 0.7f})}, 200);
    return FetchValues(client, run, "y");
  };
  const std::vector<float> expected =
      run(*near, LoadPlan(*near, GoldenPlan(kThreeHosts)));
  EXPECT_EQ(expected.size(), 2u);
  EXPECT_EQ(run(*far, *waits), expected);
  EXPECT_EQ(run(*far, *crowded), expected);
  // They go, and come again, like all others.
  cluster.Cut(4);
  cluster.AwaitNote("the worker of 'host2' is gone");
  cluster.ForgetNotes();
  cluster.Add({"host2"});
  cluster.AwaitNote("the worker of 'host2' has joined");
  EXPECT_EQ(run(*near, LoadPlan(*near, GoldenPlan(kThreeHosts))), expected);
}

// Workers without names are there from the beginning on, come later, and take
// the places of those that are gone.
TEST(LateHostsTest, AnyHostTakesAPlaceThatIsFree) {
  NodeCluster cluster("2x2x2", /*min_hosts=*/2);
  cluster.kernels = &Kernels();
  ClusterOptions options;
  options.kernels = &Kernels();
  cluster.Add({}, "island1");
  cluster.Add({"host0"});
  const absl::Status begun = cluster.Begin(options);
  ASSERT_TRUE(begun.ok()) << begun;
  EXPECT_EQ(cluster.AwaitNote("hosts have joined"),
            "2 of 4 hosts have joined; 'host1', 'host3' may join later");
  EXPECT_THAT(cluster.member(0).hosts(), ::testing::ElementsAre("host2"));
  cluster.Add({}, "");
  cluster.AwaitNote("the worker of 'host1' has joined");
  cluster.Add({}, "");
  cluster.AwaitNote("the worker of 'host3' has joined");
  // More wait, for any or for one of an island, whoever stands first.
  cluster.Add({}, "island0");
  cluster.Add({}, "");
  cluster.AwaitNote(
      "a worker waits as a spare: every host of island 'island0' already has a "
      "worker");
  cluster.AwaitNote(
      "a worker waits as a spare: every host of the cluster already has a "
      "worker");
  auto client = *cluster.cluster().Connect("c");
  const auto run = [&] {
    const RunHandle run =
        LaunchPlan(*client, LoadPlan(*client, GoldenPlan(kThreeHosts)),
                   {Floats({2}, {0.1f, 0.7f})}, 200);
    return FetchValues(*client, run, "y");
  };
  const std::vector<float> expected = run();
  cluster.ForgetNotes();
  cluster.Cut(0);
  cluster.AwaitNote("the worker of 'host2' is gone");
  cluster.AwaitNote("the worker of 'host2' has joined");
  EXPECT_THAT(cluster.member(5).hosts(), ::testing::ElementsAre("host2"));
  EXPECT_EQ(run(), expected);
  cluster.ForgetNotes();
  cluster.Cut(2);
  cluster.AwaitNote("the worker of 'host1' is gone");
  cluster.AwaitNote("the worker of 'host1' has joined");
  EXPECT_THAT(cluster.member(4).hosts(), ::testing::ElementsAre("host1"));
  EXPECT_EQ(run(), expected);
}

// One that goes before all are here leaves its place to a spare. (Either may
// have been the first.)
TEST(LateHostsTest, ASpareComesBeforeAllAreHere) {
  NodeCluster cluster("2x1x1");
  std::thread comes([&] {
    cluster.Add({}, "island0");
    cluster.Add({}, "island0");
    cluster.AwaitNote("a worker waits as a spare");
    cluster.Cut(0);
    cluster.End(0).IgnoreError();
    cluster.Add({"host1"});
  });
  const absl::Status begun = cluster.Begin();
  comes.join();
  ASSERT_TRUE(begun.ok()) << begun;
  EXPECT_THAT(cluster.member(1).hosts(), ::testing::ElementsAre("host0"));
}

// Bytes of plans that came to the worker of all hosts of a cluster, where the
// golden program ran, and its controller died.
uint64_t BytesOfALife(const std::string& topology, KeptPlans* plans) {
  NodeCluster cluster(topology);
  cluster.kernels = &Kernels();
  cluster.plans = plans;
  cluster.Add({"host0", "host1", "host2", "host3"});
  ClusterOptions options;
  options.kernels = &Kernels();
  EXPECT_TRUE(cluster.Begin(options).ok());
  auto client = cluster.cluster().Connect("c");
  EXPECT_TRUE(client.ok()) << client.status();
  const ProgramHandle program = LoadPlan(**client, GoldenPlan(kThreeHosts));
  const RunHandle run =
      LaunchPlan(**client, program, {Floats({2}, {0.1f, 0.7f})}, 5);
  EXPECT_EQ(FetchValues(**client, run, "y").size(), 2u);
  auto stats = (*client)->Stats();
  EXPECT_TRUE(stats.ok()) << stats.status();
  cluster.End();
  EXPECT_EQ(cluster.End(0).code(), absl::StatusCode::kCancelled);
  return stats->plan_bytes_received;
}

TEST(KeptPlansTest, TheNextControllerMovesNoCode) {
  KeptPlans plans;
  const uint64_t bytes = BytesOfALife("2x2x2", &plans);
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(BytesOfALife("2x2x2", &plans), 0u);
  EXPECT_EQ(BytesOfALife("2x2x2", &plans), 0u);
  // Other machines, whatever they have in common.
  EXPECT_EQ(BytesOfALife("2x2x3", &plans), bytes);
  EXPECT_EQ(BytesOfALife("2x2x2", &plans), bytes);
}

TEST_F(NodeLifeTest, WhoComesTooLateIsToldWhy) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  cluster_.Add({"host2"});
  EXPECT_EQ(cluster_.End(4).message(),
            "the controller refused this process: another worker has 'host2' "
            "[PW7104]");
  cluster_.Cut(2);
  cluster_.AwaitNote("the worker of 'host2' is gone");
  cluster_.Add({"host1", "host2"});
  EXPECT_EQ(cluster_.End(5).code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace pathways::testing
