//===- event_text_test.cc - Names of events -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/event_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::trace {
namespace {

using namespace pathways::testing;  // NOLINT(build/namespaces)
using ::testing::HasSubstr;
using ::testing::Not;

class EventTextTest : public ::testing::Test {
 protected:
  const TraceLog log_ = OneStep();
  const proto::Plan& plan_ = *log_.programs.at(kProgram);
  LogIndex index_{&log_};
};

TEST_F(EventTextTest, Actions) {
  TraceEvent event = Lasting(TraceKind::kGang, kDevice2, 3, 1, 2);
  EXPECT_EQ(ActionName(index_, event), "b");
  event.target = 5;
  EXPECT_EQ(ActionName(index_, event), "action 5");
  event.program = 8;
  EXPECT_EQ(ActionName(index_, event), "action 5");
}

// The plan is not verified: two slices would have 2^24 shards each, all on a
// device that the log knows, and only the list of the third one says so.
TEST_F(EventTextTest, LargeSlicesOfForeignPlansAreNotLookedAtForEver) {
  proto::Plan plan = plan_;
  for (int s = 0; s < 3; ++s) {
    proto::Slice& slice = *plan.add_slices();
    slice.add_axes()->set_size(layout::kMaxShards);
    if (s == 0) {
      slice.mutable_binding()->mutable_list()->add_devices(1);
    } else {
      slice.mutable_binding()->mutable_affine()->add_strides(0);
      slice.mutable_binding()->mutable_affine()->set_base(1);
    }
  }
  TraceLog log = log_;
  log.programs[kProgram] = std::make_shared<const proto::Plan>(plan);
  LogIndex index(&log);
  const auto shards = [&](int slice) {
    return index.ShardsOn(kProgram, slice, kDevice1).size();
  };
  EXPECT_EQ(shards(plan_.slices_size()), 1u);
  EXPECT_EQ(shards(plan_.slices_size() + 1),
            static_cast<size_t>(layout::kMaxShards) - 1);
  EXPECT_EQ(shards(plan_.slices_size() + 2), 0u);
  EXPECT_EQ(shards(plan_.slices_size() + 1),
            static_cast<size_t>(layout::kMaxShards) - 1);
}

TEST_F(EventTextTest, Edges) {
  const uint32_t edge = DataEdge(plan_, 2, 3);
  EXPECT_EQ(EdgeText(index_, kProgram, edge),
            "edge " + std::to_string(edge) + " (data): m.recv -> b");
  EXPECT_EQ(EdgeText(index_, kProgram, 1000), "edge 1000");
}

TEST_F(EventTextTest, StepsOfAGang) {
  TraceEvent step = Lasting(TraceKind::kCollective, kDevice0, 0, 1, 2, 0);
  EXPECT_EQ(StepName(index_, step), "permute");
  step.item = 1;
  EXPECT_EQ(StepName(index_, step), "all_reduce");
  step.item = 2;
  EXPECT_EQ(StepName(index_, step), "step");
  EXPECT_EQ(KernelOf(index_, step), nullptr);
}

TEST_F(EventTextTest, StepsThatRunAKernel) {
  proto::Plan plan = plan_;
  plan.add_kernels()->add_segments();
  proto::Kernel* kernel = plan.mutable_kernels(plan.kernels_size() - 1);
  kernel->set_name("k");
  kernel->mutable_segments(0)->set_symbol("k.0");
  proto::Action* gang = plan.mutable_actions(0);
  gang->set_kernel(plan.kernels_size() - 1);
  gang->add_steps()->mutable_run()->set_segment(0);
  TraceLog log = log_;
  log.programs[kProgram] = std::make_shared<const proto::Plan>(plan);
  const LogIndex index(&log);
  const TraceEvent step = Lasting(TraceKind::kKernel, kDevice0, 0, 1, 2, 2);
  EXPECT_EQ(StepName(index, step), "k.0");
  ASSERT_NE(KernelOf(index, step), nullptr);
  EXPECT_EQ(KernelOf(index, step)->name(), "k");
}

TEST_F(EventTextTest, WhatThereIsToSayOfAFiring) {
  const uint32_t read = DataEdge(plan_, 2, 3);
  TraceEvent event =
      Lasting(TraceKind::kGang, kDevice3, 3, 1, 2, 0, read, /*firing=*/4);
  EXPECT_EQ(ActionArgs(&index_, event).text(),
            "\"program\":\"p\",\"firing\":4,\"shards\":[1],"
            "\"location\":\"p.mlir:2:2\",\"last token\":\"" +
                EdgeText(index_, kProgram, read) + "\"");
  event.poisoned = 1;
  EXPECT_THAT(ActionArgs(&index_, event).text(),
              HasSubstr(",\"poisoned\":true"));
  event.other = kNoTraceEdge;
  EXPECT_THAT(ActionArgs(&index_, event).text(), Not(HasSubstr("last token")));
  // A movement shows one shard, whichever the device has.
  event = Lasting(TraceKind::kMove, kDevice3, 2, 1, 2, /*item=*/0);
  EXPECT_THAT(ActionArgs(&index_, event).text(), HasSubstr("\"shards\":[0]"));
  event.target = 9;
  EXPECT_EQ(ActionArgs(&index_, event).text(),
            "\"program\":\"p\",\"firing\":0");
}

// A firing is of the launch before it on its device, if it is in the log.
TEST_F(EventTextTest, StepsHaveTheNumbersOfTheirLaunch) {
  TraceLog log = log_;
  for (uint64_t launch : {0, 1}) {
    TraceEvent submitted = NewTraceEvent(TraceKind::kSubmitted, kDevice3,
                                         static_cast<TimeNs>(launch));
    submitted.program = kProgram;
    submitted.firing = 3 + launch * 4;
    submitted.value = submitted.firing + 4;
    SetFirstStep(100 * launch, &submitted);
    log.events.push_back(submitted);
  }
  LogIndex index(&log);
  const auto step_at = [&](uint32_t device, uint64_t firing) {
    return index.StepIndexOf(
        Lasting(TraceKind::kGang, device, 3, 1, 2, 0, kNoTraceEdge, firing));
  };
  EXPECT_EQ(step_at(kDevice3, 2), std::nullopt);
  EXPECT_EQ(step_at(kDevice3, 3), 0u);
  EXPECT_EQ(step_at(kDevice3, 6), 3u);
  EXPECT_EQ(step_at(kDevice3, 7), 100u);
  EXPECT_EQ(step_at(kDevice3, 10), 103u);
  EXPECT_EQ(step_at(kDevice3, 11), std::nullopt);
  EXPECT_EQ(step_at(kDevice0, 3), std::nullopt);
  const TraceEvent event =
      Lasting(TraceKind::kGang, kDevice3, 3, 1, 2, 0, kNoTraceEdge, 8);
  EXPECT_THAT(ActionArgs(&index, event).text(),
              HasSubstr("\"firing\":8,\"step_index\":101,"));
}

TEST_F(EventTextTest, Launches) {
  TraceEvent event = OfLaunch(TraceKind::kGranted, kScheduler0, 1);
  EXPECT_EQ(LaunchName(index_, event), "p, 1 step from 0");
  event.other = 3;
  event.firing = 6;
  EXPECT_EQ(LaunchName(index_, event), "p, 3 steps from 6");
  event.program = 8;
  EXPECT_EQ(LaunchName(index_, event), "a program, 3 steps from 6");
}

TEST_F(EventTextTest, Messages) {
  TraceEvent sent = NewTraceEvent(TraceKind::kSent, kExecutor0, 1);
  sent.program = kProgram;
  sent.firing = 2;
  sent.target = DataEdge(plan_, 1, 2);
  sent.item = kPieceMessage;
  Args args;
  EXPECT_EQ(MessageName(index_, sent, &args), "piece m.send");
  EXPECT_EQ(args.text(), "\"program\":\"p\",\"firing\":2,\"edge\":\"" +
                             EdgeText(index_, kProgram, sent.target) + "\"");
  sent.target = 1000;
  EXPECT_EQ(MessageName(index_, sent, &args), "piece");
  // A collective is no edge: its target is the gang.
  sent.item = kContributionMessage;
  sent.target = 3;
  EXPECT_EQ(MessageName(index_, sent, &args),
            WireKindName(kContributionMessage) + std::string(" b"));
}

TEST_F(EventTextTest, Hosts) {
  EXPECT_EQ(HostName(log_, log_.actors[kTheController]), "controller");
  EXPECT_EQ(HostName(log_, log_.actors[kDevice3]), "host1");
  EXPECT_EQ(HostName(EmptyLog(), {TraceActor::kDevice, 0, 7, 0, "d"}), "host7");
}

}  // namespace
}  // namespace pathways::trace
