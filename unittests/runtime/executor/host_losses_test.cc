//===- host_losses_test.cc - Devices that take no work any more -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr char kWhy[] =
    "a kernel on island0/host0/device1 has not returned within the kernel "
    "timeout";

// All devices of the host, which are of one cohort, are lost with a kernel on
// device 1.
std::vector<Sent> Lose(RecordedHost& host) {
  for (const auto& device : host.devices) {
    host.world.Retire(device->local_id());
  }
  KernelCall call;
  call.device = 1;
  call.incarnation = 7;  // a program that this host does not have
  host.executor->OnLocal(WorkerLostMessage(call));
  return host.world.DeliverAll();
}

TEST(HostLossesTest, LostDevicesCountAsHavingAnswered) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  const uint64_t held = host.executor->arena(0).used();
  const std::vector<Control> told =
      ControlsOf(Lose(host), Control::kWorkerLost);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].worker_lost().host(), 0u);
  EXPECT_THAT(told[0].worker_lost().devices(), ElementsAre(0, 1));
  EXPECT_EQ(told[0].worker_lost().message(), kWhy);
  // It is said again when the controller asks.
  Control control;
  control.mutable_query()->set_round(3);
  control.mutable_query()->set_incarnation(1);
  std::vector<Sent> sent = host.NotifyFromController(control);
  EXPECT_THAT(ControlsOf(sent, Control::kWorkerLost), SizeIs(1));
  EXPECT_THAT(ControlsOf(sent, Control::kReport), SizeIs(1));
  control.mutable_stop_program()->set_incarnation(1);
  sent = host.NotifyFromController(control);
  EXPECT_THAT(ControlsOf(sent, Control::kStopReply), SizeIs(1));
  control.mutable_free_program()->set_incarnation(1);
  sent = host.NotifyFromController(control);
  EXPECT_THAT(ControlsOf(sent, Control::kFreeReply), SizeIs(1));
  // The kernel may still use its memory.
  EXPECT_EQ(host.executor->arena(0).used(), held);
  const std::vector<Control> replies = ControlsOf(
      host.Load(MovePlan("late", 2), /*program=*/1), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "island0/host0/device0 is lost [PW4102]");
}

TEST(HostLossesTest, WhatWaitsForThemEnds) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  // Told, and not answered yet.
  Control control;
  control.mutable_query()->set_incarnation(1);
  host.executor->OnControl(host.directory().controller(),
                           control.SerializeAsString());
  control.mutable_stop_program()->set_incarnation(1);
  host.executor->OnControl(host.directory().controller(),
                           control.SerializeAsString());
  const std::vector<Sent> sent = Lose(host);
  EXPECT_THAT(ControlsOf(sent, Control::kReport), SizeIs(1));
  EXPECT_THAT(ControlsOf(sent, Control::kStopReply), SizeIs(1));
}

TEST(HostLossesTest, ALoadThatWaitsForThemIsRefused) {
  RecordedHost host("1x1x2");
  Control control;
  control.mutable_load_program()->set_incarnation(1);
  *control.mutable_load_program()->mutable_plan() =
      KeepPlan(&host.context.plans, Prepare(MovePlan("p", 2), host.topology()));
  host.executor->OnControl(host.directory().controller(),
                           control.SerializeAsString());
  const std::vector<Control> replies =
      ControlsOf(Lose(host), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "island0/host0/device0 is lost [PW4102]");
}

}  // namespace
}  // namespace pathways::testing
