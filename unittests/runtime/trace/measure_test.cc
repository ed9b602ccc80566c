//===- measure_test.cc - Measured costs of a run --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/plan/profile.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;
using Kind = TraceKind;

constexpr char kFingerprint[] = "0123456789abcdef0123456789abcdef";

// The program of `log` with a fingerprint; returns its header.
proto::Header Identify(TraceLog* log) {
  auto plan = std::make_shared<proto::Plan>(*log->programs.at(kProgram));
  plan->mutable_header()->set_fingerprint(kFingerprint);
  log->programs[kProgram] = plan;
  return plan->header();
}

proto::Profile Measured(TraceLog log) {
  const proto::Header header = Identify(&log);
  absl::StatusOr<proto::Profile> profile = MeasureProfile(log, header);
  EXPECT_TRUE(profile.ok()) << profile.status();
  // The compiler can read the profile.
  EXPECT_TRUE(Profile::Create(*profile, "p").ok());
  return *std::move(profile);
}

uint64_t MoveNs(const proto::Profile& profile, proto::ActionKind kind) {
  for (const proto::Profile::Movement& movement : profile.movements()) {
    if (movement.kind() == kind && movement.bytes() == 4) return movement.ns();
  }
  return 0;
}

TEST(MeasureTest, GangsWithoutTheirWaits) {
  const proto::Profile profile = Measured(OneStep());
  EXPECT_EQ(profile.program(), "p");
  EXPECT_EQ(profile.fingerprint(), kFingerprint);
  // Both gangs do the same. In 40 ns device 0 waited for 22; then 33, 39, 34.
  ASSERT_EQ(profile.computations_size(), 1);
  EXPECT_EQ(profile.computations(0).name(), "permute+all_reduce");
  EXPECT_EQ(profile.computations(0).ns(), 33u);
  EXPECT_EQ(profile.computations(0).runs(), 4u);
  EXPECT_EQ(MoveNs(profile, proto::SEND), 1u);
  EXPECT_EQ(MoveNs(profile, proto::RECV), 1u);  // 0, but nothing is free
  EXPECT_FALSE(profile.has_ici());
  EXPECT_FALSE(profile.has_dcn());
}

TEST(MeasureTest, TheFirstFiringCountsWhereItIsAlone) {
  TraceLog log = EmptyLog();
  log.programs[kProgram] = TwoGangs();
  auto gang = [](uint64_t firing, TimeNs ns) {
    return Lasting(Kind::kGang, kDevice0, 0, 0, ns, 0, kNoTraceEdge, firing);
  };
  log.events = {gang(0, 1000)};
  EXPECT_EQ(Measured(log).computations(0).ns(), 1000u);
  log.events = {gang(0, 1000), gang(1, 30), gang(2, 10), gang(3, 20)};
  const proto::Profile profile = Measured(log);
  EXPECT_EQ(profile.computations(0).ns(), 20u);
  EXPECT_EQ(profile.computations(0).runs(), 3u);
}

TEST(MeasureTest, WhatIsPoisonedRanNothing) {
  TraceLog log = EmptyLog();
  log.programs[kProgram] = TwoGangs();
  log.events = {Lasting(Kind::kGang, kDevice0, 0, 0, 5)};
  log.events[0].poisoned = 1;
  const proto::Header header = Identify(&log);
  const absl::Status status = MeasureProfile(log, header).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no firing of program 'p'"));
}

TEST(MeasureTest, OtherProgramsAreOthers) {
  TraceLog log = OneStep();
  proto::Header header = Identify(&log);
  header.set_fingerprint("a" + header.fingerprint().substr(1));
  EXPECT_TRUE(absl::IsFailedPrecondition(MeasureProfile(log, header).status()));
  header.clear_fingerprint();
  EXPECT_THAT(std::string(MeasureProfile(log, header).status().message()),
              HasSubstr("the plan of 'p' has no fingerprint"));
}

TEST(MeasureTest, ADeviceWithSeveralShards) {
  ChainBuilder b({.slice = {.shards = 4, .span = 2}});
  b.Gang("a");
  b.plan().mutable_actions(0)->add_steps()->mutable_collective()->set_kind(
      proto::PERMUTE);
  TraceLog log = EmptyLog();
  log.programs[kProgram] = std::make_shared<proto::Plan>(b.Finish());
  log.events = {Lasting(Kind::kGang, kDevice0, 0, 0, 100)};
  EXPECT_EQ(Measured(log).computations(0).ns(), 50u);
}

// A message of host 0 that arrives at host 1.
void AddMessage(TraceLog* log, uint64_t bytes, TimeNs ns) {
  const uint64_t sequence = log->events.size();
  TraceEvent sent = NewTraceEvent(Kind::kSent, kExecutor0, 1000);
  sent.value = sequence;
  sent.other = 1;
  TraceEvent received = NewTraceEvent(Kind::kReceived, kExecutor1, 1000 + ns);
  received.value = sequence;
  received.other = 0;
  received.firing = bytes;
  log->events.push_back(sent);
  log->events.push_back(received);
}

TEST(MeasureTest, LinksBetweenProcesses) {
  TraceLog log = OneStep();
  for (TimeNs ns : {30, 10, 20}) AddMessage(&log, 100, ns);
  // 2 bytes a ns after the latency; one that came too soon says nothing.
  AddMessage(&log, 100'000, 50'020);
  AddMessage(&log, 200'000, 100'020);
  AddMessage(&log, 100'000, 5);
  TraceLog apart = log;
  for (uint32_t actor : {kExecutor1, kDevice2, kDevice3}) {
    apart.actors[actor].process = 2;
  }
  const proto::Profile profile = Measured(apart);
  EXPECT_FALSE(profile.has_ici());
  EXPECT_DOUBLE_EQ(profile.dcn().latency_seconds(), 20e-9);
  EXPECT_DOUBLE_EQ(profile.dcn().bytes_per_second(), 2e9);
  apart.actors[kExecutor1].island = 0;
  EXPECT_DOUBLE_EQ(Measured(apart).ici().latency_seconds(), 20e-9);
  // A single process has no links to measure.
  EXPECT_FALSE(Measured(log).has_dcn());
}

TEST(MeasureTest, WithoutLargeMessagesTheRateIsNotKnown) {
  TraceLog log = OneStep();
  AddMessage(&log, 100, 10);
  for (uint32_t actor : {kExecutor1, kDevice2, kDevice3}) {
    log.actors[actor].process = 2;
  }
  const proto::Profile profile = Measured(log);
  EXPECT_GT(profile.dcn().latency_seconds(), 0);
  EXPECT_EQ(profile.dcn().bytes_per_second(), 0);
}

}  // namespace
}  // namespace pathways::testing
