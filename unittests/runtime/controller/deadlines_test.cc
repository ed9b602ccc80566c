//===- deadlines_test.cc - Missing answers, and deadlines -----------------===//
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
                          "from host1 [PW4105]"));
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
  EXPECT_THAT(
      prepares(kTimeout / 4),
      ::testing::Contains(HasSubstr("client1 ended 1: a launch did not "
                                    "begin: no answer from host1 [PW4105]")));
}

// Hosts may be in a kernel of what was given up; when they have stopped that,
// they answer in time or do not answer.
TEST_F(ControllerTest, HostsInAKernelOfAProgramGivenUpAreNotSilent) {
  world_.is_simulated = false;
  const uint64_t gone = LoadAll(1), other = LoadAll(2);
  Launch(1, 1, gone);
  for (uint32_t host : {0, 1}) Ready(host, 1, 1);
  EXPECT_THAT(Sent(), ::testing::Contains("start 1 of 1"));
  proto::Control leave;
  leave.mutable_disconnect_request()->set_request(2);
  FromClient(1, leave);
  EXPECT_THAT(Sent(), ::testing::Contains("stop to host0"));

  Launch(2, 1, other);
  Ready(0, 2, 1);
  auto ended = [&](TimeNs duration) {
    std::vector<std::string> texts = Advance(duration);
    std::erase_if(texts, [](const std::string& text) {
      return text.find("client2 ended") != 0;
    });
    return texts;
  };
  EXPECT_THAT(ended(5 * kTimeout), IsEmpty());
  for (uint32_t host : {0, 1}) {
    proto::Control stopped;
    stopped.mutable_stop_reply()->set_host(host);
    stopped.mutable_stop_reply()->set_program(static_cast<uint32_t>(gone - 1));
    stopped.mutable_stop_reply()->set_incarnation(static_cast<uint32_t>(gone));
    FromHost(host, stopped);
  }
  EXPECT_THAT(ended(kTimeout / 2), IsEmpty());
  EXPECT_THAT(ended(2 * kTimeout),
              ElementsAre("client2 ended 1: a launch did not begin: no answer "
                          "from host1 [PW4105]"));
}

// One that had not begun what was given up is in no kernel of it.
TEST_F(ControllerTest, AHostThatHeardNothingOfAProgramGivenUpIsSilent) {
  world_.is_simulated = false;
  const uint64_t gone = LoadAll(1, /*placed=*/false), other = LoadAll(2);
  Launch(1, 1, gone, /*fresh=*/false);
  Stored(0, 1);
  proto::Control leave;
  leave.mutable_disconnect_request()->set_request(2);
  FromClient(1, leave);
  EXPECT_THAT(Sent(), ::testing::Contains("stop to host1"));
  Launch(2, 1, other);
  Ready(0, 2, 1);
  EXPECT_THAT(Advance(2 * kTimeout),
              ::testing::Contains("client2 ended 1: a launch did not begin: no "
                                  "answer from host1 [PW4105]"));
}

// The load was given up, so no request waits for the end of its program.
TEST_F(ControllerTest, ADrainEndsWithAProgramThatWasGivenUp) {
  const uint64_t gone = Load(1);
  EXPECT_THAT(Advance(2 * kTimeout), ::testing::Contains("stop to host0"));
  proto::Control drain;
  drain.mutable_drain_request()->set_request(5);
  drain.mutable_drain_request()->add_devices(0);
  FromClient(2, drain);
  EXPECT_THAT(Sent(), ::testing::Not(::testing::Contains("client2 5: ")));
  for (uint32_t host : {0, 1}) {
    proto::Control stopped;
    stopped.mutable_stop_reply()->set_host(host);
    stopped.mutable_stop_reply()->set_program(static_cast<uint32_t>(gone - 1));
    stopped.mutable_stop_reply()->set_incarnation(static_cast<uint32_t>(gone));
    FromHost(host, stopped);
  }
  EXPECT_THAT(Sent(), ::testing::Contains("free to host0"));
  for (uint32_t host : {0, 1}) {
    proto::Control freed;
    freed.mutable_free_reply()->set_host(host);
    freed.mutable_free_reply()->set_program(static_cast<uint32_t>(gone - 1));
    freed.mutable_free_reply()->set_incarnation(static_cast<uint32_t>(gone));
    FromHost(host, freed);
  }
  EXPECT_THAT(Sent(), ::testing::Contains("client2 5: "));
}

}  // namespace
}  // namespace pathways::testing
