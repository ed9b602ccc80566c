//===- host_values_test.cc - Messages of a host about values --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostValuesTest : public ::testing::Test {
 protected:
  HostValuesTest() : host_("1x1x1", 0, {}, /*has_values=*/true) {
    host_.Load(EchoPlan());
  }

  // Returns the answers of the host to a client's message about values.
  std::vector<Sent> FromClient(WireKind kind, uint64_t transfer,
                               const std::string& data = "") {
    WireMessage message;
    message.kind = kind;
    message.step = transfer;
    host_.executor->OnWire(host_.directory().client(0), message,
                           {data.data(), data.size()});
    return host_.world.DeliverAll();
  }
  // `fresh`: the client has the argument.
  Control Stage(uint64_t launch, uint64_t argument, uint64_t result,
                bool fresh = false) {
    Control control;
    proto::PrepareLaunch* stage = control.mutable_prepare_launch();
    stage->set_sequence(++sequence_);
    stage->set_launch(launch);
    stage->set_incarnation(1);
    stage->set_steps(1);
    stage->add_arguments(argument);
    stage->add_results(result);
    if (fresh) stage->add_fresh(argument);
    return control;
  }
  // Launch 1 has stored "abcdefgh" as object 2, and waits for its grant.
  void StoreArgument() {
    host_.NotifyFromController(Stage(1, 2, 3, /*fresh=*/true));
    EXPECT_EQ(Ready(FromClient(kBlockMessage, 2, "abcdefgh")), "");
  }
  // "" when it is ready, "-" without an answer, or the refusal.
  std::string Ready(const std::vector<Sent>& sent) {
    const std::vector<Control> ready = ControlsOf(sent, Control::kLaunchReady);
    if (ready.empty()) return "-";
    EXPECT_THAT(ready, SizeIs(1));
    return ready[0].launch_ready().message();
  }
  // The first piece that is sent for a fetch.
  std::string Fetch(uint64_t object) {
    std::string data;
    for (const Sent& sent : host_.NotifyFromController(Begin(object))) {
      if (sent.kind != Sent::kWire || sent.wire.kind != kBlockMessage) continue;
      data.append(static_cast<const char*>(sent.payload.data),
                  sent.payload.bytes);
    }
    host_.NotifyFromController(EndFetch());
    return data;
  }
  // Request 4 of client 0.
  Control Begin(uint64_t object) {
    Control control;
    control.mutable_fetch_begin()->set_sequence(++sequence_);
    control.mutable_fetch_begin()->set_request(4);
    control.mutable_fetch_begin()->set_object(object);
    return control;
  }
  Control EndFetch() {
    Control control;
    control.mutable_drop_objects()->set_sequence(++sequence_);
    control.mutable_drop_objects()->set_fetch(4);
    return control;
  }

  RecordedHost host_;
  uint64_t sequence_ = 0;
};

TEST_F(HostValuesTest, AsksTheClientAndIsReadyWhenAllIsThere) {
  const std::vector<Sent> sent =
      host_.NotifyFromController(Stage(1, 2, 3, /*fresh=*/true));
  EXPECT_EQ(Ready(sent), "-");
  const std::vector<WireMessage> pulls = WiresOf(sent, kPullMessage);
  ASSERT_THAT(pulls, SizeIs(1));
  EXPECT_EQ(pulls[0].step, 2u);
  const std::vector<Sent> stored = FromClient(kBlockMessage, 2, "abcdefgh");
  EXPECT_EQ(Ready(stored), "");
  EXPECT_THAT(WiresOf(stored, kTransferDoneMessage), SizeIs(1));
  EXPECT_EQ(host_.executor->counters().stored_bytes.get(), 8u);
  EXPECT_THAT(ControlsOf(host_.Grant(1, 1, 0, 0, 1, 0, 1), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(Fetch(3), "abcdefgh");
}

TEST_F(HostValuesTest, AsksAgainWhenItIsToldAgain) {
  const Control stage = Stage(1, 2, 3, /*fresh=*/true);
  host_.NotifyFromController(stage);
  const std::vector<Sent> again = host_.NotifyFromController(stage);
  EXPECT_THAT(WiresOf(again, kPullMessage), SizeIs(1));
  EXPECT_EQ(Ready(again), "-");
  EXPECT_EQ(host_.executor->counters().duplicates.get(), 1u);
  EXPECT_EQ(Ready(FromClient(kBlockMessage, 2, "abcdefgh")), "");
  EXPECT_EQ(Ready(host_.NotifyFromController(stage)), "");
}

TEST_F(HostValuesTest, SaysHowFarAFetchIsWhenAskedAgain) {
  StoreArgument();
  Control begin = Begin(2);
  EXPECT_THAT(
      ControlsOf(host_.NotifyFromController(begin), Control::kFetchReport),
      IsEmpty());
  begin.mutable_fetch_begin()->set_sequence(0);
  const std::vector<Sent> sent = host_.NotifyFromController(begin);
  EXPECT_THAT(WiresOf(sent, kBlockMessage), SizeIs(1));
  const std::vector<Control> reports = ControlsOf(sent, Control::kFetchReport);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].fetch_report().request(), 4u);
  // Receiving the same piece again is no progress.
  EXPECT_EQ(reports[0].fetch_report().pieces(), 1u);
  host_.NotifyFromController(EndFetch());
  EXPECT_THAT(WiresOf(host_.NotifyFromController(begin), kBlockMessage),
              IsEmpty());
}

