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

#include "unittests/runtime/executor/executor_test_support.h"
#include "unittests/runtime/plan/add_collective.h"

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
    PlanBuilder b("p", 2);
    const uint32_t from = b.AddSlice("from", {{"y", 1}}, 0);
    const uint32_t one = b.AddSlice("one", {{"y", 1}}, 1, /*base=*/1);
    const uint32_t all = b.AddSlice("all", {{"x", 2}}, 1);
    layout::Layout whole = RowsOf(4);
    whole.dims = {{}};
    const uint32_t u = b.AddBuffer("u", from, whole, 2);
    const uint32_t w = b.AddBuffer("w", one, whole, 2);
    const uint32_t x = b.AddBuffer("x", all, whole, 2);
    const uint32_t y = b.AddBuffer("y", all, whole, 2);
    b.AddFeed("u", u);
    b.AddMove("m", u, w);
    b.AddMove("n", w, x);
    gang_ = b.AddGang("g", all, {x}, {y});
    AddCollective(b, gang_, proto::ALL_REDUCE, "x");
    b.AddFetch("y", y);
    host_.Load(b.Finish());
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
    PlanBuilder b("p", 2);
    const uint32_t from = b.AddSlice("from", {{"x", 2}}, 0);
    const uint32_t all = b.AddSlice("all", {{"x", 2}}, 0);
    const auto bind = [&](uint32_t slice, std::vector<int> devices) {
      auto* list =
          b.plan().mutable_slices(slice)->mutable_binding()->mutable_list();
      for (int device : devices) list->add_devices(device);
    };
    bind(from, {2, 0});
    bind(all, {2, 3});
    const uint32_t u = b.AddBuffer("u", from, RowsOf(4), 2);
    const uint32_t x = b.AddBuffer("x", all, RowsOf(4), 2);
    const uint32_t y = b.AddBuffer("y", all, RowsOf(4), 2);
    b.AddFeed("u", u);
    b.AddMove("m", u, x);
    AddCollective(b, b.AddGang("g", all, {x}, {y}), proto::ALL_REDUCE, "x");
    b.AddFetch("y", y);
    host_.Load(b.Finish());
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
