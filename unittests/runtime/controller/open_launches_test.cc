//===- open_launches_test.cc - Launches that have not ended ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/open_launches.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class OpenLaunchesTest : public TablesTest {};

TEST_F(OpenLaunchesTest, ALaunchIsStagingUntilItRuns) {
  const uint32_t idle = LoadProgram(1, "idle"), p = LoadProgram(1);
  EXPECT_TRUE(open_.empty());
  EXPECT_THAT(open_.Subjects(), IsEmpty());
  world_.Advance(7);
  const uint64_t launch = AddLaunch(1, 1, p);
  EXPECT_FALSE(open_.empty());
  std::vector<StallDetector::Subject> subjects = open_.Subjects();
  ASSERT_THAT(subjects, SizeIs(1));
  EXPECT_EQ(subjects[0].program, p);
  EXPECT_NE(subjects[0].program, idle);
  EXPECT_EQ(subjects[0].incarnation, programs_.Find(p)->incarnation);
  EXPECT_EQ(subjects[0].since, 7);
  EXPECT_TRUE(subjects[0].staging);
  EXPECT_THAT(subjects[0].hosts, ElementsAre(0, 1));
  EXPECT_FALSE(subjects[0].running);

  Begin(launch);
  subjects = open_.Subjects();
  ASSERT_THAT(subjects, SizeIs(1));
  EXPECT_FALSE(subjects[0].staging);
  EXPECT_TRUE(subjects[0].running);
  EXPECT_EQ(subjects[0].launch, launch);
  EXPECT_EQ(subjects[0].end, 1u);
  EXPECT_THAT(subjects[0].islands, ElementsAre(0));
}

TEST_F(OpenLaunchesTest, AHostIsBusyOnceItHasReceivedARunningLaunch) {
  const uint32_t p = LoadProgram(1), q = LoadProgram(2, "q");
  const uint64_t launch = AddLaunch(1, 1, p);
  AddLaunch(2, 1, q);
  SendStore(1, launch, /*asks=*/false);
  EXPECT_TRUE(open_.BusyHosts().empty());
  EXPECT_FALSE(open_.IsMissing(p, 1));  // it has not begun
  Begin(launch);
  EXPECT_THAT(open_.BusyHosts().Members(), ElementsAre(0));
  EXPECT_THAT(open_.BusyHosts(p).Members(), ElementsAre(0));
  EXPECT_TRUE(open_.BusyHosts(q).empty());
  EXPECT_TRUE(open_.IsMissing(p, 1));
  EXPECT_FALSE(open_.IsMissing(p, 0));
  stores_.Settled(0, 1, 1);
  EXPECT_THAT(open_.BusyHosts().Members(), ElementsAre(0, 1));
  EXPECT_FALSE(open_.IsMissing(p, 1));
}

}  // namespace
}  // namespace pathways::testing
