//===- host_collectives_test.cc - Collectives between hosts ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Host 0 of two, whose devices add up a number.
class HostCollectivesTest : public ::testing::Test {
 protected:
  HostCollectivesTest() : host_("1x2x2") {
    host_.Load(AllReducePlan({.slice = {.shards = 4}}));
  }
  // Grants so many steps; returns what this host contributes.
  std::vector<Sent> Begin(uint64_t steps) {
    std::vector<Sent> contributions;
    for (const Sent& one : host_.Grant(1, 1, 0, 0, steps, 0, steps)) {
      if (one.kind == Sent::kWire && one.wire.kind == kContributionMessage) {
        contributions.push_back(one);
      }
    }
    return contributions;
  }
  // The other host says of a firing what this one has said.
  std::vector<Sent> Answer(const Sent& own, uint16_t flags = 0,
                           uint64_t more_bytes = 0) {
    WireMessage message = own.wire;
    message.flags = flags;
    message.sequence = ++sequence_;
    return host_.NotifyWire(1, message,
                            std::string(own.payload.bytes + more_bytes, '\0'));
  }

  RecordedHost host_;
  uint64_t sequence_ = 0;
};

TEST_F(HostCollectivesTest, AFiringWaitsForTheOtherHost) {
  const std::vector<Sent> own = Begin(1);
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_EQ(own[0].to, host_.directory().executor(1));
  EXPECT_EQ(own[0].wire.shard, 0u);  // rank 0 of the group
  EXPECT_EQ(own[0].wire.step, 0u);
  EXPECT_THAT(Done(Answer(own[0])), ElementsAre(1));
}

TEST_F(HostCollectivesTest, WhatDoesNotFitCountsForNothing) {
  const std::vector<Sent> own = Begin(1);
  ASSERT_THAT(own, SizeIs(1));
  Sent other = own[0];
  other.wire.shard = 1;
  EXPECT_THAT(Answer(other), IsEmpty());
  other = own[0];
  ++other.wire.target;
  EXPECT_THAT(Answer(other), IsEmpty());
  other = own[0];
  ++other.wire.item;  // another round
  EXPECT_THAT(Answer(other), IsEmpty());
  other = own[0];
  other.wire.step = 5;
  EXPECT_THAT(Answer(other), IsEmpty());
  EXPECT_THAT(Answer(own[0], 0, /*more_bytes=*/4), IsEmpty());
  EXPECT_THAT(Done(Answer(own[0])), ElementsAre(1));
  EXPECT_THAT(Answer(own[0]), IsEmpty());
}

// The other host may be a firing ahead.
TEST_F(HostCollectivesTest, ANextFiringMayComeFirst) {
  const std::vector<Sent> own = Begin(2);
  ASSERT_THAT(own, SizeIs(1));
  Sent next = own[0];
  next.wire.step = 1;
  EXPECT_THAT(Answer(next), IsEmpty());
  const std::vector<Sent> rest = Answer(own[0]);
  EXPECT_THAT(WiresOf(rest, kContributionMessage), SizeIs(1));
  EXPECT_THAT(Done(rest), ElementsAre(1));
}

TEST_F(HostCollectivesTest, PoisonOfTheOtherHostEndsTheFiring) {
  const std::vector<Sent> own = Begin(1);
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_THAT(Done(Answer(own[0], kPoisoned)), ElementsAre(1));
}

TEST_F(HostCollectivesTest, WhoIsMissingIsNamed) {
  ASSERT_THAT(Begin(1), SizeIs(1));
  Control query;
  query.mutable_query()->set_program(0);
  query.mutable_query()->set_incarnation(1);
  query.mutable_query()->set_round(3);
  const std::vector<Control> reports =
      ControlsOf(host_.NotifyFromController(query), Control::kReport);
  ASSERT_THAT(reports, SizeIs(1));
  ASSERT_THAT(reports[0].report().stuck(), SizeIs(2));
  for (const proto::StuckShard& stuck : reports[0].report().stuck()) {
    EXPECT_THAT(stuck.absent(), ElementsAre(2, 3));
  }
}

}  // namespace
}  // namespace pathways::testing
