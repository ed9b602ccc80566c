//===- controller_test.cc - Who is told what, and when no longer ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/protocol/client_id.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/controller/controller_test_support.h"
#include "unittests/runtime/executor/plan_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimeNs kTimeout = 400'000'000;

// A controller of two hosts on an island, of which this test plays the hosts,
// the island's scheduler and the clients.
class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    context_.world = &world_;
    context_.topology = &topology_;
    context_.directory = Directory({0}, {{}, {}});
    ControllerOptions options;
    options.stall_timeout_ns = options.answer_timeout_ns = kTimeout;
    controller_ = std::make_unique<Controller>(&context_, options);
    world_.Register(controller_.get(), {-1, 0, -1}, "controller",
                    context_.directory.controller());
  }

  void Connect(uint32_t client, uint64_t request, const std::string& name) {
    proto::Control control;
    control.set_client(client);
    control.set_sequence(++sequence_[client]);
    control.mutable_connect_request()->set_request(request);
    control.mutable_connect_request()->set_name(name);
    controller_->OnControl(kNoActor, control.SerializeAsString());
  }
  // Each client connects before anything else.
  void FromClient(uint32_t client, proto::Control control) {
    if (sequence_[client] == 0) {
      Connect(client, 0, absl::StrCat("client", client));
    }
    control.set_client(client);
    control.set_sequence(++sequence_[client]);
    controller_->OnControl(kNoActor, control.SerializeAsString());
  }
  void FromHost(uint32_t host, proto::Control control) {
    control.set_replaced(replaced_[host]);
    controller_->OnControl(context_.directory.executor(host),
                           control.SerializeAsString());
  }
  // What was sent, as "KIND to WHOM" with what the test looks at.
  std::vector<std::string> Sent() {
    std::vector<std::string> texts;
    for (const testing::Sent& one : world_.Take()) {
      if (one.kind != testing::Sent::kControl) continue;
      texts.push_back(Text(one.to, one.As<proto::Control>()));
    }
    return texts;
  }
  std::string Text(ActorId to, const proto::Control& c) {
    std::string who = "scheduler";
    for (uint32_t i = 0; i < 3; ++i) {
      if (to == context_.directory.executor(i) && i < 2) {
        who = absl::StrCat("host", i);
      } else if (to == context_.directory.client(i)) {
        who = absl::StrCat("client", i);
      }
    }
    switch (c.kind_case()) {
      case proto::Control::kLoadProgram:
        return absl::StrCat("load to ", who);
      case proto::Control::kStopProgram:
        return absl::StrCat("stop to ", who);
      case proto::Control::kFreeProgram:
        return absl::StrCat("free to ", who);
      case proto::Control::kPrepareLaunch:
        return absl::StrCat("prepare ", NumberOf(c.prepare_launch().launch()),
                            " to ", who);
      case proto::Control::kStart:
        return absl::StrCat("start ", NumberOf(c.start().launch()), " of ",
                            ClientOf(c.start().launch()));
      case proto::Control::kDropObjects:
        return absl::StrCat("drop to ", who);
      case proto::Control::kQuery:
        return absl::StrCat("query to ", who);
      case proto::Control::kFetchBegin:
        return absl::StrCat("fetch to ", who);
      case proto::Control::kAnswer:
        return absl::StrCat(who, " ", c.answer().request(), ": ",
                            c.answer().message());
      case proto::Control::kLaunchEnded:
        return absl::StrCat(who, " ended ", c.launch_ended().launch(), ": ",
                            c.launch_ended().message());
      default:
        return "something else";
    }
  }

  // Request 1 of `client` loads a program; returns its handle. `placed`: its
  // argument has bytes.
  uint64_t Load(uint32_t client, bool placed = true) {
    proto::Control control;
    control.mutable_load_request()->set_request(1);
    *control.mutable_load_request()->mutable_plan() =
        KeepPlan(&context_.plans, Prepare(MovePlan("p", 2), topology_, placed));
    FromClient(client, control);
    return ++loaded_;
  }
  void Reply(uint32_t host, uint64_t handle) {
    proto::Control control;
    control.mutable_load_reply()->set_host(host);
    control.mutable_load_reply()->set_program(
        static_cast<uint32_t>(handle - 1));
    control.mutable_load_reply()->set_incarnation(
        static_cast<uint32_t>(handle));
    FromHost(host, control);
  }
  uint64_t LoadAll(uint32_t client, bool placed = true) {
    const uint64_t handle = Load(client, placed);
    Reply(0, handle);
    Reply(1, handle);
    Sent();
    return handle;
  }
  // `fresh`: with bytes that the client sends.
  void Launch(uint32_t client, uint64_t launch, uint64_t handle,
              bool fresh = true) {
    proto::Control control;
    control.mutable_launch_request()->set_launch(launch);
    control.mutable_launch_request()->set_program(handle);
    control.mutable_launch_request()->set_steps(1);
    proto::ObjectRef* argument =
        control.mutable_launch_request()->add_arguments();
    if (fresh) {
      argument->set_object(1000 + launch);
      argument->set_fresh(true);
      for (uint32_t host : {0, 1}) argument->add_hosts(host);
    }
    control.mutable_launch_request()->add_results();
    FromClient(client, control);
  }
  void Ready(uint32_t host, uint32_t client, uint64_t launch) {
    proto::Control control;
    control.mutable_launch_ready()->set_launch(ClientId(client, launch));
    control.mutable_launch_ready()->set_host(host);
    FromHost(host, control);
  }
  // The store of `host` has done what it was sent up to here.
  void Stored(uint32_t host, uint64_t sequence) {
    proto::Control control;
    control.mutable_objects_dropped()->set_host(host);
    control.mutable_objects_dropped()->set_sequence(sequence);
    FromHost(host, control);
  }
  std::vector<std::string> Advance(TimeNs duration) {
    world_.Advance(duration);
    return Sent();
  }

  Topology topology_ = MakeTopology("1x2x1");
  testing::RecordingWorld world_;
  RuntimeContext context_;
  std::unique_ptr<Controller> controller_;
  std::map<uint32_t, uint64_t> sequence_;
  std::map<uint32_t, uint32_t> replaced_;  // hosts that were, and how often
  uint64_t loaded_ = 0;
};

