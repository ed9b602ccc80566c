//===- host_loads_test.cc - Programs of a host, from load to end ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "unittests/runtime/binding/plan_test_support.h"
#include "unittests/runtime/executor/executor_test_support.h"
#include "unittests/runtime/executor/staging_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Control Free(uint32_t incarnation) {
  Control control;
  control.mutable_free_program()->set_incarnation(incarnation);
  return control;
}

// Two devices load program 0, incarnation 1.
class HostLoadsTest : public StagingTest {
 protected:
  HostLoadsTest() {
    for (int d = 0; d < 2; ++d) {
      arenas_.push_back(
          std::make_unique<Arena>("device memory", uint64_t{1} << 20, false));
    }
    load_.set_incarnation(1);
    *load_.mutable_plan() =
        KeepPlan(&context.plans, Prepare(MovePlan("p", 2), topology));
    stop_.set_incarnation(1);
  }
  // Programs are destroyed before the memory that they are in.
  ~HostLoadsTest() override {
    if (HostProgram* program = programs_.At(0)) programs_.Remove(*program);
  }
  static LocalMessage Answer(uint32_t device) {
    LocalMessage message;
    message.incarnation = 1;
    message.item = device;
    return message;
  }
  void Load() {
    loads_.OnLoad(load_);
    for (uint32_t device : {0, 1}) loads_.OnAttached(Answer(device));
    world.Take();
    ASSERT_NE(programs_.At(0), nullptr);
  }
  void Lose(uint32_t device, bool unresponsive) {
    proto::WorkerLost loss;
    loss.add_devices(device);
    lost_.Add(loss, unresponsive);
  }
  std::vector<Control> TakeControls(Control::KindCase kind) {
    return ControlsOf(world.Take(), kind);
  }

  proto::LoadProgram load_;
  proto::StopProgram stop_;
  std::vector<std::unique_ptr<Arena>> arenas_;
  LostDevices lost_;
  HostLoads loads_{&context,     &actors_,  0,          &arenas_,
                   &arena_,      &staging_, &programs_, &outbox_,
                   &dispatcher_, &grants_,  &lost_,     &counters_};
};

TEST_F(HostLoadsTest, AnswersALoadOnceAllDevicesHaveAttached) {
  loads_.OnLoad(load_);
  const std::vector<Sent> sent = world.Take();
  ASSERT_THAT(sent, SizeIs(2));
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_EQ(sent[d].local_to, actors_.devices[d]);
    EXPECT_EQ(sent[d].local.kind, kAttach);
  }
  loads_.OnLoad(load_);
  loads_.OnAttached(Answer(1));
  loads_.OnAttached(Answer(1));
  EXPECT_THAT(world.Take(), IsEmpty());
  loads_.OnAttached(Answer(0));
  EXPECT_THAT(TakeControls(Control::kLoadReply), SizeIs(1));
}

