//===- host_grants_test.cc - Grants of a host and their ends --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"
#include "unittests/runtime/executor/staging_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Programs 0 and 1, each of two cohorts, with an argument and a result.
class HostGrantsTest : public StagingTest {
 protected:
  HostGrantsTest() {
    for (uint32_t id = 0; id < 2; ++id) {
      auto program = std::make_unique<HostProgram>();
      program->plan = Prepare(EchoPlan(), topology);
      program->program = id;
      program->incarnation = 1;
      program->argument_bytes = program->result_bytes = {8};
      program->cohort_sizes = {1, 1};
      program->cohort_heads = {0, 1};
      programs_.Add(std::move(program));
    }
  }
  // Launches are destroyed before the arrays that they hold.
  ~HostGrantsTest() override {
    for (uint32_t id = 0; id < 2; ++id) grants_.End(programs_.At(id));
  }
  // Stages a launch of one step. `poisoned`: no launch will fill the argument.
  void Stage(uint32_t program, uint64_t launch, uint64_t argument,
             uint64_t result, bool poisoned) {
    ControlRef control = context.controls.New();
    proto::PrepareLaunch* prepare = control->mutable_prepare_launch();
    prepare->set_sequence(staging_.last() + 1);
    prepare->set_program(program);
    prepare->set_incarnation(1);
    prepare->set_launch(launch);
    prepare->set_steps(1);
    prepare->add_arguments(argument);
    prepare->add_results(result);
    if (poisoned) prepare->add_poisoned(argument);
    ASSERT_TRUE(staging_.Take(control));
  }
  // Grants all of a launch. The grant's position is the launch's number.
  void Grant(uint32_t program, uint64_t launch, uint64_t store) {
    ControlRef control = context.controls.New();
    proto::Grant* grant = control->mutable_grant();
    grant->set_program(program);
    grant->set_incarnation(1);
    grant->set_launch(launch);
    grant->set_position(launch);
    grant->set_previous_position(launch - 1);
    grant->set_steps(1);
    grant->set_launch_steps(1);
    grant->set_store(store);
    grants_.OnGrant(std::move(control));
  }
  void EndOnCohort(uint32_t program, uint64_t position) {
    LocalMessage message;
    message.extra = position;
    grants_.OnDeviceDone(programs_.At(program), message);
  }
  // Takes all messages and returns the kinds of those to devices.
  std::vector<uint32_t> ToDevices() {
    std::vector<uint32_t> kinds;
    for (const Sent& one : world.Take()) {
      if (one.kind != Sent::kLocal) continue;
      EXPECT_EQ(one.local_to, actors_.devices[kinds.size() % 2]);
      kinds.push_back(one.local.kind);
    }
    return kinds;
  }
};

TEST_F(HostGrantsTest, WaitsForTheStagingOfTheLaunch) {
  Grant(0, /*launch=*/1, /*store=*/1);
  EXPECT_THAT(ToDevices(), IsEmpty());
  Stage(0, 1, /*argument=*/2, /*result=*/3, /*poisoned=*/true);
  grants_.Release();
  EXPECT_THAT(ToDevices(), ElementsAre(kGrantDevice, kGrantDevice));
  EXPECT_EQ(world.expected_kernels, 1);
  Grant(0, 1, 1);  // a second copy
  EXPECT_THAT(ToDevices(), IsEmpty());
}

TEST_F(HostGrantsTest, GivesUpALaunchThatIsNotStaged) {
  Grant(0, 1, 0);
  EXPECT_THAT(ToDevices(), IsEmpty());
  EXPECT_TRUE(programs_.At(0)->launches.empty());
  EXPECT_EQ(world.expected_kernels, 0);
}

TEST_F(HostGrantsTest, ReportsTheFirstFailureOnceAllCohortsAreDone) {
  Stage(0, 1, 2, 3, /*poisoned=*/true);
  Grant(0, 1, 1);
  HostGrant& grant = *programs_.At(0)->grants.front();
  grant.cohorts[0] = {0, 20, {.firing = 1, .action = 5, .code = 8}};
  grant.cohorts[1] = {0, 10, {.firing = 1, .action = 4, .code = 9}};
  grant.launch->values.results[0].poisoned = true;
  world.Take();
  EndOnCohort(0, 1);
  EndOnCohort(0, 7);  // no such grant
  EXPECT_TRUE(world.Take().empty());
  EndOnCohort(0, 1);
  const std::vector<Sent> sent = world.Take();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].to, context.directory.scheduler(0));
  const proto::GrantDone done = sent[0].As<Control>().grant_done();
  EXPECT_EQ(done.launch(), 1u);
  EXPECT_EQ(done.number(), 1u);
  EXPECT_EQ(done.time_ns(), 20u);
  EXPECT_TRUE(done.over());
  EXPECT_EQ(done.failure().action(), 4u);
  EXPECT_EQ(done.failure().code(), 9);
  EXPECT_THAT(done.poisoned(), ElementsAre(0));
  EXPECT_EQ(world.expected_kernels, 0);
}

