//===- leader_token_test.cc - Token of the thread that works --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/leader_token.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

constexpr LocalId kTo{0};

Envelope Local(uint64_t step) {
  return Envelope::Of(Envelope::kLocal, LocalNumbered(step), kNoActor, kTo);
}

bool IsOver(TimeNs) { return false; }

struct LeaderTokenTest : ::testing::Test {
  LeaderTokenTest() { mailbox.Open(&pool, /*owner=*/0, /*workers=*/1); }

  // Loop of the own thread: handles posted messages and parks, until the test
  // ends it.
  void Work() {
    while (!over.load()) {
      Handle();
      token.Park([&](TimeNs deadline) -> TimeNs {
        asked_for = deadline;
        ++parks;
        return over.load() || deadline <= now.load() ? 0 : -1;
      });
    }
  }
  // Handles messages and timers. Called by the holder of the leader token.
  void Handle() {
    EXPECT_EQ(inside.fetch_add(1), 0);
    while (mailbox.has_posted()) handled += mailbox.TakePosted().size();
    while (mailbox.TimerDue(now.load())) {
      mailbox.TakeTimer();
      ++fired;
    }
    inside.fetch_sub(1);
  }
  void Post(bool quietly = false) {
    ASSERT_TRUE(mailbox.Post({-1, Local(1)}, closed, quietly));
  }
  void TakeSeat() {
    while (!token.TryTake()) std::this_thread::yield();
  }
  void Await(const std::atomic<int64_t>& count, int64_t want) {
    while (count.load() < want) std::this_thread::yield();
  }
  void End(std::thread& own) {
    over = true;
    mailbox.Ring();
    own.join();
  }

  BlockPool pool;
  Mailbox mailbox;
  LeaderToken token{&mailbox};
  const std::atomic<bool> closed{false};
  std::atomic<bool> over{false};
  std::atomic<int64_t> handled{0}, fired{0}, parks{0};
  std::atomic<int> inside{0};
  std::atomic<TimeNs> now{0}, asked_for{0};
};

TEST_F(LeaderTokenTest, TheOwnThreadHasItUntilItNaps) {
  EXPECT_FALSE(token.TryTake());
  std::thread own([&] { Work(); });
  TakeSeat();
  EXPECT_FALSE(token.TryTake());
  EXPECT_FALSE(mailbox.asleep());  // a post wakes no thread
  Post();
  Handle();
  EXPECT_EQ(handled.load(), 1);
  token.Leave(IsOver);
  EXPECT_TRUE(mailbox.asleep());
  EXPECT_EQ(parks.load(), 1);
  End(own);
}

TEST_F(LeaderTokenTest, TheOwnThreadTakesWhatAGuestLeaves) {
  std::thread own([&] { Work(); });
  TakeSeat();
  Post();
  token.Leave(IsOver);
  Await(handled, 1);
  Await(parks, 2);
  End(own);
}

TEST_F(LeaderTokenTest, WhoPostsToNobodyWakesTheOwnThread) {
  std::thread own([&] { Work(); });
  TakeSeat();
  token.Leave(IsOver);
  Post();
  Await(handled, 1);
  End(own);
}

TEST_F(LeaderTokenTest, TheOwnThreadIsWokenForWhatIsDue) {
  std::thread own([&] { Work(); });
  TakeSeat();
  mailbox.AddTimer(7, Local(1));
  now = 7;
  TimeNs asked = -1;
  token.Leave([&](TimeNs deadline) {
    asked = deadline;
    return deadline <= now.load();
  });
  EXPECT_EQ(asked, 7);
  Await(fired, 1);
  End(own);
}

TEST_F(LeaderTokenTest, TheOwnThreadNapsForTheTimersOfGuests) {
  std::thread own([&] { Work(); });
  TakeSeat();
  EXPECT_EQ(asked_for.load(), LeaderToken::kNever);
  mailbox.AddTimer(7, Local(1));
  token.Leave(IsOver);
  while (asked_for.load() != 7) std::this_thread::yield();
  // A later or equal deadline does not wake the own thread; an earlier one
  // does.
  TakeSeat();
  const int64_t before = parks.load();
  mailbox.AddTimer(9, Local(2));
  token.Leave(IsOver);
  TakeSeat();
  EXPECT_EQ(parks.load(), before);
  mailbox.AddTimer(5, Local(3));
  token.Leave(IsOver);
  while (asked_for.load() != 5) std::this_thread::yield();
  End(own);
}

TEST_F(LeaderTokenTest, WhoIsWantedIsNoSecret) {
  EXPECT_FALSE(token.wanted());
  token.BeginWait();
  token.BeginWait();
  token.EndWait();
  EXPECT_TRUE(token.wanted());
  token.EndWait();
  EXPECT_FALSE(token.wanted());
}

// No thread works except for posted messages, so a lost wake-up would hang the
// test.
TEST_F(LeaderTokenTest, NoMessageIsLost) {
  constexpr int64_t kMessages = 20'000;
  std::thread own([&] { Work(); });
  std::atomic<bool> enough{false};
  std::vector<std::thread> followers;
  for (int follower = 0; follower < 2; ++follower) {
    followers.emplace_back([&] {
      while (!enough.load()) {
        if (!token.TryTake()) continue;
        Handle();
        token.Leave(IsOver);
        std::this_thread::yield();
      }
    });
  }
  std::vector<std::thread> posters;
  for (int poster = 0; poster < 2; ++poster) {
    posters.emplace_back([&, poster] {
      for (int64_t i = 0; i < kMessages; ++i) {
        Post(/*quietly=*/poster == 1);
        if (poster == 0) {
          if (i % 16 == 0) Await(handled, i);
          continue;
        }
        // The end of a call does the same.
        if (token.TryTake()) {
          Handle();
          token.Leave(IsOver);
        } else if (mailbox.asleep()) {
          mailbox.Wake();
        }
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  enough = true;
  for (std::thread& follower : followers) follower.join();
  Await(handled, 2 * kMessages);
  EXPECT_EQ(handled.load(), 2 * kMessages);
  End(own);
}

}  // namespace
}  // namespace pathways
