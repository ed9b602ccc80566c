//===- stall_detector_test.cc - Rounds of questions to hosts --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdicts = std::vector<StallDetector::Verdict>;

constexpr TimeNs kStallTimeout = 100;

class StallDetectorTest : public ::testing::Test {
 protected:
  // Programs 0 and 1, each on both hosts, with a launch since time 0.
  StallDetectorTest() {
    for (uint32_t p : {0u, 1u}) {
      StallDetector::Subject subject;
      subject.program = p;
      subject.incarnation = p + 1;
      subject.plan = plans_[p].get();
      subject.running = true;
      subject.end = 5;
      subjects_.push_back(subject);
    }
  }
  // `host` has fired so much of `program`, and what is stuck is `kind`.
  void Report(uint32_t program, uint32_t host, uint64_t fired,
              Stall::Kind kind = Stall::kProgress, uint32_t blocked_by = 0) {
    proto::Report report;
    report.set_round(round_);
    report.set_program(program);
    report.set_incarnation(subjects_[program].incarnation);
    report.set_host(host);
    report.set_fired(fired);
    report.set_granted(5);
    proto::StuckShard* stuck = report.add_stuck();
    stuck->set_action(ActionOf(*plans_[program], "first"));
    stuck->set_in_collective(kind == Stall::kRoot);
    stuck->set_blocked(kind == Stall::kBlocked);
    stuck->set_blocked_program(blocked_by);
    stuck->set_blocked_action(1);
    detector_.Add(report);
  }
  void ReportBoth(uint32_t program, uint64_t fired,
                  Stall::Kind kind = Stall::kProgress,
                  uint32_t blocked_by = 0) {
    Report(program, 0, fired, kind, blocked_by);
    Report(program, 1, fired, kind, blocked_by);
  }
  void Begin() { round_ = detector_.Begin(subjects_); }
  std::vector<uint32_t> Finish(TimeNs now) {
    last_ = detector_.Finish(now, subjects_);
    std::vector<uint32_t> programs;
    for (const auto& verdict : last_) programs.push_back(verdict.program);
    return programs;
  }

  Topology topology_ = MakeTopology("1x2x1");
  std::shared_ptr<const PreparedPlan> plans_[2] = {
      Prepare(MovePlan("p", 2), topology_),
      Prepare(MovePlan("q", 2), topology_)};
  StallDetector detector_{topology_, kStallTimeout};
  std::vector<StallDetector::Subject> subjects_;
  uint64_t round_ = 0;
  Verdicts last_;
};

TEST_F(StallDetectorTest, ARoundIsCompleteWhenAllHostsHaveAnswered) {
  EXPECT_FALSE(detector_.complete());
  Begin();
  EXPECT_TRUE(detector_.in_round());
  Report(0, 0, 1);
  Report(0, 0, 1);  // a second copy
  Report(0, 1, 1);
  Report(1, 0, 1);
  EXPECT_FALSE(detector_.complete());
  const uint64_t now = std::exchange(round_, round_ - 1);
  Report(1, 1, 1);  // of the round before
  EXPECT_FALSE(detector_.complete());
  round_ = now;
  Report(1, 1, 1);
  EXPECT_TRUE(detector_.complete());
  EXPECT_THAT(Finish(0), IsEmpty());
  EXPECT_FALSE(detector_.in_round());
}

TEST_F(StallDetectorTest, EndsWhatHangsForTheTimeout) {
  subjects_.pop_back();
  subjects_[0].since = 10;
  Begin();
  ReportBoth(0, 7, Stall::kRoot);  // fired since the last round: 7
  EXPECT_THAT(Finish(50), IsEmpty());
  Begin();
  ReportBoth(0, 7, Stall::kRoot);
  EXPECT_THAT(Finish(149), IsEmpty());
  Begin();
  ReportBoth(0, 7, Stall::kRoot);
  EXPECT_THAT(Finish(150), ElementsAre(0));
  EXPECT_EQ(last_[0].text,
            "'first' at step 0, shard 0 on island0/host0/device0 waits in the "
            "collective of step 0 for shards of its group");
}

TEST_F(StallDetectorTest, WhatFiresOrRunsGoesOn) {
  subjects_.pop_back();
  for (TimeNs now : {100, 200, 300}) {
    Begin();
    ReportBoth(0, static_cast<uint64_t>(now), Stall::kRoot);
    EXPECT_THAT(Finish(now), IsEmpty());
  }
  for (TimeNs now : {400, 500}) {
    Begin();
    ReportBoth(0, 300, Stall::kProgress);
    EXPECT_THAT(Finish(now), IsEmpty());
  }
  // Nothing was fired since 300, but something ran at 500.
  Begin();
  ReportBoth(0, 300, Stall::kRoot);
  EXPECT_THAT(Finish(599), IsEmpty());
}

// A device in a kernel does not answer: its program is left alone, and others
// are judged all the same.
TEST_F(StallDetectorTest, WhatDoesNotAnswerIsLeftAlone) {
  for (TimeNs now : {kStallTimeout, 2 * kStallTimeout}) {
    Begin();
    Report(0, 0, 7, Stall::kRoot);
    ReportBoth(1, 7, Stall::kRoot);
    EXPECT_FALSE(detector_.complete());
    EXPECT_THAT(Finish(now), now == kStallTimeout ? std::vector<uint32_t>{}
                                                  : std::vector<uint32_t>{1});
  }
  // The time of the stall is counted from then on.
  Begin();
  ReportBoth(0, 7, Stall::kRoot);
  EXPECT_THAT(Finish(2 * kStallTimeout), IsEmpty());
}