TEST_F(ControllerTest, ClientsNumberTheirLaunchesByThemselves) {
  const uint64_t p = LoadAll(1), q = LoadAll(2);
  Launch(1, 1, p);
  Launch(2, 1, q);
  EXPECT_THAT(Sent(), ElementsAre("prepare 1 to host0", "prepare 1 to host1",
                                  "prepare 1 to host0", "prepare 1 to host1"));
  for (uint32_t host : {0, 1}) Ready(host, 2, 1);
  EXPECT_THAT(Sent(), ElementsAre("start 1 of 2"));
  for (uint32_t host : {0, 1}) Ready(host, 1, 1);
  EXPECT_THAT(Sent(), ElementsAre("start 1 of 1"));
}

// A client whose values do not come delays nobody else, for any time.
TEST_F(ControllerTest, AClientThatSendsNoValuesDelaysOnlyItself) {
  const uint64_t p = LoadAll(1), q = LoadAll(2);
  Launch(1, 1, p);
  Launch(1, 2, p);
  Sent();
  // The hosts have been told, and wait for the client.
  for (uint32_t host : {0, 1}) Stored(host, 2);
  for (int i = 0; i < 20; ++i) {
    Launch(2, 1 + i, q);
    for (uint32_t host : {0, 1}) Ready(host, 2, 1 + i);
    EXPECT_THAT(Sent(),
                ::testing::Contains(absl::StrCat("start ", 1 + i, " of 2")));
    for (const std::string& text : Advance(kTimeout)) {
      EXPECT_THAT(text, ::testing::Not(HasSubstr("ended")));
    }
    for (uint32_t host : {0, 1}) Stored(host, 3 + i);
  }
}

