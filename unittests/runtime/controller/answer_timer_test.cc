//===- answer_timer_test.cc - The timer while hosts owe answers -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/answer_timer.h"

#include "runtime/program/local_kind.h"
#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AnswerTimerTest : public TablesTest {
 protected:
  // Returns the timers that were started since the last call: true if they
  // count in a simulation.
  std::vector<bool> Started() {
    std::vector<bool> counts;
    for (const testing::Sent& one : world_.Take()) {
      if (one.kind != testing::Sent::kTimer) continue;
      EXPECT_EQ(one.local.kind, kStallTick);
      EXPECT_EQ(one.local_to, owner_.local_id());
      EXPECT_EQ(one.due, world_.Now() + kTimeout / 4);
      counts.push_back((one.local.flags & kBackground) == 0);
    }
    return counts;
  }
};

TEST_F(AnswerTimerTest, NothingToWaitForNeedsNoTimer) {
  LoadProgram(1);
  answers_.Arm();
  EXPECT_THAT(Started(), IsEmpty());
  EXPECT_FALSE(answers_.TickMayHelp(world_.Now()));
}

TEST_F(AnswerTimerTest, ACallThatWaitsForIdleHostsKeepsASimulationGoing) {
  AddProgram(1);
  answers_.Arm();
  EXPECT_THAT(Started(), ElementsAre(true));
  EXPECT_TRUE(answers_.TickMayHelp(world_.Now()));
  EXPECT_FALSE(answers_.TickMayHelp(world_.Now() + kTimeout));
  answers_.Arm();  // one timer is enough
  EXPECT_THAT(Started(), IsEmpty());
}

TEST_F(AnswerTimerTest, ACallThatWaitsForBusyHostsDoesNot) {
  Begin(AddLaunch(2, 1, LoadProgram(2, "q")));
  AddProgram(1);
  answers_.Arm();
  EXPECT_THAT(Started(), ElementsAre(false));
  answers_.Arm(/*counts=*/true);
  EXPECT_THAT(Started(), ElementsAre(true));
}

TEST_F(AnswerTimerTest, ALaunchWhoseHostsOweMessagesCounts) {
  const uint64_t launch = AddLaunch(1, 1, LoadProgram(1));
  SendStore(0, launch, /*asks=*/true);
  answers_.Arm();
  EXPECT_THAT(Started(), ElementsAre(true));
}

TEST_F(AnswerTimerTest, StallsAreLookedForUnlessASimulationEndsByItself) {
  EXPECT_FALSE(answers_.LooksForStalls());
  Begin(AddLaunch(1, 1, LoadProgram(1)));
  EXPECT_FALSE(answers_.LooksForStalls());
  world_.is_simulated = false;
  EXPECT_TRUE(answers_.LooksForStalls());
  world_.is_simulated = true;
  AddArray(2, 1);
  proto::DrainRequest drain;
  drain.set_request(3);
  drain.add_devices(0);
  drains_.Take(2, drain);
  EXPECT_TRUE(answers_.LooksForStalls());
}

}  // namespace
}  // namespace pathways::testing
