//===- launch_room_test.cc - Who waits for launches to end ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/launch_room.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

using Next = LaunchRoom::Next;

TEST(LaunchRoomTest, NobodyIsToldWhenNobodyWaits) {
  LaunchRoom room;
  EXPECT_TRUE(room.IsThere(kMaxLaunches - 1));
  EXPECT_FALSE(room.IsThere(kMaxLaunches));
  EXPECT_FALSE(LaunchRoom(1).IsThere(1));
  for (size_t unended = kMaxLaunches; unended-- > 0;) {
    EXPECT_EQ(room.OnEnd(unended), Next::kNothing);
  }
}

TEST(LaunchRoomTest, WhoWaitsIsToldWhenHalfHaveEnded) {
  LaunchRoom room;
  const uint64_t turn = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kComeBack);
  for (size_t unended = kMaxLaunches - 2; unended >= kMaxLaunches / 2;
       --unended) {
    EXPECT_EQ(room.OnEnd(unended), Next::kNothing);
  }
  EXPECT_FALSE(room.MayLook(turn));
  EXPECT_EQ(room.OnEnd(kMaxLaunches / 2 - 1), Next::kWake);
  EXPECT_TRUE(room.MayLook(turn));
  EXPECT_EQ(room.OnEnd(kMaxLaunches / 2 - 2), Next::kNothing);
  EXPECT_EQ(room.OnTick(kMaxLaunches / 2 - 2), Next::kNothing);
}

TEST(LaunchRoomTest, WhoWaitsIsToldOfAnyRoomAfterAWhile) {
  LaunchRoom room;
  const uint64_t turn = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kComeBack);
  EXPECT_FALSE(room.MayLook(turn));
  EXPECT_EQ(room.OnTick(kMaxLaunches - 1), Next::kWake);
  EXPECT_TRUE(room.MayLook(turn));
}

// Somebody else took the room: the next end counts.
TEST(LaunchRoomTest, WithoutRoomNobodyIsTold) {
  LaunchRoom room;
  const uint64_t turn = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kComeBack);
  EXPECT_EQ(room.OnTick(kMaxLaunches), Next::kNothing);
  EXPECT_FALSE(room.MayLook(turn));
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kComeBack);
  EXPECT_EQ(room.OnTick(kMaxLaunches - 1), Next::kWake);
  EXPECT_TRUE(room.MayLook(turn));
}

// As many more wait as like, and one is under way at a time.
TEST(LaunchRoomTest, AllWhoWaitAreToldAtOnce) {
  LaunchRoom room;
  const uint64_t one = room.Await(), two = room.Await();
  EXPECT_EQ(room.OnEnd(kMaxLaunches - 1), Next::kComeBack);
  EXPECT_EQ(room.OnTick(kMaxLaunches - 1), Next::kWake);
  EXPECT_TRUE(room.MayLook(one));
  EXPECT_TRUE(room.MayLook(two));
  const uint64_t again = room.Await();
  EXPECT_FALSE(room.MayLook(again));
}

}  // namespace
}  // namespace pathways
