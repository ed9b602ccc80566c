//===- program_table_test.cc - Programs from their load to their end ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = ProgramTable::State;

constexpr TimeNs kLoadTimeout = 100;
const PlanName kPlan{HashOf(absl::string_view("p")), 1000};

class ProgramTableTest : public ::testing::Test {
 protected:
  // On both hosts; the request is 1.
  ProgramNext Load(const std::string& name = "p", uint64_t request = 1) {
    absl::StatusOr<ProgramNext> next = table_.Load(
        now_, Prepare(MovePlan(name, 4), topology_), kPlan, "me", {0, request});
    EXPECT_TRUE(next.ok()) << next.status();
    return *next;
  }
  ProgramNext Answer(State state, int32_t host,
                     absl::Status status = absl::OkStatus()) {
    return table_.Answered(now_, state, 0, incarnation_, host, status);
  }
  // Both hosts.
  ProgramNext AnswerAll(State state) {
    EXPECT_EQ(Answer(state, 0).kind, ProgramNext::kNothing);
    return Answer(state, 1);
  }

  // "ask STATE" or "answer REQUEST: STATUS", for each.
  std::vector<std::string> Texts(const std::vector<ProgramNext>& nexts) {
    std::vector<std::string> texts;
    for (const ProgramNext& next : nexts) {
      texts.push_back(
          next.kind == ProgramNext::kAsk
              ? absl::StrCat("ask ",
                             static_cast<int>(table_.Find(next.program)->state))
          : next.kind == ProgramNext::kAnswer
              ? absl::StrCat("answer ", next.request.id, ": ",
                             std::string(next.status.message()))
              : "nothing");
    }
    return texts;
  }
  std::vector<std::string> Tick(TimeNs now) {
    now_ = now;
    return Texts(table_.Tick(now, busy_));
  }

  Topology topology_ = MakeTopology("1x2x2");
  ProgramTable table_{topology_, kLoadTimeout};
  TimeNs now_ = 0;
  WaitSet busy_;
  uint32_t incarnation_ = 1;
};

TEST_F(ProgramTableTest, IsReadyWhenAllHostsHaveLoadedIt) {
  EXPECT_EQ(Load().kind, ProgramNext::kAsk);
  EXPECT_EQ(table_.Find(0)->state, State::kLoading);
  EXPECT_EQ(table_.Ready(0, 1).status().message(),
            "program 1 is not loaded [PW6102]");
  EXPECT_EQ(Answer(State::kLoading, 1).kind, ProgramNext::kNothing);
  EXPECT_EQ(Answer(State::kLoading, 1).kind, ProgramNext::kNothing);
  EXPECT_EQ(Answer(State::kStopping, 0).kind, ProgramNext::kNothing);
  EXPECT_EQ(
      table_.Answered(now_, State::kLoading, 0, 2, 0, absl::OkStatus()).kind,
      ProgramNext::kNothing);
  EXPECT_EQ(
      table_.Answered(now_, State::kLoading, 5, 1, 0, absl::OkStatus()).kind,
      ProgramNext::kNothing);
  const ProgramNext next = Answer(State::kLoading, 0);
  EXPECT_EQ(next.kind, ProgramNext::kAnswer);
  EXPECT_EQ(next.request.id, 1u);
  EXPECT_EQ(next.handle, 1u);
  EXPECT_TRUE(next.status.ok());
  EXPECT_EQ(table_.loaded(), 1u);
  ASSERT_TRUE(table_.Ready(0, 1).ok());
  EXPECT_EQ((*table_.Ready(0, 1))->plan->name(), "p");
}

TEST_F(ProgramTableTest, KnowsWhoLoadedItWhenTheRequestIsAnswered) {
  ASSERT_TRUE(
      table_
          .Load(now_, Prepare(MovePlan("p", 4), topology_), kPlan, "me", {7, 1})
          .ok());
  AnswerAll(State::kLoading);
  EXPECT_EQ(table_.Find(0)->request.id, 0u);
  EXPECT_EQ(table_.Find(0)->owner, 7u);
}

