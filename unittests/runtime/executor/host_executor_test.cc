//===- host_executor_test.cc - Loads, grants, what others send ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<uint64_t> Done(const std::vector<Sent>& sent) {
  std::vector<uint64_t> places;
  for (const Control& control : ControlsOf(sent, Control::kGrantDone)) {
    places.push_back(control.grant_done().number());
  }
  return places;
}
Control Stop(uint32_t incarnation) {
  Control control;
  control.mutable_stop_program()->set_incarnation(incarnation);
  return control;
}
Control Free(uint32_t incarnation) {
  Control control;
  control.mutable_free_program()->set_incarnation(incarnation);
  return control;
}

TEST(HostExecutorTest, AnswersALoadWhenItsDevicesHaveTheProgram) {
  RecordedHost host("1x1x2");
  const std::vector<Control> replies =
      ControlsOf(host.Load(MovePlan("p", 2)), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().code(), 0);
  EXPECT_EQ(replies[0].load_reply().incarnation(), 1u);
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
  // A second copy is answered again, and changes nothing.
  EXPECT_THAT(ControlsOf(host.LoadAs(1), Control::kLoadReply), SizeIs(1));
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
}

TEST(HostExecutorTest, RefusesAProgramWhoseNumberIsTooLarge) {
  RecordedHost host("1x1x1");
  const std::vector<Control> replies =
      ControlsOf(host.LoadAs(1, uint32_t{1} << 31), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "program 2147483648 was loaded, expected below 1048576");
}

TEST(HostExecutorTest, GivesBackMemoryInTwoRounds) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  // Not before it was stopped.
  EXPECT_THAT(host.TellFromController(Free(1)), IsEmpty());
  EXPECT_THAT(ControlsOf(host.TellFromController(Stop(1)), Control::kStopReply),
              SizeIs(1));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  EXPECT_THAT(ControlsOf(host.TellFromController(Free(1)), Control::kFreeReply),
              SizeIs(1));
  EXPECT_EQ(host.executor->arena(0).used(), 0u);
  // Second copies are answered again.
  EXPECT_THAT(ControlsOf(host.TellFromController(Stop(1)), Control::kStopReply),
              SizeIs(1));
  EXPECT_THAT(ControlsOf(host.TellFromController(Free(1)), Control::kFreeReply),
              SizeIs(1));
  EXPECT_EQ(host.world.reserved[host.executor->local_id()], 0);
}

TEST(HostExecutorTest, AppliesGrantsInTheOrderOfTheirPlaces) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_THAT(Done(host.Grant(/*launch=*/7, /*place=*/5, /*previous_place=*/3,
                              /*first=*/2, /*steps=*/2, 0, 4)),
              IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), ElementsAre(3, 5));
  // Second copies.
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4)), IsEmpty());
}

TEST(HostExecutorTest, GivesUpAGrantThatIsNotOfItsLaunch) {
  struct Case {
    uint64_t first, steps, launch_first, of;
  };
  for (const Case& c : {
           Case{0, 0, 0, 4},
           Case{0, 5, 0, 4},
           Case{1, 1, 0, 4},
           Case{1, 1, 1, 4},
           Case{0, 1, 0, 0},
           Case{0, uint64_t{1} << 50, 0, uint64_t{1} << 50},
       }) {
    RecordedHost host("1x1x2");
    host.Load(MovePlan("p", 2));
    EXPECT_THAT(
        Done(host.Grant(7, 3, 0, c.first, c.steps, c.launch_first, c.of)),
        IsEmpty())
        << c.first << " " << c.steps << " " << c.launch_first << " " << c.of;
  }
}

TEST(HostExecutorTest, DropsWhatIsOfAProgramOfBefore) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  Control control;
  control.mutable_stop_program()->set_incarnation(0);
  host.TellFromController(control);
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 2)), ElementsAre(3));
}

// A send to another island, whose credits that host gives back.
TEST(HostExecutorTest, CountsWireMessagesThatItDrops) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  WireMessage message;
  message.kind = kTokenMessage;
  message.incarnation = 1;
  message.sequence = 1;
  message.target = UINT32_MAX;
  const HostCounters& counters = host.executor->counters();
  host.TellWire(1, message);
  EXPECT_EQ(counters.duplicates.get(), 0u);
  host.TellWire(1, message);
  EXPECT_EQ(counters.duplicates.get(), 1u);
  message.sequence = 2;
  message.incarnation = 9;
  host.TellWire(1, message);
  EXPECT_EQ(counters.stale.get(), 1u);
  EXPECT_EQ(counters.foreign.get(), 0u);
  host.TellWire(0, message);  // itself
  message.kind = 0;
  host.TellWire(1, message);
  message.kind = kNumWireKinds;
  host.TellWire(1, message);
  EXPECT_EQ(counters.foreign.get(), 3u);
}

TEST(HostExecutorTest, StopsAtAWindowWithoutCredits) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  // Two slots at the receiver: two pieces, then no more.
  std::vector<Sent> sent = host.Grant(7, 3, 0, 0, 5, 0, 5);
  EXPECT_THAT(WiresOf(sent, kPieceMessage), SizeIs(2));
  EXPECT_THAT(Done(sent), IsEmpty());
  const std::vector<WireMessage> pieces = WiresOf(sent, kPieceMessage);
  EXPECT_THAT((std::vector<uint64_t>{pieces[0].step, pieces[1].step}),
              ElementsAre(0, 1));
  EXPECT_THAT((std::vector<uint64_t>{pieces[0].sequence, pieces[1].sequence}),
              ElementsAre(1, 2));
}

TEST(HostExecutorTest, DropsWhatItsSenderMayNotSay) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  const ActorId strangers[] = {
      kNoActor, host.directory().client(0), host.directory().executor(1),
      host.directory().scheduler(1), host.directory().scheduler(0)};
  for (ActorId stranger : strangers) {
    EXPECT_THAT(host.Tell(stranger, Stop(1)), IsEmpty()) << stranger;
  }
  EXPECT_EQ(host.executor->counters().foreign.get(), 5u);
  EXPECT_THAT(host.TellFromController(Stop(1)), SizeIs(1));
}

}  // namespace
}  // namespace pathways::testing