TEST_F(HostLoadsTest, RefusesAProgramOnALostDevice) {
  Lose(1, /*unresponsive=*/false);
  loads_.OnLoad(load_);
  const std::vector<Sent> sent = world.Take();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_TRUE(sent[0].As<Control>().has_worker_lost());
  EXPECT_EQ(sent[1].As<Control>().load_reply().code(),
            static_cast<int>(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(programs_.At(0), nullptr);
  EXPECT_EQ(arenas_[0]->used(), 0u);
}

TEST_F(HostLoadsTest, StopsOnceNoDeviceAndNoPayloadUsesTheProgram) {
  Load();
  HostProgram* const program = programs_.At(0);
  program->payloads_away = 1;
  loads_.OnStop(stop_);
  for (uint32_t device : {0, 1}) loads_.OnDetached(Answer(device));
  EXPECT_THAT(TakeControls(Control::kStopReply), IsEmpty());
  EXPECT_FALSE(program->stopped);
  program->payloads_away = 0;
  loads_.TryFinishStop(program);
  EXPECT_TRUE(program->stopped);
  EXPECT_THAT(TakeControls(Control::kStopReply), SizeIs(1));
}

TEST_F(HostLoadsTest, FreesWhatWasReserved) {
  Load();
  EXPECT_GT(world.reserved[actors_.executor], 0);
  EXPECT_GT(counters_.entries.get(), 0u);
  loads_.OnStop(stop_);
  proto::FreeProgram free;
  free.set_incarnation(1);
  loads_.OnFree(free);
  EXPECT_THAT(TakeControls(Control::kFreeReply), IsEmpty());
  for (uint32_t device : {0, 1}) loads_.OnDetached(Answer(device));
  loads_.OnFree(free);
  EXPECT_THAT(TakeControls(Control::kFreeReply), SizeIs(1));
  for (const auto& [actor, messages] : world.reserved) EXPECT_EQ(messages, 0);
  EXPECT_EQ(counters_.entries.get(), 0u);
  EXPECT_EQ(arenas_[1]->used(), 0u);
}

TEST_F(HostLoadsTest, DoesNotWaitForUnresponsiveDevices) {
  loads_.OnLoad(load_);
  loads_.OnAttached(Answer(0));
  world.Take();
  Lose(1, /*unresponsive=*/true);
  loads_.DropDevices({1});
  const std::vector<Control> replies = TakeControls(Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_NE(replies[0].load_reply().code(), 0);
  loads_.OnStop(stop_);
  EXPECT_THAT(TakeControls(Control::kStopReply), IsEmpty());
  loads_.DropDevices({1});  // no longer waited for
  EXPECT_THAT(world.Take(), IsEmpty());
  loads_.OnDetached(Answer(0));
  EXPECT_THAT(TakeControls(Control::kStopReply), SizeIs(1));
}

TEST(LoadedHostTest, AnswersALoadWhenItsDevicesHaveTheProgram) {
  RecordedHost host("1x1x2");
  const std::vector<Control> replies =
      ControlsOf(host.Load(MovePlan("p", 2)), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().code(), 0);
  EXPECT_EQ(replies[0].load_reply().incarnation(), 1u);
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
  // A second copy is answered again, and changes nothing.
  EXPECT_THAT(ControlsOf(host.LoadAgain(), Control::kLoadReply), SizeIs(1));
  EXPECT_EQ(host.executor->counters().entries.get(), 2u * 6);
}

TEST(LoadedHostTest, RefusesAProgramWhoseNumberIsTooLarge) {
  RecordedHost host("1x1x1");
  const std::vector<Control> replies =
      ControlsOf(host.LoadAgain(uint32_t{1} << 31), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "program 2147483648 was loaded, expected below 1048576");
}

TEST(LoadedHostTest, GivesBackMemoryInTwoRounds) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  // Not before it was stopped.
  EXPECT_THAT(host.NotifyFromController(Free(1)), IsEmpty());
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Stop(1)), Control::kStopReply),
      SizeIs(1));
  EXPECT_GT(host.executor->arena(0).used(), 0u);
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Free(1)), Control::kFreeReply),
      SizeIs(1));
  EXPECT_EQ(host.executor->arena(0).used(), 0u);
  // Second copies are answered again.
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Stop(1)), Control::kStopReply),
      SizeIs(1));
  EXPECT_THAT(
      ControlsOf(host.NotifyFromController(Free(1)), Control::kFreeReply),
      SizeIs(1));
  EXPECT_EQ(host.world.reserved[host.executor->local_id()], 0);
}

// The controller does not load an incarnation again, and its plan may still be
// here.
TEST(LoadedHostTest, ALateCopyOfALoadChangesNothing) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  host.NotifyFromController(Stop(1));
  host.NotifyFromController(Free(1));
  EXPECT_THAT(host.LoadAgain(), IsEmpty());
  EXPECT_EQ(host.executor->arena(0).used(), 0u);
  // Nor does one that a stop has overtaken.
  Control stop = Stop(1);
  stop.mutable_stop_program()->set_program(3);
  host.NotifyFromController(stop);
  EXPECT_THAT(host.LoadAgain(/*program=*/3), IsEmpty());
}

TEST(LoadedHostTest, AsksItsProcessForAPlanThatIsNotHere) {
  RecordedHost host("1x2x1", /*host=*/1);
  host.Load(MovePlan("other", 2));
  Control control;
  proto::LoadProgram* load = control.mutable_load_program();
  load->set_program(1);
  load->set_incarnation(2);
  load->mutable_plan()->set_hash(std::string(32, 'h'));
  // The process of the controller also has the plans that the controller names.
  EXPECT_THAT(host.NotifyFromController(control), IsEmpty());
  std::vector<HostLocation> places(2);
  places[1].process = 1;
  host.context.directory = Directory({0}, places);
  host.context.process = 1;
  const std::vector<Sent> sent = host.NotifyFromController(control);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].to, host.directory().reporter(1));
  EXPECT_EQ(sent[0].As<Control>().plan_wanted().load().SerializeAsString(),
            load->SerializeAsString());
  // The host passes the answer on to the controller.
  Control arrived;
  *arrived.mutable_plan_arrived()->mutable_load() = *load;
  arrived.mutable_plan_arrived()->set_code(3);
  arrived.mutable_plan_arrived()->set_message("no");
  const std::vector<Control> replies = ControlsOf(
      host.Notify(host.directory().reporter(1), arrived), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(), "no");
  EXPECT_EQ(replies[0].load_reply().incarnation(), 2u);
}

TEST(LoadedHostTest, RefusesALoadThatNamesNoPlan) {
  RecordedHost host("1x1x1");
  const std::vector<Control> replies =
      ControlsOf(host.LoadAgain(), Control::kLoadReply);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].load_reply().message(),
            "the request does not name a plan by its hash");
}

}  // namespace
}  // namespace pathways::testing