TEST_F(ProgramTableTest, GoesInTwoRounds) {
  Load();
  AnswerAll(State::kLoading);
  const absl::StatusOr<ProgramNext> next = table_.Unload(now_, 1, {0, 2}, 0);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->kind, ProgramNext::kAsk);
  EXPECT_EQ(table_.Find(0)->state, State::kStopping);
  EXPECT_EQ(table_.Unload(now_, 1, {0, 3}, 0).status().message(),
            "program 1 is not loaded [PW6102]");
  EXPECT_EQ(AnswerAll(State::kStopping).kind, ProgramNext::kAsk);
  EXPECT_EQ(table_.Find(0)->state, State::kFreeing);
  const ProgramNext gone = AnswerAll(State::kFreeing);
  EXPECT_EQ(gone.kind, ProgramNext::kAnswer);
  EXPECT_EQ(gone.request.id, 2u);
  EXPECT_EQ(gone.handle, 0u);
  EXPECT_EQ(gone.gone, 1u);
  EXPECT_TRUE(gone.status.ok());
  EXPECT_EQ(table_.loaded(), 0u);
  EXPECT_EQ(table_.Find(0, 1), nullptr);
  // Its number is used again, with another incarnation and handle.
  Load();
  EXPECT_EQ(table_.Find(0)->incarnation, 2u);
  EXPECT_EQ(table_.IdOf(1), UINT32_MAX);
  EXPECT_EQ(table_.IdOf(2), 0u);
}

TEST_F(ProgramTableTest, ALoadThatAHostRefusesIsTakenBack) {
  Load();
  EXPECT_EQ(
      Answer(State::kLoading, 1, absl::ResourceExhaustedError("full")).kind,
      ProgramNext::kNothing);
  const ProgramNext next =
      Answer(State::kLoading, 0, absl::ResourceExhaustedError("later"));
  EXPECT_EQ(next.kind, ProgramNext::kAsk);
  EXPECT_EQ(table_.Find(0)->state, State::kStopping);
  AnswerAll(State::kStopping);
  const ProgramNext gone = AnswerAll(State::kFreeing);
  EXPECT_EQ(gone.request.id, 1u);
  EXPECT_EQ(gone.status.message(), "full");
  EXPECT_EQ(gone.handle, 0u);
  EXPECT_EQ(table_.loaded(), 0u);
}

TEST_F(ProgramTableTest, AProgramThatBrokeStaysUntilItIsUnloaded) {
  Load();
  AnswerAll(State::kLoading);
  EXPECT_EQ(table_.Break(now_, 0, absl::DeadlineExceededError("hangs")).kind,
            ProgramNext::kAsk);
  EXPECT_EQ(table_.Break(now_, 0, absl::InternalError("again")).kind,
            ProgramNext::kNothing);
  EXPECT_EQ(AnswerAll(State::kStopping).kind, ProgramNext::kNothing);
  EXPECT_EQ(table_.Find(0)->state, State::kBroken);
  EXPECT_EQ(
      table_.Ready(0, 1).status().message(),
      "program 'p' was given up and must be loaded again: hangs [PW6103]");
  EXPECT_EQ(table_.loaded(), 1u);
  EXPECT_EQ(table_.Unload(now_, 1, {0, 2}, 0)->kind, ProgramNext::kAsk);
  EXPECT_EQ(table_.Find(0)->state, State::kFreeing);
  const ProgramNext gone = AnswerAll(State::kFreeing);
  EXPECT_EQ(gone.request.id, 2u);
  EXPECT_TRUE(gone.status.ok());
}

TEST_F(ProgramTableTest, IsUnloadedWhileItBreaks) {
  Load();
  AnswerAll(State::kLoading);
  table_.Break(now_, 0, absl::DeadlineExceededError("hangs"));
  EXPECT_EQ(table_.Unload(now_, 1, {0, 2}, 0)->kind, ProgramNext::kNothing);
  EXPECT_EQ(AnswerAll(State::kStopping).kind, ProgramNext::kAsk);
  EXPECT_EQ(AnswerAll(State::kFreeing).request.id, 2u);
}

TEST_F(ProgramTableTest, IsNotUnloadedWhileItIsLoadedOrLaunched) {
  Load();
  EXPECT_EQ(table_.Unload(now_, 1, {0, 2}, 0).status().message(),
            "program 1 is not loaded [PW6102]");
  AnswerAll(State::kLoading);
  const absl::Status status = table_.Unload(now_, 1, {0, 2}, 3).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "program 'p' still has 3 launches that have not ended [PW6107]");
  EXPECT_FALSE(table_.Unload(now_, 9, {0, 2}, 0).ok());
}

