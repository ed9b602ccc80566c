//===- joining_test.cc - Workers that go while all come together ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/steady_time.h"
#include "runtime/kernel/target.h"
#include "runtime/node/refusal.h"
#include "unittests/runtime/node/node_cluster.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The worker of host1, or of any host, which asks to be in and then does what a
// test says.
class StagedWorker {
 public:
  explicit StagedWorker(NodeCluster* cluster,
                        const proto::Target& machine = HostTarget(),
                        bool any_host = false) {
    const std::string address = any_host ? "local:any" : "local:staged";
    auto process = Process::Create(cluster->Factory());
    EXPECT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
    EXPECT_TRUE(process_->transport().Listen(address).ok());
    auto peer = process_->links().Dial("local:controller", kTestTimeout);
    EXPECT_TRUE(peer.ok()) << peer.status();
    controller_ = *peer;
    proto::MemberHello& hello = *hello_.mutable_member_hello();
    hello.set_version(kProtocolVersion);
    hello.set_epoch(std::string(kEpochBytes, any_host ? 'a' : 'e'));
    if (any_host) {
      hello.mutable_any_host();
    } else {
      hello.add_hosts("host1");
    }
    hello.add_addresses(address);
    *hello.mutable_target() = machine;
    SayHello();
  }
  void SayHello() { Say(hello_); }
  void Say(const proto::Membership& message) {
    process_->Send(controller_, message);
  }
  void SayBytes(const std::string& bytes) {
    process_->links().SendMembership(controller_, bytes);
  }
  // Until another worker dials, or the controller says who is in.
  void Await(proto::Membership::KindCase kind,
             proto::Membership* said = nullptr) {
    while (true) {
      auto next = process_->inbox().Next(NodeCluster::Soon());
      ASSERT_TRUE(next.ok() && next->has_value()) << next.status();
      if ((*next)->said.kind_case() != kind) continue;
      if (said != nullptr) *said = (*next)->said;
      return;
    }
  }
  // Stops the process; to other processes this looks as if it were killed.
  void Die() { process_->Stop(); }

 private:
  std::unique_ptr<Process> process_;
  PeerId controller_{};
  proto::Membership hello_;
};

class JoiningTest : public ::testing::Test {
 protected:
  // The others come; from here on all are there.
  void Start() {
    cluster_.Add({"host0"});
    cluster_.Add({"host2"});
    cluster_.Add({"host3"});
    const absl::Status started = cluster_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  void Link() {
    linking_ = std::thread([this] { linked_ = cluster_.Link(); });
  }
  // Another worker takes the place of host1's; then all have what they need.
  void ExpectAReplacementMakesItWhole() {
    cluster_.AwaitNote("the worker of 'host1' is gone");
    cluster_.Add({"host1"});
    linking_.join();
    ASSERT_TRUE(linked_.ok()) << linked_;
    cluster_.AwaitNote("all 4 hosts have joined");
    for (Cluster* cluster : {&cluster_.cluster(), &cluster_.AddClients()}) {
      auto client = cluster->Connect("c");
      ASSERT_TRUE(client.ok()) << client.status();
      auto stats = (*client)->Stats();
      ASSERT_TRUE(stats.ok()) << stats.status();
      EXPECT_EQ(stats->hosts.size(), 4u);
    }
    cluster_.End();
    for (size_t worker : {0, 1, 2, 3}) {
      EXPECT_THAT(cluster_.End(worker).message(),
                  HasSubstr("the controller at 'local:controller' is gone"));
    }
  }

  NodeCluster cluster_{"1x4x1"};
  absl::Status linked_;
  std::thread linking_;
};

TEST_F(JoiningTest, OneThatGoesBeforeAllAreTold) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  staged.Die();
  Link();
  ExpectAReplacementMakesItWhole();
}

TEST_F(JoiningTest, OneThatGoesBeforeItDials) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  Link();
  ASSERT_NO_FATAL_FAILURE(staged.Await(proto::Membership::kWelcome));
  staged.Die();
  ExpectAReplacementMakesItWhole();
}

TEST_F(JoiningTest, OneThatGoesWhenItIsDialed) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  Link();
  ASSERT_NO_FATAL_FAILURE(staged.Await(proto::Membership::kPeerHello));
  staged.Die();
  ExpectAReplacementMakesItWhole();
}

TEST_F(JoiningTest, OneThatSaysNo) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  Link();
  ASSERT_NO_FATAL_FAILURE(staged.Await(proto::Membership::kWelcome));
  staged.Say(MakeRefusal(absl::ResourceExhaustedError("no threads")));
  EXPECT_EQ(cluster_.AwaitNote("the worker of 'host1' is gone"),
            "the worker of 'host1' is gone: no threads");
  ExpectAReplacementMakesItWhole();
}

// It is refused, and nobody's spare any more.
TEST_F(JoiningTest, ASpareThatSaysHelloAgain) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  Link();
  StagedWorker spare(&cluster_, HostTarget(), /*any_host=*/true);
  cluster_.AwaitNote("a worker waits as a spare");
  spare.SayHello();
  proto::Membership said;
  ASSERT_NO_FATAL_FAILURE(spare.Await(proto::Membership::kRefusal, &said));
  EXPECT_THAT(ReadRefusal(said.refusal()).message(),
              HasSubstr("a process that waits to join sent a second hello"));
  staged.Die();
  ExpectAReplacementMakesItWhole();
}

