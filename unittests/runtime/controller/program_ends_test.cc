//===- program_ends_test.cc - Ends of programs ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_ends.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProgramEndsTest : public TablesTest {
 protected:
  void Unload(uint32_t client, uint32_t program) {
    proto::UnloadRequest unload;
    unload.set_request(5);
    unload.set_program(programs_.Find(program)->incarnation);
    ends_.Unload(client, unload);
  }
  // Launches the program, whose hosts have all values unless `staging`.
  void Launch(uint32_t program, uint64_t number = 1, bool staging = false) {
    launch_service_.Launch(Request(1, number, program, 2, 3));
    for (uint32_t host : {0, 1}) {
      proto::LaunchReady ready;
      ready.set_host(host);
      ready.set_launch(ClientId(1, number));
      if (!staging) launch_service_.Take(ready);
    }
    Sent();
  }
};

TEST_F(ProgramEndsTest, AProgramWithoutLaunchesIsUnloaded) {
  const uint32_t p = LoadProgram(1);
  Launch(p);
  Unload(1, p);
  std::vector<std::string> sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0],
              HasSubstr("client1 5: program 'p' still has 1 launches"));
  launch_service_.Abort(p, absl::AbortedError("enough"));
  Sent();
  Unload(2, p);  // not the client's
  EXPECT_EQ(Sent().size(), 1u);
  Unload(1, p);
  EXPECT_THAT(Sent(),
              ElementsAre("stop_program to host0", "stop_program to host1"));
}

TEST_F(ProgramEndsTest, AClientThatLeavesEndsItsLaunchesFirst) {
  const uint32_t p = LoadProgram(1);
  Launch(p);
  ends_.Leave(1, programs_.Find(p)->incarnation);
  EXPECT_EQ(launches_.size(), 0u);
  EXPECT_THAT(Sent(), ::testing::IsSupersetOf(
                          {"stop_program to host0", "stop_program to host1",
                           "client1 ended 1: client 'ann' was closed"}));
}

TEST_F(ProgramEndsTest, TheProgramsOfAHostThatIsGoneAreGivenUp) {
  const uint32_t p = LoadProgram(1);
  Launch(p);
  ASSERT_TRUE(epochs_.Down(1, 1));
  ends_.HostGone(1, 1, "host1 is gone (epoch 1)");
  EXPECT_EQ(launches_.size(), 0u);
  EXPECT_EQ(Sent().back(),
            "client1 ended 1: program 'p' cannot go on: host1 is gone (epoch "
            "1) [PW4101]");
  EXPECT_FALSE(programs_.Ready(1, programs_.Find(p)->incarnation).ok());
}

TEST_F(ProgramEndsTest, TheProgramsOfALostWorkerAreGivenUp) {
  const uint32_t p = LoadProgram(1);
  Launch(p);
  proto::WorkerLost lost;
  lost.set_host(1);
  lost.add_devices(1);  // the host has one device
  const absl::Status why = absl::DeadlineExceededError("a kernel hangs");
  EXPECT_FALSE(ends_.WorkerLost(lost, why));
  EXPECT_THAT(Sent(), IsEmpty());
  lost.set_devices(0, 0);
  EXPECT_TRUE(ends_.WorkerLost(lost, why));
  EXPECT_EQ(Sent().back(), "client1 ended 1: a kernel hangs");
  EXPECT_EQ(programs_.admission().AwayDevices().size(), 1u);
}

TEST_F(ProgramEndsTest, ASilentHostEndsWhatItMayHaveMissed) {
  const uint32_t p = LoadProgram(1);
  Launch(p);
  // The host has answered for the launch, so it has received it.
  ends_.HostSilent(0);
  EXPECT_THAT(Sent(), IsEmpty());
  const uint32_t q = LoadProgram(2, "q");
  const uint64_t launch = AddLaunch(2, 1, q);
  SendStore(0, launch, /*asks=*/false);
  Begin(launch);
  ends_.HostSilent(0);
  EXPECT_EQ(Sent().back(),
            "client2 ended 1: a launch did not begin: no answer from host0 "
            "[PW4105]");
  EXPECT_EQ(launches_.size(), 1u);
}

}  // namespace
}  // namespace pathways::testing
