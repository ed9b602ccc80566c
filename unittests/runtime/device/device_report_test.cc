//===- device_report_test.cc - Reports of why a device waits --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// The first of two hosts, at a plan whose value moves to the other.
class DeviceReportTest : public ::testing::Test {
 protected:
  DeviceReportTest() : program_(host_.MustBuild(plan_)) {
    device().granted = 4;
    launch_.end = 4;
    grant_.launch = &launch_;
    grant_.end = 4;
    queue_.Push(&device(), &grant_);
  }
  DeviceProgram& device() { return *program_->devices[0]; }
  // All but gangs have happened.
  void FireMoves() {
    for (Entry& entry : device().entries) {
      if (entry.kind != proto::GANG) entry.next = 4;
    }
  }
  DeviceReport Report(HeadState state = {}) {
    DeviceReport report;
    ReportDevice(device(), queue_, state, &report);
    return report;
  }

  const Topology topology_ = MakeTopology("2x1x1");
  const std::shared_ptr<const PreparedPlan> plan_ =
      Prepare(MovePlan("p", 1, 0, /*to=*/1), topology_);
  TestHost host_{topology_, 0};
  std::unique_ptr<HostProgram> program_;
  HostLaunch launch_;
  HostGrant grant_;
  GrantQueue queue_;
};

TEST_F(DeviceReportTest, ADeviceThatIsDoneIsNotStuck) {
  device().granted = 0;
  device().fired = 12;
  const DeviceReport report = Report();
  EXPECT_EQ(report.report.fired(), 12u);
  EXPECT_EQ(report.report.granted(), 0u);
  EXPECT_THAT(report.report.stuck(), SizeIs(0));
}

TEST_F(DeviceReportTest, SaysThatTheHeadRuns) {
  FireMoves();
  HeadState state;
  state.running = true;
  state.global_device = 7;
  const DeviceReport report = Report(state);
  ASSERT_THAT(report.report.stuck(), SizeIs(1));
  const proto::StuckShard& stuck = report.report.stuck(0);
  EXPECT_EQ(stuck.action(), device().queue->gangs[0].action);
  EXPECT_EQ(stuck.firing(), 0u);
  EXPECT_EQ(stuck.device(), 7);
  EXPECT_TRUE(stuck.running());
  EXPECT_FALSE(stuck.blocked());
  EXPECT_THAT(report.groups, ElementsAre(UINT32_MAX));
}

TEST_F(DeviceReportTest, SaysWhatBlocksAGang) {
  FireMoves();
  // Another program is the head, and this one misses nothing.
  std::fill(device().counts.begin(), device().counts.end(), 0);
  for (const InEdge& in : device().in_edges) {
    for (uint32_t slot = 0; slot < device().window; ++slot) {
      const uint32_t e = static_cast<uint32_t>(&in - device().in_edges.data());
      device().arrived[device().InEdgeAt(e, slot)] = in.expected;
    }
  }
  DeviceProgram other;
  other.program = 77;
  other.queue = device().queue;
  GrantQueue queue;
  HostGrant grant;
  grant.launch = &launch_;
  grant.first = 2;
  grant.end = 3;
  queue.Push(&other, &grant);
  queue.Push(&device(), &grant_);
  DeviceReport report;
  ReportDevice(device(), queue, {}, &report);
  ASSERT_THAT(report.report.stuck(), SizeIs(1));
  EXPECT_TRUE(report.report.stuck(0).blocked());
  EXPECT_EQ(report.report.stuck(0).blocked_program(), 77u);
  EXPECT_EQ(report.report.stuck(0).blocked_firing(), 2u);
}

}  // namespace
}  // namespace pathways::testing
