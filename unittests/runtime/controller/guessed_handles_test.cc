//===- guessed_handles_test.cc - What is not a client's own -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/controller/controller.h"
#include "runtime/protocol/client_id.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/controller/controller_test_support.h"
#include "unittests/runtime/executor/plan_test_support.h"

namespace pathways::testing {
namespace {

constexpr int kGuesses = 1'000'000;
constexpr uint32_t kOwner = 0, kGuesser = 1;

// A controller of two hosts, of which this test plays everybody.
class GuessedHandlesTest : public ::testing::Test {
 protected:
  GuessedHandlesTest() {
    context_.world = &world_;
    context_.topology = &topology_;
    context_.directory = Directory({0}, {{}, {}});
    controller_ = std::make_unique<Controller>(&context_, ControllerOptions());
    world_.Register(controller_.get(), {-1, 0, -1}, "controller",
                    context_.directory.controller());
    for (uint32_t client : {kOwner, kGuesser}) {
      proto::Control control;
      control.mutable_connect_request()->set_name(std::to_string(client));
      Say(client, &control);
    }
  }

  void Say(uint32_t client, proto::Control* control) {
    control->set_client(client);
    control->set_sequence(++sequence_[client]);
    controller_->OnControl(context_.directory.client(client),
                           control->SerializeAsString());
  }
  // Returns the program's handle.
  uint64_t Load(uint32_t client) {
    proto::Control control;
    proto::LoadRequest* request = control.mutable_load_request();
    request->set_request(1);
    *request->mutable_plan() =
        KeepPlan(&context_.plans, Prepare(MovePlan("p", 2), topology_,
                                          /*placed=*/true));
    Say(client, &control);
    uint64_t handle = 0;
    for (const Sent& sent : world_.Take()) {
      const auto told = sent.As<proto::Control>();
      if (!told.has_load_program()) continue;
      proto::Control reply;
      reply.mutable_load_reply()->set_host(
          sent.to == context_.directory.executor(0) ? 0 : 1);
      reply.mutable_load_reply()->set_program(told.load_program().program());
      reply.mutable_load_reply()->set_incarnation(
          told.load_program().incarnation());
      controller_->OnControl(sent.to, reply.SerializeAsString());
    }
    for (const Sent& sent : world_.Take()) {
      const auto told = sent.As<proto::Control>();
      if (told.has_answer()) handle = told.answer().program();
    }
    return handle;
  }
  void Launch(uint32_t client, uint64_t launch, uint64_t program,
              uint64_t argument, bool fresh, uint64_t result) {
    proto::Control control;
    proto::LaunchRequest* request = control.mutable_launch_request();
    request->set_launch(launch);
    request->set_program(program);
    request->set_steps(1);
    request->add_arguments()->set_object(argument);
    request->mutable_arguments(0)->set_fresh(fresh);
    request->add_results()->set_object(result);
    for (uint32_t host : {0, 1}) {
      request->mutable_arguments(0)->add_hosts(host);
      if (result > 0) request->mutable_results(0)->add_hosts(host);
    }
    Say(client, &control);
  }

  Topology topology_ = MakeTopology("1x2x1");
  RecordingWorld world_;
  RuntimeContext context_;
  std::unique_ptr<Controller> controller_;
  uint64_t sequence_[2] = {};
};

// Every number there may be of a program or an object, as often as one likes:
// nobody who has them hears of it, and no host is told anything of them.
TEST_F(GuessedHandlesTest, AreRefused) {
  const uint64_t program = Load(kOwner);
  ASSERT_GT(program, 0u);
  Launch(kOwner, 1, program, /*argument=*/7, /*fresh=*/true, /*result=*/8);
  ASSERT_FALSE(world_.Take().empty());

  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto guess = [&](uint64_t wanted) {
    switch (random() % 4) {
      case 0:
        return wanted;
      case 1:
        return ClientId(kOwner, wanted);
      case 2:
        return random() % 64;
      default:
        return random() >> random() % 64;
    }
  };
  uint64_t launch = 0, request = 0, refused = 0;
  for (int i = 0; i < kGuesses; ++i) {
    proto::Control control;
    switch (random() % 4) {
      case 0:
        Launch(kGuesser, ++launch, guess(program), guess(7), /*fresh=*/false,
               guess(8));
        break;
      case 1:
        control.mutable_unload_request()->set_request(++request);
        control.mutable_unload_request()->set_program(guess(program));
        Say(kGuesser, &control);
        break;
      case 2:
        control.mutable_release_request()->add_objects(guess(random() % 2 + 7));
        Say(kGuesser, &control);
        break;
      default: {
        proto::FetchRequest* fetch = control.mutable_fetch_request();
        fetch->set_request(++request);
        fetch->set_object(guess(8));
        fetch->add_sources()->set_host(0);
        Say(kGuesser, &control);
      }
    }
    for (const Sent& sent : world_.Take()) {
      if (sent.kind != Sent::kControl) continue;
      const auto told = sent.As<proto::Control>();
      switch (told.kind_case()) {
        case proto::Control::kAnswer:
          ASSERT_EQ(sent.to, context_.directory.client(kGuesser));
          ASSERT_NE(told.answer().code(), 0) << told.DebugString();
          ++refused;
          break;
        case proto::Control::kLaunchEnded:
          ASSERT_EQ(sent.to, context_.directory.client(kGuesser));
          ASSERT_NE(told.launch_ended().code(), 0) << told.DebugString();
          ++refused;
          break;
        // A host may be asked for what it does not have, by that name alone
        // which is the guesser's own.
        case proto::Control::kFetchBegin:
          ASSERT_EQ(ClientOf(told.fetch_begin().object()), kGuesser)
              << told.DebugString();
          break;
        case proto::Control::kDropObjects:
          for (uint64_t object : told.drop_objects().objects()) {
            ASSERT_EQ(ClientOf(object), kGuesser) << told.DebugString();
          }
          break;
        default:
          FAIL() << told.DebugString();
      }
    }
  }
  EXPECT_GE(refused, launch + 1);

  // All that was the owner's is there.
  Launch(kOwner, 2, program, /*argument=*/9, /*fresh=*/true, /*result=*/0);
  int prepared = 0;
  for (const Sent& sent : world_.Take()) {
    const auto told = sent.As<proto::Control>();
    prepared += told.has_prepare_launch() ? 1 : 0;
  }
  EXPECT_EQ(prepared, 2);
}

}  // namespace
}  // namespace pathways::testing