TEST_F(ControllerTest, ALoadIsAskedForAgainAndEndsWithAName) {
  const uint64_t p = Load(1);
  EXPECT_THAT(Sent(), ElementsAre("load to host0", "load to host1"));
  Reply(0, p);
  EXPECT_THAT(Advance(kTimeout / 4), ElementsAre("load to host1"));
  EXPECT_THAT(Advance(kTimeout / 2),
              ElementsAre("load to host1", "load to host1"));
  EXPECT_THAT(Advance(kTimeout / 4),
              ElementsAre("client1 1: program 'p' was not loaded: no answer "
                          "from host1",
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

TEST_F(ControllerTest, AHostThatDoesNotAnswerForALaunchIsNamed) {
  const uint64_t p = LoadAll(1);
  Launch(1, 1, p);
  Sent();
  Ready(0, 1, 1);
  Advance(kTimeout / 4);
  EXPECT_THAT(Advance(kTimeout / 4), ElementsAre("prepare 1 to host1"));
  EXPECT_THAT(Advance(kTimeout / 2),
              ElementsAre("prepare 1 to host1", "prepare 1 to host1",
                          "drop to host0", "drop to host1",
                          "client1 ended 1: a launch did not begin: no answer "
                          "from host1"));
  // The program is good for a launch when the host is back.
  Stored(0, 2);
  Stored(1, 2);
  Launch(1, 2, p);
  for (uint32_t host : {0, 1}) Ready(host, 1, 2);
  EXPECT_THAT(Sent(), ::testing::Contains("start 2 of 1"));
}

TEST_F(ControllerTest, WhatIsLostIsSentAgainAndTheLaunchBegins) {
  const uint64_t p = LoadAll(1);
  Launch(1, 1, p);
  Ready(0, 1, 1);
  Sent();
  Advance(kTimeout / 4);
  EXPECT_THAT(Advance(kTimeout / 4), ElementsAre("prepare 1 to host1"));
  Ready(1, 1, 1);
  EXPECT_THAT(Sent(), ElementsAre("start 1 of 1"));
  EXPECT_THAT(Advance(10 * kTimeout), IsEmpty());
}

TEST_F(ControllerTest, ALaunchThatBringsNothingBeginsAtOnce) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  std::vector<uint64_t> stores;
  for (const testing::Sent& one : world_.sent) {
    const auto control = one.As<proto::Control>();
    EXPECT_TRUE(!control.has_prepare_launch() ||
                control.prepare_launch().sure());
    if (!control.has_start()) continue;
    stores.assign(control.start().stores().begin(),
                  control.start().stores().end());
  }
  EXPECT_THAT(stores, ElementsAre(1, 1));
  EXPECT_THAT(Sent(), ElementsAre("prepare 1 to host0", "prepare 1 to host1",
                                  "start 1 of 1"));
}

TEST_F(ControllerTest, WhatAHostWasToldOfALaunchIsSentAgain) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  Sent();
  auto prepares = [&](TimeNs duration) {
    std::vector<std::string> texts = Advance(duration);
    std::erase_if(
        texts, [](const std::string& text) { return text.find("query") == 0; });
    return texts;
  };
  prepares(kTimeout / 4);
  EXPECT_THAT(prepares(kTimeout / 4),
              ElementsAre("prepare 1 to host0", "prepare 1 to host1"));
  Stored(0, 1);
  EXPECT_THAT(prepares(kTimeout / 4), ElementsAre("prepare 1 to host1"));
  // The other host may have begun, so the program cannot go on.
  EXPECT_THAT(prepares(kTimeout / 4),
              ::testing::Contains(HasSubstr("client1 ended 1: a launch did not "
                                            "begin: no answer from host1")));
}

TEST_F(ControllerTest, AHostThatRefusesWhatWasGrantedEndsTheLaunch) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  Sent();
  proto::Control control;
  control.mutable_launch_ready()->set_launch(ClientId(1, 1));
  control.mutable_launch_ready()->set_host(1);
  control.mutable_launch_ready()->set_code(
      static_cast<int>(absl::StatusCode::kResourceExhausted));
  control.mutable_launch_ready()->set_message("host1 has no room");
  FromHost(1, control);
  EXPECT_THAT(Sent(),
              ::testing::IsSupersetOf({"stop to host0", "stop to host1",
                                       "client1 ended 1: host1 has no room"}));
}

TEST_F(ControllerTest, CallsThatWaitForAHostThatIsGoneEnd) {
  const uint64_t p = LoadAll(1);
  Launch(1, 1, p);
  proto::Control control;
  control.mutable_settle_request()->set_request(2);
  FromClient(1, control);
  Sent();
  controller_->OnPeerDown(1, 1);
  // Nothing is said to who is gone.
  EXPECT_THAT(Sent(),
              ElementsAre("stop to host0", "drop to host0",
                          "client1 ended 1: program 'p' cannot go on: host1 is "
                          "gone (life 1)"));
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
  controller_->OnPeerDown(-1, 1);
  controller_->OnPeerDown(7, 1);
}