TEST_F(JoiningTest, ClientsAreToldForWhomTheyWait) {
  StagedWorker staged(&cluster_);
  Mutex mutex;
  std::condition_variable_any changed;
  std::vector<std::string> told;
  MemberOptions options;
  options.connect = "local:controller";
  options.on_waiting = [&](const std::string& whom) {
    MutexLock lock(&mutex);
    told.push_back(whom);
    changed.notify_all();
  };
  const auto await = [&](size_t times) {
    MutexLock lock(&mutex);
    while (told.size() < times) changed.wait(mutex);
    return told.back();
  };
  auto client = Member::Create(std::move(options), cluster_.Factory());
  ASSERT_TRUE(client.ok()) << client.status();
  absl::Status joined;
  std::thread joins([&] { joined = (*client)->Join(); });
  std::thread starts([&] { EXPECT_EQ(cluster_.Start(), absl::OkStatus()); });
  EXPECT_THAT(await(1), HasSubstr("no worker has joined for 'host0'"));
  cluster_.Add({"host3"});
  cluster_.Add({"host2", "host0"});
  starts.join();
  Link();
  ASSERT_NO_FATAL_FAILURE(staged.Await(proto::Membership::kWelcome));
  staged.Die();
  cluster_.AwaitNote("the worker of 'host1' is gone");
  cluster_.Add({"host1"});
  linking_.join();
  joins.join();
  EXPECT_EQ(joined, absl::OkStatus());
  const std::vector<std::string> expected = {
      "the cluster's workers are connecting to each other",
      "no worker has joined for 'host1'",
      "the cluster's workers are connecting to each other"};
  ASSERT_GE(told.size(), 4u);
  EXPECT_EQ(std::vector<std::string>(told.end() - 3, told.end()), expected);
  for (size_t i = 1; i < told.size(); ++i) EXPECT_NE(told[i], told[i - 1]);
  (*client)->Stop();
  (void)(*client)->Serve();
}

// It says that it leaves, and nobody has to be told of it.
TEST_F(JoiningTest, AClientThatGivesUpBeforeAllAreThereIsNotRefused) {
  std::thread starts([&] { EXPECT_EQ(cluster_.Start(), absl::OkStatus()); });
  std::atomic<bool> waits{false};
  MemberOptions options;
  options.connect = "local:controller";
  options.on_waiting = [&](const std::string&) {
    waits = true;
    waits.notify_all();
  };
  auto client = Member::Create(std::move(options), cluster_.Factory());
  ASSERT_TRUE(client.ok()) << client.status();
  absl::Status joined;
  std::thread joins([&] { joined = (*client)->Join(); });
  waits.wait(false);
  (*client)->Stop();
  joins.join();
  EXPECT_FALSE(joined.ok());
  (void)(*client)->Serve();
  client->reset();
  for (const char* host : {"host0", "host1", "host2", "host3"}) {
    cluster_.Add({host});
  }
  starts.join();
  Link();
  linking_.join();
  EXPECT_EQ(linked_, absl::OkStatus());
  EXPECT_FALSE(cluster_.Noted("refused"));
}

TEST_F(JoiningTest, TextThatIsNotUtf8EndsTheConnectionQuietly) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  proto::Membership message;
  message.mutable_refusal()->set_message("no \xff");
  ::testing::internal::CaptureStderr();
  // The member reports the error, too.
  const std::string bytes = message.SerializeAsString();
  (void)::testing::internal::GetCapturedStderr();
  ::testing::internal::CaptureStderr();
  staged.SayBytes(bytes);
  Link();
  cluster_.AwaitNote("the worker of 'host1' is gone");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ExpectAReplacementMakesItWhole();
}

// Nobody takes the devices of another kind of machine for its own kind.
TEST_F(JoiningTest, EveryoneIsToldWhichDevicesAreOnOtherMachines) {
  proto::Target other = HostTarget();
  other.set_cpu("another");
  StagedWorker staged(&cluster_, other);
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto cpus = [](const proto::Cluster& cluster) {
    std::vector<std::string> cpus;
    for (const proto::Host& host : cluster.islands(0).hosts()) {
      cpus.push_back(host.devices(0).target().cpu());
    }
    return cpus;
  };
  EXPECT_THAT(cpus(cluster_.cluster().topology().cluster()),
              ElementsAre("", "another", "", ""));
  Link();
  proto::Membership said;
  ASSERT_NO_FATAL_FAILURE(staged.Await(proto::Membership::kWelcome, &said));
  const std::string here = HostTarget().cpu();
  EXPECT_THAT(cpus(said.welcome().cluster()),
              ElementsAre(here, "", here, here));
  staged.Die();
  cluster_.AwaitNote("the worker of 'host1' is gone");
  // In its place no other kind may come.
  cluster_.Add({"host1"});
  EXPECT_THAT(cluster_.End(3).message(), HasSubstr("is a "));
  EXPECT_THAT(cluster_.End(3).message(), HasSubstr("[PW7102]"));
  cluster_.process().inbox().Fail(absl::AbortedError("the test has ended"));
  linking_.join();
  EXPECT_EQ(linked_.code(), absl::StatusCode::kAborted);
}

TEST_F(JoiningTest, WithoutAReplacementItIsNamed) {
  StagedWorker staged(&cluster_);
  ASSERT_NO_FATAL_FAILURE(Start());
  staged.Die();
  const absl::Status begun =
      cluster_.coordinator().Begin({}, SteadyTime::Now());
  EXPECT_EQ(begun.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(begun.message(), HasSubstr("'host1'"));
}

}  // namespace
}  // namespace pathways
