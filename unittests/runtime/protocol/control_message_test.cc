//===- control_message_test.cc - Control messages, used again -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_message.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pathways {
namespace {

TEST(ControlMessageTest, IsEmptyAgainWhenItIsUsedAgain) {
  ControlPool pool;
  for (int i = 0; i < 100; ++i) {
    ControlRef message = pool.New();
    EXPECT_EQ(message->ByteSizeLong(), 0u);
    message->set_client(7);
    message->mutable_answer()->set_message(std::string(1 << (i % 16), 'x'));
    for (int j = 0; j < i; ++j) {
      message->mutable_release_request()->add_objects(j);
    }
  }
  EXPECT_EQ(pool.size(), 1u);
}

// The messages of a launch have their kind at once, and their lists keep their
// capacity.
TEST(ControlMessageTest, KeepsTheKindOfWhatLaunchesTake) {
  ControlPool pool;
  const uint64_t* room = nullptr;
  for (int i = 0; i < 100; ++i) {
    ControlRef message = pool.New(proto::Control::kDropObjects);
    ASSERT_TRUE(message->has_drop_objects());
    EXPECT_EQ(message->drop_objects().ByteSizeLong(), 0u);
    EXPECT_EQ(message->client() + message->restarts() + message->sequence(),
              0u);
    message->set_client(7);
    message->set_restarts(8);
    message->set_sequence(9);
    message->mutable_drop_objects()->set_fetch(4);
    for (int j = 0; j < 8; ++j) message->mutable_drop_objects()->add_objects(j);
    if (room == nullptr) room = message->drop_objects().objects().data();
    EXPECT_EQ(message->drop_objects().objects().data(), room);
  }
  EXPECT_EQ(pool.size(), 1u);
  // Others do not get it, nor does it get what is of no kind that is kept.
  EXPECT_EQ(pool.New()->ByteSizeLong(), 0u);
  EXPECT_FALSE(pool.New(proto::Control::kAnswer)->has_answer());
  EXPECT_EQ(pool.size(), 2u);
}

TEST(ControlMessageTest, KeepsNoKindThatWasChangedAndNoLargeList) {
  ControlPool pool;
  pool.New(proto::Control::kStart)->mutable_answer()->set_request(1);
  ControlRef message = pool.New(proto::Control::kStart);
  ASSERT_TRUE(message->has_start());
  EXPECT_EQ(pool.size(), 1u);
  for (int i = 0; i < 100000; ++i) message->mutable_start()->add_hosts(i);
  const size_t large = message->start().SpaceUsedLong();
  message = ControlRef();
  message = pool.New(proto::Control::kStart);
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_LT(message->start().SpaceUsedLong(), large / 100);
}

// The error of a launch is sent once.
TEST(ControlMessageTest, KeepsNoText) {
  ControlPool pool;
  const auto space = [](const ControlRef& message) {
    return message->launch_ended().SpaceUsedLong() +
           message->launch_ready().SpaceUsedLong();
  };
  const std::string text(1 << 20, 'x');
  for (auto kind :
       {proto::Control::kLaunchEnded, proto::Control::kLaunchReady}) {
    ControlRef message = pool.New(kind);
    const size_t before = space(message);
    if (kind == proto::Control::kLaunchEnded) {
      message->mutable_launch_ended()->set_message(text);
    } else {
      message->mutable_launch_ready()->set_message(text);
    }
    ASSERT_GT(space(message), before + text.size() / 2);
    message = ControlRef();
    message = pool.New(kind);
    EXPECT_EQ(space(message), before);
  }
  EXPECT_EQ(pool.size(), 2u);
}

TEST(ControlMessageTest, StaysWhileSomebodyHasAReference) {
  ControlPool pool;
  ControlRef kept;
  {
    ControlRef message = pool.New();
    message->set_client(7);
    kept = message;
    ControlBody* const handed = std::move(message).Hand();
    EXPECT_FALSE(message);
    EXPECT_EQ(handed->Serialize(), kept->SerializeAsString());
    handed->Release();
  }
  ControlRef other = pool.New();
  other->set_client(8);
  EXPECT_EQ(kept->client(), 7u);
  EXPECT_EQ(pool.size(), 2u);
  kept = std::move(other);
  EXPECT_EQ(kept->client(), 8u);
}

// One thread makes messages, others read and give them back.
TEST(ControlMessageTest, ThreadsShareAPool) {
  ControlPool pool;
  constexpr int kThreads = 3, kRounds = 2000;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> threads;
    std::vector<ControlRef> messages;
    for (int i = 0; i < kRounds / 10; ++i) {
      messages.push_back(pool.New());
      messages.back()->mutable_start()->add_hosts(i);
    }
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&pool, messages] {
        for (size_t i = 0; i < messages.size(); ++i) {
          ASSERT_EQ(messages[i]->start().hosts(0), i);
        }
        for (int i = 0; i < kRounds; ++i) {
          ControlRef own = pool.New();
          own->mutable_start()->add_hosts(i);
        }
      });
    }
    messages.clear();
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_LE(pool.size(), size_t{kRounds / 10 + kThreads});
}

}  // namespace
}  // namespace pathways