// What hosts are told is for the life that they are in, numbered from 1 again;
// what is from another life counts for nothing.
TEST_F(ControllerTest, AHostThatLivesAgainBeginsAnew) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  controller_->OnPeerDown(1, 1);
  Sent();
  Launch(1, 2, p, /*fresh=*/false);
  EXPECT_THAT(Sent(), ElementsAre("client1 ended 2: program 'p' was given up "
                                  "and must be loaded again: program 'p' "
                                  "cannot go on: host1 is gone (life 1)"));
  Load(1);
  --loaded_;
  EXPECT_THAT(Sent(), ElementsAre("client1 1: program 'p' needs host1, which "
                                  "is gone (life 1)"));
  controller_->OnPeerUp(1, 2);
  controller_->OnPeerUp(1, 2);
  controller_->OnPeerDown(1, 1);  // late
  // As number 1: number 0 has not been unloaded.
  const uint64_t q = Load(1, /*placed=*/false);
  std::vector<uint32_t> replaced;
  for (const testing::Sent& one : world_.Take()) {
    const auto control = one.As<proto::Control>();
    if (!control.has_load_program()) continue;
    replaced.push_back(control.replaced());
    ASSERT_EQ(control.load_program().lives_size(), 1);
    EXPECT_EQ(control.load_program().lives(0).host(), 1u);
    EXPECT_EQ(control.load_program().lives(0).replaced(), 1u);
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
      EXPECT_EQ(control.replaced(), 1u);
      numbers.push_back(control.prepare_launch().sequence());
    }
    if (!control.has_start()) continue;
    stores.assign(control.start().stores().begin(),
                  control.start().stores().end());
    EXPECT_THAT(control.start().replaced(), ElementsAre(0, 1));
  }
  EXPECT_THAT(numbers, ElementsAre(1));
  EXPECT_THAT(stores, ElementsAre(3, 1));
  // It is lost again, and with it what needs it.
  controller_->OnPeerUp(1, 3);
  EXPECT_THAT(Sent(),
              ::testing::Contains("client1 ended 3: program 'p' cannot go on: "
                                  "host1 is gone (life 2)"));
}

// Who asked for statistics waits for nobody who is gone, whenever that is.
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
  controller_->OnPeerDown(1, 1);
  EXPECT_THAT(counts(), ElementsAre("5: process 2 gone"));
  collect.mutable_collect_request()->set_request(6);
  FromClient(1, collect);
  EXPECT_THAT(counts(), ElementsAre("6: 2"));
  controller_->OnPeerUp(1, 2);
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
  controller_->OnPeerDown(1, 1);
  controller_->OnPeerUp(1, 2);
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
                          "(life 1)"));
  proto::Control fetch;
  fetch.mutable_fetch_request()->set_request(9);
  fetch.mutable_fetch_request()->set_object(1001);
  fetch.mutable_fetch_request()->add_sources()->set_host(1);
  FromClient(1, fetch);
  EXPECT_THAT(Sent(), ElementsAre("client1 9: the values are lost: host1 is "
                                  "gone (life 1)"));
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
  EXPECT_THAT(Sent(), ElementsAre("stop to host0", "stop to host1",
                                  "start 1 of 1", "drop to host0",
                                  "drop to host1", "client1 ended 1: it hangs",
                                  "stop to host0", "stop to host1"));
  FromHost(1, control);
  EXPECT_THAT(Sent(), IsEmpty());
  Launch(2, 1, q);
  EXPECT_THAT(Sent(), ElementsAre("client2 ended 1: program 'p' was given up "
                                  "and must be loaded again: it hangs"));
  Load(1);
  EXPECT_THAT(Sent(),
              ElementsAre("client1 1: program 'p' needs island0/host1/device0, "
                          "whose worker is lost: it hangs"));
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
  EXPECT_THAT(Sent(), ElementsAre("client1 1: no plan is named"));
}

