//===- controller_test.cc - Messages of the controller, and their end -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/controller.h"

#include "unittests/runtime/controller/controller_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ControllerTest, ALoadIsAskedForAgainAndEndsWithAName) {
  const uint64_t p = Load(1);
  EXPECT_THAT(Sent(), ElementsAre("load to host0", "load to host1"));
  Reply(0, p);
  EXPECT_THAT(Advance(kTimeout / 4), ElementsAre("load to host1"));
  EXPECT_THAT(Advance(kTimeout / 2),
              ElementsAre("load to host1", "load to host1"));
  EXPECT_THAT(Advance(kTimeout / 4),
              ElementsAre("client1 1: program 'p' was not loaded: no answer "
                          "from host1 [PW4105]",
                          "stop to host0", "stop to host1"));
  // Nobody waits any more, so nothing keeps a simulation going.
  world_.Advance(kTimeout / 4);
  for (const testing::Sent& one : world_.Take()) {
    if (one.kind == testing::Sent::kTimer) {
      EXPECT_TRUE(one.local.flags & kBackground);
    }
  }
}

// Answers of hosts may stand behind a tick that is late.
TEST_F(ControllerTest, ALateTickCountsAsOneInTime) {
  const uint64_t p = Load(1);
  Reply(0, p);
  Sent();
  for (int i = 0; i < 3; ++i) {
    world_.Suspend(10 * kTimeout);
    EXPECT_THAT(Advance(0), ElementsAre("load to host1"));
  }
  Reply(1, p);
  EXPECT_THAT(Sent(), ElementsAre("client1 1: "));
}

TEST_F(ControllerTest, OnlyAClientSpeaksForItself) {
  proto::Control control;
  control.mutable_load_request()->set_request(1);
  FromHost(0, control);  // hosts load nothing
  Connect(1, 0, "ann");
  control.set_client(1);
  control.set_sequence(2);
  FromHost(0, control);
  controller_->OnControl(context_.directory.client(2),
                         control.SerializeAsString());
  EXPECT_THAT(Sent(), IsEmpty());
  controller_->OnControl(context_.directory.client(1),
                         control.SerializeAsString());
  EXPECT_THAT(
      Sent(),
      ElementsAre("client1 1: the request does not name a plan by its hash"));
}

TEST_F(ControllerTest, WhoIsNotConnectedIsNotHeard) {
  proto::Control control;
  control.set_client(1);
  control.set_sequence(1);
  control.mutable_load_request()->set_request(1);
  controller_->OnControl(kNoActor, control.SerializeAsString());
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ControllerTest, ANameIsNotHeldBySilentHosts) {
  const uint64_t p = LoadAll(1);
  Launch(1, 1, p);
  Sent();
  proto::Control leave;
  leave.mutable_disconnect_request()->set_request(2);
  FromClient(1, leave);
  EXPECT_THAT(Sent(), ElementsAre("stop to host0", "stop to host1",
                                  "drop to host0", "drop to host1",
                                  "client1 ended 1: client 'client1' was "
                                  "closed"));
  // A client that wants the name waits for its program, up to a limit.
  Connect(2, 1, "client1");
  EXPECT_THAT(Sent(), IsEmpty());
  world_.Advance(3 * kTimeout);
  const std::vector<std::string> sent = Sent();
  EXPECT_THAT(sent, ::testing::Contains("client1 2: "));
  EXPECT_THAT(sent, ::testing::Contains("client2 1: "));
  Connect(0, 1, "client1");
  EXPECT_THAT(
      Sent(),
      ElementsAre("client0 1: another client has the name 'client1' [PW6110]"));
}

TEST_F(ControllerTest, IgnoresWhatIsNotAMessage) {
  controller_->OnControl(kNoActor, "\xff\xff\xff");
  EXPECT_THAT(Sent(), IsEmpty());
}

// The client has the plan in its own process, and hosts ask for it in turn.
TEST_F(ControllerTest, PlansComeFromClientsAndGoToProcesses) {
  const auto plan = Prepare(MovePlan("p", 2), topology_);
  const PlanName name = *NameOf(plan->data());
  PlanIndex there;
  there.Put(name, plan);
  proto::Control load;
  load.mutable_load_request()->set_request(1);
  NamePlan(name, load.mutable_load_request()->mutable_plan());
  FromClient(1, load);
  std::vector<testing::Sent> sent = world_.Take();
  ASSERT_EQ(sent.back().kind, testing::Sent::kTimer);
  sent.pop_back();
  proto::Control part;
  AnswerPlanRequest(&there, sent.back().As<proto::Control>().plan_request(),
                    part.mutable_plan_part());
  part.set_client(2);
  controller_->OnControl(context_.directory.client(2),
                         part.SerializeAsString());
  EXPECT_THAT(Sent(), IsEmpty());
  part.set_client(1);
  controller_->OnControl(context_.directory.client(1),
                         part.SerializeAsString());
  EXPECT_THAT(Sent(), ElementsAre("load to host0", "load to host1"));

  proto::Control ask;
  ask.mutable_plan_request()->set_hash(std::string(name.hash.view()));
  controller_->OnControl(context_.directory.reporter(0),
                         ask.SerializeAsString());
  sent = world_.Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].As<proto::Control>().plan_part().bytes(),
            part.plan_part().bytes());
}

TEST_F(ControllerTest, APlanThatDoesNotComeEndsTheLoad) {
  proto::Control load;
  load.mutable_load_request()->set_request(1);
  load.mutable_load_request()->mutable_plan()->set_hash(std::string(32, 'h'));
  FromClient(1, load);
  load.mutable_load_request()->set_request(2);
  load.mutable_load_request()->mutable_plan()->set_hash("short");
  FromClient(1, load);
  EXPECT_THAT(
      Sent(),
      ElementsAre("something else",
                  "client1 2: the request does not name a plan by its hash"));
  EXPECT_THAT(Advance(kTimeout / 2),
              ElementsAre("something else", "something else"));
  EXPECT_THAT(Advance(kTimeout),
              ::testing::Contains("client1 1: plan 6868686868686868 did not "
                                  "arrive: its client did not answer"));
  // No request waits for the plan any longer.
  EXPECT_THAT(Advance(kTimeout), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
