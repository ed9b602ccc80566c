//===- polled_context_test.cc - Polling and waiting threads ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/polled_context.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <asio/post.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace pathways {
namespace {

// One end of a pipe.
class Reader final : public PolledReader {
 public:
  Reader() { EXPECT_EQ(pipe(fds_), 0); }
  ~Reader() override {
    close(fds_[0]);
    if (fds_[1] >= 0) close(fds_[1]);
  }
  void Write() { EXPECT_EQ(write(fds_[1], "x", 1), 1); }
  void CloseOtherEnd() { close(std::exchange(fds_[1], -1)); }
  void Read() {
    char byte;
    EXPECT_EQ(read(fds_[0], &byte, 1), 1);
  }

  int fd() const override { return fds_[0]; }
  void OnReadable() override { ++readable; }
  void WaitInContext() override { ++waiting; }

  std::atomic<int> readable{0}, waiting{0};

 private:
  int fds_[2];
};

class PolledContextTest : public ::testing::Test {
 protected:
  // From now on this thread polls, and the context's own one does not, until
  // this one rests.
  void TakeOver(PolledContext& context) {
    // Once it has begun to watch readers wait in the context.
    context.OnIdle();
    const auto first = std::make_shared<Reader>();
    context.AwaitReadable(first);
    while (first->waiting == 0) std::this_thread::yield();
    do {
      for (int i = 0; i < 100; ++i) context.Poll();
    } while (IsSentToContext(context));
  }
  void TakeOver() { TakeOver(context_); }
  static bool IsSentToContext(PolledContext& context) {
    const auto reader = std::make_shared<Reader>();
    reader->CloseOtherEnd();
    context.AwaitReadable(reader);
    while (reader->waiting + reader->readable == 0) context.Poll();
    return reader->waiting > 0;
  }

  // Does not look by itself.
  PolledContext context_{std::chrono::hours(1)};
};

TEST_F(PolledContextTest, WhoPollsCallsWhatIsReadableOnce) {
  TakeOver();
  const auto first = std::make_shared<Reader>();
  const auto second = std::make_shared<Reader>();
  context_.AwaitReadable(first);
  context_.AwaitReadable(second);
  context_.Poll();
  EXPECT_EQ(first->readable + second->readable, 0);
  second->Write();
  EXPECT_TRUE(context_.Poll());
  EXPECT_EQ(first->readable, 0);
  EXPECT_EQ(second->readable, 1);
  // It has not said that it waits again.
  for (int i = 0; i < 10; ++i) context_.Poll();
  EXPECT_EQ(second->readable, 1);
  second->Read();
  context_.AwaitReadable(second);
  second->Write();
  first->CloseOtherEnd();
  EXPECT_TRUE(context_.Poll());
  EXPECT_EQ(first->readable, 1);
  EXPECT_EQ(second->readable, 2);
  EXPECT_EQ(first->waiting + second->waiting, 0);
}

TEST_F(PolledContextTest, WhoHasNothingForLongWaitsInTheContext) {
  TakeOver();
  const auto reader = std::make_shared<Reader>();
  context_.AwaitReadable(reader);
  int polls = 0;
  for (; reader->waiting == 0 && polls < 10'000; ++polls) context_.Poll();
  EXPECT_EQ(reader->waiting, 1);
  EXPECT_GE(polls, 100);
  reader->Write();
  for (int i = 0; i < 100; ++i) context_.Poll();
  EXPECT_EQ(reader->readable, 0);
}

TEST_F(PolledContextTest, ThereIsRoomForSoMany) {
  TakeOver();
  std::vector<std::shared_ptr<Reader>> readers;
  int waiting = 0;
  for (int i = 0; i < 100; ++i) {
    readers.push_back(std::make_shared<Reader>());
    context_.AwaitReadable(readers.back());
    waiting += readers.back()->waiting;
  }
  EXPECT_EQ(waiting, 100 - 32);
}

TEST_F(PolledContextTest, WhatTheContextHasToRunHasItsTurn) {
  TakeOver();
  const auto reader = std::make_shared<Reader>();
  reader->Write();
  std::atomic<bool> ran{false};
  asio::post(context_.context(), [&] { ran = true; });
  while (!ran) {
    context_.AwaitReadable(reader);
    context_.Poll();
  }
  EXPECT_GT(reader->readable, 0);
}

TEST_F(PolledContextTest, WhoRestsLeavesReadersToTheOwnThread) {
  for (int round = 0; round < 3; ++round) {
    TakeOver();
    const auto reader = std::make_shared<Reader>();
    context_.AwaitReadable(reader);
    EXPECT_EQ(reader->waiting, 0);
    context_.OnIdle();
    while (reader->waiting == 0) std::this_thread::yield();
    EXPECT_EQ(reader->readable, 0);
  }
}

TEST_F(PolledContextTest, WhoPollsNoMoreWithoutAWordDoesSoToo) {
  PolledContext context(std::chrono::microseconds(100));
  const auto reader = std::make_shared<Reader>();
  for (int i = 0; i < 100; ++i) context.Poll();
  context.AwaitReadable(reader);
  while (reader->waiting == 0) std::this_thread::yield();
  EXPECT_EQ(reader->readable, 0);
}

TEST_F(PolledContextTest, EachIsCalledByOneOfThoseWhoPoll) {
  TakeOver();
  std::atomic<bool> over{false};
  std::vector<std::thread> others;
  for (int t = 0; t < 2; ++t) {
    others.emplace_back([&] {
      while (!over) context_.Poll();
    });
  }
  for (int i = 0; i < 1000; ++i) {
    const auto reader = std::make_shared<Reader>();
    reader->Write();
    context_.AwaitReadable(reader);
    while (reader->readable == 0 && reader->waiting == 0) context_.Poll();
    EXPECT_EQ(reader->readable + reader->waiting, 1);
  }
  over = true;
  for (std::thread& other : others) other.join();
}

}  // namespace
}  // namespace pathways