// Hosts go by what the controller says, so it looks at what clients say.
TEST_F(ControllerTest, ALaunchThatDoesNotFitItsProgramIsRefused) {
  const uint64_t p = LoadAll(1);
  proto::Control good;
  proto::LaunchRequest* launch = good.mutable_launch_request();
  launch->set_launch(1);
  launch->set_program(p);
  launch->set_steps(2);
  for (proto::ObjectRef* ref :
       {launch->add_arguments(), launch->add_results()}) {
    for (uint32_t host : {0, 1}) ref->add_hosts(host);
  }
  launch->mutable_arguments(0)->set_object(1);
  launch->mutable_arguments(0)->set_fresh(true);
  launch->mutable_arguments(0)->set_keep(true);
  launch->mutable_results(0)->set_object(2);
  FromClient(1, good);
  EXPECT_THAT(Sent(), ElementsAre("prepare 1 to host0", "prepare 1 to host1"));
  FromClient(1, good);  // there is launch 1
  launch->set_launch(0);
  FromClient(1, good);
  EXPECT_THAT(Sent(), IsEmpty());

  launch->mutable_arguments(0)->set_object(3);
  launch->mutable_results(0)->set_object(4);
  using Change = void (*)(proto::LaunchRequest*);
  const std::pair<Change, const char*> cases[] = {
      {[](auto* l) { l->set_steps(0); },
       "has 0 steps, expected 1 to 1099511627776"},
      {[](auto* l) { l->set_steps((uint64_t{1} << 40) + 1); },
       "has 1099511627777 steps, expected 1 to 1099511627776"},
      {[](auto* l) { l->add_arguments(); }, "has 2 arguments, expected 1"},
      {[](auto* l) { l->clear_results(); }, "has 0 results, expected 1"},
      {[](auto* l) { l->mutable_arguments(0)->set_hosts(0, 1); },
       "has argument 0 on other hosts than the program"},
      {[](auto* l) { l->mutable_arguments(0)->set_object(0); },
       "has argument 0 on other hosts than the program"},
      {[](auto* l) { l->mutable_results(0)->mutable_hosts()->RemoveLast(); },
       "has result 0 on other hosts than the program"},
      {[](auto* l) { l->mutable_arguments(0)->set_object(1); },
       "is to make array 1, which there is"},
      {[](auto* l) { l->mutable_results(0)->set_object(2); },
       "is to make array 2, which there is"},
      {[](auto* l) { l->mutable_results(0)->set_object(3); },
       "is to make array 3, which there is"},
  };
  uint64_t number = 1;
  for (const auto& [change, text] : cases) {
    proto::Control bad = good;
    bad.mutable_launch_request()->set_launch(++number);
    change(bad.mutable_launch_request());
    FromClient(1, bad);
    EXPECT_THAT(Sent(),
                ElementsAre(absl::StrCat("client1 ended ", number,
                                         ": a launch of program 'p' ", text)));
  }

  // An array of other bytes: that of a longer program.
  proto::Control load;
  load.mutable_load_request()->set_request(1);
  *load.mutable_load_request()->mutable_plan() = KeepPlan(
      &context_.plans,
      Prepare(MovePlan("long", 2, 0, 0, 0, 4), topology_, /*placed=*/true));
  FromClient(1, load);
  const uint64_t q = ++loaded_;
  for (uint32_t host : {0, 1}) Reply(host, q);
  Sent();
  launch->set_launch(++number);
  launch->set_program(q);
  launch->mutable_arguments(0)->set_object(1);
  launch->mutable_arguments(0)->set_fresh(false);
  launch->mutable_results(0)->set_object(5);
  FromClient(1, good);
  EXPECT_THAT(Sent(),
              ElementsAre(absl::StrCat(
                  "client1 ended ", number,
                  ": a launch of program 'long' has as argument 0 an array "
                  "that is of other hosts or bytes")));
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
  // Who wants the name waits for its program, but not for ever.
  Connect(2, 1, "client1");
  EXPECT_THAT(Sent(), IsEmpty());
  world_.Advance(3 * kTimeout);
  const std::vector<std::string> sent = Sent();
  EXPECT_THAT(sent, ::testing::Contains("client1 2: "));
  EXPECT_THAT(sent, ::testing::Contains("client2 1: "));
  Connect(0, 1, "client1");
  EXPECT_THAT(Sent(), ElementsAre("client0 1: there is a client 'client1'"));
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
  EXPECT_THAT(Sent(),
              ElementsAre("something else", "client1 2: no plan is named"));
  EXPECT_THAT(Advance(kTimeout / 2),
              ElementsAre("something else", "something else"));
  EXPECT_THAT(
      Advance(kTimeout),
      ::testing::Contains("client1 1: plan 6868686868686868 did not come: no "
                          "answer from its client"));
  // And nobody waits for it any more.
  EXPECT_THAT(Advance(kTimeout), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
