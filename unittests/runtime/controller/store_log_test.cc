//===- store_log_test.cc - Progress of the hosts' stores ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/store_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint64_t> Ids(const std::vector<ClientRequest>& requests) {
  std::vector<uint64_t> ids;
  for (const ClientRequest& request : requests) ids.push_back(request.id);
  return ids;
}

class StoreLogTest : public ::testing::Test {
 protected:
  void Send(int32_t host, uint64_t launch, const std::string& text) {
    log_.Number(host, /*drops=*/false);
    log_.Keep(now_, host, launch, /*asks=*/launch != 0, Message(text));
  }
  ControlRef Message(const std::string& text) {
    ControlRef message = controls_.New();
    message->mutable_answer()->set_message(text);
    return message;
  }
  // "HOST: TEXT" for what is to be sent again, "REQUEST: STATUS" for what
  // ends, "silent HOST".
  std::vector<std::string> Tick(TimeNs now) {
    now_ = now;
    const StoreLog::Findings found = log_.Tick(now, busy_);
    std::vector<std::string> texts;
    for (const StoreLog::Again& a : found.again) {
      texts.push_back(
          absl::StrCat(a.host, ": ", a.message->answer().message()));
    }
    for (const StoreLog::Late& l : found.late) {
      texts.push_back(
          absl::StrCat(l.request.id, ": ", std::string(l.status.message())));
    }
    for (int32_t host : found.silent) {
      texts.push_back(absl::StrCat("silent ", host));
    }
    return texts;
  }

  Topology topology_ = MakeTopology("1x8x1");
  ControlPool controls_;
  StoreLog log_{topology_, /*timeout_ns=*/100};
  TimeNs now_ = 0;
  WaitSet busy_;
};

TEST_F(StoreLogTest, NumbersEachHostFromOne) {
  EXPECT_EQ(log_.Number(3, false), 1u);
  EXPECT_EQ(log_.Number(3, true), 2u);
  EXPECT_EQ(log_.Number(5, false), 1u);
}

TEST_F(StoreLogTest, AsksOnlyThoseThatDroppedSomethingSince) {
  log_.Number(1, /*drops=*/false);
  log_.Number(2, /*drops=*/true);
  log_.Number(2, /*drops=*/false);
  EXPECT_THAT(log_.Unsettled(), ElementsAre(2));
  EXPECT_THAT(log_.Settled(now_, 2, 1), IsEmpty());
  EXPECT_THAT(log_.Unsettled(), IsEmpty());
  log_.Number(2, /*drops=*/true);
  EXPECT_THAT(log_.Unsettled(), ElementsAre(2));
}

TEST_F(StoreLogTest, ARequestIsOverWhenAllItsHostsHaveComeSoFar) {
  log_.Number(1, true);
  log_.Number(2, true);
  log_.Await(now_, {0, 7}, {1, 2});
  log_.Number(2, true);
  log_.Await(now_, {0, 8}, {2});
  EXPECT_THAT(log_.Settled(now_, 1, 1), IsEmpty());
  EXPECT_THAT(log_.Settled(now_, 1, 1), IsEmpty());  // a second copy
  EXPECT_THAT(Ids(log_.Settled(now_, 2, 2)), ElementsAre(7, 8));
  EXPECT_THAT(log_.Settled(now_, 2, 2), IsEmpty());
}

TEST_F(StoreLogTest, AHostThatSaysTooMuchIsTakenAtWhatItWasSent) {
  log_.Number(1, true);
  EXPECT_THAT(log_.Settled(now_, 1, 100), IsEmpty());
  log_.Number(1, true);
  EXPECT_THAT(log_.Unsettled(), ElementsAre(1));
}

TEST_F(StoreLogTest, SendsAgainWhatIsNotDone) {
  now_ = 10;
  Send(1, 0, "a");
  Send(2, 0, "b");
  Send(1, 0, "c");
  EXPECT_TRUE(log_.Owes(1));
  EXPECT_FALSE(log_.Owes(3));
  EXPECT_THAT(Tick(20), IsEmpty());  // it may still be on its way
  EXPECT_THAT(Tick(30), ElementsAre("1: a", "1: c", "2: b"));
  log_.Settled(now_, 1, 1);
  Send(1, 0, "d");
  EXPECT_THAT(Tick(40), ElementsAre("1: c", "2: b"));
  log_.Settled(now_, 1, 3);
  log_.Settled(now_, 2, 1);
  EXPECT_THAT(Tick(50), IsEmpty());
  EXPECT_TRUE(log_.empty());
  EXPECT_FALSE(log_.Owes(1));
}

TEST_F(StoreLogTest, WhatComesIsNotSentAgain) {
  Send(1, 0, "a");
  Send(1, 0, "b");
  Send(1, /*launch=*/7, "seven");
  Tick(90);
  log_.Settled(now_ = 100, 1, 1);
  EXPECT_THAT(Tick(180), ElementsAre("1: seven"));
  log_.Settled(now_ = 190, 1, 1);  // an earlier one came twice
  EXPECT_THAT(Tick(270), ElementsAre("1: seven"));
  EXPECT_THAT(Tick(280), ElementsAre("1: b", "1: seven"));
}

TEST_F(StoreLogTest, AsksAgainUntilALaunchIsAnswered) {
  Send(1, /*launch=*/7, "seven");
  Send(1, /*launch=*/8, "eight");
  log_.Settled(now_, 1, 2);
  EXPECT_FALSE(log_.Owes(1));
  Tick(10);
  EXPECT_THAT(Tick(20), ElementsAre("1: seven", "1: eight"));
  log_.Answered(now_, 1, 7);
  log_.Answered(now_, 1, 7);  // a second copy
  log_.Answered(now_, 5, 7);
  EXPECT_THAT(Tick(30), ElementsAre("1: eight"));
  log_.Forget(1, 8);
  log_.Forget(6, 8);
  log_.Settled(now_, 1, 2);
  EXPECT_THAT(Tick(40), IsEmpty());
}

