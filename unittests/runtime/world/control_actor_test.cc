//===- control_actor_test.cc - An actor of the control protocol -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/control_actor.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/world/testing/recording_world.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RecordingWorld;

class Scheduler final : public ControlActor {
 public:
  Scheduler(World* world, const Directory* directory, ControlPool* controls)
      : ControlActor(world, directory, controls, directory->scheduler(0)) {}

  void Say(ActorId to, uint64_t place) {
    ControlRef message = NewControl();
    message->mutable_grant()->set_position(place);
    SendControl(to, std::move(message));
  }
  std::vector<uint64_t> tickets;
  int foreign = 0;

 private:
  void OnMessage(ActorId, ControlRef message) override {
    tickets.push_back(message->start().ticket());
  }
  void OnForeign() override { ++foreign; }
};

class ControlActorTest : public ::testing::Test {
 protected:
  ControlRef Start(uint64_t ticket) {
    ControlRef message = controls_.New();
    message->mutable_start()->set_ticket(ticket);
    return message;
  }

  RecordingWorld world_;
  const Directory directory_{{0}, std::vector<HostLocation>(1)};
  ControlPool controls_;
  Scheduler actor_{&world_, &directory_, &controls_};
};

TEST_F(ControlActorTest, HearsBytesAndWhatIsHandedOver) {
  const ActorId controller = directory_.controller();
  actor_.OnControl(controller, Start(1)->SerializeAsString());
  actor_.OnControl(controller, ReceivedControl(Start(2).Hand()));
  EXPECT_THAT(actor_.tickets, ElementsAre(1, 2));
  EXPECT_EQ(actor_.foreign, 0);
  // All messages were released.
  EXPECT_EQ(controls_.size(), 2u);
}

TEST_F(ControlActorTest, DropsWhatIsNotOfTheProtocol) {
  const ActorId host = directory_.executor(0);
  actor_.OnControl(host, Start(1)->SerializeAsString());
  actor_.OnControl(host, ReceivedControl(Start(1).Hand()));
  actor_.OnControl(directory_.controller(), "\xff");
  EXPECT_THAT(actor_.tickets, IsEmpty());
  EXPECT_EQ(actor_.foreign, 3);
  EXPECT_EQ(controls_.size(), 2u);
}

TEST_F(ControlActorTest, SpeaksFromItsAddress) {
  actor_.Say(directory_.executor(0), 5);
  ASSERT_EQ(world_.sent.size(), 1u);
  EXPECT_EQ(world_.sent[0].from, directory_.scheduler(0));
  EXPECT_EQ(world_.sent[0].to, directory_.executor(0));
  EXPECT_EQ(world_.sent[0].As<proto::Control>().grant().position(), 5u);
}

}  // namespace
}  // namespace pathways
