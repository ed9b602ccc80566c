//===- outbox_test.cc - Addressees of the controller's messages -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/outbox.h"

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

class OutboxTest : public ::testing::Test {
 protected:
  // Returns the messages since the last call, as "receiver: kind restarts".
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      EXPECT_EQ(one.from, directory_.controller());
      texts.push_back(absl::StrCat(one.to, ": ", control.kind_case(), " ",
                                   control.restarts()));
    }
    return texts;
  }
  std::string Stop(int32_t host, uint32_t restarts) const {
    return absl::StrCat(directory_.executor(host), ": ",
                        proto::Control::kStopProgram, " ", restarts);
  }
  void StopAll() {
    outbox_.SendToHosts({0, 1}, [](proto::Control* control) {
      control->mutable_stop_program();
    });
  }

  const Directory directory_{{0}, {{}, {}}};
  RecordingWorld world_;
  ControlPool controls_;
  HostEpochs epochs_{directory_};
  Outbox outbox_{&world_, &directory_, &controls_, &epochs_};
};

TEST_F(OutboxTest, AHostGetsItsCurrentEpochAndNothingWhileItIsGone) {
  StopAll();
  EXPECT_THAT(Texts(), ElementsAre(Stop(0, 0), Stop(1, 0)));
  ASSERT_TRUE(epochs_.Down(0, 1));
  StopAll();
  EXPECT_THAT(Texts(), ElementsAre(Stop(1, 0)));
  ASSERT_TRUE(epochs_.Up(0, 2));
  StopAll();
  EXPECT_THAT(Texts(), ElementsAre(Stop(0, 1), Stop(1, 0)));
}

TEST_F(OutboxTest, AMessageIsSentAgainUnchanged) {
  ControlRef control = controls_.New();
  control->mutable_stop_program();
  control->set_restarts(3);
  outbox_.SendAgain(1, control);
  EXPECT_THAT(Texts(), ElementsAre(Stop(1, 3)));
  ASSERT_TRUE(epochs_.Down(1, 1));
  outbox_.SendAgain(1, control);
  EXPECT_THAT(Texts(), IsEmpty());
}

TEST_F(OutboxTest, AnAnswerGoesToItsClient) {
  outbox_.Answer({2, 7}, absl::NotFoundError("gone"), /*handle=*/5);
  ASSERT_EQ(world_.sent.size(), 1u);
  EXPECT_EQ(world_.sent[0].to, directory_.client(2));
  const auto control = world_.sent[0].As<proto::Control>();
  EXPECT_EQ(control.client(), 2u);
  EXPECT_EQ(control.answer().request(), 7u);
  EXPECT_EQ(control.answer().code(),
            static_cast<int32_t>(absl::StatusCode::kNotFound));
  EXPECT_EQ(control.answer().message(), "gone");
  EXPECT_EQ(control.answer().program(), 5u);
}

TEST_F(OutboxTest, ARequestThatExpectsNoAnswerGetsNone) {
  outbox_.AnswerAll({{{1, 0}, absl::OkStatus()}});
  EXPECT_THAT(Texts(), IsEmpty());
  outbox_.AnswerAll({{{1, 3}, absl::OkStatus()}, {{2, 4}, absl::OkStatus()}});
  EXPECT_EQ(world_.sent.size(), 2u);
}

}  // namespace
}  // namespace pathways::testing
