//===- tracks_test.cc - TrackRows, steps and groups of tracks -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/tracks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// "name: slice slice".
std::vector<std::string> Text(const std::vector<Track>& tracks) {
  std::vector<std::string> lines;
  for (const Track& track : tracks) {
    std::string line = track.name + ":";
    for (const Slice& slice : track.slices) line += " " + slice.name;
    lines.push_back(line);
  }
  return lines;
}

TrackRows::Group One(const std::string& name, TimeNs begin, TimeNs end) {
  return {Span(begin, end, "test", name), {}};
}

std::vector<std::string> Placed(const std::vector<TrackRows::Group>& groups) {
  TrackRows rows;
  for (const TrackRows::Group& group : groups) rows.Add(group);
  std::vector<Track> tracks;
  rows.Place("t", &tracks);
  return Text(tracks);
}

TEST(SpanTest, EndsNoEarlierThanItBegins) {
  EXPECT_EQ(Span(5, 9, "", "a").end, 9);
  EXPECT_EQ(Span(5, 4, "", "a").end, 5);
}

TEST(TrackRowsTest, WhatOverlapsHasLanesOfItsOwn) {
  EXPECT_THAT(Placed({One("a", 0, 10), One("b", 5, 15), One("c", 9, 12)}),
              ElementsAre("t: a", "t 2: b", "t 3: c"));
}

// One that begins when another ends does not overlap it.
TEST(TrackRowsTest, TheFirstFreeLaneIsUsedAgain) {
  EXPECT_THAT(Placed({One("a", 0, 10), One("b", 5, 8), One("c", 10, 20),
                      One("d", 12, 13)}),
              ElementsAre("t: a c", "t 2: b d"));
  EXPECT_THAT(Placed({One("a", 0, 10), One("b", 1, 10), One("c", 10, 11)}),
              ElementsAre("t: a c", "t 2: b"));
}

TEST(TrackRowsTest, InOrderOfTimeWhateverThatOfAdding) {
  EXPECT_THAT(Placed({One("c", 10, 20), One("b", 5, 15), One("a", 0, 10)}),
              ElementsAre("t: a c", "t 2: b"));
}

TEST(TrackRowsTest, WhatIsInsideGoesAlong) {
  TrackRows::Group a = One("a", 0, 10), b = One("b", 5, 15);
  a.inner = {Span(0, 4, "", "a1"), Span(4, 10, "", "a2")};
  b.inner = {Span(6, 7, "", "b1")};
  EXPECT_THAT(Placed({a, b}), ElementsAre("t: a a1 a2", "t 2: b b1"));
}

TEST(TrackRowsTest, PlacingAppendsAndEmpties) {
  std::vector<Track> tracks = {{"before", {}}};
  TrackRows rows;
  rows.Place("none", &tracks);
  rows.Add(One("a", 0, 1));
  rows.Place("t", &tracks);
  rows.Place("again", &tracks);
  EXPECT_THAT(Text(tracks), ElementsAre("before:", "t: a"));
}

TEST(StepsTest, OneValueForEachTime) {
  Steps steps;
  EXPECT_THAT(steps.Values(), IsEmpty());
  steps.Add(20, -1);
  steps.Add(10, 1);
  steps.Add(20, 3);
  steps.Add(30, -3);
  EXPECT_THAT(steps.Values(),
              ElementsAre(Pair(10, 1), Pair(20, 3), Pair(30, 0)));
}

// The log no longer has the event that took what is returned here.
TEST(StepsTest, NeverNegative) {
  Steps steps;
  steps.Add(10, -2);
  steps.Add(20, 1);
  steps.Add(30, -2);
  EXPECT_THAT(steps.Values(),
              ElementsAre(Pair(10, 1), Pair(20, 2), Pair(30, 0)));
}

TEST(StepsTest, AtOneTimeWhatIsTakenComesFirst) {
  Steps steps;
  steps.Add(10, -1);
  steps.Add(10, 1);
  EXPECT_THAT(steps.Values(), ElementsAre(Pair(10, 0)));
}

TEST(TrackGroupTest, WhatIsEmptyIsLeftOut) {
  TrackGroup group;
  group.Add(Track{"empty", {}});
  group.Add(Track{"full", {Slice()}});
  group.Add(Counter{"empty", "bytes", {}});
  group.Add(Counter{"full", "bytes", {{0, 0}}});
  ASSERT_EQ(group.tracks.size(), 1u);
  EXPECT_EQ(group.tracks[0].name, "full");
  ASSERT_EQ(group.counters.size(), 1u);
  EXPECT_EQ(group.counters[0].name, "full");
}

}  // namespace
}  // namespace pathways::trace
