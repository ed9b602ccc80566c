//===- clock_test.cc - Time for worlds made of threads --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/clock.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace pathways {
namespace {

TEST(ClockTest, AdvanceNotifiesListenersUntilTheyAreRemoved) {
  ManualClock clock;
  int calls = 0;
  const int listener = clock.AddListener([&] { ++calls; });
  clock.Advance(5);
  EXPECT_EQ(clock.Now(), 5);
  EXPECT_EQ(calls, 1);
  clock.Advance(-5);
  EXPECT_EQ(clock.Now(), 5);
  EXPECT_EQ(calls, 2);
  clock.RemoveListener(listener);
  clock.Advance(5);
  EXPECT_EQ(calls, 2);
}

// A clock that knows how long to sleep: until twice the time that is left.
class SlowClock final : public Clock {
 public:
  TimeNs now = 1000;

  TimeNs Now() override { return now; }
  TimeNs RealDelay(TimeNs time) override { return 2 * (time - now); }
  int AddListener(std::function<void()>) override { return 0; }
  void RemoveListener(int) override {}
};

TEST(ClockTest, ATimeOfAWorldCountsFromItsBeginning) {
  auto source = std::make_shared<SlowClock>();
  const WorldClock clock(source);
  EXPECT_EQ(clock.Now(), 0);
  EXPECT_EQ(clock.RealDelay(10), 20);
  source->now += 4;
  EXPECT_EQ(clock.Now(), 4);
  EXPECT_EQ(clock.RealDelay(10), 12);
  EXPECT_EQ(clock.source(), source);
}

}  // namespace
}  // namespace pathways
