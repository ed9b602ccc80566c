//===- controller_fixture.h - All whom a controller speaks with -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CONTROLLER_CONTROLLER_FIXTURE_H_
#define UNITTESTS_RUNTIME_CONTROLLER_CONTROLLER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/controller/controller.h"
#include "runtime/protocol/client_id.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"
#include "unittests/runtime/binding/plan_test_support.h"

namespace pathways::testing {

// A controller of two hosts on an island, of which this test plays the hosts,
// the island's scheduler and the clients.
class ControllerTest : public ::testing::Test {
 protected:
  static constexpr TimeNs kTimeout = 400'000'000;

  ControllerTest() {
    context_.world = &world_;
    context_.topology = &topology_;
    context_.directory = Directory({0}, {{}, {}});
    ControllerOptions options;
    options.stall_timeout_ns = options.answer_timeout_ns = kTimeout;
    controller_ = std::make_unique<Controller>(&context_, std::move(options));
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
    control.set_restarts(replaced_[host]);
    controller_->OnControl(context_.directory.executor(host),
                           control.SerializeAsString());
  }
  // Returns the messages that were sent, as "KIND to WHOM" with what the test
  // looks at.
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
    proto::Plan plan = MovePlan("p", 2);
    for (proto::Layout& layout : *plan.mutable_layouts()) {
      if (!placed) layout.set_shape(0, 0);
    }
    *control.mutable_load_request()->mutable_plan() =
        KeepPlan(&context_.plans, Prepare(std::move(plan), topology_, placed));
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

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CONTROLLER_CONTROLLER_FIXTURE_H_
