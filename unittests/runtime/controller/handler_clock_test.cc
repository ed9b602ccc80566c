//===- handler_clock_test.cc - The time while a message is handled --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/handler_clock.h"

#include "gtest/gtest.h"
#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

TEST(HandlerClockTest, StandsWhileAMessageIsHandled) {
  RecordingWorld world;
  TickTimer timer;
  HandlerClock clock(&world, &timer);
  world.Advance(10);
  clock.Begin();
  EXPECT_EQ(clock.WorldNow(), 10);
  world.Advance(5);
  EXPECT_EQ(clock.WorldNow(), 10);
  clock.End();
  EXPECT_EQ(clock.WorldNow(), 15);
  world.Advance(1);
  EXPECT_EQ(clock.WorldNow(), 16);
}

TEST(HandlerClockTest, DeadlinesDoNotCountTheLatenessOfTicks) {
  RecordingWorld world;
  TickTimer timer;
  HandlerClock clock(&world, &timer);
  const uint64_t tick = timer.Start(/*due=*/20, /*counts=*/false);
  world.Advance(50);
  EXPECT_EQ(clock.Now(), 50);
  ASSERT_TRUE(timer.Tick(tick, world.Now()));
  EXPECT_EQ(clock.Now(), 20);
  EXPECT_EQ(clock.WorldNow(), 50);
}

}  // namespace
}  // namespace pathways::testing