TEST_F(StoreLogTest, AnAnswerForALaunchSaysThatAllBeforeIsDone) {
  log_.Number(1, /*drops=*/true);
  log_.Keep(now_, 1, 0, /*asks=*/false, Message("drop"));
  log_.Await(now_, {0, 9}, {1});
  Send(1, /*launch=*/7, "seven");
  EXPECT_THAT(Ids(log_.Answered(now_, 1, 7)), ElementsAre(9));
  EXPECT_TRUE(log_.empty());
}

TEST_F(StoreLogTest, WhatALaunchWaitsForIsRecentForTheTimeout) {
  Send(1, /*launch=*/0, "drop");
  EXPECT_FALSE(log_.HasRecent(now_));
  now_ = 10;
  Send(1, /*launch=*/7, "prepare");
  busy_.Insert(1);
  Tick(100);
  EXPECT_TRUE(log_.HasRecent(109));
  EXPECT_FALSE(log_.HasRecent(110));
  // It is done, but not answered.
  log_.Settled(now_, 1, 2);
  EXPECT_TRUE(log_.HasRecent(109));
  log_.Answered(now_, 1, 7);
  EXPECT_FALSE(log_.HasRecent(109));
}

TEST_F(StoreLogTest, AHostIsSilentWhenItWasNotHeardForTheTimeout) {
  Send(1, 7, "a");
  Send(2, 0, "b");
  log_.Settled(now_ = 60, 1, 1);
  EXPECT_EQ(Tick(99).size(), 0u);
  EXPECT_THAT(Tick(100), ElementsAre("1: a", "2: b", "silent 2"));
  EXPECT_THAT(Tick(160), ElementsAre("1: a", "2: b", "silent 1", "silent 2"));
  busy_.Assign({1});
  EXPECT_THAT(Tick(170), ElementsAre("1: a", "2: b", "silent 2"));
}

// It may wait for just that: a launch behind what was lost.
TEST_F(StoreLogTest, AHostThatIsBusyIsSentWhatItHasNotSaidThatItHas) {
  busy_.Assign({1});
  Send(1, 0, "drop");
  EXPECT_THAT(Tick(10), IsEmpty());
  for (TimeNs now : {20, 30, 500})
    EXPECT_THAT(Tick(now), ElementsAre("1: drop"));
  busy_.Clear();
  EXPECT_THAT(Tick(599), ElementsAre("1: drop"));
  EXPECT_THAT(Tick(600), ElementsAre("1: drop", "silent 1"));
}

TEST_F(StoreLogTest, ARequestEndsWithTheHostsThatDidNotAnswer) {
  for (int32_t host : {1, 2, 3}) log_.Number(host, /*drops=*/true);
  log_.Await(now_, {0, 7}, {1, 2, 3});
  EXPECT_TRUE(log_.HasRequest(busy_));
  log_.Settled(now_ = 50, 2, 1);
  EXPECT_THAT(Tick(149), IsEmpty());
  EXPECT_THAT(Tick(150), ElementsAre("7: released memory may still be in use: "
                                     "no answer from host1, host3 [PW4105]"));
  EXPECT_FALSE(log_.HasRequest(busy_));
  log_.Await(now_, {0, 8}, {1});
  busy_.Assign({1});
  EXPECT_FALSE(log_.HasRequest(busy_));
  EXPECT_THAT(Tick(1000), IsEmpty());
}

TEST_F(StoreLogTest, NobodyWaitsForAHostThatIsGone) {
  Send(1, 7, "a");
  log_.Number(1, /*drops=*/true);
  log_.Number(2, /*drops=*/true);
  log_.Await(now_, {0, 7}, {1});
  log_.Await(now_, {0, 8}, {1, 2});
  EXPECT_THAT(Ids(log_.HostGone(now_, 1)), ElementsAre(7));
  EXPECT_THAT(Ids(log_.Settled(now_, 2, 1)), ElementsAre(8));
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(log_.Number(1, false), 1u);
  EXPECT_THAT(log_.HostGone(now_, 5), IsEmpty());
}

TEST_F(StoreLogTest, WhatNobodyWaitsForIsSentUntilTheHostHasDoneIt) {
  log_.Number(0, /*drops=*/false);
  log_.Keep(now_, 0, 7, /*asks=*/false, Message("seven"));
  Send(0, 8, "eight");
  EXPECT_EQ(log_.Undone(0, 7), 1u);
  EXPECT_EQ(log_.Undone(0, 8), 2u);
  EXPECT_EQ(log_.Undone(1, 7), 0u);
  EXPECT_TRUE(log_.HasUndone(0));
  Tick(10);
  EXPECT_THAT(Tick(20), ElementsAre("0: seven", "0: eight"));
  log_.Settled(now_, 0, 1);
  EXPECT_EQ(log_.Undone(0, 7), 0u);
  EXPECT_THAT(Tick(30), ElementsAre("0: eight"));
  // It has it, but has not answered.
  log_.Settled(now_, 0, 2);
  EXPECT_FALSE(log_.HasUndone(0));
  EXPECT_EQ(log_.Undone(0, 8), 0u);
  EXPECT_FALSE(log_.empty());
}

}  // namespace
}  // namespace pathways::testing
