//===- process_questions_test.cc - Questions of clients to processes ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/process_questions.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Process 0 has the controller; processes 1 and 2 have a host each.
class ProcessQuestionsTest : public ::testing::Test {
 protected:
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      if (control.has_collect()) {
        texts.push_back(absl::StrCat("question ", control.collect().request(),
                                     " to ", Process(one.to)));
      } else if (control.has_answer()) {
        texts.push_back(absl::StrCat(control.answer().request(), " went to ",
                                     control.answer().processes(), " at ",
                                     control.answer().asked_ns()));
      } else {
        texts.push_back(absl::StrCat(
            control.client(), ": ", control.collected().process(), " is gone"));
      }
    }
    return texts;
  }
  std::string Process(ActorId to) const {
    for (uint32_t process = 0; process < 3; ++process) {
      if (to == directory_.reporter(process)) return absl::StrCat(process);
    }
    return "unknown";
  }
  void Ask(uint32_t client, uint64_t request) {
    proto::CollectRequest collect;
    collect.set_request(request);
    questions_.Ask(client, collect);
  }

  const Directory directory_{{0}, {{.process = 1}, {.process = 2}}};
  RecordingWorld world_;
  ControlPool controls_;
  HostEpochs epochs_{directory_};
  Outbox outbox_{&world_, &directory_, &controls_, &epochs_};
  TickTimer timer_;
  HandlerClock clock_{&world_, &timer_};
  ProcessQuestions questions_{directory_, epochs_, &outbox_, &clock_};
};

TEST_F(ProcessQuestionsTest, AQuestionGoesToTheProcessesThatAreThere) {
  world_.Advance(5);
  Ask(3, 7);
  EXPECT_THAT(Texts(), ElementsAre("question 7 to 0", "question 7 to 1",
                                   "question 7 to 2", "7 went to 3 at 5"));
  ASSERT_TRUE(epochs_.Down(0, 1));
  Ask(3, 8);
  EXPECT_THAT(Texts(), ElementsAre("question 8 to 0", "question 8 to 2",
                                   "8 went to 2 at 5"));
}

TEST_F(ProcessQuestionsTest, ClientsAreNotifiedOnceOfAProcessThatGoes) {
  Ask(3, 7);
  Ask(4, 1);
  Texts();
  questions_.ProcessGone(1);
  EXPECT_THAT(Texts(), ElementsAre("3: 1 is gone", "4: 1 is gone"));
  questions_.ProcessGone(1);
  EXPECT_THAT(Texts(), IsEmpty());
}

TEST_F(ProcessQuestionsTest, OnlyTheLastQuestionsAreRemembered) {
  Ask(3, 1);
  for (size_t i = 0; i < ProcessQuestions::kMax; ++i) Ask(4, i + 1);
  Texts();
  questions_.ProcessGone(2);
  const std::vector<std::string> texts = Texts();
  EXPECT_EQ(texts.size(), ProcessQuestions::kMax);
  EXPECT_EQ(texts.front(), "4: 2 is gone");
}

}  // namespace
}  // namespace pathways::testing
