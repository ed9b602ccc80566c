//===- recording_world_test.cc - What tests of actors rely on -------------===//
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
  b.on_message = [&](ActorId from, const Message& message) {
    seen.push_back(std::to_string(from) + " " + std::to_string(message.step));
    if (message.step == 1) world.Send(b.id, 99, Numbered(7));
  };
  b.on_control = [&](ActorId, std::string_view bytes) {
    seen.emplace_back(bytes);
  };
  world.Send(a.id, b.id, Numbered(1));
  world.SendControl(a.id, b.id, "hello");
  world.SendAfter(a.id, b.id, 5, Numbered(2));
  ASSERT_THAT(world.sent, SizeIs(3));
  EXPECT_THAT(seen, IsEmpty());
  const std::vector<Sent> left = world.DeliverAll();
  EXPECT_THAT(seen, ElementsAre("0 1", "hello"));
  ASSERT_THAT(left, SizeIs(2));  // the timer, and what nobody takes
  EXPECT_EQ(left[0].kind, Sent::kTimer);
  EXPECT_EQ(left[1].to, 99u);
}

TEST(RecordingWorld, TimersFireInOrderWhileTheClockMoves) {
  RecordingWorld world;
  TestActor actor;
  actor.Join(world, 0, 0);
  std::vector<std::string> seen;
  actor.on_message = [&](ActorId, const Message& message) {
    seen.push_back(std::to_string(message.step) + " at " +
                   std::to_string(world.Now()));
    if (message.step == 1) {
      world.SendAfter(actor.id, actor.id, 3, Numbered(4));
    }
  };
  world.SendAfter(actor.id, actor.id, 10, Numbered(2));
  world.SendAfter(actor.id, actor.id, 10, Numbered(3));
  world.SendAfter(actor.id, actor.id, -1, Numbered(1));
  world.SendAfter(actor.id, actor.id, 30, Numbered(5));
  EXPECT_THAT(seen, IsEmpty());
  world.Advance(20);
  EXPECT_THAT(seen, ElementsAre("1 at 0", "4 at 3", "2 at 10", "3 at 10"));
  EXPECT_EQ(world.Now(), 20);
  EXPECT_EQ(world.timers(), 1u);
}

}  // namespace
}  // namespace pathways
