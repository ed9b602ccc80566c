//===- device_test.cc - One device, told what to do by hand ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device.h"

#include "runtime/device/device_report.h"
#include "unittests/runtime/device/device_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(DeviceTest, AnswersWhenAProgramComesAndGoes) {
  Build(MovePlan("p", 1));
  EXPECT_THAT(Attach(), ElementsAre(kAttached));
  EXPECT_THAT(Notify(kDetach), ElementsAre(kDetached));
  // Nothing is left that a grant could run.
  EXPECT_THAT(Grant(0, 1, 1), IsEmpty());
}

TEST_F(DeviceTest, RunsWhatIsGrantedAndNoMore) {
  Build(MovePlan("p", 1));
  Attach();
  EXPECT_EQ(device_.counters().firings.get(), 0u);
  EXPECT_THAT(Grant(0, 3, 5), ElementsAre(kDeviceDone));
  EXPECT_EQ(executor_.last.extra, 1u);  // the grant's place
  EXPECT_EQ(device_.counters().firings.get(), 3u * 6);
  EXPECT_EQ(device_.counters().gangs.get(), 3u * 2);
  EXPECT_THAT(Grant(3, 5, 5), ElementsAre(kDeviceDone));
  EXPECT_EQ(device_.counters().firings.get(), 5u * 6);
}

TEST_F(DeviceTest, DropsWhatIsOfAnotherIncarnation) {
  Build(MovePlan("p", 1));
  Attach();
  EXPECT_THAT(Notify(kDetach, nullptr, 0, 0, /*incarnation=*/2),
              ElementsAre(kDetached));
  EXPECT_THAT(Grant(0, 1, 1), ElementsAre(kDeviceDone));
}

TEST_F(DeviceTest, SaysWhatItIsStuckAt) {
  Build(MovePlan("p", 1, 0, /*to=*/1));
  Attach();
  Grant(0, 4, 4);
  DeviceReport report;
  EXPECT_THAT(Notify(kInspect, &report), ElementsAre(kInspected));
  ASSERT_THAT(report.report.stuck(), SizeIs(1));
  const proto::StuckShard& stuck = report.report.stuck(0);
  EXPECT_EQ(stuck.firing(), 2u);
  EXPECT_EQ(stuck.action(), ActionOf(*program_->plan, "m.send"));
  ASSERT_THAT(stuck.missing(), SizeIs(1));
  EXPECT_EQ(stuck.missing(0).expected(), 1u);
  EXPECT_EQ(stuck.missing(0).arrived(), 0u);
}

}  // namespace
}  // namespace pathways::testing
