//===- trace_test.cc - Rings that keep the last events --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/world/sim_world.h"
#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<SimWorld> MakeWorld(int workers) {
  SimOptions options;
  options.workers = workers;
  auto world = SimWorld::Create(options);
  EXPECT_TRUE(world.ok()) << world.status();
  return *std::move(world);
}

TraceEvent Gang(TimeNs begin, TimeNs end) {
  return Lasting(TraceKind::kGang, kDevice0, 0, begin, end);
}

std::vector<TimeNs> Begins(const TraceLog& log) {
  std::vector<TimeNs> begins;
  for (const TraceEvent& event : log.events) begins.push_back(event.time);
  return begins;
}

TEST(TraceTest, ARingKeepsTheLastAndCountsTheRest) {
  auto world = MakeWorld(1);
  auto ring = TraceRing::Create(world.get(), 4);
  std::vector<TraceEvent> events;
  EXPECT_EQ(ring->Read(&events), 0u);
  EXPECT_TRUE(events.empty());
  for (int i = 0; i < 3; ++i) ring->Record(Gang(i, i + 1));
  EXPECT_EQ(ring->Read(&events), 0u);
  EXPECT_EQ(events.size(), 3u);
  events.clear();
  for (int i = 3; i < 10; ++i) ring->Record(Gang(i, i + 1));
  EXPECT_EQ(ring->Read(&events), 6u);
  ASSERT_EQ(events.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(events[i].time, 6 + i);
}

TEST(TraceTest, EventsComeBackAsTheyWere) {
  auto world = MakeWorld(1);
  auto ring = TraceRing::Create(world.get(), 1);
  TraceEvent event = NewTraceEvent(TraceKind::kMove, (1u << 24) - 1, 1);
  event.value = UINT64_MAX;
  event.firing = (uint64_t{1} << 40) - 1;
  event.item = (1u << 24) - 1;
  event.program = event.target = event.other = UINT32_MAX;
  event.poisoned = 1;
  ring->Record(event);
  std::vector<TraceEvent> events;
  ring->Read(&events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::memcmp(&events[0], &event, sizeof(event)), 0);
}

// A reader gets whole events in order while another thread records.
TEST(TraceTest, ReadersSeeNoTornEvent) {
  auto world = MakeWorld(1);
  auto ring = TraceRing::Create(world.get(), 64);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint64_t i = 1; !stop.load(std::memory_order_relaxed); ++i) {
      TraceEvent event =
          NewTraceEvent(TraceKind::kGang, i % 1000, static_cast<TimeNs>(i));
      event.value = i;
      event.firing = i;
      event.program = event.target = event.other = static_cast<uint32_t>(i);
      ring->Record(event);
    }
  });
  uint64_t read = 0;
  for (int round = 0; round < 2000 || read == 0; ++round) {
    std::vector<TraceEvent> events;
    const uint64_t dropped = ring->Read(&events);
    for (size_t k = 0; k < events.size(); ++k) {
      const TraceEvent& event = events[k];
      ASSERT_EQ(static_cast<uint64_t>(event.time), dropped + k + 1);
      ASSERT_EQ(event.value, dropped + k + 1);
      ASSERT_EQ(event.firing, dropped + k + 1);
      ASSERT_EQ(event.actor, (dropped + k + 1) % 1000);
      ASSERT_EQ(event.other, static_cast<uint32_t>(dropped + k + 1));
    }
    read += events.size();
  }
  stop = true;
  writer.join();
}

TEST(TraceTest, ALogIsCompleteFromItsBeginning) {
  auto world = MakeWorld(2);
  auto trace = Trace::Create(world.get(), 3);  // rounded up to 4
  ASSERT_TRUE(trace.ok()) << trace.status();
  // Worker 0 loses what ended before 40.
  for (int i = 0; i < 8; ++i)
    (*trace)->ring(0)->Record(Gang(10 * i - 5, 10 * i));
  (*trace)->ring(1)->Record(Gang(1, 12));
  (*trace)->ring(1)->Record(Gang(2, 40));
  (*trace)->ring(3)->Record(Gang(41, 42));  // worker 1 again
  (*trace)->RecordOutside(Gang(3, 4));
  const TraceLog log = (*trace)->Read();
  EXPECT_EQ(log.begin, 40);
  EXPECT_EQ(log.dropped, 6u);
  EXPECT_THAT(Begins(log), ElementsAre(2, 35, 41, 45, 55, 65));
}

TEST(TraceTest, CapacitiesOutOfRangeAreRefused) {
  auto world = MakeWorld(1);
  for (int64_t events : {int64_t{-1}, int64_t{0}, Trace::kMaxEvents + 1}) {
    auto trace = Trace::Create(world.get(), events);
    EXPECT_TRUE(absl::IsInvalidArgument(trace.status()));
    EXPECT_THAT(std::string(trace.status().message()),
                HasSubstr(absl::StrCat("the trace keeps ", events,
                                       " events, expected 1 to 268435456")));
  }
}

TEST(TraceTest, ProgramsAreKeptOnce) {
  auto world = MakeWorld(1);
  auto trace = Trace::Create(world.get(), 1);
  ASSERT_TRUE(trace.ok());
  auto first = TwoGangs();
  (*trace)->AddProgram(kProgram, first);
  (*trace)->AddProgram(kProgram, TwoGangs());
  EXPECT_EQ((*trace)->Read().programs.at(kProgram), first);
}

}  // namespace
}  // namespace pathways::testing
