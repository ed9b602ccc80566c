//===- flows_test.cc - Arrows between slices ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

struct End {
  uint64_t id;
  bool starts;
  TimeNs time;
};

// The flows that are left of `ends`, each on a track and in a group of its own.
std::vector<std::pair<uint64_t, bool>> Kept(const std::vector<End>& ends) {
  std::vector<TrackGroup> groups;
  for (const End& end : ends) {
    Slice slice = Span(end.time, end.time + 5, "", "a");
    slice.flows = {{end.id, "test", end.starts}};
    groups.push_back({"", {{"", {slice}}}, {}});
  }
  KeepWholeFlows(&groups);
  std::vector<std::pair<uint64_t, bool>> kept;
  for (const TrackGroup& group : groups) {
    for (const FlowEnd& flow : group.tracks[0].slices[0].flows) {
      kept.emplace_back(flow.id, flow.starts);
    }
  }
  return kept;
}

constexpr bool kStart = true, kEnd = false;

TEST(KeepWholeFlowsTest, ThoseWithTwoEndsStay) {
  EXPECT_THAT(Kept({{1, kStart, 10}, {1, kEnd, 20}}),
              ElementsAre(std::pair(1, kStart), std::pair(1, kEnd)));
  // On whichever track the end is.
  EXPECT_THAT(Kept({{1, kEnd, 20}, {1, kStart, 10}}),
              ElementsAre(std::pair(1, kEnd), std::pair(1, kStart)));
  EXPECT_EQ(Kept({{1, kStart, 10}, {1, kEnd, 10}}).size(), 2u);
}

TEST(KeepWholeFlowsTest, ThoseWithoutAnEndGo) {
  EXPECT_THAT(Kept({{1, kStart, 10}}), IsEmpty());
  EXPECT_THAT(Kept({{1, kEnd, 10}}), IsEmpty());
  // The end of one is not that of another.
  EXPECT_THAT(Kept({{1, kStart, 10}, {2, kEnd, 20}}), IsEmpty());
}

TEST(KeepWholeFlowsTest, ThoseBackInTimeGo) {
  EXPECT_THAT(Kept({{1, kStart, 11}, {1, kEnd, 10}}), IsEmpty());
}

TEST(KeepWholeFlowsTest, ThoseWithSeveralEndsGo) {
  EXPECT_THAT(Kept({{1, kStart, 10}, {1, kEnd, 20}, {1, kEnd, 20}}), IsEmpty());
  EXPECT_THAT(Kept({{1, kStart, 10}, {1, kStart, 10}, {1, kEnd, 20}}),
              IsEmpty());
}

TEST(KeepWholeFlowsTest, OthersOfTheSliceStay) {
  Slice from = Span(10, 20, "", "a"), to = Span(30, 40, "", "b");
  from.flows = {{1, "", kStart}, {2, "", kStart}, {3, "", kStart}};
  to.flows = {{1, "", kEnd}, {3, "", kEnd}};
  std::vector<TrackGroup> groups = {{"", {{"", {from, to}}}, {}}};
  KeepWholeFlows(&groups);
  const std::vector<FlowEnd>& left = groups[0].tracks[0].slices[0].flows;
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].id, 1u);
  EXPECT_EQ(left[1].id, 3u);
}

TEST(FlowsTest, NumberedInOrderAndFoundByTheirEnd) {
  Flows flows;
  const TraceEvent a, b, c;
  EXPECT_EQ(flows.NewTo(a), 1u);
  EXPECT_EQ(flows.New(), 2u);
  EXPECT_EQ(flows.NewTo(b), 3u);
  EXPECT_THAT(flows.To(a), Optional(1u));
  EXPECT_THAT(flows.To(b), Optional(3u));
  EXPECT_EQ(flows.To(c), std::nullopt);
  EXPECT_EQ(flows.NewTo(a), 4u);
  EXPECT_THAT(flows.To(a), Optional(4u));
}

TEST(KeepWholeFlowsTest, BetweenProcessesClocksMayBeWrong) {
  auto kept = [](TimeNs start, TimeNs end, uint32_t from, uint32_t to) {
    std::vector<TrackGroup> groups(2);
    for (int i : {0, 1}) {
      Slice slice = Span(i == 0 ? start : end, 500, "", "a");
      slice.flows = {{1, "test", i == 0}};
      groups[i].tracks = {{"", {slice}}};
      groups[i].process = i == 0 ? from : to;
      groups[i].clock_error = i == 0 ? 3 : 4;
    }
    KeepWholeFlows(&groups);
    return !groups[0].tracks[0].slices[0].flows.empty();
  };
  EXPECT_TRUE(kept(107, 100, 0, 1));
  EXPECT_FALSE(kept(108, 100, 0, 1));
  EXPECT_FALSE(kept(101, 100, 1, 1));
}

}  // namespace
}  // namespace pathways::trace
