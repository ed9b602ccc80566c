//===- launch_tracks_test.cc - Launches, by client and island -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/launch_tracks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::trace {
namespace {

using namespace pathways::testing;  // NOLINT(build/namespaces)
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Kind = TraceKind;

class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest() {
    log_.programs[kProgram] = TwoGangs();
    log_.end = 500;
  }
  TraceEvent Launch(Kind kind, uint32_t actor, TimeNs time, uint64_t launch,
                    uint64_t first, uint32_t steps) {
    TraceEvent event = OfLaunch(kind, actor, time);
    event.value = launch;
    event.firing = first;
    event.other = steps;
    return event;
  }
  TraceEvent Gang(uint32_t device, TimeNs begin, uint64_t firing) {
    return Lasting(Kind::kGang, device, 0, begin, begin + 1, 0, kNoTraceEdge,
                   firing);
  }
  // The devices and firings of the first gangs of event `granted`.
  std::vector<std::pair<uint32_t, uint64_t>> FirstGangs(size_t granted) {
    std::vector<std::pair<uint32_t, uint64_t>> gangs;
    for (const TraceEvent* e :
         LaunchLog(&log_).FirstGangs(log_.events[granted])) {
      gangs.emplace_back(uint32_t{e->actor}, uint64_t{e->firing});
    }
    return gangs;
  }
  // "track: name begin-end" of each slice.
  std::vector<std::string> Slices(const TrackGroup& group) {
    std::vector<std::string> lines;
    for (const Track& track : group.tracks) {
      for (const Slice& slice : track.slices) {
        lines.push_back(track.name + ": " + slice.name + " " +
                        std::to_string(slice.begin) + "-" +
                        std::to_string(slice.end));
      }
    }
    return lines;
  }
  TraceLog log_ = EmptyLog();
};

TEST_F(LaunchTest, TheFirstEventOfAKindCounts) {
  log_.events = {OfLaunch(Kind::kJoined, kScheduler0, 1),
                 OfLaunch(Kind::kJoined, kScheduler0, 2),
                 OfLaunch(Kind::kGranted, kScheduler0, 3),
                 OfLaunch(Kind::kGranted, kScheduler0, 4),
                 OfLaunch(Kind::kGranted, kScheduler1, 5)};
  const LaunchLog launches(&log_);
  const std::vector<LaunchLog::OnIsland> granted =
      launches.GrantedBy(kScheduler0);
  ASSERT_EQ(granted.size(), 1u);
  EXPECT_EQ(granted[0].joined->time, 1);
  EXPECT_EQ(granted[0].granted->time, 3);
  EXPECT_EQ(granted[0].done, nullptr);
  const LaunchLog::Launch* launch = launches.Find(1);
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch->joined->time, 1);
  EXPECT_THAT(launch->granted, ElementsAre(&log_.events[2], &log_.events[4]));
  EXPECT_EQ(launch->ended, std::nullopt);
  EXPECT_EQ(launches.Find(2), nullptr);
}

TEST_F(LaunchTest, WhatWasNeverGrantedIsOnNoScheduler) {
  log_.events = {OfLaunch(Kind::kJoined, kScheduler0, 1),
                 OfLaunch(Kind::kDone, kScheduler0, 2)};
  EXPECT_THAT(LaunchLog(&log_).GrantedBy(kScheduler0), IsEmpty());
}

// Steps 2 and 3 on island 0.
TEST_F(LaunchTest, FirstGangsAreOfTheLaunchAndItsIsland) {
  log_.events = {
      Launch(Kind::kGranted, kScheduler0, 10, 1, /*first=*/2, /*steps=*/2),
      Gang(kDevice0, 11, 1),
      Gang(kDevice0, 12, 2),
      Gang(kDevice0, 13, 3),
      Gang(kDevice1, 14, 3),
      Gang(kDevice2, 15, 2)};
  EXPECT_THAT(FirstGangs(0), ElementsAre(std::pair(uint32_t{kDevice0}, 2),
                                         std::pair(uint32_t{kDevice1}, 3)));
}

