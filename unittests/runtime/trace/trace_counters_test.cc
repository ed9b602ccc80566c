//===- trace_counters_test.cc - Steps, memory and credits over time -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/trace_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/trace/credits_in_use.h"
#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::trace {
namespace {

using namespace pathways::testing;  // NOLINT(build/namespaces)
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Values = std::vector<std::pair<TimeNs, int64_t>>;

std::vector<const TraceEvent*> EventsOf(const TraceLog& log, uint32_t actor) {
  std::vector<const TraceEvent*> events;
  for (const TraceEvent& e : log.events) {
    if (e.actor == actor) events.push_back(&e);
  }
  return events;
}

// From the first beginning to the last end on any device; the next step begins
// while the first is not over, another program has its own.
TEST(StepsInFlightTest, OfEachProgram) {
  TraceLog log = EmptyLog();
  log.programs[kProgram] = TwoGangs();
  log.programs[9] = log.programs[kProgram];
  log.events = {
      Lasting(TraceKind::kGang, kDevice0, 0, 10, 20),
      Lasting(TraceKind::kWait, kDevice0, 0, 1, 90),  // no firing
      Lasting(TraceKind::kMove, kDevice2, 2, 15, 50),
      Lasting(TraceKind::kGang, kDevice0, 0, 30, 60, 0, kNoTraceEdge, 1),
      Lasting(TraceKind::kGang, kDevice1, 0, 40, 45),
  };
  log.events.back().program = 9;
  const LogIndex index(&log);
  const std::vector<Counter> counters = StepsInFlight(index);
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].name, "p #7 steps in flight");
  EXPECT_THAT(counters[0].values,
              ElementsAre(Pair(10, 1), Pair(30, 2), Pair(50, 1), Pair(60, 0)));
  EXPECT_EQ(counters[1].name, "p #9 steps in flight");
  EXPECT_THAT(counters[1].values, ElementsAre(Pair(40, 1), Pair(45, 0)));
}

TEST(MemoryInUseTest, OnlyWhatIsOfItsKind) {
  TraceEvent host = NewTraceEvent(TraceKind::kHostBytes, kExecutor0, 10);
  host.value = 64;
  TraceEvent device = NewTraceEvent(TraceKind::kDeviceBytes, kExecutor0, 20);
  device.value = 128;
  const Counter counter =
      MemoryInUse("m", {&host, &device}, TraceKind::kDeviceBytes);
  EXPECT_EQ(counter.name, "m");
  EXPECT_THAT(counter.values, ElementsAre(Pair(20, 128)));
}

class CreditsInUseTest : public ::testing::Test {
 protected:
  Values Of(uint32_t device) {
    LogIndex index(&log_);
    return CreditsInUse(&index).Of("c", EventsOf(log_, device)).values;
  }
  TraceLog log_ = EmptyLog();
};

// A received buffer is filled by the recv, though its credits go to the send.
TEST_F(CreditsInUseTest, FromTheWriterToTheReader) {
  log_ = OneStep();
  EXPECT_THAT(Of(kDevice2), ElementsAre(Pair(60, 1), Pair(100, 0)));
  EXPECT_THAT(Of(kDevice0), ElementsAre(Pair(50, 1), Pair(52, 0)));
}

// The log no longer has the recv that filled the buffer.
TEST_F(CreditsInUseTest, ALogThatBeginsInTheMiddleStartsHigher) {
  log_.programs[kProgram] = TwoGangs();
  log_.events = {
      Lasting(TraceKind::kGang, kDevice2, 3, 10, 20),
      Lasting(TraceKind::kMove, kDevice2, 2, 30, 40, 0, kNoTraceEdge, 1)};
  EXPECT_THAT(Of(kDevice2), ElementsAre(Pair(20, 0), Pair(40, 1)));
}

// Both shards are on one device.
TEST_F(CreditsInUseTest, OneForEachShard) {
  PlanBuilder b("p", 2);
  const uint32_t slice = b.AddSlice("s", {{"x", 2}}, 0, 0, /*span=*/1);
  const uint32_t v = b.AddBuffer("v", slice, Rows({2}), 2);
  b.AddGang("a", slice, {}, {v});
  b.AddGang("b", slice, {v}, {});
  log_.programs[kProgram] = std::make_shared<const proto::Plan>(b.Finish());
  log_.events = {Lasting(TraceKind::kGang, kDevice0, 0, 10, 20),
                 Lasting(TraceKind::kGang, kDevice0, 1, 20, 30)};
  EXPECT_THAT(Of(kDevice0), ElementsAre(Pair(20, 2), Pair(30, 0)));
}

// The feed of a carried argument reads the result of the firing before it; the
// first reads what the launch brings.
TEST_F(CreditsInUseTest, ACarriedArgumentGivesBackFromTheSecondFiringOn) {
  log_.programs[kProgram] = std::make_shared<const proto::Plan>(
      ChainBuilder({}).Feed("v").Gang("a").Fetch("w").CarryResult().Finish());
  const uint32_t feed = 0, gang = 1;
  auto fire = [&](TraceKind kind, uint32_t action, TimeNs end,
                  uint64_t firing) {
    log_.events.push_back(
        Lasting(kind, kDevice0, action, end - 1, end, 0, kNoTraceEdge, firing));
  };
  // The result has two readers, of which the fetch takes its time.
  fire(TraceKind::kGang, gang, 20, 0);
  fire(TraceKind::kMove, feed, 30, 0);
  fire(TraceKind::kMove, feed, 40, 1);
  EXPECT_THAT(Of(kDevice0), ElementsAre(Pair(20, 2), Pair(30, 3), Pair(40, 3)));
}

TEST_F(CreditsInUseTest, NothingIsKnownOfUnknownPrograms) {
  log_.events = {Lasting(TraceKind::kGang, kDevice0, 0, 10, 20)};
  EXPECT_THAT(Of(kDevice0), IsEmpty());
}

}  // namespace
}  // namespace pathways::trace
