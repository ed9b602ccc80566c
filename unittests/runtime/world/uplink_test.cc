//===- uplink_test.cc - Messages to other processes -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/uplink.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/world/worker_set.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

struct UplinkTest : ::testing::Test {
  // Writes what it does to `log`, and holds each message until it is flushed.
  struct Stage final : UplinkStage {
    explicit Stage(std::vector<std::string>* log) : log(*log) {}
    bool Send(ActorId, ActorId, const WireMessage& message, Payload) override {
      log.push_back("stage " + std::to_string(message.step));
      return true;
    }
    bool SendControl(ActorId, ActorId, std::string bytes) override {
      log.push_back("stage " + bytes);
      return true;
    }
    void Flush() override { log.push_back("flush"); }
    std::vector<std::string>& log;
  };

  RemoteChannel Channel() {
    RemoteChannel channel;
    channel.send = [this](ActorId, ActorId, const WireMessage& message,
                          Payload) {
      log.push_back("send " + std::to_string(message.step));
    };
    channel.send_control = [this](ActorId, ActorId, std::string bytes) {
      log.push_back("send " + bytes);
    };
    channel.open_stage = [this] { return std::make_unique<Stage>(&log); };
    return channel;
  }

  std::vector<std::string> log;
  WorkerSet workers{1, /*seed=*/1};
  ThreadWorker& self = workers[0];
};

TEST_F(UplinkTest, AHandlersMessagesGoToTheStage) {
  Uplink uplink(Channel());
  self.stage = uplink.stage_opener()();
  uplink.Send(&self, 1, 2, Numbered(7), {});
  EXPECT_TRUE(self.staged);
  uplink.SendControl(&self, 1, 2, "text");
  self.FlushStage();
  EXPECT_EQ(log, (std::vector<std::string>{"stage 7", "stage text", "flush"}));
  EXPECT_EQ(uplink.undelivered(), 0u);
}

TEST_F(UplinkTest, OtherMessagesAreSentAtOnce) {
  Uplink uplink(Channel());
  self.stage = uplink.stage_opener()();
  uplink.Send(nullptr, 1, 2, Numbered(7), {});
  uplink.SendControl(nullptr, 1, 2, "text");
  self.polls = true;
  uplink.Send(&self, 1, 2, Numbered(8), {});
  EXPECT_FALSE(self.staged);
  EXPECT_EQ(log, (std::vector<std::string>{"send 7", "send text", "send 8"}));
}

TEST_F(UplinkTest, CountsMessagesWithoutAChannel) {
  Uplink uplink(RemoteChannel{});
  EXPECT_FALSE(uplink.stage_opener());
  EXPECT_FALSE(uplink.lends());
  EXPECT_FALSE(uplink.polls());
  EXPECT_FALSE(uplink.watches_idle());
  EXPECT_FALSE(uplink.Poll(self));
  uplink.NotifyIdle();
  uplink.Send(&self, 1, 2, Numbered(7), {});
  uplink.SendControl(&self, 1, 2, "text");
  EXPECT_EQ(uplink.undelivered(), 2u);
}

TEST_F(UplinkTest, ALentPayloadComesAfterTheStagedMessages) {
  RemoteChannel channel = Channel();
  LocalId owner = kNobody;
  channel.lend = [&](ActorId, ActorId, const WireMessage& message, Payload,
                     LocalId lender, const LocalMessage& returned) {
    log.push_back("lend " + std::to_string(message.step) + " " +
                  std::to_string(returned.step));
    owner = lender;
    return true;
  };
  Uplink uplink(std::move(channel));
  EXPECT_TRUE(uplink.lends());
  self.stage = uplink.stage_opener()();
  uplink.Send(&self, 1, 2, Numbered(7), {});
  EXPECT_TRUE(
      uplink.Lend(self, 1, 2, Numbered(8), {}, LocalId{4}, LocalNumbered(9)));
  EXPECT_EQ(owner, LocalId{4});
  EXPECT_EQ(log, (std::vector<std::string>{"stage 7", "flush", "lend 8 9"}));
}

TEST_F(UplinkTest, AnOfferIsTakenOrRefused) {
  RemoteChannel channel;
  channel.take = [&](uint64_t offer, LocalId owner, const ReceiveBuffer&) {
    log.push_back("take " + std::to_string(offer) + " for " +
                  std::to_string(IndexOf(owner)));
  };
  channel.refuse = [&](uint64_t offer) {
    log.push_back("refuse " + std::to_string(offer));
  };
  Uplink uplink(std::move(channel));
  char memory = 0;
  uplink.Answer(5, LocalId{3}, {&memory, {}});
  uplink.Answer(6, LocalId{3}, {});
  EXPECT_EQ(log, (std::vector<std::string>{"take 5 for 3", "refuse 6"}));
}

TEST_F(UplinkTest, AWorkerPollsOnlyDuringPoll) {
  RemoteChannel channel;
  bool has_come = true;
  channel.poll = [&] {
    EXPECT_TRUE(self.polls);
    return has_come;
  };
  Uplink uplink(std::move(channel));
  EXPECT_TRUE(uplink.polls());
  EXPECT_TRUE(uplink.Poll(self));
  EXPECT_FALSE(self.polls);
  has_come = false;
  EXPECT_FALSE(uplink.Poll(self));
}

}  // namespace
}  // namespace pathways