TEST_F(StallDetectorTest, WhatWaitsForAClientGoesOn) {
  subjects_.pop_back();
  subjects_[0].running = false;
  subjects_[0].staging = true;
  Begin();
  ReportBoth(0, 0);
  EXPECT_THAT(Finish(1000), IsEmpty());
  detector_.Force();
  Begin();
  EXPECT_THAT(Finish(1000), ElementsAre(0));
  EXPECT_EQ(last_[0].text, "a launch that fills an argument has not begun");
  subjects_[0].hosts = {0, 1};
  detector_.Force();
  Begin();
  EXPECT_THAT(Finish(1000), ElementsAre(0));
  EXPECT_EQ(last_[0].text, "the values of a launch are not on host0, host1");
}

TEST_F(StallDetectorTest, ANewIncarnationBeginsAnew) {
  subjects_.pop_back();
  Begin();
  ReportBoth(0, 0, Stall::kRoot);
  EXPECT_THAT(Finish(99), IsEmpty());
  subjects_[0].incarnation = 9;
  subjects_[0].since = 99;
  Begin();
  ReportBoth(0, 0, Stall::kRoot);
  EXPECT_THAT(Finish(150), IsEmpty());
  Begin();
  ReportBoth(0, 0, Stall::kRoot);
  EXPECT_THAT(Finish(199), ElementsAre(0));
}

TEST_F(StallDetectorTest, WhatWasLaunchedAfterTheRoundBeganIsNotJudged) {
  const StallDetector::Subject late = subjects_.back();
  subjects_.pop_back();
  Begin();
  ReportBoth(0, 0);
  subjects_.push_back(late);
  EXPECT_THAT(Finish(1000), IsEmpty());
  detector_.Force();
  EXPECT_THAT(Finish(1000), ElementsAre(1));  // nobody was asked of it
}

TEST_F(StallDetectorTest, WhatNobodyWasAskedOfIsNotBlamedForAnother) {
  const StallDetector::Subject late = subjects_.back();
  subjects_.pop_back();
  Begin();
  ReportBoth(0, 0, Stall::kRoot);
  subjects_.push_back(late);
  detector_.Force();
  EXPECT_THAT(Finish(1000), ElementsAre(0));
}

TEST_F(StallDetectorTest, OfACircleTheFirstIsEndedAndAllAreNamed) {
  Begin();
  ReportBoth(0, 0, Stall::kBlocked, 1);
  ReportBoth(1, 0, Stall::kBlocked, 0);
  EXPECT_THAT(Finish(100), ElementsAre(0));
  EXPECT_EQ(last_[0].text,
            "programs wait for each other; 'p': 'first' at step 0, shard 0 on "
            "island0/host0/device0 is behind 'first' of 'q'; 'q': 'first' at "
            "step 0, shard 0 on island0/host0/device0 is behind 'first' of "
            "'p'");
}

TEST_F(StallDetectorTest, WhatStandsBehindAStallIsNotEnded) {
  Begin();
  ReportBoth(0, 0, Stall::kBlocked, 1);
  ReportBoth(1, 0, Stall::kRoot);
  EXPECT_THAT(Finish(100), ElementsAre(1));
  // Nor what stands behind one that goes on.
  Begin();
  ReportBoth(0, 0, Stall::kBlocked, 1);
  ReportBoth(1, 0, Stall::kProgress);
  EXPECT_THAT(Finish(300), IsEmpty());
}

TEST_F(StallDetectorTest, WhenNothingIsLeftToHappenOneIsEnded) {
  Begin();
  detector_.Force();
  ReportBoth(0, 3);
  ReportBoth(1, 3);
  EXPECT_THAT(Finish(1), ElementsAre(0));
  EXPECT_EQ(last_[0].text,
            "'first' at step 0, shard 0 on island0/host0/device0 is ready");
  Begin();
  EXPECT_THAT(Finish(2), IsEmpty());  // it was said once
}

// The program before it has no launch any more.
TEST_F(StallDetectorTest, WhenNothingIsLeftToHappenWhatIsBlockedSaysSo) {
  Begin();
  detector_.Force();
  ReportBoth(0, 0, Stall::kBlocked, 7);
  ReportBoth(1, 0, Stall::kBlocked, 0);
  EXPECT_THAT(Finish(1), ElementsAre(0));
  EXPECT_EQ(last_[0].text,
            "'first' at step 0, shard 0 on island0/host0/device0 is behind "
            "another program");
}

TEST_F(StallDetectorTest, AsksThoseAgainThatHaveNotAnswered) {
  Begin();
  EXPECT_THAT(detector_.Awaited(0), ElementsAre(0, 1));
  Report(0, 1, 0);
  EXPECT_THAT(detector_.Awaited(0), ElementsAre(0));
  EXPECT_THAT(detector_.Awaited(7), IsEmpty());
  for (int i = 1; i < StallDetector::kAsks; ++i) {
    EXPECT_TRUE(detector_.AskAgain());
  }
  EXPECT_FALSE(detector_.AskAgain());
  Finish(0);
  Begin();
  EXPECT_TRUE(detector_.AskAgain());
}

}  // namespace
}  // namespace pathways::testing
