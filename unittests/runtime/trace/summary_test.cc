//===- summary_test.cc - Breakdown of the time of a run -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::testing {
namespace {

TEST(SummaryTest, DevicesAreBusyWhereTheyDoNotWait) {
  const TraceSummary summary = SummarizeTrace(OneStep());
  EXPECT_EQ(summary.begin, 5);
  EXPECT_EQ(summary.end, 100);
  ASSERT_EQ(summary.devices.size(), 4u);
  EXPECT_EQ(summary.devices[0].name, "island0/host0/device0");
  // 40 in the gang, of which 22 in the all-reduce; 2 in the send.
  EXPECT_EQ(summary.devices[0].busy_ns, 20);
  EXPECT_EQ(summary.devices[0].waiting_ns, 22);
  EXPECT_EQ(summary.devices[1].busy_ns, 34);
  EXPECT_EQ(summary.devices[1].waiting_ns, 0);
  EXPECT_EQ(summary.devices[2].busy_ns, 39);
  EXPECT_EQ(summary.devices[2].waiting_ns, 50);
}

// Back from 'b' on device 2: by its token to the recv, the send on device 0 and
// 'a' there, which after 42 was alone; before that it waited for device 1.
TEST(SummaryTest, ThePathGoesThroughWhoCameLast) {
  const TraceSummary summary = SummarizeTrace(OneStep());
  ASSERT_EQ(summary.path.size(), 4u);
  EXPECT_EQ(summary.path[0].action, "b");
  EXPECT_EQ(summary.path[0].location, "p.mlir:2:2");
  EXPECT_EQ(summary.path[0].ns, 39);
  EXPECT_EQ(summary.path[0].firings, 1u);
  EXPECT_EQ(summary.path[1].action, "a");
  EXPECT_EQ(summary.path[1].ns, (50 - 42) + (40 - 12));
  EXPECT_EQ(summary.path[1].firings, 1u);
  EXPECT_EQ(summary.path[2].action, "m.send");
  EXPECT_EQ(summary.path[2].ns, 2);
  EXPECT_EQ(summary.path[3].action, "m.recv");
  EXPECT_EQ(summary.path[3].ns, 0);
  EXPECT_EQ(summary.path_between_ns, 95 - 39 - 36 - 2);
}

TEST(SummaryTest, TheQueueIsAReasonToo) {
  TraceLog log = EmptyLog();
  log.programs[kProgram] = TwoGangs();
  // 'b' twice on one device, the second without any token to wait for.
  log.events = {Lasting(TraceKind::kGang, kDevice2, 3, 10, 30),
                Lasting(TraceKind::kGang, kDevice2, 3, 31, 40, 0, kNoTraceEdge,
                        /*firing=*/1)};
  const TraceSummary summary = SummarizeTrace(log);
  ASSERT_EQ(summary.path.size(), 1u);
  EXPECT_EQ(summary.path[0].firings, 2u);
  EXPECT_EQ(summary.path[0].ns, 29);
  EXPECT_EQ(summary.path_between_ns, 40 - 29);
  // The gap is the time between the first and the second.
  ASSERT_EQ(summary.gaps.size(), 1u);
  EXPECT_EQ(summary.gaps[0].from, "b");
  EXPECT_EQ(summary.gaps[0].to, "b");
  EXPECT_EQ(summary.gaps[0].count, 1u);
  EXPECT_EQ(summary.gaps[0].ns, 1);
}

TEST(SummaryTest, WaitsAreByEdgeAndTheLongestFirst) {
  TraceLog log = OneStep();
  const uint32_t read = DataEdge(*log.programs[kProgram], 2, 3);
  const TraceSummary summary = SummarizeTrace(log);
  ASSERT_EQ(summary.waits.size(), 2u);
  const TraceSummary::Wait& edge = summary.waits[0];
  EXPECT_FALSE(edge.is_collective);
  EXPECT_EQ(edge.edge, read);
  EXPECT_EQ(edge.kind, "data");
  EXPECT_EQ(edge.from, "m.recv");
  EXPECT_EQ(edge.to, "b");
  EXPECT_EQ(edge.to_location, "p.mlir:2:2");
  EXPECT_EQ(edge.device, "island1/host1/device0");
  EXPECT_EQ(edge.ns, 50);
  EXPECT_EQ(edge.count, 2u);
  EXPECT_EQ(edge.total_ns, 50 + 45);
  const TraceSummary::Wait& meet = summary.waits[1];
  EXPECT_TRUE(meet.is_collective);
  EXPECT_EQ(meet.kind, "all_reduce");
  EXPECT_EQ(meet.to, "a");
  EXPECT_EQ(meet.ns, 22);
}

// Events that began before the log is complete count from there on.
TEST(SummaryTest, AnIncompleteLogCountsFromItsBeginning) {
  TraceLog log = OneStep();
  log.begin = 30;
  log.dropped = 9;
  const TraceSummary summary = SummarizeTrace(log);
  EXPECT_EQ(summary.events_dropped, 9u);
  EXPECT_EQ(summary.wall_ns(), 70);
  EXPECT_EQ(summary.devices[0].busy_ns, 20 - 12 + 2);
  TimeNs sum = summary.path_between_ns;
  for (const TraceSummary::Share& share : summary.path) sum += share.ns;
  EXPECT_EQ(sum, 70);
}

TEST(SummaryTest, NothingAtAll) {
  const TraceSummary summary = SummarizeTrace(EmptyLog());
  EXPECT_EQ(summary.wall_ns(), 0);
  EXPECT_TRUE(summary.devices.empty());
  EXPECT_TRUE(summary.path.empty());
  EXPECT_TRUE(summary.waits.empty());
}

// Numbers that no plan of the log has, as of a program that never loaded.
TEST(SummaryTest, UnknownProgramsHaveNoNames) {
  TraceLog log = OneStep();
  log.programs.clear();
  const TraceSummary summary = SummarizeTrace(log);
  EXPECT_EQ(summary.devices.size(), 4u);
  EXPECT_TRUE(summary.waits.empty());
}

}  // namespace
}  // namespace pathways::testing
