//===- stall_test.cc - Causes of a stall ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

// Two programs' hosts say what is stuck; a host is an island here, with two
// devices. Steps count from firing 10 on, and 20 are granted.
class StallTest : public ::testing::Test {
 protected:
  StallTest() {
    for (uint32_t host : {0u, 1u}) {
      reports_[host].set_host(host);
      reports_[host].set_granted(30);
    }
  }
  proto::StuckShard* Stick(uint32_t host, uint64_t firing,
                           const std::string& action, uint32_t shard = 0) {
    proto::StuckShard* stuck = reports_[host].add_stuck();
    stuck->set_firing(firing);
    stuck->set_action(ActionOf(*plan_, action));
    stuck->set_shard(shard);
    stuck->set_device(topology_.GlobalDevice(
        {static_cast<int>(host), static_cast<int>(shard)}));
    return stuck;
  }
  Stall Classify() {
    return ClassifyStall(*plan_, topology_, reports_, {.first = 10},
                         /*end=*/30, islands_);
  }
  uint32_t Edge(const std::string& from, const std::string& to) {
    for (uint32_t e = 0; e < plan_->edges().size(); ++e) {
      if (plan_->edges()[e].from == ActionOf(*plan_, from) &&
          plan_->edges()[e].to == ActionOf(*plan_, to)) {
        return e;
      }
    }
    ADD_FAILURE() << "no edge";
    return 0;
  }

  Topology topology_ = MakeTopology("2x1x2");
  std::shared_ptr<const PreparedPlan> plan_ =
      Prepare(MovePlan("p", 2, 0, 1), topology_);
  std::map<uint32_t, proto::Report> reports_;
  std::vector<int32_t> islands_;
};

TEST_F(StallTest, AHostThatDoesNotAnswerComesFirst) {
  Stick(0, 12, "first")->add_missing();
  reports_.erase(1);
  const Stall stall = Classify();
  EXPECT_EQ(stall.kind, Stall::kRoot);
  EXPECT_EQ(stall.text, "host1 does not answer");
}

TEST_F(StallTest, TheSmallestFiringAndPositionHangs) {
  Stick(0, 13, "first")->set_running(true);
  proto::MissingEdge* missing = Stick(1, 12, "m.recv", 1)->add_missing();
  missing->set_edge(Edge("m.send", "m.recv"));
  missing->set_expected(1);
  Stick(1, 12, "second")->set_running(true);
  const Stall stall = Classify();
  EXPECT_EQ(stall.kind, Stall::kRoot);
  EXPECT_EQ(stall.text,
            "'m.recv' at step 2, shard 1 on island1/host1/device1 waits for "
            "the data edge from 'm.send' to 'm.recv': 0 of 1 tokens arrived");
}

TEST_F(StallTest, AShardOfTheSamePlaceThatMissesATokenCounts) {
  Stick(0, 12, "first", 0)->set_running(true);
  proto::MissingEdge* missing = Stick(0, 12, "first", 1)->add_missing();
  missing->set_edge(Edge("u.feed", "first"));
  missing->set_expected(2);
  missing->set_arrived(1);
  EXPECT_EQ(Classify().text,
            "'first' at step 2, shard 1 on island0/host0/device1 waits for "
            "the data edge from 'u.feed' to 'first': 1 of 2 tokens arrived");
}

TEST_F(StallTest, WhatRunsMakesProgress) {
  Stick(0, 12, "first")->set_running(true);
  Stick(0, 12, "first", 1)->set_blocked(true);
  EXPECT_EQ(Classify().kind, Stall::kProgress);
}

TEST_F(StallTest, WhatIsReadyMakesProgress) {
  Stick(0, 9, "first");
  const Stall stall = Classify();
  EXPECT_EQ(stall.kind, Stall::kProgress);
  EXPECT_EQ(stall.text,
            "'first' at step 0, shard 0 on island0/host0/device0 is ready");
}

TEST_F(StallTest, AGrantWasLost) {
  reports_[1].set_granted(15);
  Stick(0, 15, "m.send")->add_missing();
  Stall stall = Classify();
  EXPECT_EQ(stall.kind, Stall::kRoot);
  EXPECT_EQ(stall.text,
            "host1 was granted only the steps before 5, expected those before "
            "20: a start "
            "or a grant was lost");
  // An action that is stuck earlier is the cause.
  Stick(0, 14, "first")->set_running(true);
  EXPECT_EQ(Classify().kind, Stall::kProgress);
}

TEST_F(StallTest, AFeedWaitsForAnArrayOfAnotherProgram) {
  proto::StuckShard* stuck = Stick(0, 12, "first", 1);
  stuck->set_unfilled(true);
  stuck->set_unfilled_by(3);
  const Stall stall = Classify();
  EXPECT_EQ(stall.kind, Stall::kBlocked);
  EXPECT_EQ(stall.blocked_by, 3u);
  EXPECT_EQ(stall.text, "'first' at step 2, shard 1 on island0/host0/device1");
}

TEST_F(StallTest, AnotherProgramStandsBefore) {
  proto::StuckShard* stuck = Stick(0, 12, "first", 1);
  stuck->set_blocked(true);
  stuck->set_blocked_program(4);
  stuck->set_blocked_action(2);
  const Stall stall = Classify();
  EXPECT_EQ(stall.kind, Stall::kBlocked);
  EXPECT_EQ(stall.blocked_by, 4u);
  EXPECT_EQ(stall.blocked_action, 2u);
  EXPECT_EQ(stall.text, "'first' at step 2, shard 1 on island0/host0/device1");
}

TEST_F(StallTest, MembersOfACollectiveAreAbsent) {
  proto::StuckShard* stuck = Stick(0, 12, "first");
  stuck->set_in_collective(true);
  stuck->set_collective_step(1);
  const std::string text =
      "'first' at step 2, shard 0 on island0/host0/device0 waits in the "
      "collective of step 1 for shards";
  EXPECT_EQ(Classify().text, text + " of its group");
  stuck->add_absent(1);
  stuck->add_absent(3);
  EXPECT_EQ(Classify().text, text + " 1 3");
  EXPECT_EQ(Classify().kind, Stall::kRoot);
}

TEST_F(StallTest, AnEnqueueWasNotHeard) {
  proto::StuckShard* stuck = Stick(1, 12, "m.recv");
  stuck->set_unheard(true);
  stuck->set_unheard_host(0);
  stuck->set_unheard_edge(Edge("m.send", "m.recv"));
  EXPECT_EQ(Classify().text,
            "'m.recv' at step 2, shard 0 on island1/host1/device0 is not "
            "prepared: host0 did not report that it enqueued 'm.send'");
}

TEST_F(StallTest, TheEndWasLost) {
  islands_ = {0, 1};
  EXPECT_EQ(Classify().text,
            "all its actions are done, but island0, island1 did not announce "
            "the end");
  EXPECT_EQ(Classify().kind, Stall::kRoot);
}

}  // namespace
}  // namespace pathways::testing
