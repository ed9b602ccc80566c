//===- controller_losses_test.cc - Loss of hosts and workers --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/controller/controller_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ControllerTest, CallsThatWaitForAHostThatIsGoneEnd) {
  const uint64_t p = LoadAll(1);
  Launch(1, 1, p);
  proto::Control control;
  control.mutable_settle_request()->set_request(2);
  FromClient(1, control);
  Sent();
  controller_->OnPeer({1, 1, /*is_up=*/false});
  // Nothing is said to who is gone.
  EXPECT_THAT(Sent(),
              ElementsAre("stop to host0", "drop to host0",
                          "client1 ended 1: program 'p' cannot go on: host1 is "
                          "gone (epoch 1) [PW4101]"));
  control.mutable_unload_request()->set_request(3);
  control.mutable_unload_request()->set_program(p);
  FromClient(1, control);
  proto::Control reply;
  reply.mutable_stop_reply()->set_incarnation(static_cast<uint32_t>(p));
  FromHost(0, reply);
  EXPECT_THAT(Sent(), ElementsAre("free to host0"));
  reply.mutable_free_reply()->set_incarnation(static_cast<uint32_t>(p));
  FromHost(0, reply);
  EXPECT_THAT(Sent(), ElementsAre("client1 3: "));
  controller_->OnPeer({-1, 1, /*is_up=*/false});
  controller_->OnPeer({7, 1, /*is_up=*/false});
}

// No event is left, and the stop may be what another program waits for. Ticks
// send it again, and count, before hosts are asked what holds them up.
TEST_F(ControllerTest, ALostStopIsSentAgainBeforeAStallIsLookedFor) {
  const uint64_t p = LoadAll(1), q = LoadAll(2);
  for (uint32_t client : {1, 2}) {
    Launch(client, 1, client == 1 ? p : q);
    for (uint32_t host : {0, 1}) Ready(host, client, 1);
  }
  proto::Control leave;
  leave.mutable_disconnect_request()->set_request(2);
  FromClient(1, leave);
  EXPECT_THAT(Sent(), ::testing::Contains("stop to host1"));
  const auto diagnose = [&] {
    proto::Control control;
    control.mutable_diagnose_request()->set_request(9);
    FromClient(2, control);
    return Sent();
  };
  for (int tick = 0; tick < 4; ++tick) {
    EXPECT_THAT(diagnose(), ElementsAre("client2 9: "));
    EXPECT_THAT(Advance(kTimeout / 4), ::testing::Contains("stop to host1"));
  }
  EXPECT_THAT(diagnose(), ElementsAre("query to host0", "query to host1"));
}