TEST_F(HostValuesTest, GivesUpAGrantOfOtherStepsThanWereStaged) {
  StoreArgument();
  EXPECT_THAT(host_.Grant(1, 1, 0, 0, 2, 0, 2), IsEmpty());
  // Nor one of nothing that was staged.
  EXPECT_THAT(host_.Grant(9, 2, 1, 0, 1, 0, 1), IsEmpty());
  EXPECT_THAT(ControlsOf(host_.Grant(1, 3, 2, 0, 1, 0, 1), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(Fetch(3), "abcdefgh");
}

TEST_F(HostValuesTest, AnswersASureLaunchOnlyWhenItCannotBe) {
  StoreArgument();
  Control sure = Stage(2, 2, 4);
  sure.mutable_prepare_launch()->set_sure(true);
  EXPECT_EQ(Ready(host_.NotifyFromController(sure)), "-");
  sure = Stage(3, 99, 5);
  sure.mutable_prepare_launch()->set_sure(true);
  EXPECT_EQ(Ready(host_.NotifyFromController(sure)),
            "a launch was granted before its arguments came");
  EXPECT_THAT(ControlsOf(host_.Grant(2, 1, 0, 0, 1, 0, 1), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(Fetch(4), "abcdefgh");
}

// The controller hears once of launches that come together, and before devices
// work for them.
TEST_F(HostValuesTest, SaysOnceThatSureLaunchesAreStaged) {
  StoreArgument();
  for (uint64_t launch : {2, 3}) {
    Control sure = Stage(launch, 2, launch + 2);
    sure.mutable_prepare_launch()->set_sure(true);
    host_.executor->OnControl(host_.directory().controller(),
                              sure.SerializeAsString());
  }
  const std::vector<Sent> sent =
      host_.Grant(2, 1, 0, 0, 1, 0, 1, /*store=*/sequence_);
  const std::vector<Control> stored =
      ControlsOf(sent, Control::kObjectsDropped);
  ASSERT_THAT(stored, SizeIs(1));
  EXPECT_EQ(stored[0].objects_dropped().sequence(), sequence_);
  EXPECT_TRUE(sent.front().As<Control>().has_objects_dropped());
  EXPECT_TRUE(sent.back().As<Control>().has_grant_done());
}

// The staging message of a launch was lost, and arrives after its grant.
TEST_F(HostValuesTest, HoldsAGrantUntilItsLaunchIsStaged) {
  StoreArgument();
  Control sure = Stage(2, 2, 4);
  sure.mutable_prepare_launch()->set_sure(true);
  Control next = Stage(3, 4, 5);
  next.mutable_prepare_launch()->set_sure(true);
  EXPECT_THAT(host_.Grant(2, 1, 0, 0, 1, 0, 1, /*store=*/sequence_ - 1),
              IsEmpty());
  EXPECT_THAT(host_.Grant(3, 2, 1, 1, 1, 1, 1, /*store=*/sequence_), IsEmpty());
  const std::vector<Sent> sent = host_.NotifyFromController(sure);
  EXPECT_THAT(ControlsOf(sent, Control::kGrantDone), SizeIs(1));
  // The controller need not tell it again.
  EXPECT_THAT(ControlsOf(sent, Control::kObjectsDropped), SizeIs(1));
  EXPECT_THAT(ControlsOf(host_.NotifyFromController(next), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(Fetch(5), "abcdefgh");
}

TEST_F(HostValuesTest, AHeldGrantMayBeGivenUp) {
  StoreArgument();
  Control sure = Stage(2, 2, 4);
  sure.mutable_prepare_launch()->set_sure(true);
  host_.Grant(2, 1, 0, 0, 1, 0, 1, /*store=*/sequence_);
  Control skip;
  skip.mutable_grant()->set_incarnation(1);
  skip.mutable_grant()->set_launch(2);
  skip.mutable_grant()->set_position(1);
  skip.mutable_grant()->set_skip(true);
  host_.Notify(host_.directory().scheduler(0), skip);
  EXPECT_THAT(ControlsOf(host_.NotifyFromController(sure), Control::kGrantDone),
              IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