TEST_F(ProgramTableTest, WhatDoesNotFitIsNotHere) {
  // 768 MiB each, on one device of 1 GiB.
  auto big = [&](const std::string& name) {
    return Prepare(MovePlan(name, 1, 0, 0, 0, int64_t{3} << 23), topology_);
  };
  ASSERT_TRUE(table_.Load(now_, big("one"), kPlan, "me", {0, 1}).ok());
  const absl::StatusOr<ProgramNext> refused =
      table_.Load(now_, big("two"), kPlan, "me", {0, 2});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("held by program 'one' of client 'me'"));
  EXPECT_EQ(table_.end(), 1u);
}

TEST_F(ProgramTableTest, APlanWithoutShardsNeedsNobody) {
  PlanBuilder b("empty", 1);
  const absl::StatusOr<ProgramNext> next =
      table_.Load(now_, Prepare(b.Finish(), topology_), kPlan, "me", {0, 1});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->kind, ProgramNext::kAnswer);
  EXPECT_EQ(next->handle, 1u);
  const absl::StatusOr<ProgramNext> gone = table_.Unload(now_, 1, {0, 2}, 0);
  EXPECT_EQ(gone->kind, ProgramNext::kAnswer);
  EXPECT_EQ(gone->request.id, 2u);
}

TEST_F(ProgramTableTest, ALoadEndsWithTheHostsThatDidNotAnswer) {
  Load();
  EXPECT_TRUE(table_.HasRequest(busy_));
  EXPECT_THAT(Tick(99), ElementsAre("ask 0"));
  EXPECT_THAT(table_.Find(0)->waiting.Members(), ElementsAre(0, 1));
  Answer(State::kLoading, 0);  // at 99
  EXPECT_THAT(Tick(198), ElementsAre("ask 0"));
  EXPECT_THAT(Tick(199),
              ElementsAre("answer 1: program 'p' was not loaded: no answer "
                          "from host1 [PW4105]",
                          "ask 2"));
  EXPECT_FALSE(table_.HasRequest(busy_));
  EXPECT_FALSE(table_.Ready(0, 1).ok());
  // It is stopped and freed without anybody's request, when the host is back.
  Answer(State::kStopping, 0);
  EXPECT_THAT(Tick(1000), ElementsAre("ask 2"));
  EXPECT_TRUE(table_.Waits());
  EXPECT_EQ(Answer(State::kLoading, 1).kind, ProgramNext::kNothing);
  EXPECT_EQ(Answer(State::kStopping, 1).kind, ProgramNext::kAsk);
  EXPECT_EQ(AnswerAll(State::kFreeing).kind, ProgramNext::kNothing);
  EXPECT_EQ(table_.Find(0, 1), nullptr);
  EXPECT_FALSE(table_.Waits());
}

TEST_F(ProgramTableTest, ARefusalSaysMoreThanSilence) {
  Load();
  Answer(State::kLoading, 0, absl::ResourceExhaustedError("full"));
  EXPECT_THAT(Tick(100), ElementsAre("answer 1: full", "ask 2"));
}

TEST_F(ProgramTableTest, AnUnloadEndsWithTheHostsThatDidNotAnswer) {
  Load();
  AnswerAll(State::kLoading);
  now_ = 50;
  table_.Unload(now_, 1, {0, 2}, 0).IgnoreError();
  EXPECT_THAT(Tick(149), ElementsAre("ask 2"));
  EXPECT_THAT(
      Tick(150),
      ElementsAre("answer 2: program 'p' was not unloaded: no answer "
                  "from host0, host1; its memory is kept until then [PW4105]"));
  EXPECT_EQ(table_.loaded(), 0u);
  // Nothing is freed before all hosts have stopped: one may read what another
  // has. A second request waits for the same.
  Answer(State::kStopping, 0);
  EXPECT_EQ(table_.Find(0)->state, State::kStopping);
  EXPECT_EQ(table_.Unload(now_, 1, {0, 3}, 0)->kind, ProgramNext::kNothing);
  EXPECT_EQ(Answer(State::kStopping, 1).kind, ProgramNext::kAsk);
  EXPECT_EQ(AnswerAll(State::kFreeing).request.id, 3u);
}