// Messages to a host are for its current epoch, and numbered from 1 again.
// Messages of another epoch are ignored.
TEST_F(ControllerTest, AHostThatLivesAgainBeginsAnew) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  controller_->OnPeer({1, 1, /*is_up=*/false});
  Sent();
  Launch(1, 2, p, /*fresh=*/false);
  EXPECT_THAT(Sent(),
              ElementsAre("client1 ended 2: program 'p' was given up "
                          "and must be loaded again: program 'p' "
                          "cannot go on: host1 is gone (epoch 1) [PW4101]"));
  Load(1);
  --loaded_;
  EXPECT_THAT(Sent(), ElementsAre("client1 1: program 'p' needs host1, which "
                                  "is gone (epoch 1) [PW4101]"));
  controller_->OnPeer({1, 2, /*is_up=*/true});
  controller_->OnPeer({1, 2, /*is_up=*/true});
  controller_->OnPeer({1, 1, /*is_up=*/false});  // late
  // The program is number 1, since number 0 has not been unloaded.
  const uint64_t q = Load(1, /*placed=*/false);
  std::vector<uint32_t> replaced;
  for (const testing::Sent& one : world_.Take()) {
    const auto control = one.As<proto::Control>();
    if (!control.has_load_program()) continue;
    replaced.push_back(control.restarts());
    ASSERT_EQ(control.load_program().lives_size(), 1);
    EXPECT_EQ(control.load_program().lives(0).host(), 1u);
    EXPECT_EQ(control.load_program().lives(0).restarts(), 1u);
  }
  EXPECT_THAT(replaced, ElementsAre(0, 1));
  Reply(0, q);
  Reply(1, q);  // of its first life
  EXPECT_THAT(Sent(), IsEmpty());
  replaced_[1] = 1;
  Reply(1, q);
  EXPECT_THAT(Sent(), ElementsAre("client1 1: "));
  // Nobody waits for what the life before had.
  proto::Control reply;
  reply.mutable_stop_reply()->set_incarnation(static_cast<uint32_t>(p));
  FromHost(0, reply);
  Launch(1, 3, q, /*fresh=*/false);
  std::vector<uint64_t> numbers, stores;
  for (const testing::Sent& one : world_.Take()) {
    const auto control = one.As<proto::Control>();
    if (one.to == context_.directory.executor(1) &&
        control.has_prepare_launch()) {
      EXPECT_EQ(control.restarts(), 1u);
      numbers.push_back(control.prepare_launch().sequence());
    }
    if (!control.has_start()) continue;
    stores.assign(control.start().stores().begin(),
                  control.start().stores().end());
    EXPECT_THAT(control.start().restarts(), ElementsAre(0, 1));
  }
  EXPECT_THAT(numbers, ElementsAre(1));
  EXPECT_THAT(stores, ElementsAre(3, 1));
  // It is lost again, and with it what needs it.
  controller_->OnPeer({1, 3, /*is_up=*/true});
  EXPECT_THAT(Sent(),
              ::testing::Contains("client1 ended 3: program 'p' cannot go on: "
                                  "host1 is gone (epoch 2) [PW4101]"));
}

// A client that asked for statistics waits for no process that is gone,
// whenever that went.
TEST_F(ControllerTest, ProcessesThatAreGoneAreNotAskedNorWaitedFor) {
  context_.directory = Directory({0}, {{1, 1}, {2, 1}});
  controller_ = std::make_unique<Controller>(&context_, ControllerOptions());
  proto::Control collect;
  collect.mutable_collect_request()->set_request(5);
  FromClient(1, collect);
  auto counts = [&] {
    std::vector<std::string> texts;
    for (const testing::Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      if (control.has_collected()) {
        EXPECT_EQ(control.collected().parts(), 0u);
        texts.push_back(absl::StrCat(control.collected().request(),
                                     ": process ",
                                     control.collected().process(), " gone"));
      } else if (control.answer().request() != 0) {
        texts.push_back(absl::StrCat(control.answer().request(), ": ",
                                     control.answer().processes()));
      }
    }
    return texts;
  };
  EXPECT_THAT(counts(), ElementsAre("5: 3"));
  controller_->OnPeer({1, 1, /*is_up=*/false});
  EXPECT_THAT(counts(), ElementsAre("5: process 2 gone"));
  collect.mutable_collect_request()->set_request(6);
  FromClient(1, collect);
  EXPECT_THAT(counts(), ElementsAre("6: 2"));
  controller_->OnPeer({1, 2, /*is_up=*/true});
  collect.mutable_collect_request()->set_request(7);
  FromClient(1, collect);
  EXPECT_THAT(counts(), ElementsAre("7: 3"));
}

TEST_F(ControllerTest, ArraysAreLostWithTheHostsThatHoldThem) {
  const uint64_t p = LoadAll(1);
  proto::Control control;
  proto::LaunchRequest* launch = control.mutable_launch_request();
  launch->set_launch(1);
  launch->set_program(p);
  launch->set_steps(1);
  proto::ObjectRef* argument = launch->add_arguments();
  argument->set_object(1001);
  argument->set_fresh(true);
  argument->set_keep(true);
  for (uint32_t host : {0, 1}) argument->add_hosts(host);
  launch->add_results();
  FromClient(1, control);
  controller_->OnPeer({1, 1, /*is_up=*/false});
  controller_->OnPeer({1, 2, /*is_up=*/true});
  replaced_[1] = 1;
  Sent();
  const uint64_t q = LoadAll(1);
  argument->set_fresh(false);
  launch->set_launch(2);
  launch->set_program(q);
  FromClient(1, control);
  EXPECT_THAT(Sent(),
              ElementsAre("drop to host0", "drop to host1",
                          "client1 ended 2: the values are lost: host1 is gone "
                          "(epoch 1) [PW4101]"));
  proto::Control fetch;
  fetch.mutable_fetch_request()->set_request(9);
  fetch.mutable_fetch_request()->set_object(1001);
  fetch.mutable_fetch_request()->add_sources()->set_host(1);
  FromClient(1, fetch);
  EXPECT_THAT(Sent(), ElementsAre("client1 9: the values are lost: host1 is "
                                  "gone (epoch 1) [PW4101]"));
  proto::Control release;
  release.mutable_release_request()->add_objects(1001);
  FromClient(1, release);
  EXPECT_THAT(Sent(), ElementsAre("drop to host0"));
}

