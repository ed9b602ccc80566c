//===- recording_world_test.cc - Recording and delivering messages --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/testing/recording_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RecordingWorld;
using testing::Sent;
using ::testing::SizeIs;

TEST(RecordingWorld, KeepsWhatIsSentUntilItIsDelivered) {
  RecordingWorld world;
  TestActor a, b;
  std::vector<std::string> seen;
  a.Join(world, 0, 0);
  b.Join(world, 0, 0);
  b.on_message = [&](ActorId from, const WireMessage& message) {
    seen.push_back((from == a.id ? "a " : "? ") + std::to_string(message.step));
    if (message.step == 1) world.Send(b.id, kNoActor - 1, Numbered(7));
  };
  b.on_local = [&](const LocalMessage& message) {
    seen.push_back("local " + std::to_string(message.step));
  };
  b.on_control = [&](ActorId, std::string_view bytes) {
    seen.emplace_back(bytes);
  };
  world.Send(a.id, b.id, Numbered(1));
  world.SendControl(a.id, b.id, "hello");
  world.SendAfter(a.local_id(), b.local_id(), 5, LocalNumbered(2));
  world.SendLocal(a.local_id(), b.local_id(), LocalNumbered(3));
  ASSERT_THAT(world.sent, SizeIs(4));
  EXPECT_THAT(seen, IsEmpty());
  const std::vector<Sent> left = world.DeliverAll();
  EXPECT_THAT(seen, ElementsAre("a 1", "hello", "local 3"));
  // The timer, and the message without a receiver.
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_EQ(left[0].kind, Sent::kTimer);
  EXPECT_EQ(left[1].to, kNoActor - 1);
}

TEST(RecordingWorld, TimersFireInOrderWhileTheClockMoves) {
  RecordingWorld world;
  TestActor actor;
  actor.Join(world, 0, 0);
  std::vector<std::string> seen;
  actor.on_local = [&](const LocalMessage& message) {
    seen.push_back(std::to_string(message.step) + " at " +
                   std::to_string(world.Now()));
    if (message.step == 1) {
      world.SendAfter(actor.local_id(), actor.local_id(), 3, LocalNumbered(4));
    }
  };
  world.SendAfter(actor.local_id(), actor.local_id(), 10, LocalNumbered(2));
  world.SendAfter(actor.local_id(), actor.local_id(), 10, LocalNumbered(3));
  world.SendAfter(actor.local_id(), actor.local_id(), -1, LocalNumbered(1));
  world.SendAfter(actor.local_id(), actor.local_id(), 30, LocalNumbered(5));
  EXPECT_THAT(seen, IsEmpty());
  world.Advance(20);
  EXPECT_THAT(seen, ElementsAre("1 at 0", "4 at 3", "2 at 10", "3 at 10"));
  EXPECT_EQ(world.Now(), 20);
  EXPECT_EQ(world.timers(), 1u);
  world.Suspend(100);
  EXPECT_EQ(world.timers(), 1u);
  world.Advance(0);
  EXPECT_THAT(
      seen, ElementsAre("1 at 0", "4 at 3", "2 at 10", "3 at 10", "5 at 120"));
}

}  // namespace
}  // namespace pathways
