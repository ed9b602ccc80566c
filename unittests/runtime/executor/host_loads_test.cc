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
  EXPECT_THAT(ControlsOf(host.LoadAs(1), Control::kLoadReply), SizeIs(1));
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
}

TEST(HostLoadsTest, RefusesAProgramWhoseNumberIsTooLarge) {
  RecordedHost host("1x1x1");
  const std::vector<Control> replies =
      ControlsOf(host.LoadAs(1, uint32_t{1} << 31), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "program 2147483648 was loaded, expected below 1048576");
}

TEST(HostLoadsTest, GivesBackMemoryInTwoRounds) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  // Not before it was stopped.
  EXPECT_THAT(host.TellFromController(Free(1)), IsEmpty());
  EXPECT_THAT(ControlsOf(host.TellFromController(Stop(1)), Control::kStopReply),
              SizeIs(1));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  EXPECT_THAT(ControlsOf(host.TellFromController(Free(1)), Control::kFreeReply),
              SizeIs(1));
  EXPECT_EQ(host.executor->arena(0).used(), 0u);
  // Second copies are answered again.
  EXPECT_THAT(ControlsOf(host.TellFromController(Stop(1)), Control::kStopReply),
              SizeIs(1));
  EXPECT_THAT(ControlsOf(host.TellFromController(Free(1)), Control::kFreeReply),
              SizeIs(1));
  EXPECT_EQ(host.world.reserved[host.executor->local_id()], 0);
}

}  // namespace
}  // namespace pathways::testing
