//===- trace_message_test.cc - A trace as messages, and back --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/trace_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/plan/tables.h"
#include "runtime/plan/testing/random_plan.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

TraceLog Log(std::vector<TimeNs> times, uint32_t actor, TimeNs begin) {
  TraceLog log;
  for (TimeNs time : times) {
    log.events.push_back(NewTraceEvent(TraceKind::kSubmitted, actor, time));
  }
  log.dropped = 2;
  log.begin = begin;
  log.end = 100;
  log.actors.resize(actor + 1);
  log.actors[actor] = {TraceActor::kDevice, 1, 2, 3, "device"};
  auto plan =
      std::make_shared<proto::Plan>(pathways::testing::RandomPlan(/*seed=*/1));
  plan->mutable_header()->set_program("p");
  log.programs[actor] = std::move(plan);
  return log;
}

std::vector<TimeNs> Times(const TraceLog& log) {
  std::vector<TimeNs> times;
  for (const TraceEvent& event : log.events) times.push_back(event.time);
  return times;
}

absl::StatusOr<TraceLog> Read(const std::vector<proto::ProcessTrace>& parts) {
  std::vector<const proto::ProcessTrace*> messages;
  for (const proto::ProcessTrace& part : parts) messages.push_back(&part);
  return ReadTraceMessages(messages);
}

