//===- device_collective_test.cc - Members of a host that meet ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Returns the message of the other host for move m, for a shard that is also
// the move's.
WireMessage PieceOf(const PreparedPlan& plan, uint64_t firing,
                    uint64_t sequence, uint32_t shard, uint16_t flags) {
  WireMessage message;
  message.kind = kPieceMessage;
  message.flags = flags;
  message.incarnation = 1;
  message.shard = message.item = shard;
  const auto& edges = plan.edges();
  const uint32_t recv = ActionOf(plan, "m.recv");
  for (uint32_t e = 0; e < edges.size(); ++e) {
    if (edges[e].to == recv && edges[e].kind == proto::DATA) message.target = e;
  }
  message.step = firing;
  message.sequence = sequence;
  return message;
}

// Two devices, of one worker or of two: one of them has something to send
// before they meet, and waits for a token of the other host.
class DeviceCollectiveTest
    : public ::testing::TestWithParam<std::vector<uint32_t>> {
 protected:
  DeviceCollectiveTest()
      : host_("2x1x2", /*host=*/1, /*dispatch=*/{}, /*has_values=*/false,
              /*epoch=*/1, GetParam()) {
    ChainBuilder b({.slice = {.mesh = {{"y", 1}}}, .layout = Whole({4})});
    b.Feed("u")
        .Move("m", {.mesh = {{"y", 1}}, .island = 1, .base = 1})
        .Move("n", {.island = 1})
        .Collective("g", proto::ALL_REDUCE);
    gang_ = b.last_action();
    host_.Load(b.Fetch("y").Finish());
  }
  uint64_t gangs(int device) const {
    return host_.devices[device]->counters().gangs.get();
  }
  std::vector<Sent> Piece(uint64_t firing, uint16_t flags = 0) {
    return host_.NotifyWire(
        0, PieceOf(host_.plan(), firing, ++sequence_, /*shard=*/0, flags));
  }

  RecordedHost host_;
  uint32_t gang_ = 0;
  uint64_t sequence_ = 0;
};

TEST_P(DeviceCollectiveTest, NobodyLeavesBeforeAllHaveCome) {
  EXPECT_THAT(Done(host_.Grant(1, 1, 0, 0, 2, 0, 2)), IsEmpty());
  EXPECT_EQ(gangs(0) + gangs(1), 0u);
  EXPECT_THAT(Done(Piece(0)), IsEmpty());
  EXPECT_EQ(gangs(0), 1u);
  EXPECT_EQ(gangs(1), 1u);
  EXPECT_THAT(Done(Piece(1)), ElementsAre(1));
  EXPECT_EQ(gangs(0), 2u);
  EXPECT_EQ(gangs(1), 2u);
}

// Only who waits is told.
TEST_P(DeviceCollectiveTest, AMessageGoesToAnotherWorkerThatWaits) {
  const uint64_t expected = GetParam()[1] == GetParam()[0] ? 0 : 1;
  host_.Grant(1, 1, 0, 0, 2, 0, 2);
  auto told = [&](int device) {
    return host_.devices[device]->counters().sent[kGroupDone].get();
  };
  Piece(0);
  EXPECT_EQ(told(0) + told(1), expected);
  Piece(1);
  EXPECT_EQ(told(0) + told(1), 2 * expected);
}

TEST_P(DeviceCollectiveTest, WhoWaitsLeavesWithTheProgram) {
  host_.Grant(1, 1, 0, 0, 2, 0, 2);
  EXPECT_THAT(ControlsOf(host_.NotifyFromController(Stop(1)),
                         proto::Control::kStopReply),
              SizeIs(1));
  EXPECT_THAT(Done(Piece(0)), IsEmpty());
  EXPECT_EQ(gangs(0) + gangs(1), 0u);
}

TEST_P(DeviceCollectiveTest, PoisonOfOneIsThatOfAll) {
  host_.Grant(1, 1, 0, 0, 2, 0, 2);
  Piece(0, kPoisoned);
  // It is over all the same, and the next one is whole.
  EXPECT_EQ(gangs(0), 1u);
  EXPECT_EQ(gangs(1), 1u);
  EXPECT_THAT(Done(Piece(1)), ElementsAre(1));
}

INSTANTIATE_TEST_SUITE_P(Workers, DeviceCollectiveTest,
                         ::testing::Values(std::vector<uint32_t>{0, 0},
                                           std::vector<uint32_t>{0, 1}));

// Each device gets its operand by itself: one at once, the other from another
// host.
class LateMemberTest : public ::testing::TestWithParam<std::vector<uint32_t>> {
 protected:
  LateMemberTest()
      : host_("1x2x2", /*host=*/1, /*dispatch=*/{}, /*has_values=*/false,
              /*epoch=*/1, GetParam()) {
    host_.Load(ChainBuilder({.slice = {.devices = {2, 0}}, .layout = Rows({4})})
                   .Feed("u")
                   .Move("m", {.devices = {2, 3}})
                   .Collective("g", proto::ALL_REDUCE)
                   .Fetch("y")
                   .Finish());
  }
  std::vector<Sent> Piece(uint64_t firing, uint16_t flags = 0) {
    return host_.NotifyWire(
        0, PieceOf(host_.plan(), firing, firing + 1, /*shard=*/1, flags));
  }
  uint64_t fetched(int device) const {
    return host_.devices[device]->counters().fetched_bytes.get();
  }

  RecordedHost host_;
};

TEST_P(LateMemberTest, WhoWaitedHearsOfThePoison) {
  host_.Grant(1, 1, 0, 0, 1, 0, 1);
  EXPECT_EQ(host_.devices[0]->counters().gangs.get(), 0u);
  EXPECT_THAT(Done(Piece(0, kPoisoned)), ElementsAre(1));
  EXPECT_EQ(fetched(0), 0u);
  EXPECT_EQ(fetched(1), 0u);
  // It does so for that firing alone.
  host_.Grant(2, 2, 1, 1, 1, 1, 1);
  EXPECT_THAT(Done(Piece(1)), ElementsAre(2));
  EXPECT_GT(fetched(0), 0u);
  EXPECT_GT(fetched(1), 0u);
}

INSTANTIATE_TEST_SUITE_P(Workers, LateMemberTest,
                         ::testing::Values(std::vector<uint32_t>{0, 0},
                                           std::vector<uint32_t>{0, 1}));

}  // namespace
}  // namespace pathways::testing
