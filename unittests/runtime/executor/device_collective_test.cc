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

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two devices: one of them has something to send before they meet, and waits
// for a token of the other host.
class DeviceCollectiveTest : public ::testing::Test {
 protected:
  DeviceCollectiveTest() : host_("2x1x2", /*host=*/1) {
    PlanBuilder b("p", 2);
    const uint32_t from = b.AddSlice("from", {{"y", 1}}, 0);
    const uint32_t one = b.AddSlice("one", {{"y", 1}}, 1, /*base=*/1);
    const uint32_t all = b.AddSlice("all", {{"x", 2}}, 1);
    layout::Layout whole = Rows(4);
    whole.dims = {{}};
    const uint32_t u = b.AddBuffer("u", from, whole, 2);
    const uint32_t w = b.AddBuffer("w", one, whole, 2);
    const uint32_t x = b.AddBuffer("x", all, whole, 2);
    const uint32_t y = b.AddBuffer("y", all, whole, 2);
    b.AddFeed("u", u);
    b.AddMove("m", u, w);
    b.AddMove("n", w, x);
    gang_ = b.AddGang("g", all, {x}, {y});
    proto::Collective* collective =
        b.plan().mutable_actions(gang_)->add_steps()->mutable_collective();
    collective->set_kind(proto::ALL_REDUCE);
    collective->set_reduction(proto::ADD);
    collective->add_axes("x");
    collective->set_source(x);
    collective->set_result(y);
    b.AddFetch("y", y);
    host_.Load(b.Finish());
  }
  uint64_t gangs(int device) const {
    return host_.devices[device]->counters().gangs.get();
  }
  // The piece of a firing comes from the other host.
  std::vector<Sent> Piece(uint64_t firing, uint16_t flags = 0) {
    WireMessage message;
    message.kind = kPieceMessage;
    message.flags = flags;
    message.incarnation = 1;
    const auto& edges = host_.plan().edges();
    const uint32_t recv = ActionOf(host_.plan(), "m.recv");
    for (uint32_t e = 0; e < edges.size(); ++e) {
      if (edges[e].to == recv && edges[e].kind == proto::DATA) {
        message.target = e;
      }
    }
    message.step = firing;
    message.sequence = ++sequence_;
    return host_.TellWire(0, message);
  }

  RecordedHost host_;
  uint32_t gang_ = 0;
  uint64_t sequence_ = 0;
};

TEST_F(DeviceCollectiveTest, NobodyLeavesBeforeAllHaveCome) {
  EXPECT_THAT(Done(host_.Grant(1, 1, 0, 0, 2, 0, 2)), IsEmpty());
  EXPECT_EQ(gangs(0) + gangs(1), 0u);
  EXPECT_THAT(Done(Piece(0)), IsEmpty());
  EXPECT_EQ(gangs(0), 1u);
  EXPECT_EQ(gangs(1), 1u);
  EXPECT_THAT(Done(Piece(1)), ElementsAre(1));
  EXPECT_EQ(gangs(0), 2u);
  EXPECT_EQ(gangs(1), 2u);
}

TEST_F(DeviceCollectiveTest, PoisonOfOneIsThatOfAll) {
  host_.Grant(1, 1, 0, 0, 2, 0, 2);
  Piece(0, kPoisoned);
  // It is over all the same, and the next one is whole.
  EXPECT_EQ(gangs(0), 1u);
  EXPECT_EQ(gangs(1), 1u);
  EXPECT_THAT(Done(Piece(1)), ElementsAre(1));
}

}  // namespace
}  // namespace pathways::testing