TEST(TraceMessageTest, SurvivesMessages) {
  const TraceLog log = Log({1, 2, 3, 4, 5}, 4, 1);
  for (uint64_t bytes : {uint64_t{1}, 2 * sizeof(TraceEvent), uint64_t{1000}}) {
    const auto parts = WriteTraceMessages(log, bytes);
    EXPECT_EQ(parts.size(), bytes == 1 ? 5u : bytes == 1000 ? 1u : 3u);
    absl::StatusOr<TraceLog> read = Read(parts);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_THAT(Times(*read), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(read->dropped, 2u);
    EXPECT_EQ(read->begin, 1);
    EXPECT_EQ(read->end, 100);
    ASSERT_EQ(read->actors.size(), 5u);
    EXPECT_EQ(read->actors[4].name, "device");
    EXPECT_EQ(read->actors[4].device, 3);
    EXPECT_EQ(read->programs.at(4)->header().program(), "p");
  }
  EXPECT_EQ(WriteTraceMessages(TraceLog(), 1000).size(), 1u);
}

TEST(TraceMessageTest, WhatIsNoTraceIsRefused) {
  EXPECT_FALSE(Read({}).ok());
  proto::ProcessTrace message;
  message.set_events("abc");
  EXPECT_FALSE(Read({message}).ok());
  message.clear_events();
  message.add_actors()->set_id(1 << 24);
  EXPECT_FALSE(Read({message}).ok());
  // One actor takes no memory for a million.
  message.mutable_actors(0)->set_id(1 << 20);
  EXPECT_FALSE(Read({message}).ok());
  message.mutable_actors(0)->set_id(1);
  message.mutable_actors(0)->set_role(17);
  EXPECT_EQ(Read({message}).status().message(),
            "a process sent messages that are not a trace");
  // Nor has it a plan that could not run.
  message.clear_actors();
  EXPECT_TRUE(Read({message}).ok());
  proto::Plan* plan = message.add_programs()->mutable_plan();
  *plan = pathways::testing::RandomPlan(/*seed=*/1);
  EXPECT_TRUE(Read({message}).ok());
  plan->mutable_edges(0)->set_to(1 << 20);
  EXPECT_EQ(Read({message}).status().message(),
            "a process sent messages that are not a trace");
}

TEST(TraceMessageTest, WhatCannotHaveHappenedIsRefused) {
  using Change = std::function<void(TraceEvent*)>;
  constexpr TimeNs kLong = TimeNs{1} << 60;
  const TraceLog good = Log({}, /*actor=*/0, 0);
  const proto::Plan& plan = *good.programs.at(0);
  const auto gang = std::find_if(
      plan.actions().begin(), plan.actions().end(),
      [](const proto::Action& a) { return a.kind() == proto::GANG; });
  const auto move = std::find_if(
      plan.actions().begin(), plan.actions().end(),
      [](const proto::Action& a) { return a.kind() != proto::GANG; });
  ASSERT_TRUE(gang != plan.actions().end() && move != plan.actions().end());
  const auto join = [&](TraceKind kind, const Change& change, int copies = 1) {
    TraceLog log = good;
    TraceEvent event = NewTraceEvent(kind, 0, 5);
    event.value = 7;
    event.target = static_cast<uint32_t>(
        (kind == TraceKind::kMove ? move : gang) - plan.actions().begin());
    change(&event);
    log.events.assign(copies, event);
    const absl::Status status = JoinTraceLogs({{log, {0}}}).status();
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
    return status.ok();
  };
  EXPECT_TRUE(join(TraceKind::kGang, [](TraceEvent*) {}));
  EXPECT_TRUE(join(TraceKind::kMove, [](TraceEvent*) {}));
  EXPECT_FALSE(join(TraceKind::kGang, [&](TraceEvent* e) {
    e->target = static_cast<uint32_t>(plan.actions_size());
  }));
  EXPECT_FALSE(join(TraceKind::kMeet, [&](TraceEvent* e) {
    e->item = static_cast<uint64_t>(gang->steps_size());
  }));
  EXPECT_FALSE(join(TraceKind::kMove, [&](TraceEvent* e) {
    e->item = NumShards(plan.slices(static_cast<int>(move->slice())));
  }));
  // Nobody knows what it is of.
  EXPECT_TRUE(join(TraceKind::kMeet, [](TraceEvent* e) {
    e->program = 1;
    e->target = e->item = 1 << 20;
  }));
  EXPECT_FALSE(join(TraceKind::kGang, [](TraceEvent* e) { e->value = 4; }));
  EXPECT_TRUE(join(TraceKind::kGang, [](TraceEvent* e) { e->value = kLong; }));
  EXPECT_FALSE(
      join(TraceKind::kGang, [](TraceEvent* e) { e->value = kLong + 1; }));
  EXPECT_FALSE(
      join(TraceKind::kDone, [](TraceEvent* e) { e->time = -kLong - 1; }));
  EXPECT_TRUE(join(TraceKind::kCrossed, [](TraceEvent*) {}));
  EXPECT_FALSE(join(TraceKind::kCrossed, [](TraceEvent* e) { e->value = 4; }));
  // Together they are too long to be summed up.
  EXPECT_FALSE(
      join(TraceKind::kGang, [](TraceEvent* e) { e->value = kLong; }, 5));
}

TEST(TraceMessageTest, SeveralProcessesAreOneLogFromWhereAllAreComplete) {
  absl::StatusOr<TraceLog> log = JoinTraceLogs(
      {{Log({1, 5, 9}, 0, 1), {0}}, {Log({4, 5, 6}, 2, 4), {1, 0, 3}}});
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(Times(*log), ElementsAre(4, 5, 5, 6, 9));
  EXPECT_EQ(log->begin, 4);
  EXPECT_EQ(log->dropped, 5u);
  EXPECT_EQ(log->programs.size(), 2u);
  ASSERT_EQ(log->clocks.size(), 2u);
  EXPECT_EQ(log->clocks[1].error_ns, 3);
  log = JoinTraceLogs({});
  EXPECT_TRUE(log.ok() && log->events.empty());
  // A single process has one clock.
  log = JoinTraceLogs({{Log({1, 5, 9}, 0, 1), {0}}});
  EXPECT_TRUE(log.ok() && log->clocks.empty());
}

TEST(TraceMessageTest, WhatWasBeforeIsLeftOut) {
  // The second one has dropped what nobody asks for.
  TraceLog old = Log({1012, 1015}, 2, 1005), young = Log({1, 13}, 0, 0);
  absl::StatusOr<TraceLog> log =
      JoinTraceLogs({{young, {0}}, {old, {1, 1000, 0}}}, /*since=*/14);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(Times(*log), ElementsAre(15));
  EXPECT_EQ(log->dropped, 0u);
  EXPECT_EQ(log->begin, 0);
  log = JoinTraceLogs({{young, {0}}, {old, {1, 1000, 0}}}, /*since=*/5);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(Times(*log), ElementsAre(12, 13, 15));
}

TEST(TraceMessageTest, ActorsOfProcessesAreNotTakenForEachOther) {
  TraceLog one = Log({5}, 3, 0), two = Log({6}, 3, 0);
  two.actors[3].name = "other";
  two.events.push_back(NewTraceEvent(TraceKind::kDeviceBytes, 3, 7));
  two.events.back().other = 3;
  two.events.push_back(NewTraceEvent(TraceKind::kSubmitted, 1, 8));
  two.events.push_back(NewTraceEvent(TraceKind::kSubmitted, 1 << 20, 9));
  absl::StatusOr<TraceLog> log = JoinTraceLogs({{one, {0}}, {two, {2}}});
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_EQ(log->events.size(), 5u);
  const auto name = [&](uint32_t id) { return log->actors.at(id).name; };
  EXPECT_EQ(name(log->events[0].actor), "device");
  EXPECT_EQ(name(log->events[1].actor), "other");
  EXPECT_EQ(log->actors[log->events[1].actor].process, 2u);
  EXPECT_EQ(log->events[2].other, log->events[1].actor);
  // Nobody's, but looked up like any other.
  EXPECT_EQ(name(log->events[3].actor), "");
  EXPECT_EQ(log->events[4].actor, log->events[3].actor);
  EXPECT_EQ(log->ClockError(log->events[0].actor, log->events[1].actor), 0);
}

TEST(TraceMessageTest, TimesAreThoseOfOneClock) {
  TraceLog one = Log({50}, 0, 0), two = Log({1030, 1070}, 0, 1020);
  one.dropped = 0;
  two.events.push_back(NewTraceEvent(TraceKind::kGang, 0, 1080));
  two.events.back().value = 1095;
  two.end = 1100;
  const ProcessClock clock{1, 1000, 7};
  absl::StatusOr<TraceLog> log = JoinTraceLogs({{one, {0}}, {two, clock}});
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(Times(*log), ElementsAre(30, 50, 70, 80));
  EXPECT_EQ(log->events[3].end(), 95);
  EXPECT_EQ(log->begin, 20);
  EXPECT_EQ(log->end, 100);
  const uint32_t here = log->events[1].actor, there = log->events[0].actor;
  EXPECT_EQ(log->ClockError(here, there), 7);
  EXPECT_EQ(log->ClockError(there, there), 0);
  // One that began before the clock here.
  log = JoinTraceLogs({{one, {0}}, {two, {1, 1050, 7}}});
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(Times(*log), ElementsAre(0, 40, 50, 70));
  EXPECT_EQ(log->clocks[1].offset_ns, 1030);
  EXPECT_EQ(log->clocks[0].offset_ns, -20);
  // A clock may say anything, which is not always a time.
  two.events[0].time = std::numeric_limits<TimeNs>::min();
  log = JoinTraceLogs({{one, {0}}, {two, clock}});
  EXPECT_TRUE(absl::IsInvalidArgument(log.status())) << log.status();
}

}  // namespace
}  // namespace pathways
