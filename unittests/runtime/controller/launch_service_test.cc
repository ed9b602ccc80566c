//===- launch_service_test.cc - Launches of clients on hosts --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_service.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LaunchServiceTest : public TablesTest {
 protected:
  std::optional<uint32_t> Ready(uint32_t host, uint64_t number,
                                absl::Status status = absl::OkStatus()) {
    proto::LaunchReady ready;
    ready.set_host(host);
    ready.set_launch(ClientId(1, number));
    ready.set_code(static_cast<int>(status.code()));
    ready.set_message(std::string(status.message()));
    return launch_service_.Take(ready);
  }
  // The only grant of the launch is over on the island.
  void Done(uint32_t program, uint64_t number) {
    proto::GrantDone done;
    done.set_launch(ClientId(1, number));
    done.set_number(grants_.FindLaunch(ClientId(1, number))->tickets.back());
    done.set_incarnation(programs_.Find(program)->incarnation);
    done.set_over(true);
    launch_service_.Take(done);
  }
};

TEST_F(LaunchServiceTest, ALaunchGoesFromItsHostsToTheEnd) {
  const uint32_t p = LoadProgram(1);
  launch_service_.Launch(Request(1, 1, p, 2, 3));
  EXPECT_THAT(Sent(), ElementsAre("prepare_launch to host0",
                                  "prepare_launch to host1"));
  launch_service_.Launch(Request(1, 1, p, 2, 3));  // a duplicate
  EXPECT_FALSE(Ready(0, 1).has_value());
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_FALSE(Ready(1, 1).has_value());
  EXPECT_THAT(Sent(), ElementsAre("start to scheduler"));
  EXPECT_EQ(launch_service_.steps_done(), 0u);
  Done(p, 1);
  // Hosts drop what nobody refers to before the client is notified.
  EXPECT_THAT(Sent(),
              ElementsAre("drop_objects to host0", "drop_objects to host1",
                          "client1 ended 1: "));
  EXPECT_EQ(launch_service_.steps_done(), 1u);
  EXPECT_EQ(launches_.size(), 0u);
}

TEST_F(LaunchServiceTest, ALaunchWaitsForTheOneThatFillsItsArgument) {
  const uint32_t p = LoadProgram(1);
  launch_service_.Launch(Request(1, 1, p, 2, 3));
  launch_service_.Launch(Request(1, 2, p, 3, 4, /*fresh=*/false));
  Sent();
  for (uint32_t host : {0, 1}) Ready(host, 2);
  EXPECT_THAT(Sent(), IsEmpty());
  for (uint32_t host : {0, 1}) Ready(host, 1);
  EXPECT_THAT(Sent(), ElementsAre("start to scheduler", "start to scheduler"));
}

TEST_F(LaunchServiceTest, ARefusedLaunchEndsAtOnce) {
  const uint32_t p = LoadProgram(1);
  proto::LaunchRequest request = Request(1, 1, p, 2, 3);
  request.clear_results();
  launch_service_.Launch(request);
  EXPECT_THAT(Sent(), ElementsAre("client1 ended 1: a launch of program 'p' "
                                  "has 0 results, expected 1"));
}

TEST_F(LaunchServiceTest, AHostThatRefusesTooLateEndsTheProgram) {
  const uint32_t p = LoadProgram(1);
  launch_service_.Launch(Request(1, 1, p, 2, 3));
  for (uint32_t host : {0, 1}) Ready(host, 1);
  Sent();
  const absl::Status why = absl::ResourceExhaustedError("no room");
  EXPECT_EQ(Ready(1, 1, why), p);
  EXPECT_THAT(Sent(), IsEmpty());
  launch_service_.Abort(p, why);
  // The open grant is skipped, so that it delays no other launch.
  EXPECT_THAT(Sent(),
              ElementsAre("start to scheduler", "drop_objects to host0",
                          "drop_objects to host1", "client1 ended 1: no room"));
}

TEST_F(LaunchServiceTest, ACancelledLaunchThatHasNotBegunEnds) {
  launch_service_.Launch(Request(1, 1, LoadProgram(1), 2, 3));
  Sent();
  proto::CancelRequest cancel;
  cancel.set_launch(ClientId(1, 1));
  launch_service_.Cancel(1, cancel);
  EXPECT_EQ(Sent().back(),
            "client1 ended 1: a launch of program 'p' was cancelled by client "
            "'ann' [PW6104]");
  launch_service_.Cancel(1, cancel);
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(LaunchServiceTest, AHostThatIsSilentEndsTheLaunchesThatWaitForIt) {
  launch_service_.Launch(Request(1, 1, LoadProgram(1), 2, 3));
  Ready(0, 1);
  Sent();
  launch_service_.Unanswered(0, absl::DeadlineExceededError("host0 is silent"));
  EXPECT_THAT(Sent(), IsEmpty());
  launch_service_.Unanswered(1, absl::DeadlineExceededError("host1 is silent"));
  EXPECT_EQ(Sent().back(), "client1 ended 1: host1 is silent");
}

TEST_F(LaunchServiceTest, LaunchesInheritThePriorityOfTheirProgram) {
  const uint32_t p = LoadProgram(1), q = LoadProgram(2, "q");
  launch_service_.Launch(Request(1, 1, p, 2, 3));
  launch_service_.Launch(Request(2, 1, q, 2, 3));
  launch_service_.Inherit(
      [](const ProgramTable::Program& program) -> std::optional<int32_t> {
        if (program.owner == 1) return 9;
        return std::nullopt;
      });
  EXPECT_EQ(launches_.Find(ClientId(1, 1))->claim.priority, 9);
  EXPECT_EQ(launches_.Find(ClientId(2, 1))->claim.priority, 0);
}

}  // namespace
}  // namespace pathways::testing
