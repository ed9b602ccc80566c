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

#include <memory>
#include <utility>
#include <vector>

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
  auto plan = std::make_shared<proto::Plan>();
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
  message.mutable_actors(0)->set_id(1);
  message.mutable_actors(0)->set_role(17);
  EXPECT_EQ(Read({message}).status().message(),
            "what a process sent is no trace");
}

TEST(TraceMessageTest, SeveralProcessesAreOneLogFromWhereAllAreComplete) {
  const TraceLog log =
      JoinTraceLogs({Log({1, 5, 9}, 0, 1), Log({4, 5, 6}, 2, 4)});
  EXPECT_THAT(Times(log), ElementsAre(4, 5, 5, 6, 9));
  EXPECT_EQ(log.begin, 4);
  EXPECT_EQ(log.dropped, 5u);
  ASSERT_EQ(log.actors.size(), 3u);
  EXPECT_EQ(log.actors[2].name, "device");
  EXPECT_EQ(log.programs.size(), 2u);
  EXPECT_TRUE(JoinTraceLogs({}).events.empty());
}

}  // namespace
}  // namespace pathways
