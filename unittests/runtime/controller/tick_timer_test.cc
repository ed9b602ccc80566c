//===- tick_timer_test.cc - The one timer of a controller -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/tick_timer.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

TEST(TickTimerTest, TheLastOneTicksOnce) {
  TickTimer timer;
  EXPECT_FALSE(timer.Tick(0, 5));
  EXPECT_TRUE(timer.Needs(/*counts=*/false));
  const uint64_t first = timer.Start(/*due=*/10, /*counts=*/false);
  EXPECT_FALSE(timer.Needs(false));
  // One on its way that counts for nothing does not keep a simulation going.
  EXPECT_TRUE(timer.Needs(true));
  const uint64_t second = timer.Start(12, true);
  EXPECT_FALSE(timer.Needs(false));
  EXPECT_FALSE(timer.Needs(true));
  EXPECT_FALSE(timer.Tick(first, 10));
  EXPECT_FALSE(timer.Needs(true));
  EXPECT_TRUE(timer.Tick(second, 12));
  EXPECT_FALSE(timer.Tick(second, 12));
  EXPECT_TRUE(timer.Needs(false));
}

TEST(TickTimerTest, LateTicksTakeNoTime) {
  TickTimer timer;
  EXPECT_EQ(timer.DeadlineTime(7), 7);
  timer.Tick(timer.Start(10, false), 10);
  EXPECT_EQ(timer.DeadlineTime(10), 10);
  timer.Tick(timer.Start(20, false), 25);
  EXPECT_EQ(timer.DeadlineTime(25), 20);
  timer.Tick(timer.Start(35, false), 37);
  EXPECT_EQ(timer.DeadlineTime(40), 33);
  // One that does not tick is not late.
  const uint64_t first = timer.Start(50, false);
  timer.Start(60, true);
  timer.Tick(first, 58);
  EXPECT_EQ(timer.DeadlineTime(60), 53);
}

}  // namespace
}  // namespace pathways
