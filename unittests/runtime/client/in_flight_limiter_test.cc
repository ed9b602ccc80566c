//===- in_flight_limiter_test.cc - Waiting for launches to end ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/in_flight_limiter.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

using Next = InFlightLimiter::Next;

TEST(InFlightLimiterTest, NobodyIsToldWhenNobodyWaits) {
  InFlightLimiter room;
  EXPECT_TRUE(room.IsThere(kMaxLaunches - 1));
  EXPECT_FALSE(room.IsThere(kMaxLaunches));
  EXPECT_FALSE(InFlightLimiter(1).IsThere(1));
  for (size_t unended = kMaxLaunches; unended-- > 0;) {
    EXPECT_EQ(room.OnEnd(unended), Next::kNothing);
  }
}

TEST(InFlightLimiterTest, WhoWaitsIsToldWhenHalfHaveEnded) {
  InFlightLimiter room;
  const uint64_t turn = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kRearm);
  for (size_t unended = kMaxLaunches - 2; unended >= kMaxLaunches / 2;
       --unended) {
    EXPECT_EQ(room.OnEnd(unended), Next::kNothing);
  }
  EXPECT_FALSE(room.CanRetry(turn));
  EXPECT_EQ(room.OnEnd(kMaxLaunches / 2 - 1), Next::kWake);
  EXPECT_TRUE(room.CanRetry(turn));
  EXPECT_EQ(room.OnEnd(kMaxLaunches / 2 - 2), Next::kNothing);
  EXPECT_EQ(room.OnTick(kMaxLaunches / 2 - 2), Next::kNothing);
}

TEST(InFlightLimiterTest, WhoWaitsIsToldOfAnyRoomAfterAWhile) {
  InFlightLimiter room;
  const uint64_t turn = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kRearm);
  EXPECT_FALSE(room.CanRetry(turn));
  EXPECT_EQ(room.OnTick(kMaxLaunches - 1), Next::kWake);
  EXPECT_TRUE(room.CanRetry(turn));
}

// Somebody else took the room: the next end counts.
TEST(InFlightLimiterTest, WithoutRoomNobodyIsTold) {
  InFlightLimiter room;
  const uint64_t turn = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kRearm);
  EXPECT_EQ(room.OnTick(kMaxLaunches), Next::kNothing);
  EXPECT_FALSE(room.CanRetry(turn));
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kRearm);
  EXPECT_EQ(room.OnTick(kMaxLaunches - 1), Next::kWake);
  EXPECT_TRUE(room.CanRetry(turn));
}

// Any number of callers may wait, while one launch is in flight.
TEST(InFlightLimiterTest, AllWhoWaitAreToldAtOnce) {
  InFlightLimiter room;
  const uint64_t one = room.Await(), two = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kRearm);
  EXPECT_EQ(room.OnTick(kMaxLaunches - 1), Next::kWake);
  EXPECT_TRUE(room.CanRetry(one));
  EXPECT_TRUE(room.CanRetry(two));
  const uint64_t again = room.Await();
  EXPECT_FALSE(room.CanRetry(again));
}

}  // namespace
}  // namespace pathways