TEST_F(HostGrantsTest, NotifiesALaunchThatReadsTheResultsOfAnother) {
  Stage(0, 1, 2, 3, /*poisoned=*/true);
  Stage(1, 2, 3, 4, /*poisoned=*/false);
  Grant(0, 1, 2);
  Grant(1, 2, 2);
  world.Take();
  EndOnCohort(0, 1);
  EXPECT_THAT(ToDevices(), IsEmpty());
  EndOnCohort(0, 1);
  EXPECT_THAT(ToDevices(), ElementsAre(kArgumentFilled, kArgumentFilled));
  grants_.NotifyFilled();
  EXPECT_THAT(ToDevices(), IsEmpty());
}

TEST_F(HostGrantsTest, FillsTheResultsOfAProgramThatEnds) {
  Stage(0, 1, 2, 3, /*poisoned=*/true);
  Stage(1, 2, 3, 4, /*poisoned=*/false);
  Grant(0, 1, 2);
  Grant(1, 2, 2);
  world.Take();
  const HostStore::Ref argument =
      programs_.At(1)->launches.front()->values.arguments[0];
  EXPECT_FALSE(argument->filled);
  grants_.End(programs_.At(0));
  EXPECT_TRUE(argument->filled);
  EXPECT_TRUE(argument->poisoned);
  EXPECT_TRUE(programs_.At(0)->grants.empty());
  EXPECT_TRUE(programs_.At(0)->launches.empty());
  EXPECT_THAT(ToDevices(), ElementsAre(kArgumentFilled, kArgumentFilled));
  EXPECT_EQ(world.expected_kernels, 1);
}

TEST_F(HostGrantsTest, ForgetsTheUnfilledLaunchesOfAProgramThatEnds) {
  Stage(0, 1, 2, 3, /*poisoned=*/true);
  Stage(1, 2, 3, 4, /*poisoned=*/false);
  Grant(0, 1, 2);
  Grant(1, 2, 2);
  world.Take();
  grants_.End(programs_.At(1));
  grants_.End(programs_.At(0));
  EXPECT_THAT(ToDevices(), IsEmpty());
}

TEST(GrantedHostTest, AppliesGrantsInTheOrderOfTheirPlaces) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_THAT(
      Done(host.Grant(/*launch=*/7, /*place=*/5, /*previous_position=*/3,
                      /*first=*/2, /*steps=*/2, 0, 4)),
      IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), ElementsAre(3, 5));
  // Second copies.
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4)), IsEmpty());
}

// The island's scheduler forgot the grant when it was given up.
TEST(GrantedHostTest, DoesNotApplyAGrantWhoseSkipOvertookIt) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4, 0, /*skip=*/true)),
              IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4)), IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), ElementsAre(3));
}

TEST(GrantedHostTest, GivesUpAGrantThatIsNotOfItsLaunch) {
  struct Case {
    uint64_t first, steps, launch_first, of;
  };
  for (const Case& c : {
           Case{0, 0, 0, 4},
           Case{0, 5, 0, 4},
           Case{1, 1, 0, 4},
           Case{1, 1, 1, 4},
           Case{0, 1, 0, 0},
           Case{0, uint64_t{1} << 50, 0, uint64_t{1} << 50},
       }) {
    RecordedHost host("1x1x2");
    host.Load(MovePlan("p", 2));
    EXPECT_THAT(
        Done(host.Grant(7, 3, 0, c.first, c.steps, c.launch_first, c.of)),
        IsEmpty())
        << c.first << " " << c.steps << " " << c.launch_first << " " << c.of;
  }
}

TEST(GrantedHostTest, StopsAtAWindowWithoutCredits) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  // Two slots at the receiver: two pieces, then no more.
  std::vector<Sent> sent = host.Grant(7, 3, 0, 0, 5, 0, 5);
  EXPECT_THAT(WiresOf(sent, kPieceMessage), SizeIs(2));
  EXPECT_THAT(Done(sent), IsEmpty());
  const std::vector<WireMessage> pieces = WiresOf(sent, kPieceMessage);
  EXPECT_THAT((std::vector<uint64_t>{pieces[0].step, pieces[1].step}),
              ElementsAre(0, 1));
  EXPECT_THAT((std::vector<uint64_t>{pieces[0].sequence, pieces[1].sequence}),
              ElementsAre(1, 2));
}

}  // namespace
}  // namespace pathways::testing
