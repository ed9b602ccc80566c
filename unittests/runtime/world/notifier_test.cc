//===- notifier_test.cc - Threads that wait for a condition -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/notifier.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/world/clock.h"

namespace pathways {
namespace {

// A wait sleeps at once, or spins for its whole duration.
constexpr TimeNs kSpins[] = {0, TimeNs{60'000'000'000}};
// The number of a core that does not exist.
constexpr int kNowhere = -2;

TEST(NotifierTest, ReturnsAtOnceWhenItIsSo) {
  for (TimeNs spin : kSpins) {
    Notifier notifier;
    std::atomic<bool> stopping{false};
    int looks = 0;
    EXPECT_TRUE(notifier.Wait([&] { return ++looks == 1; }, stopping, spin));
    EXPECT_EQ(looks, 1);
    EXPECT_FALSE(notifier.spinning());
  }
}

// A limit ends a wait that nothing else ends, spinning or asleep.
TEST(NotifierTest, ReturnsWhenTheTimeIsUp) {
  for (TimeNs spin : kSpins) {
    Notifier notifier;
    std::atomic<bool> stopping{false};
    SteadyClock clock;
    const TimeNs until = clock.Now() + 1'000'000;
    EXPECT_FALSE(notifier.Wait([] { return false; }, stopping, spin, until));
    EXPECT_GE(clock.Now(), until);
    EXPECT_FALSE(notifier.waiting());
    EXPECT_FALSE(notifier.spinning());
    // A condition that holds counts, however late it is.
    EXPECT_TRUE(notifier.Wait([] { return true; }, stopping, spin, until));
  }
}

TEST(NotifierTest, KnowsWhereItsOnlyThreadSpins) {
  Notifier notifier;
  std::atomic<bool> stopping{false};
  cpu_set_t cores, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(cores), &cores), 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores)) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    std::thread([&] {
      ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
      const auto check = [&] {
        EXPECT_TRUE(notifier.spinning_on(core));
        EXPECT_FALSE(notifier.spinning_on(kNowhere));
        return true;
      };
      EXPECT_TRUE(notifier.Wait(check, stopping, kSpins[1]));
    }).join();
    EXPECT_FALSE(notifier.spinning_on(core));
  }
}

TEST(NotifierTest, LooksAgainAfterEachNotify) {
  for (TimeNs spin : kSpins) {
    Notifier notifier;
    std::atomic<bool> stopping{false}, looked{false};
    std::atomic<int> value{0};
    std::thread other([&] {
      while (!looked.load()) std::this_thread::yield();
      for (int i = 1; i <= 3; ++i) {
        value.store(i);
        notifier.Notify();
      }
    });
    EXPECT_TRUE(notifier.Wait(
        [&] {
          looked.store(true);
          return value.load() == 3;
        },
        stopping, spin));
    other.join();
  }
}

// After all waits have ended, in any interleaving, no thread counts as woken.
TEST(NotifierTest, NobodyStaysWoken) {
  Notifier notifier;
  std::atomic<bool> stopping{false};
  EXPECT_FALSE(notifier.waking());
  constexpr int kWaits = 3, kNotes = 3000;
  std::atomic<int> note{0}, left{kWaits};
  std::vector<std::thread> waits;
  for (int i = 0; i < kWaits; ++i) {
    waits.emplace_back([&, i] {
      for (int want = i; want < kNotes; want += kWaits) {
        notifier.Wait([&] { return note.load() >= want; }, stopping, 0);
      }
      left.fetch_sub(1);
    });
  }
  while (left.load() != 0) {
    note.fetch_add(1);
    notifier.Notify();
    std::this_thread::yield();
  }
  for (std::thread& wait : waits) wait.join();
  EXPECT_FALSE(notifier.waking());
  notifier.Notify();
  EXPECT_FALSE(notifier.waking());
}

TEST(NotifierTest, StopEndsAllWaits) {
  for (TimeNs spin : kSpins) {
    Notifier notifier;
    std::atomic<bool> stopping{false};
    std::atomic<int> looking{0};
    std::thread waits[2];
    for (std::thread& wait : waits) {
      wait = std::thread([&] {
        bool first = true;
        EXPECT_FALSE(notifier.Wait(
            [&] {
              if (first) looking.fetch_add(1);
              return first = false;
            },
            stopping, spin));
      });
    }
    while (looking.load() != 2) std::this_thread::yield();
    EXPECT_EQ(notifier.spinning(), spin != 0);
    // The cores of two spinning threads are not known.
    EXPECT_EQ(notifier.spinning_on(kNowhere), spin != 0);
    stopping.store(true);
    notifier.Notify();
    for (std::thread& wait : waits) wait.join();
  }
}

}  // namespace
}  // namespace pathways
