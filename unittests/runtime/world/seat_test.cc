//===- seat_test.cc - Who works for a world of one worker -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/seat.h"

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

struct SeatTest : ::testing::Test {
  SeatTest() { mailbox.Open(&pool, /*owner=*/0, /*workers=*/1); }

  // The own thread: handles what was posted, and naps, until it is to end.
  void Work() {
    while (!over.load()) {
      Handle();
      seat.Nap([&](TimeNs deadline) -> TimeNs {
        asked_for = deadline;
        ++naps;
        return over.load() || deadline <= now.load() ? 0 : -1;
      });
    }
  }
  // By who has the seat.
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
    while (!seat.TryTake()) std::this_thread::yield();
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
  Seat seat{&mailbox};
  const std::atomic<bool> closed{false};
  std::atomic<bool> over{false};
  std::atomic<int64_t> handled{0}, fired{0}, naps{0};
  std::atomic<int> inside{0};
  std::atomic<TimeNs> now{0}, asked_for{0};
};

TEST_F(SeatTest, TheOwnThreadHasItUntilItNaps) {
  EXPECT_FALSE(seat.TryTake());
  std::thread own([&] { Work(); });
  TakeSeat();
  EXPECT_FALSE(seat.TryTake());
  EXPECT_FALSE(mailbox.asleep());  // who posts wakes nobody
  Post();
  Handle();
  EXPECT_EQ(handled.load(), 1);
  seat.Leave(IsOver);
  EXPECT_TRUE(mailbox.asleep());
  EXPECT_EQ(naps.load(), 1);
  End(own);
}

TEST_F(SeatTest, TheOwnThreadTakesWhatAGuestLeaves) {
  std::thread own([&] { Work(); });
  TakeSeat();
  Post();
  seat.Leave(IsOver);
  Await(handled, 1);
  Await(naps, 2);
  End(own);
}

TEST_F(SeatTest, WhoPostsToNobodyWakesTheOwnThread) {
  std::thread own([&] { Work(); });
  TakeSeat();
  seat.Leave(IsOver);
  Post();
  Await(handled, 1);
  End(own);
}

TEST_F(SeatTest, TheOwnThreadIsWokenForWhatIsDue) {
  std::thread own([&] { Work(); });
  TakeSeat();
  mailbox.AddTimer(7, Local(1));
  now = 7;
  TimeNs asked = -1;
  seat.Leave([&](TimeNs deadline) {
    asked = deadline;
    return deadline <= now.load();
  });
  EXPECT_EQ(asked, 7);
  Await(fired, 1);
  End(own);
}

TEST_F(SeatTest, TheOwnThreadNapsForTheTimersOfGuests) {
  std::thread own([&] { Work(); });
  TakeSeat();
  EXPECT_EQ(asked_for.load(), Seat::kNever);
  mailbox.AddTimer(7, Local(1));
  seat.Leave(IsOver);
  while (asked_for.load() != 7) std::this_thread::yield();
  // A later one, or the same, is no reason to wake it; an earlier one is.
  TakeSeat();
  const int64_t before = naps.load();
  mailbox.AddTimer(9, Local(2));
  seat.Leave(IsOver);
  TakeSeat();
  EXPECT_EQ(naps.load(), before);
  mailbox.AddTimer(5, Local(3));
  seat.Leave(IsOver);
  while (asked_for.load() != 5) std::this_thread::yield();
  End(own);
}

TEST_F(SeatTest, WhoIsWantedIsNoSecret) {
  EXPECT_FALSE(seat.wanted());
  seat.Want();
  seat.Want();
  seat.WantNoMore();
  EXPECT_TRUE(seat.wanted());
  seat.WantNoMore();
  EXPECT_FALSE(seat.wanted());
}

// Nobody works but for what was posted, so a lost wake-up is the end of it.
TEST_F(SeatTest, NoMessageIsLost) {
  constexpr int64_t kMessages = 20'000;
  std::thread own([&] { Work(); });
  std::atomic<bool> enough{false};
  std::vector<std::thread> guests;
  for (int guest = 0; guest < 2; ++guest) {
    guests.emplace_back([&] {
      while (!enough.load()) {
        if (!seat.TryTake()) continue;
        Handle();
        seat.Leave(IsOver);
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
        // As at the end of a call.
        if (seat.TryTake()) {
          Handle();
          seat.Leave(IsOver);
        } else if (mailbox.asleep()) {
          mailbox.Wake();
        }
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  enough = true;
  for (std::thread& guest : guests) guest.join();
  Await(handled, 2 * kMessages);
  EXPECT_EQ(handled.load(), 2 * kMessages);
  End(own);
}

}  // namespace
}  // namespace pathways
