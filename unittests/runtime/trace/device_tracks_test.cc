//===- device_tracks_test.cc - Tracks of a device -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/device_tracks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::trace {
namespace {

using namespace pathways::testing;  // NOLINT(build/namespaces)
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Kind = TraceKind;

class DeviceTracksTest : public ::testing::Test {
 protected:
  DeviceTracksTest() { log_.programs[kProgram] = TwoGangs(); }

  // "track: category name begin-end" of each slice.
  std::vector<std::string> Slices(const std::vector<TraceEvent>& events) {
    std::vector<std::string> lines;
    for (const Track& track : Add(events).tracks) {
      for (const Slice& slice : track.slices) {
        lines.push_back(track.name + ": " + slice.category + " " + slice.name +
                        " " + std::to_string(slice.begin) + "-" +
                        std::to_string(slice.end));
      }
    }
    return lines;
  }
  TrackGroup Add(const std::vector<TraceEvent>& events) {
    std::vector<const TraceEvent*> pointers;
    for (const TraceEvent& e : events) pointers.push_back(&e);
    TrackGroup group;
    tracks_.Add("d", pointers, &group);
    return group;
  }
  // The flows of the only slice.
  std::vector<FlowEnd> FlowsOf(const TraceEvent& event) {
    return Add({event}).tracks.at(0).slices.at(0).flows;
  }

  TraceLog log_ = EmptyLog();
  LogIndex index_{&log_};
  Flows flows_;
  DeviceTracks tracks_{&index_, &flows_};
};

TEST_F(DeviceTracksTest, QueueAndTransfers) {
  EXPECT_THAT(Slices({}), IsEmpty());
  EXPECT_THAT(
      Slices({Lasting(Kind::kWait, kDevice0, 0, 1, 5),
              Lasting(Kind::kGang, kDevice0, 0, 5, 20),
              Lasting(Kind::kCollective, kDevice0, 0, 6, 9, 1),
              Lasting(Kind::kMeet, kDevice0, 0, 6, 8, 1),
              Lasting(Kind::kMove, kDevice0, 1, 20, 30),
              Lasting(Kind::kMove, kDevice0, 99, 30, 31)}),
      ElementsAre("d: wait wait: a 1-5", "d: kernel a 5-20",
                  "d: collective all_reduce 6-9", "d: wait wait: others 6-8",
                  "d transfers: send m.send 20-30",
                  "d transfers: move action 99 30-31"));
}

TEST_F(DeviceTracksTest, SubmittedUntilTheEndOrThatOfTheLog) {
  log_.end = 100;
  auto submitted = [](TimeNs time, uint32_t launch, uint64_t begin,
                      uint64_t first_step) {
    TraceEvent event = NewTraceEvent(Kind::kSubmitted, kDevice0, time);
    event.program = kProgram;
    event.firing = begin;
    event.value = begin + 2;
    SetFirstStep(first_step, &event);
    event.other = launch;
    return event;
  };
  TraceEvent drained = NewTraceEvent(Kind::kDrained, kDevice0, 30);
  drained.program = kProgram;
  drained.other = 1;
  EXPECT_THAT(
      Slices({submitted(10, 1, 0, 0), submitted(20, 2, 2, (1ull << 39) + 7),
              drained}),
      ElementsAre("d submitted: submit a program, steps 0 to 1 10-30",
                  "d submitted 2: submit a program, steps 549755813895 to "
                  "549755813896 20-100"));
}

TEST_F(DeviceTracksTest, APieceIsOneFlow) {
  const std::vector<FlowEnd> from =
      FlowsOf(Lasting(Kind::kMove, kDevice0, 1, 10, 20, /*item=*/0));
  const std::vector<FlowEnd> other =
      FlowsOf(Lasting(Kind::kMove, kDevice1, 1, 10, 20, /*item=*/1));
  const std::vector<FlowEnd> next = FlowsOf(
      Lasting(Kind::kMove, kDevice2, 2, 40, 50, /*item=*/0, kNoTraceEdge, 1));
  const std::vector<FlowEnd> to =
      FlowsOf(Lasting(Kind::kMove, kDevice2, 2, 30, 40, /*item=*/0));
  ASSERT_EQ(from.size(), 1u);
  ASSERT_EQ(other.size(), 1u);
  ASSERT_EQ(next.size(), 1u);
  ASSERT_EQ(to.size(), 1u);
  EXPECT_TRUE(from[0].starts);
  EXPECT_FALSE(to[0].starts);
  EXPECT_EQ(from[0].id, to[0].id);
  EXPECT_NE(other[0].id, to[0].id);
  EXPECT_NE(next[0].id, to[0].id);
}

// Each shard of the destination has all of the value, from two shards.
TEST_F(DeviceTracksTest, AFlowForEachPairOfShards) {
  PlanBuilder b("p", 2);
  const uint32_t s0 = b.AddSlice("s0", {{"x", 2}}, 0);
  const uint32_t s1 = b.AddSlice("s1", {{"x", 2}}, 1);
  layout::Layout rows, whole;
  rows.shape = whole.shape = {2};
  rows.dims = {{"x"}};
  whole.dims = {{}};
  b.AddMove("m", b.AddBuffer("from", s0, rows), b.AddBuffer("to", s1, whole));
  log_.programs[kProgram] = std::make_shared<const proto::Plan>(b.Finish());
  std::set<uint64_t> ids;
  for (uint32_t shard : {0, 1}) {
    for (const FlowEnd& flow :
         FlowsOf(Lasting(Kind::kMove, kDevice2, 1, 30, 40, shard))) {
      ids.insert(flow.id);
    }
  }
  EXPECT_THAT(ids, ElementsAre(1, 2, 3, 4));
}

// A movement within a device needs no arrow.
TEST_F(DeviceTracksTest, NoFlowToItself) {
  EXPECT_THAT(FlowsOf(Lasting(Kind::kMove, kDevice2, 1, 10, 20, /*item=*/0)),
              IsEmpty());
}

TEST_F(DeviceTracksTest, TheFlowOfAGrantEndsAtItsGang) {
  const TraceEvent gang = Lasting(Kind::kGang, kDevice0, 0, 10, 20);
  const uint64_t flow = flows_.NewTo(gang);
  TrackGroup group;
  tracks_.Add("d", {&gang}, &group);
  const std::vector<FlowEnd>& flows = group.tracks.at(0).slices.at(0).flows;
  ASSERT_EQ(flows.size(), 1u);
  EXPECT_EQ(flows[0].id, flow);
  EXPECT_FALSE(flows[0].starts);
}

}  // namespace
}  // namespace pathways::trace
