//===- control_check_test.cc - Permitted senders and receivers ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_check.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace pathways {
namespace {

using proto::Control;

class ControlCheckTest : public ::testing::Test {
 protected:
  // Two islands: host 0, and hosts 1 and 2.
  const Directory directory_{{0, 1}, std::vector<HostLocation>(3)};
  const ActorId controller_ = directory_.controller();
  const ActorId client_ = directory_.client(5);

  bool Passes(ActorId from, ActorId to, const Control& control) const {
    Control read;
    const bool passes = Reads(from, to, control.SerializeAsString(), &read);
    EXPECT_EQ(CheckControl(directory_, from, to, control), passes);
    if (passes) {
      EXPECT_EQ(read.SerializeAsString(), control.SerializeAsString());
    }
    return passes;
  }
  bool Reads(ActorId from, ActorId to, std::string_view bytes,
             Control* into) const {
    return ReadControl(directory_, from, to, bytes, into);
  }
  // An empty message of each kind.
  static std::vector<Control> AllKinds() {
    std::vector<Control> all;
    const auto* oneof = Control::descriptor()->FindOneofByName("kind");
    for (int i = 0; i < oneof->field_count(); ++i) {
      Control control;
      control.GetReflection()->MutableMessage(&control, oneof->field(i));
      all.push_back(control);
    }
    return all;
  }
};

// Every kind passes on at least one way, and never on the way back, to another
// role or from nobody.
TEST_F(ControlCheckTest, EachKindHasItsWays) {
  std::set<std::string> ways;
  for (Control control : AllKinds()) {
    const std::string name =
        Control::descriptor()
            ->FindFieldByNumber(static_cast<int>(control.kind_case()))
            ->name();
    int passed = 0;
    for (ActorId from :
         {controller_, directory_.scheduler(0), directory_.executor(0),
          directory_.reporter(0), directory_.client(0)}) {
      for (ActorId to :
           {controller_, directory_.scheduler(0), directory_.executor(0),
            directory_.reporter(0), directory_.client(0)}) {
        control.set_sequence(from == directory_.client(0) &&
                             !control.has_plan_part());
        if (!Passes(from, to, control)) continue;
        ++passed;
        control.set_sequence(to == directory_.client(0));
        EXPECT_FALSE(Passes(to, from, control)) << name;
        EXPECT_NE(directory_.Find(from)->role, directory_.Find(to)->role);
        ways.insert(name + " " + RoleName(directory_.Find(from)->role) + " " +
                    RoleName(directory_.Find(to)->role));
      }
    }
    EXPECT_GE(passed, 1) << name;
    control.set_sequence(0);
    for (ActorId to : {controller_, directory_.scheduler(1),
                       directory_.executor(2), client_}) {
      // A number that is nobody's; and nobody at all.
      EXPECT_FALSE(Passes(directory_.client(0) + kMaxClients, to, control));
      EXPECT_FALSE(Passes(to, kNoActor, control));
    }
  }
  EXPECT_EQ(ways.count("grant scheduler executor"), 1u);
  EXPECT_EQ(ways.count("start controller scheduler"), 1u);
  EXPECT_EQ(ways.count("fetch_begin controller executor"), 1u);
  // Ends of grants go on from a stop, and so do plans, both ways, and words of
  // what takes long; and of who is gone the controller says what that one
  // cannot.
  EXPECT_EQ(ways.count("collected controller client"), 1u);
  EXPECT_EQ(ways.size(), AllKinds().size() + 5);
}

TEST_F(ControlCheckTest, PartsOfPlansHaveNoNumber) {
  Control control;
  control.set_client(5);
  control.mutable_plan_part();
  EXPECT_TRUE(Passes(client_, controller_, control));
  control.set_client(4);
  EXPECT_FALSE(Passes(client_, controller_, control));
  control.set_client(5);
  control.set_sequence(1);
  EXPECT_FALSE(Passes(client_, controller_, control));
}

TEST_F(ControlCheckTest, HostsAskTheirOwnProcessForPlans) {
  std::vector<HostLocation> places(3);
  places[2].process = 1;
  const Directory directory({0, 1}, places);
  Control wanted, arrived;
  wanted.mutable_plan_wanted();
  arrived.mutable_plan_arrived();
  for (uint32_t host : {0u, 1u, 2u}) {
    for (uint32_t process : {0u, 1u}) {
      SCOPED_TRACE("host " + std::to_string(host) + ", process " +
                   std::to_string(process));
      const bool is_own = (host == 2) == (process == 1);
      const ActorId executor = directory.executor(host);
      const ActorId reporter = directory.reporter(process);
      EXPECT_EQ(CheckControl(directory, executor, reporter, wanted), is_own);
      EXPECT_EQ(CheckControl(directory, reporter, executor, arrived), is_own);
    }
  }
}

TEST_F(ControlCheckTest, HostsSpeakForThemselves) {
  Control control;
  control.mutable_launch_ready()->set_host(2);
  EXPECT_TRUE(Passes(directory_.executor(2), controller_, control));
  EXPECT_FALSE(Passes(directory_.executor(1), controller_, control));
  control.mutable_grant_done()->set_sender(1);
  EXPECT_TRUE(Passes(directory_.executor(1), directory_.scheduler(1), control));
  EXPECT_TRUE(Passes(directory_.scheduler(1), controller_, control));
  EXPECT_FALSE(Passes(directory_.scheduler(0), controller_, control));
  EXPECT_FALSE(Passes(directory_.executor(1), controller_, control));
}

TEST_F(ControlCheckTest, SchedulersSpeakForTheirIsland) {
  Control control;
  control.mutable_grant();
  EXPECT_TRUE(Passes(directory_.scheduler(1), directory_.executor(2), control));
  EXPECT_FALSE(
      Passes(directory_.scheduler(1), directory_.executor(0), control));
  control.mutable_grant_done()->set_sender(2);
  EXPECT_FALSE(
      Passes(directory_.executor(2), directory_.scheduler(0), control));
  control.mutable_start()->add_hosts(2);
  EXPECT_TRUE(Passes(controller_, directory_.scheduler(1), control));
  EXPECT_FALSE(Passes(controller_, directory_.scheduler(0), control));
  control.mutable_start()->add_hosts(0);
  EXPECT_FALSE(Passes(controller_, directory_.scheduler(1), control));
}

TEST_F(ControlCheckTest, ClientsSpeakForThemselvesAndNumber) {
  Control control;
  control.mutable_settle_request();
  control.set_client(5);
  control.set_sequence(1);
  EXPECT_TRUE(Passes(client_, controller_, control));
  EXPECT_TRUE(Passes(kNoActor, controller_, control));
  EXPECT_FALSE(Passes(directory_.client(4), controller_, control));
  control.set_sequence(0);
  EXPECT_FALSE(Passes(client_, controller_, control));
  control.mutable_answer();
  EXPECT_TRUE(Passes(controller_, client_, control));
  EXPECT_FALSE(Passes(controller_, directory_.client(4), control));
  control.set_client(kMaxClients);
  EXPECT_FALSE(
      Passes(controller_, directory_.client(0) + kMaxClients, control));
  // Nobody else has such numbers.
  control.Clear();
  control.mutable_load_reply();
  control.set_sequence(1);
  EXPECT_FALSE(Passes(directory_.executor(0), controller_, control));
}

TEST_F(ControlCheckTest, HostsAreOfTheCluster) {
  Control control;
  control.set_client(5);
  control.set_sequence(1);
  control.mutable_launch_request()->add_arguments()->add_hosts(2);
  EXPECT_TRUE(Passes(client_, controller_, control));
  control.mutable_launch_request()->add_results()->add_hosts(3);
  EXPECT_FALSE(Passes(client_, controller_, control));
  control.mutable_launch_request()->clear_results();
  control.mutable_launch_request()->mutable_arguments(0)->add_hosts(3);
  EXPECT_FALSE(Passes(client_, controller_, control));
  control.mutable_launch_request()->clear_arguments();
  control.mutable_fetch_request()->add_sources()->set_host(3);
  EXPECT_FALSE(Passes(client_, controller_, control));
  control.mutable_fetch_request()->mutable_sources(0)->set_host(2);
  EXPECT_TRUE(Passes(client_, controller_, control));
}

// A message with such text is refused, and protobuf logs nothing about it.
TEST_F(ControlCheckTest, TextThatIsNotUtf8) {
  Control control;
  control.mutable_connect_request()->set_name("name");
  std::string bytes = control.SerializeAsString();
  bytes[bytes.find("name")] = '\xff';
  Control read;
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(Reads(client_, controller_, bytes, &read));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(ControlCheckTest, BytesThatAreNoMessage) {
  Control read;
  EXPECT_FALSE(Reads(kNoActor, controller_, "\xff\xff\xff", &read));
  EXPECT_FALSE(Reads(kNoActor, controller_, "", &read));
  constexpr uint64_t kSeed = 3;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    for (ActorId from : {kNoActor, controller_, directory_.executor(1)}) {
      Reads(from, controller_, bytes, &read);
      Reads(from, directory_.executor(0), bytes, &read);
    }
  }
}

}  // namespace
}  // namespace pathways
