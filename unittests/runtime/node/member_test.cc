//===- member_test.cc - Joining of workers --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "runtime/base/steady_time.h"
#include "runtime/node/refusal.h"
#include "unittests/runtime/node/node_cluster.h"

namespace pathways {
namespace {

TEST(MemberTest, WorkersComeTogetherAndEndWithTheController) {
  NodeCluster cluster("1x6x1");
  cluster.Add({"host4", "host5"});
  cluster.Add({"host0"});
  cluster.Add({"host2", "host1"});
  cluster.Add({"host3"});
  const absl::Status begun = cluster.Begin();
  ASSERT_TRUE(begun.ok()) << begun;
  auto client = cluster.cluster().Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  // Of all processes.
  auto stats = (*client)->Stats();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->hosts.size(), 6u);
  client->reset();
  cluster.End();
  for (size_t worker = 0; worker < 4; ++worker) {
    EXPECT_EQ(cluster.End(worker).code(), absl::StatusCode::kCancelled)
        << cluster.End(worker);
  }
}

TEST(MemberTest, WhoHasNoPlaceIsToldWhy) {
  NodeCluster cluster("1x2x1");
  cluster.Add({"elsewhere"});
  absl::Status refused;
  std::thread others([&] {
    refused = cluster.End(0);
    cluster.Add({"host1"});
    cluster.Add({"host0"});
  });
  const absl::Status begun = cluster.Begin();
  others.join();
  ASSERT_TRUE(begun.ok()) << begun;
  EXPECT_EQ(refused.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(refused.message(),
            "the controller refused this process: the cluster has no host "
            "'elsewhere'; it "
            "has 'host0' and 1 more [PW7103]");
}

TEST(MemberTest, WhoDoesNotComeIsNamed) {
  NodeCluster cluster("1x7x1");
  const auto members = cluster.coordinator().AwaitHosts(SteadyTime::Now());
  EXPECT_EQ(members.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(members.status().message(),
            "no worker has joined for 'host0', 'host1', 'host2', 'host3' and 3 "
            "more [PW7105]");
}

TEST(MemberTest, ABeginningWithMoreHostsThanThereAreIsRefused) {
  NodeCluster cluster("1x2x1", /*min_hosts=*/3);
  const auto members = cluster.coordinator().AwaitHosts(SteadyTime::Now());
  EXPECT_EQ(members.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(members.status().message(),
            "the cluster waits for 3 hosts to begin, but has 2 [PW7107]");
}

// The worker of host0, and whoever it takes for the controller.
class LoneMemberTest : public ::testing::Test {
 protected:
  LoneMemberTest() {
    MemberOptions options;
    options.connect = "local:controller";
    options.listen = {"local:me"};
    options.hosts = {"host0"};
    auto member = Member::Create(options, Factory());
    EXPECT_TRUE(member.ok()) << member.status();
    member_ = *std::move(member);
  }
  // Returns how a worker joins if that is the only answer of the controller.
  absl::Status JoinAfter(const proto::Membership& answer) {
    auto controller = Process::Create(Factory());
    EXPECT_TRUE(controller.ok()) << controller.status();
    EXPECT_TRUE((*controller)->transport().Listen("local:controller").ok());
    std::thread answers([&] {
      auto hello = (*controller)->inbox().Next(NodeCluster::Soon());
      ASSERT_TRUE(hello.ok() && hello->has_value());
      (*controller)->Send((*hello)->peer, answer);
    });
    const absl::Status joined = member_->Join();
    answers.join();
    return joined;
  }

  TransportFactory Factory() {
    return [this](TransportEvents* events)
               -> absl::StatusOr<std::unique_ptr<Transport>> {
      return std::make_unique<PolledTransport>(
          MakeInProcessTransport(network_, {}, events));
    };
  }

  const std::shared_ptr<InProcessNetwork> network_ =
      std::make_shared<InProcessNetwork>();
  std::unique_ptr<Member> member_;
};

TEST_F(LoneMemberTest, WithoutAControllerThereIsAnErrorAtOnce) {
  EXPECT_EQ(member_->Join().code(), absl::StatusCode::kUnavailable);
}

TEST_F(LoneMemberTest, WhoIsRefusedIsNeverIn) {
  EXPECT_EQ(JoinAfter(MakeRefusal(absl::OkStatus())),
            absl::UnknownError("the controller refused this process: "));
}

TEST_F(LoneMemberTest, TimeHasToPassBetweenTwoQuestions) {
  proto::Membership answer;
  proto::Welcome& welcome = *answer.mutable_welcome();
  welcome.set_process(1);
  *welcome.mutable_cluster() = *ReadTopology("1x1x1");
  welcome.add_members()->set_process(1);
  welcome.set_lost_ns(1'000'000);
  EXPECT_EQ(
      JoinAfter(answer),
      absl::InvalidArgumentError(
          "the controller asks for a ping every 0 and a timeout of 1ms, "
          "expected a positive interval and a timeout that is not shorter"));
}

TEST_F(LoneMemberTest, WhoIsLostWasAskedBefore) {
  proto::Membership answer;
  answer.mutable_welcome()->set_ping_ns(2'000'000);
  answer.mutable_welcome()->set_lost_ns(1'000'000);
  EXPECT_EQ(
      JoinAfter(answer),
      absl::InvalidArgumentError(
          "the controller asks for a ping every 2ms and a timeout of 1ms, "
          "expected a positive interval and a timeout that is not shorter"));
}

}  // namespace
}  // namespace pathways