TEST_F(ProgramTableTest, MemoryIsHeldWhereAHostDidNotFreeIt) {
  auto big = [&](int64_t base) {
    return Prepare(MovePlan("big", 1, 0, 0, base, int64_t{3} << 23), topology_);
  };
  auto wide = Prepare(MovePlan("p", 4, 0, 0, 0, int64_t{12} << 23), topology_);
  ASSERT_TRUE(table_.Load(now_, wide, kPlan, "me", {0, 1}).ok());
  AnswerAll(State::kLoading);
  table_.Unload(now_, 1, {0, 2}, 0).IgnoreError();
  AnswerAll(State::kStopping);
  Answer(State::kFreeing, 0);
  EXPECT_FALSE(table_.Load(now_, big(0), kPlan, "me", {0, 3}).ok());
  EXPECT_THAT(Tick(100),
              ElementsAre("answer 2: program 'p' was not unloaded: no answer "
                          "from host1, which keeps its memory until the host "
                          "answers [PW4105]"));
  EXPECT_TRUE(table_.Load(now_, big(0), kPlan, "me", {0, 3}).ok());
  EXPECT_FALSE(table_.Load(now_, big(2), kPlan, "me", {0, 4}).ok());
  EXPECT_EQ(Answer(State::kFreeing, 1).kind, ProgramNext::kNothing);
  EXPECT_TRUE(table_.Load(now_, big(2), kPlan, "me", {0, 4}).ok());
}

TEST_F(ProgramTableTest, AHostThatIsGoneIsNotWaitedFor) {
  Load();
  EXPECT_THAT(Texts(table_.HostGone(now_, 1, /*epoch=*/1)), IsEmpty());
  EXPECT_THAT(Texts(table_.HostGone(now_, 3, /*epoch=*/1)), IsEmpty());
  EXPECT_EQ(Answer(State::kLoading, 0).kind, ProgramNext::kAsk);
  EXPECT_EQ(table_.Find(0)->state, State::kStopping);
  EXPECT_THAT(table_.Find(0)->waiting.Members(), ElementsAre(0));
  EXPECT_EQ(Answer(State::kStopping, 0).kind, ProgramNext::kAsk);
  EXPECT_THAT(Texts({Answer(State::kFreeing, 0)}),
              ElementsAre("answer 1: program 'p' was not loaded: host1 is "
                          "gone (epoch 1) [PW4101]"));
  EXPECT_FALSE(table_.Waits());
}

// A program of its life before is no matter of the next one.
TEST_F(ProgramTableTest, AHostThatLivesAgainIsAskedForWhatComesThen) {
  Load();
  AnswerAll(State::kLoading);
  table_.Break(now_, 0, absl::UnavailableError("host1 is gone"));
  EXPECT_THAT(Texts(table_.HostGone(now_, 1, /*epoch=*/1)), IsEmpty());
  table_.HostUp(1);
  const auto next = table_.Load(now_, Prepare(MovePlan("again", 4), topology_),
                                kPlan, "me", {0, 2});
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_THAT(table_.Find(next->program)->waiting.Members(), ElementsAre(0, 1));
  // The old one is stopped, and freed, where it still is.
  EXPECT_THAT(table_.Find(0)->waiting.Members(), ElementsAre(0));
  Answer(State::kStopping, 0);
  EXPECT_THAT(Texts({*table_.Unload(now_, 1, {0, 3}, 0)}),
              ElementsAre("ask 4"));
  EXPECT_THAT(table_.Find(0)->waiting.Members(), ElementsAre(0));
  EXPECT_THAT(Texts({Answer(State::kFreeing, 0)}), ElementsAre("answer 3: "));
}

TEST_F(ProgramTableTest, WhatIsOnALostDeviceCannotGoOn) {
  const absl::Status why = absl::DeadlineExceededError("it hangs");
  Load("ready", 1);
  AnswerAll(State::kLoading);
  EXPECT_THAT(table_.Lose(1, {0}, why), ElementsAre(0));
  EXPECT_THAT(table_.Lose(1, {0}, absl::DeadlineExceededError("again")),
              ElementsAre(0));
  EXPECT_EQ(table_
                .Load(now_, Prepare(MovePlan("late", 4), topology_), kPlan,
                      "me", {0, 2})
                .status()
                .message(),
            "program 'late' needs island0/host1/device0, whose worker is lost: "
            "it hangs [PW4102]");
  table_.Break(now_, 0, why);
  EXPECT_THAT(table_.Lose(1, {0}, why), IsEmpty());
}