TEST_F(LaunchTest, FirstGangsAreNoneBeforeTheGrantNorAfterTheLaunch) {
  log_.events = {
      Gang(kDevice0, 9, 2),
      Launch(Kind::kGranted, kScheduler0, 10, 1, /*first=*/2, /*steps=*/2),
      Gang(kDevice1, 14, 4)};
  EXPECT_THAT(FirstGangs(1), IsEmpty());
  log_.events[2].program = 9;
  log_.events[2].firing = 2;
  EXPECT_THAT(FirstGangs(1), IsEmpty());
}

TEST_F(LaunchTest, CallsAndRuns) {
  TraceEvent load = LaunchCall(1, 3);
  load.target = static_cast<uint32_t>(TraceCall::kLoad);
  load.other = 0;
  TraceEvent ended = NewTraceEvent(Kind::kRunEnded, kTheController, 40);
  ended.other = 1;
  TraceEvent unknown = LaunchCall(50, 51);
  unknown.other = 2;
  // No launch of the load, whose number says that it has none.
  log_.events = {Launch(Kind::kJoined, kScheduler0, 0, /*launch=*/0, 0, 1),
                 load,
                 LaunchCall(5, 6),
                 OfLaunch(Kind::kJoined, kScheduler0, 7),
                 ended,
                 unknown};
  const LogIndex index(&log_);
  Flows flows;
  TrackGroup group;
  LaunchTracks(&index, &flows).AddClient(&group);
  EXPECT_THAT(
      Slices(group),
      ElementsAre("calls: load 1-3", "calls: launch p 5-6",
                  "calls: launch 50-51", "runs: p, 1 step from 0 5-40"));
}

// A launch that is not done lasts to the end of the log.
TEST_F(LaunchTest, HeldBackThenGranted) {
  log_.events = {Launch(Kind::kJoined, kScheduler0, 10, 1, 0, 1),
                 Launch(Kind::kGranted, kScheduler0, 15, 1, 0, 1),
                 Launch(Kind::kDone, kScheduler0, 30, 1, 0, 1),
                 Launch(Kind::kGranted, kScheduler0, 40, 2, 1, 1)};
  const LogIndex index(&log_);
  Flows flows;
  TrackGroup group;
  LaunchTracks(&index, &flows).AddScheduler(kScheduler0, "scheduler", &group);
  EXPECT_THAT(Slices(group), ElementsAre("scheduler: p, 1 step from 0 10-30",
                                         "scheduler: held back 10-15",
                                         "scheduler: granted 15-30",
                                         "scheduler: p, 1 step from 1 40-500",
                                         "scheduler: granted 40-500"));
}

TEST_F(LaunchTest, FlowsLeadToGrantsAndToGangs) {
  log_.events = {OfLaunch(Kind::kGranted, kScheduler1, 4),  // before the call
                 LaunchCall(5, 6), OfLaunch(Kind::kGranted, kScheduler0, 7),
                 Gang(kDevice0, 8, 0)};
  const LogIndex index(&log_);
  Flows flows;
  LaunchTracks tracks(&index, &flows);
  TrackGroup client, island;
  tracks.AddClient(&client);
  tracks.AddScheduler(kScheduler0, "scheduler", &island);
  const std::vector<FlowEnd>& call = client.tracks[0].slices[0].flows;
  ASSERT_EQ(call.size(), 1u);
  EXPECT_TRUE(call[0].starts);
  const std::vector<FlowEnd>& granted = island.tracks[0].slices[1].flows;
  ASSERT_EQ(granted.size(), 2u);
  EXPECT_FALSE(granted[0].starts);
  EXPECT_EQ(granted[0].id, call[0].id);
  EXPECT_TRUE(granted[1].starts);
  EXPECT_EQ(flows.To(log_.events[3]), granted[1].id);
}

}  // namespace
}  // namespace pathways::trace
