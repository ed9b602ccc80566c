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