TEST_F(ProgramTableTest, ALoadOntoALostDeviceEndsWithTheReason) {
  Load();
  EXPECT_THAT(table_.Lose(0, {0, 1}, absl::DeadlineExceededError("it hangs")),
              IsEmpty());
  AnswerAll(State::kLoading);
  AnswerAll(State::kStopping);
  EXPECT_THAT(Texts({AnswerAll(State::kFreeing)}),
              ElementsAre("answer 1: it hangs"));
}

TEST_F(ProgramTableTest, TheLastHostToAnswerMayGo) {
  Load();
  AnswerAll(State::kLoading);
  table_.Unload(now_, 1, {0, 2}, 0).IgnoreError();
  Answer(State::kStopping, 0);
  EXPECT_THAT(Texts(table_.HostGone(now_, 1, /*epoch=*/1)),
              ElementsAre("ask 4"));
  EXPECT_THAT(Texts({Answer(State::kFreeing, 0)}), ElementsAre("answer 2: "));
}

TEST_F(ProgramTableTest, WhatBrokeWithoutARequestWaitsForItsHosts) {
  Load();
  AnswerAll(State::kLoading);
  table_.Break(now_, 0, absl::DeadlineExceededError("hangs"));
  EXPECT_FALSE(table_.HasRequest(busy_));
  EXPECT_THAT(Tick(1000), ElementsAre("ask 2"));
  EXPECT_EQ(AnswerAll(State::kStopping).kind, ProgramNext::kNothing);
  EXPECT_THAT(Tick(2000), IsEmpty());
}

TEST_F(ProgramTableTest, ARoundIsRecentForTheTimeout) {
  EXPECT_FALSE(table_.HasRecent(now_));
  Load();
  EXPECT_TRUE(table_.HasRecent(99));
  EXPECT_FALSE(table_.HasRecent(100));
  now_ = 90;
  AnswerAll(State::kLoading);
  EXPECT_FALSE(table_.HasRecent(now_));
  // A host that has something to run does not prolong it, nor does a request.
  busy_.Insert(1);
  table_.Break(now_, 0, absl::DeadlineExceededError("hangs"));
  Tick(180);
  EXPECT_TRUE(table_.Unload(now_, 1, {0, 2}, /*launches=*/0).ok());
  EXPECT_TRUE(table_.HasRecent(189));
  EXPECT_FALSE(table_.HasRecent(190));
  // The next round is another one.
  now_ = 200;
  EXPECT_EQ(AnswerAll(State::kStopping).kind, ProgramNext::kAsk);
  EXPECT_TRUE(table_.HasRecent(299));
}

TEST_F(ProgramTableTest, AHostThatHasSomethingToRunIsGivenTime) {
  Load();
  Answer(State::kLoading, 0);
  busy_.Assign({0});  // has answered
  EXPECT_THAT(Tick(99), ElementsAre("ask 0"));
  busy_.Assign({1});
  EXPECT_THAT(Tick(5000), ElementsAre("ask 0"));
  busy_.Clear();
  EXPECT_THAT(Tick(5099), ElementsAre("ask 0"));
  EXPECT_EQ(Tick(5100).size(), 2u);
}

// The time that a load may take depends on the size of its plan. A process that
// requests the same part again and again makes no progress.
TEST_F(ProgramTableTest, WhoFetchesThePlanIsNotSilent) {
  Load();
  proto::PlanRequest request;
  request.set_hash(std::string(kPlan.hash.view()));
  auto asked = [&](uint64_t offset, bool code) {
    request.set_offset(offset);
    request.clear_objects();
    if (code) request.add_objects(0);
    now_ += kLoadTimeout - 1;
    table_.Asked(now_, /*process=*/1, request);
    now_ += 1;
    return Texts(table_.Tick(now_, WaitSet()));
  };
  const std::vector<std::string> again = {"ask 0"};
  EXPECT_EQ(asked(0, false), again);
  EXPECT_EQ(asked(500, false), again);
  EXPECT_EQ(asked(0, true), again);
  proto::PlanRequest other = request;
  other.set_hash("other");
  table_.Asked(now_, 1, other);
  EXPECT_EQ(asked(0, true).front(),
            "answer 1: program 'p' was not loaded: no answer from host0, "
            "host1 [PW4105]");
}

}  // namespace
}  // namespace pathways::testing
