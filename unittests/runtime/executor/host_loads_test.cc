//===- host_loads_test.cc - Programs of a host, from load to end ----------===//
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

Control Free(uint32_t incarnation) {
  Control control;
  control.mutable_free_program()->set_incarnation(incarnation);
  return control;
}

TEST(HostLoadsTest, AnswersALoadWhenItsDevicesHaveTheProgram) {
  RecordedHost host("1x1x2");
  const std::vector<Control> replies =
      ControlsOf(host.Load(MovePlan("p", 2)), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().code(), 0);
  EXPECT_EQ(replies[0].load_reply().incarnation(), 1u);
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
  // A second copy is answered again, and changes nothing.
  EXPECT_THAT(ControlsOf(host.LoadAgain(), Control::kLoadReply), SizeIs(1));
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
}

TEST(HostLoadsTest, RefusesAProgramWhoseNumberIsTooLarge) {
  RecordedHost host("1x1x1");
  const std::vector<Control> replies =
      ControlsOf(host.LoadAgain(uint32_t{1} << 31), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "program 2147483648 was loaded, expected below 1048576");
}

TEST(HostLoadsTest, GivesBackMemoryInTwoRounds) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  // Not before it was stopped.
  EXPECT_THAT(host.NotifyFromController(Free(1)), IsEmpty());
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Stop(1)), Control::kStopReply),
      SizeIs(1));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Free(1)), Control::kFreeReply),
      SizeIs(1));
  EXPECT_EQ(host.executor->arena(0).used(), 0u);
  // Second copies are answered again.
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Stop(1)), Control::kStopReply),
      SizeIs(1));
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Free(1)), Control::kFreeReply),
      SizeIs(1));
  EXPECT_EQ(host.world.reserved[host.executor->local_id()], 0);
}

// The controller does not load an incarnation again, and its plan may still be
// here.
TEST(HostLoadsTest, ALateCopyOfALoadChangesNothing) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  host.NotifyFromController(Stop(1));
  host.NotifyFromController(Free(1));
  EXPECT_THAT(host.LoadAgain(), IsEmpty());
  EXPECT_EQ(host.executor->arena(0).used(), 0u);
  // Nor does one that a stop has overtaken.
  Control stop = Stop(1);
  stop.mutable_stop_program()->set_program(3);
  host.NotifyFromController(stop);
  EXPECT_THAT(host.LoadAgain(/*program=*/3), IsEmpty());
}

TEST(HostLoadsTest, AsksItsProcessForAPlanThatIsNotHere) {
  RecordedHost host("1x2x1", /*host=*/1);
  host.Load(MovePlan("other", 2));
  Control control;
  proto::LoadProgram* load = control.mutable_load_program();
  load->set_program(1);
  load->set_incarnation(2);
  load->mutable_plan()->set_hash(std::string(32, 'h'));
  // The process of the controller also has the plans that the controller names.
  EXPECT_THAT(host.NotifyFromController(control), IsEmpty());
  std::vector<HostLocation> places(2);
  places[1].process = 1;
  host.context.directory = Directory({0}, places);
  host.context.process = 1;
  const std::vector<Sent> sent = host.NotifyFromController(control);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].to, host.directory().reporter(1));
  EXPECT_EQ(sent[0].As<Control>().plan_wanted().load().SerializeAsString(),
            load->SerializeAsString());
  // The host passes the answer on to the controller.
  Control arrived;
  *arrived.mutable_plan_arrived()->mutable_load() = *load;
  arrived.mutable_plan_arrived()->set_code(3);
  arrived.mutable_plan_arrived()->set_message("no");
  const std::vector<Control> replies = ControlsOf(
      host.Notify(host.directory().reporter(1), arrived), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(), "no");
  EXPECT_EQ(replies[0].load_reply().incarnation(), 2u);
}

TEST(HostLoadsTest, RefusesALoadThatNamesNoPlan) {
  RecordedHost host("1x1x1");
  const std::vector<Control> replies =
      ControlsOf(host.LoadAgain(), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "the request does not name a plan by its hash");
}

}  // namespace
}  // namespace pathways::testing
