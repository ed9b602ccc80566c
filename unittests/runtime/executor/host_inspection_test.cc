//===- host_inspection_test.cc - Reports of what a host waits for ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Control> Ask(RecordedHost* host, uint64_t round,
                         uint32_t incarnation) {
  Control control;
  control.mutable_query()->set_round(round);
  control.mutable_query()->set_incarnation(incarnation);
  return ControlsOf(host->NotifyFromController(control), Control::kReport);
}

// A send whose receiver gives no credits back.
TEST(HostInspectionTest, NamesTheFirstThatIsStuckAndWhatItMisses) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  host.Grant(/*launch=*/7, /*place=*/3, 0, /*first=*/0, /*steps=*/5, 0, 5);
  const std::vector<Control> reports = Ask(&host, 4, /*incarnation=*/1);
  ASSERT_THAT(reports, SizeIs(1));
  const proto::Report& report = reports[0].report();
  EXPECT_EQ(report.round(), 4u);
  EXPECT_EQ(report.host(), 0u);
  EXPECT_EQ(report.granted(), 5u);
  EXPECT_GT(report.fired(), 0u);
  ASSERT_THAT(report.stuck(), SizeIs(1));
  EXPECT_EQ(report.stuck(0).firing(), 2u);
  ASSERT_THAT(report.stuck(0).missing(), SizeIs(1));
  EXPECT_EQ(report.stuck(0).missing(0).expected(), 1u);
  EXPECT_EQ(report.stuck(0).missing(0).arrived(), 0u);
}

TEST(HostInspectionTest, AnswersForAProgramThatItDoesNotHave) {
  RecordedHost host("1x1x1");
  const std::vector<Control> reports = Ask(&host, 4, /*incarnation=*/9);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].report().granted(), 0u);
  EXPECT_THAT(reports[0].report().stuck(), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
