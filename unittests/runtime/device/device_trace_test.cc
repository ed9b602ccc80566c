//===- device_trace_test.cc - Trace events of a device --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::SizeIs;

// A gang of one entry, which waits for edges 7 and 8.
class DeviceTraceTest : public ::testing::Test {
 protected:
  DeviceTraceTest() {
    program_.incarnation = 3;
    program_.window = 2;
    program_.entries.resize(1);
    program_.entries[0].action = 4;
    program_.entries[0].shard = 6;
    program_.entries[0].need = 2;
    program_.in_edges = {{0, 7, 1}, {0, 8, 1}};
    gang_.action = 4;
    gang_.shards = 1;
  }
  void Start() {
    trace_.Start(ring_.get(), LocalId{11});
    trace_.Attach(&program_);
  }
  std::vector<TraceEvent> Events() {
    std::vector<TraceEvent> events;
    EXPECT_EQ(ring_->Read(&events), 0u);
    return events;
  }

  RecordingWorld world_;
  const std::unique_ptr<TraceRing> ring_ = TraceRing::Create(&world_, 16);
  DeviceProgram program_;
  Gang gang_;
  DeviceTrace trace_;
};

TEST_F(DeviceTraceTest, NotesNothingBeforeItStarts) {
  EXPECT_FALSE(trace_.is_on());
  const uint8_t poison[] = {0};
  trace_.Attach(&program_);
  trace_.HeadWaits();
  trace_.HeadBegins(program_, gang_, 0);
  trace_.HeadEnds(program_, gang_, 0, poison);
  EXPECT_THAT(Events(), SizeIs(0));
  EXPECT_TRUE(program_.last_tokens.empty());
}

TEST_F(DeviceTraceTest, AGangHasItsTimesAndTheEdgeItWaitedFor) {
  Start();
  EXPECT_TRUE(trace_.is_on());
  trace_.LastToken(&program_, /*at=*/1, /*in_edge=*/1);  // of firing 1
  world_.Advance(5);
  trace_.HeadWaits();
  world_.Advance(5);
  trace_.HeadWaits();  // since then, not since now
  trace_.LastToken(&program_, /*at=*/1, /*in_edge=*/0);
  world_.Advance(10);
  trace_.HeadBegins(program_, gang_, /*firing=*/1);
  world_.Advance(30);
  const uint8_t poison[] = {1};
  trace_.HeadEnds(program_, gang_, 1, poison);
  const std::vector<TraceEvent> events = Events();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].Kind(), TraceKind::kWait);
  EXPECT_EQ(events[0].time, 5);
  EXPECT_EQ(events[0].value, 20u);
  EXPECT_EQ(events[0].other, 7u);
  EXPECT_EQ(events[1].Kind(), TraceKind::kGang);
  EXPECT_EQ(events[1].time, 20);
  EXPECT_EQ(events[1].value, 50u);
  EXPECT_EQ(events[1].other, 7u);
  EXPECT_EQ(events[1].target, 4u);
  EXPECT_EQ(events[1].firing, 1u);
  EXPECT_TRUE(events[1].poisoned);
}

TEST_F(DeviceTraceTest, AGangThatWaitedForNothingHasNoWait) {
  Start();
  trace_.HeadWaits();
  trace_.DetachHead();
  trace_.HeadBegins(program_, gang_, 0);
  const uint8_t poison[] = {0};
  trace_.HeadEnds(program_, gang_, 0, poison);
  const std::vector<TraceEvent> events = Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].Kind(), TraceKind::kGang);
  EXPECT_EQ(events[0].other, kNoTraceEdge);
  EXPECT_FALSE(events[0].poisoned);
}

TEST_F(DeviceTraceTest, AMeetingIsNotedWhenItWaited) {
  Start();
  trace_.MeetingBegins();
  trace_.MeetingEnds(program_, gang_, 0, 2);
  EXPECT_THAT(Events(), SizeIs(0));
  trace_.MeetingBegins();
  trace_.MeetingWaits();
  trace_.MeetingEnds(program_, gang_, 0, 2);
  trace_.CollectiveEnds(program_, gang_, 0, 2);
  const std::vector<TraceEvent> events = Events();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].Kind(), TraceKind::kMeet);
  EXPECT_EQ(events[0].item, 2u);
  EXPECT_EQ(events[1].Kind(), TraceKind::kCollective);
}

TEST_F(DeviceTraceTest, AMoveIsOfItsShard) {
  Start();
  trace_.LastToken(&program_, /*at=*/0, /*in_edge=*/0);
  trace_.LastEnqueued(&program_, /*at=*/0);  // the host was last
  trace_.MoveBegins();
  world_.Advance(7);
  trace_.MoveEnds(program_, /*entry=*/0, /*firing=*/0, /*poisoned=*/true);
  const std::vector<TraceEvent> events = Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].Kind(), TraceKind::kMove);
  EXPECT_EQ(events[0].item, 6u);
  EXPECT_EQ(events[0].other, kNoTraceEdge);
  EXPECT_EQ(events[0].time, 0);
  EXPECT_EQ(events[0].value, 7u);
  EXPECT_TRUE(events[0].poisoned);
}

}  // namespace
}  // namespace pathways::testing
