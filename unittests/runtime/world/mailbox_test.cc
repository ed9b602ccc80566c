//===- mailbox_test.cc - Queues and timers of one worker --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr LocalId kTo{0};

Envelope Local(uint64_t step) {
  return Envelope::Of(Envelope::kLocal, LocalNumbered(step), kNoActor, kTo);
}
uint64_t StepOf(const Envelope& envelope) {
  return envelope.As<LocalMessage>().step;
}

struct MailboxTest : ::testing::Test {
  MailboxTest() { mailbox.Open(&pool, /*owner=*/1, /*workers=*/3); }
  void Push(int from, uint64_t step) {
    mailbox.Push(kDirectQueue, from, Envelope::kLocal, LocalNumbered(step),
                 kNoActor, kTo);
  }
  std::vector<uint64_t> TakeAll(int from) {
    std::vector<uint64_t> steps;
    while (Envelope* envelope = mailbox.Front(kDirectQueue, from)) {
      steps.push_back(StepOf(*envelope));
      mailbox.Pop(kDirectQueue, from);
    }
    return steps;
  }

  BlockPool pool;
  Mailbox mailbox;
  std::atomic<bool> closed{false};
};

TEST_F(MailboxTest, EachWorkerHasItsQueue) {
  EXPECT_TRUE(mailbox.empty());
  for (uint64_t i = 0; i < 9; ++i) Push(static_cast<int>(i % 3), i);
  EXPECT_FALSE(mailbox.empty());
  EXPECT_THAT(TakeAll(2), ElementsAre(2, 5, 8));
  EXPECT_THAT(TakeAll(1), ElementsAre(1, 4, 7));
  EXPECT_FALSE(mailbox.empty());
  EXPECT_THAT(TakeAll(0), ElementsAre(0, 3, 6));
  EXPECT_TRUE(mailbox.empty());
}

TEST_F(MailboxTest, LanesDoNotWaitForEachOther) {
  for (int from : {0, 1}) {
    for (uint64_t step : {1, 2, 3}) {
      mailbox.Push(kBulkQueue, from, Envelope::kLocal, LocalNumbered(step),
                   kNoActor, kTo);
    }
    Push(from, 4);
    EXPECT_THAT(TakeAll(from), ElementsAre(4));
    EXPECT_FALSE(mailbox.empty());
    EXPECT_EQ(StepOf(*mailbox.Front(kBulkQueue, from)), 1u);
    mailbox.Pop(kBulkQueue, from);
    Push(from, 5);
    EXPECT_THAT(TakeAll(from), ElementsAre(5));
    EXPECT_EQ(StepOf(*mailbox.Front(kBulkQueue, from)), 2u);
    mailbox.Pop(kBulkQueue, from);
    EXPECT_FALSE(mailbox.empty());
    EXPECT_EQ(StepOf(*mailbox.Front(kBulkQueue, from)), 3u);
    mailbox.Pop(kBulkQueue, from);
    EXPECT_TRUE(mailbox.empty());
  }
}

TEST_F(MailboxTest, PostedMessagesAreTakenTogether) {
  EXPECT_TRUE(mailbox.Post({-1, Local(1)}, closed));
  EXPECT_TRUE(mailbox.Post({-1, Local(2)}, closed));
  EXPECT_TRUE(mailbox.has_posted());
  EXPECT_FALSE(mailbox.empty());
  std::vector<uint64_t> steps;
  for (const Posted& posted : mailbox.TakePosted()) {
    // This post is left for the next TakePosted.
    mailbox.Post({-1, Local(3)}, closed);
    steps.push_back(StepOf(posted.envelope));
  }
  EXPECT_THAT(steps, ElementsAre(1, 2));
  EXPECT_TRUE(mailbox.has_posted());
  EXPECT_EQ(mailbox.TakePosted().size(), 2u);
  EXPECT_FALSE(mailbox.has_posted());
  EXPECT_TRUE(mailbox.empty());
}

