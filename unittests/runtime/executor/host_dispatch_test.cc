//===- host_dispatch_test.cc - The time that a host takes for actions -----===//
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
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimeNs kWork = 1000;

DispatchOptions Dispatch(bool sequential, TimeNs work) {
  DispatchOptions dispatch;
  dispatch.sequential = sequential;
  dispatch.host_work_ns = work;
  return dispatch;
}

uint64_t Firings(const RecordedHost& host) {
  return host.devices[0]->counters().firings.get();
}

TEST(HostDispatchTest, EachActionTakesItsTimeOneAfterTheOther) {
  RecordedHost host("1x1x1", 0, Dispatch(false, kWork));
  host.Load(MovePlan("p", 1));
  EXPECT_THAT(ControlsOf(host.Grant(7, 3, 0, 0, 1, 0, 1), Control::kGrantDone),
              IsEmpty());
  for (uint64_t fired = 0; fired < 6; ++fired) {
    EXPECT_EQ(Firings(host), fired);
    host.world.Advance(kWork - 1);
    host.world.DeliverAll();
    EXPECT_EQ(Firings(host), fired);
    host.world.Advance(1);
    const std::vector<Sent> sent = host.world.DeliverAll();
    EXPECT_THAT(ControlsOf(sent, Control::kGrantDone), SizeIs(fired == 5));
  }
  EXPECT_EQ(Firings(host), 6u);
}

TEST(HostDispatchTest, WithoutWorkDevicesNeedNoWord) {
  RecordedHost host("1x1x1");
  host.Load(MovePlan("p", 1));
  EXPECT_THAT(ControlsOf(host.Grant(7, 3, 0, 0, 3, 0, 3), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(host.executor->counters().sent[kEnqueue].get(), 0u);
}

// The receiver of a movement waits to hear that the other host enqueued it.
TEST(HostDispatchTest, SequentialWaitsForTheHostOfTheSource) {
  RecordedHost host("2x1x1", /*host=*/1, Dispatch(true, 0));
  host.Load(MovePlan("p", 1, 0, 1));
  host.Grant(7, 3, 0, 0, 2, 0, 2);
  EXPECT_EQ(host.executor->counters().sent[kEnqueue].get(), 0u);
  const uint32_t send = ActionOf(host.plan(), "m.send");
  WireMessage message;
  message.kind = kEnqueuedMessage;
  message.incarnation = 1;
  for (uint32_t e : host.plan().out_edges(send)) {
    if (host.plan().edges()[e].kind == proto::DATA) message.target = e;
  }
  // The message is of firing 1, so also of firing 0: recv, gang and fetch of
  // both fire.
  message.sequence = 1;
  message.step = 1;
  host.NotifyWire(0, message);
  EXPECT_EQ(host.executor->counters().sent[kEnqueue].get(), 6u);
  // The message is of firings that were not granted.
  message.sequence = 2;
  message.step = UINT64_MAX;
  host.NotifyWire(0, message);
  message.sequence = 3;
  message.step = 9;
  host.NotifyWire(0, message);
  EXPECT_EQ(host.executor->counters().sent[kEnqueue].get(), 6u);
}

TEST(HostDispatchTest, SequentialTellsTheHostsThatWaitOnce) {
  RecordedHost host("2x1x1", /*host=*/0, Dispatch(true, 0));
  host.Load(MovePlan("p", 1, 0, 1));
  const std::vector<WireMessage> told =
      WiresOf(host.Grant(7, 3, 0, 0, 2, 0, 2), kEnqueuedMessage);
  std::vector<uint64_t> firings;
  for (const WireMessage& message : told) firings.push_back(message.step);
  EXPECT_THAT(firings, ElementsAre(0, 1));
}

TEST(HostDispatchTest, AProgramThatIsStoppedTakesNoMoreTime) {
  RecordedHost host("1x1x1", 0, Dispatch(false, kWork));
  host.Load(MovePlan("p", 1));
  host.Grant(7, 3, 0, 0, 1, 0, 1);
  Control stop;
  stop.mutable_stop_program()->set_incarnation(1);
  EXPECT_THAT(ControlsOf(host.NotifyFromController(stop), Control::kStopReply),
              SizeIs(1));
  host.world.Advance(10 * kWork);
  EXPECT_THAT(host.world.DeliverAll(), IsEmpty());
  EXPECT_EQ(host.world.timers(), 0u);
  EXPECT_EQ(Firings(host), 0u);
}

}  // namespace
}  // namespace pathways::testing