TEST_F(ControllerTest, WhatIsOnALostWorkerEnds) {
  const uint64_t p = LoadAll(1), q = LoadAll(2);
  Launch(1, 1, p);
  for (uint32_t host : {0, 1}) Ready(host, 1, 1);
  Sent();
  proto::Control control;
  proto::WorkerLost* lost = control.mutable_worker_lost();
  lost->set_message("it hangs");
  lost->set_host(2);
  lost->add_devices(0);
  FromHost(1, control);  // of no host
  lost->set_host(1);
  lost->add_devices(1);
  FromHost(1, control);  // of no device
  EXPECT_THAT(Sent(), IsEmpty());
  lost->mutable_devices()->RemoveLast();
  FromHost(1, control);
  EXPECT_THAT(Sent(),
              ElementsAre("stop to host0", "stop to host1", "start 1 of 1",
                          "drop to host0", "drop to host1",
                          "client1 ended 1: it hangs [PW4102]", "stop to host0",
                          "stop to host1"));
  FromHost(1, control);
  EXPECT_THAT(Sent(), IsEmpty());
  Launch(2, 1, q);
  EXPECT_THAT(Sent(),
              ElementsAre("client2 ended 1: program 'p' was given up "
                          "and must be loaded again: it hangs [PW4102]"));
  Load(1);
  EXPECT_THAT(Sent(),
              ElementsAre("client1 1: program 'p' needs island0/host1/device0, "
                          "whose worker is lost: it hangs [PW4102]"));
}

// A program without hosts is freed as soon as its client goes, which frees the
// client's name. The load of that client that waits is not tried then, and one
// of another client that waits for the same devices is.
class LeavingClientTest : public ControllerTest {
 protected:
  void LoseItsHosts() {
    LoadAll(1);
    controller_->OnPeer({0, 1, /*is_up=*/false});
    controller_->OnPeer({1, 1, /*is_up=*/false});
    Sent();
    for (const uint32_t client : {1, 0}) {
      proto::Control control;
      proto::LoadRequest* load = control.mutable_load_request();
      load->set_request(7);
      load->set_await_devices(true);
      *load->mutable_plan() =
          KeepPlan(&context_.plans, Prepare(MovePlan("q", 2), topology_));
      FromClient(client, control);
      Sent();
    }
  }
  void OtherIsServed() {
    controller_->OnPeer({0, 2, /*is_up=*/true});
    controller_->OnPeer({1, 2, /*is_up=*/true});
    EXPECT_THAT(Sent(),
                ::testing::IsSupersetOf({"load to host0", "load to host1"}));
  }
};

TEST_F(LeavingClientTest, ItDiesWhileALoadOfItsWaits) {
  LoseItsHosts();
  LocalMessage gone;
  gone.kind = kClientsGone;
  gone.target = 1;
  gone.item = 1;
  controller_->OnLocal(gone);
  EXPECT_THAT(Sent(), IsEmpty());
  OtherIsServed();
}

TEST_F(LeavingClientTest, ItLeavesWhileALoadOfItsWaits) {
  LoseItsHosts();
  proto::Control leave;
  leave.mutable_disconnect_request()->set_request(9);
  FromClient(1, leave);
  EXPECT_THAT(Sent(), ElementsAre("client1 9: "));
  OtherIsServed();
}

}  // namespace
}  // namespace pathways::testing