TEST_F(MailboxTest, SeveralArePostedInOrder) {
  EXPECT_TRUE(mailbox.Post({-1, Local(1)}, closed));
  const Posted several[] = {{-1, Local(2)}, {-1, Local(3)}};
  EXPECT_TRUE(mailbox.PostAll(several, closed));
  std::vector<uint64_t> steps;
  for (const Posted& posted : mailbox.TakePosted()) {
    steps.push_back(StepOf(posted.envelope));
  }
  EXPECT_THAT(steps, ElementsAre(1, 2, 3));
  closed = true;
  EXPECT_FALSE(mailbox.PostAll(several, closed));
  EXPECT_TRUE(mailbox.empty());
}

TEST_F(MailboxTest, KeepsNothingOnceClosed) {
  closed = true;
  EXPECT_FALSE(mailbox.Post({-1, Local(1)}, closed));
  EXPECT_TRUE(mailbox.empty());
  EXPECT_THAT(mailbox.TakePosted(), IsEmpty());
}

TEST_F(MailboxTest, TimersComeByTimeThenByNumber) {
  EXPECT_EQ(mailbox.first_timer(), nullptr);
  EXPECT_FALSE(mailbox.TimerDue(100));
  mailbox.AddTimer(30, Local(3));
  mailbox.AddTimer(10, Local(1));
  mailbox.AddTimer(30, Local(4));
  mailbox.AddTimer(20, Local(2));
  EXPECT_EQ(*mailbox.first_timer(), 10);
  EXPECT_FALSE(mailbox.TimerDue(9));
  std::vector<uint64_t> steps;
  while (mailbox.TimerDue(30)) steps.push_back(StepOf(mailbox.TakeTimer()));
  EXPECT_THAT(steps, ElementsAre(1, 2, 3, 4));
  // A timer does not keep the owner awake.
  mailbox.AddTimer(40, Local(5));
  EXPECT_TRUE(mailbox.empty());
}

TEST_F(MailboxTest, SleepsUntilSomebodyPushesAndWakes) {
  std::thread other([&] {
    while (!mailbox.asleep()) std::this_thread::yield();
    Push(0, 1);
    mailbox.Wake();
  });
  while (mailbox.empty()) {
    mailbox.Sleep([]() -> TimeNs { return -1; });
  }
  EXPECT_FALSE(mailbox.asleep());
  other.join();
  EXPECT_THAT(TakeAll(0), ElementsAre(1));
}

TEST_F(MailboxTest, WhoPostsWakes) {
  std::thread other([&] {
    while (!mailbox.asleep()) std::this_thread::yield();
    mailbox.Post({-1, Local(1)}, closed);
  });
  while (mailbox.empty()) {
    mailbox.Sleep([]() -> TimeNs { return -1; });
  }
  other.join();
  EXPECT_EQ(mailbox.TakePosted().size(), 1u);
}

TEST_F(MailboxTest, DoesNotSleepWithAMessageOrWithoutTime) {
  bool asked = false;
  mailbox.Sleep([&]() -> TimeNs {
    asked = true;
    EXPECT_TRUE(mailbox.asleep());
    return 0;
  });
  EXPECT_TRUE(asked);
  Push(2, 1);
  mailbox.Sleep([]() -> TimeNs {
    ADD_FAILURE() << "asked though there is a message";
    return 0;
  });
}

TEST_F(MailboxTest, DrainDropsAllOfIt) {
  static uint64_t dropped;
  dropped = 0;
  for (int from = 0; from < 3; ++from) Push(from, uint64_t{1} << from);
  mailbox.AddTimer(5, Local(8));
  mailbox.Post({-1, Local(16)}, closed);
  mailbox.Push(kBulkQueue, 0, Envelope::kLocal, LocalNumbered(32), kNoActor,
               kTo);
  mailbox.Push(kBulkQueue, 1, Envelope::kLocal, LocalNumbered(64), kNoActor,
               kTo);
  mailbox.DropAll(
      [](const Envelope& envelope) { dropped |= StepOf(envelope); });
  EXPECT_EQ(dropped, 127u);
  EXPECT_EQ(mailbox.first_timer(), nullptr);
  EXPECT_THAT(mailbox.TakePosted(), IsEmpty());
}

}  // namespace
}  // namespace pathways
