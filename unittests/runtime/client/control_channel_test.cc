//===- control_channel_test.cc - A client's way to the controller ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/control_channel.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "unittests/runtime/client/answered_channel.h"

namespace pathways::testing {
namespace {

class ControlChannelTest : public ::testing::Test {
 protected:
  // Asks for the devices that are offline.
  std::shared_ptr<Request> AskForDevices() {
    return it_.channel.Ask([](uint64_t id, proto::Control* control) {
      control->mutable_devices_request()->set_request(id);
    });
  }

  AnsweredChannel it_;
  ControlChannel& channel_ = it_.channel;
};

TEST_F(ControlChannelTest, NumbersMessagesAndRequests) {
  AskForDevices();
  {
    MutexLock lock(&channel_.mutex());
    ControlRef control = channel_.NewControl();
    control->mutable_slice_release()->set_slice(5);
    channel_.Post(std::move(control));
  }
  AskForDevices();
  it_.HandleSent();
  ASSERT_EQ(it_.messages.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(it_.messages[i].sequence(), i + 1);
  }
  EXPECT_EQ(it_.messages[0].devices_request().request(), 1u);
  EXPECT_EQ(it_.messages[1].slice_release().slice(), 5u);
  EXPECT_EQ(it_.messages[2].devices_request().request(), 2u);
}

TEST_F(ControlChannelTest, AnAnswerEndsItsRequestOnce) {
  const std::shared_ptr<Request> first = AskForDevices();
  const std::shared_ptr<Request> second = AskForDevices();
  proto::Answer answer;
  answer.add_devices(3);
  it_.Answer(2, answer);
  EXPECT_FALSE(first->done.load());
  ASSERT_TRUE(second->done.load());
  EXPECT_EQ(second->devices, std::vector<uint32_t>{3});
  it_.Answer(2, absl::StatusCode::kInternal, "a second answer");
  EXPECT_TRUE(second->status.ok());
  it_.Answer(1, absl::StatusCode::kUnavailable, "gone");
  EXPECT_EQ(first->TakeStatus(), absl::UnavailableError("gone"));
}

TEST_F(ControlChannelTest, AForgottenRequestHasNoAnswer) {
  const std::shared_ptr<Request> request = AskForDevices();
  {
    MutexLock lock(&channel_.mutex());
    channel_.Forget(1);
  }
  it_.Answer(1);
  EXPECT_FALSE(request->done.load());
}

TEST_F(ControlChannelTest, WaitsForTheAnswer) {
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.devices_request().request());
  };
  const std::shared_ptr<Request> request = AskForDevices();
  EXPECT_FALSE(request->done.load());
  EXPECT_TRUE(channel_.WaitFor(request->done, [] { return "it"; }).ok());
  EXPECT_TRUE(request->done.load());
  EXPECT_EQ(it_.world.notified, 1);
}

TEST_F(ControlChannelTest, AWaitEndsAtItsLimit) {
  const std::shared_ptr<Request> request = AskForDevices();
  const absl::StatusOr<bool> ended = channel_.WaitForLimit(
      request->done, /*limit_ns=*/10, [] { return "it"; });
  ASSERT_TRUE(ended.ok());
  EXPECT_FALSE(*ended);
}

TEST_F(ControlChannelTest, ASimulationThatIsOverEndsAWait) {
  it_.world.is_simulated = true;
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.diagnose_request().request());
  };
  const absl::Status waited =
      channel_.WaitUntil([] { return false; }, [] { return "the moon"; });
  EXPECT_EQ(waited, absl::DeadlineExceededError(
                        "the moon got no answer, and the simulation has no "
                        "more events"));
  EXPECT_GT(it_.Take(proto::Control::kDiagnoseRequest).size(), 1u);
}

TEST_F(ControlChannelTest, CancelsALoadThatItNoLongerAwaits) {
  it_.world.is_simulated = true;
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.diagnose_request().request());
  };
  const std::shared_ptr<Request> request = AskForDevices();
  const absl::Status waited =
      channel_.AwaitOrCancel(*request, /*number=*/1, [] { return "it"; });
  EXPECT_TRUE(absl::IsDeadlineExceeded(waited));
  const auto cancels = it_.Take(proto::Control::kLoadCancel);
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].load_cancel().request(), 1u);
}

TEST_F(ControlChannelTest, ReportsWhyALoadWaits) {
  auto request = std::make_shared<Request>();
  std::string why;
  request->on_waiting = [&](const std::string& text) { why = text; };
  channel_.Ask([](uint64_t, proto::Control*) {}, request);
  proto::LoadWaits waits;
  waits.set_request(1);
  waits.set_why("bo holds it");
  channel_.OnLoadWaits(waits);
  EXPECT_EQ(why, "bo holds it");
}

TEST_F(ControlChannelTest, ReportsAreCompleteWithThoseOfAllProcesses) {
  auto request = std::make_shared<Request>();
  request->reports.emplace();
  channel_.Ask([](uint64_t, proto::Control*) {}, request);
  proto::Collected part;
  part.set_request(1);
  part.set_parts(1);
  channel_.OnCollected(part);
  proto::Answer answer;
  answer.set_processes(2);
  it_.Answer(1, answer);
  EXPECT_FALSE(request->done.load());
  part.set_process(1);
  channel_.OnCollected(part);
  EXPECT_TRUE(request->done.load());
}

TEST_F(ControlChannelTest, ConnectsUnderItsName) {
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.connect_request().request());
  };
  ClientOptions options;
  options.weight = 3;
  EXPECT_TRUE(channel_.Connect(options).ok());
  ASSERT_EQ(it_.messages.size(), 1u);
  EXPECT_EQ(it_.messages[0].connect_request().name(), "ann");
  EXPECT_EQ(it_.messages[0].connect_request().weight(), 3u);
  EXPECT_FALSE(channel_.stopping());
}

TEST_F(ControlChannelTest, IsClosedIfTheNameIsTaken) {
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.connect_request().request(),
               absl::StatusCode::kAlreadyExists, "taken");
  };
  EXPECT_EQ(channel_.Connect(ClientOptions()),
            absl::AlreadyExistsError("taken"));
  EXPECT_TRUE(channel_.stopping());
  EXPECT_FALSE(channel_.BeginClose().has_value());
  EXPECT_TRUE(it_.actor.Attach("bo"));  // the address is free
}

TEST_F(ControlChannelTest, ClosesOnce) {
  AskForDevices();
  EXPECT_EQ(channel_.BeginClose(), 2u);
  EXPECT_FALSE(channel_.BeginClose().has_value());
  EXPECT_TRUE(it_.actor.leaving("ann"));
  const absl::Status closed =
      absl::CancelledError("client 'ann' was closed [PW6105]");
  EXPECT_EQ(channel_.WaitUntil([] { return false; }, [] { return "it"; }),
            closed);
  it_.context.ended = absl::UnavailableError("the cluster has ended");
  it_.context.stopping = true;
  EXPECT_EQ(channel_.EndReason(), it_.context.ended);
}

}  // namespace
}  // namespace pathways::testing
