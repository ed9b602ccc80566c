//===- island_scheduler_test.cc - Grants in the order of tickets ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/island_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/world/testing/recording_world.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RecordingWorld;
using testing::Sent;

class IslandSchedulerTest : public ::testing::Test {
 protected:
  void Start(uint64_t ticket, uint64_t previous, std::vector<uint32_t> hosts,
             bool skip = false, std::vector<uint32_t> replaced = {}) {
    proto::Control control;
    control.mutable_start()->mutable_restarts()->Assign(replaced.begin(),
                                                        replaced.end());
    control.mutable_start()->set_launch(100 + ticket);
    control.mutable_start()->set_ticket(ticket);
    control.mutable_start()->set_previous_ticket(previous);
    control.mutable_start()->set_skip(skip);
    for (uint32_t host : hosts) {
      control.mutable_start()->add_hosts(host);
      control.mutable_start()->add_stores(1'000'000 * host + ticket);
    }
    scheduler_.OnControl(directory_.controller(), control.SerializeAsString());
  }
  // `position`: of the grant, in the island's order.
  void Done(uint64_t ticket, uint64_t position, uint32_t host,
            uint64_t failed_firing = 0, uint32_t replaced = 0) {
    proto::Control control;
    control.set_restarts(replaced);
    control.mutable_grant_done()->set_launch(100 + ticket);
    control.mutable_grant_done()->set_number(position);
    control.mutable_grant_done()->set_sender(host);
    if (failed_firing != 0) {
      control.mutable_grant_done()->mutable_failure()->set_firing(
          failed_firing);
    }
    scheduler_.OnControl(directory_.executor(host),
                         control.SerializeAsString());
  }
  // (host, launch, previous position) of the grants since the last call.
  std::vector<std::string> Grants() {
    std::vector<std::string> grants;
    for (const Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      if (!control.has_grant()) continue;
      // Each host's own.
      EXPECT_EQ(control.grant().store() % 1'000'000 + 100,
                control.grant().launch());
      EXPECT_EQ(control.grant().store() / 1'000'000,
                directory_.HostOfExecutor(one.to));
      grants.push_back(std::to_string(directory_.HostOfExecutor(one.to)) + ":" +
                       std::to_string(control.grant().launch()) + " after " +
                       std::to_string(control.grant().previous_position()) +
                       (control.restarts() == 0
                            ? ""
                            : " in " + std::to_string(control.restarts() + 1)) +
                       (control.grant().skip() ? " skip" : ""));
    }
    return grants;
  }

  RecordingWorld world_;
  // One island of two hosts.
  const Directory directory_{{0}, std::vector<HostLocation>(2)};
  ControlPool controls_;
  IslandScheduler scheduler_{&world_, &directory_, &controls_, 0,
                             /*ticket_order=*/true};
};

TEST_F(IslandSchedulerTest, WaitsForTheTicketBefore) {
  Start(7, 4, {0, 1});
  EXPECT_THAT(Grants(), IsEmpty());
  Start(9, 7, {1});
  Start(4, 0, {0});
  EXPECT_THAT(Grants(), ElementsAre("0:104 after 0", "0:107 after 1",
                                    "1:107 after 0", "1:109 after 2"));
  Start(4, 0, {0});  // a second copy
  Start(9, 7, {1});
  EXPECT_THAT(Grants(), IsEmpty());
}

TEST_F(IslandSchedulerTest, SkippedTicketsHoldNobodyUp) {
  Start(2, 1, {0});
  Start(1, 0, {0}, /*skip=*/true);
  EXPECT_THAT(Grants(), ElementsAre("0:102 after 0"));
  // After it was granted: the hosts may not have got the grant.
  Start(2, 1, {0}, /*skip=*/true);
  EXPECT_THAT(Grants(), ElementsAre("0:102 after 0 skip"));
  Start(2, 1, {0}, /*skip=*/true);
  EXPECT_THAT(Grants(), IsEmpty());
}

// The tickets alone tell which epoch of the host is meant.
TEST_F(IslandSchedulerTest, AHostThatWasReplacedCountsAnew) {
  Start(1, 0, {0, 1});
  Start(2, 1, {0, 1});
  EXPECT_THAT(Grants(), ElementsAre("0:101 after 0", "1:101 after 0",
                                    "0:102 after 1", "1:102 after 1"));
  Start(4, 3, {0, 1}, /*skip=*/false, /*replaced=*/{0, 1});
  EXPECT_THAT(Grants(), IsEmpty());
  Start(3, 2, {0, 1});  // from before, and only late
  EXPECT_THAT(Grants(), ElementsAre("0:103 after 2", "1:103 after 2",
                                    "0:104 after 3", "1:104 after 0 in 2"));
  Start(5, 4, {1}, /*skip=*/false, /*replaced=*/{1});
  EXPECT_THAT(Grants(), ElementsAre("1:105 after 4 in 2"));
  // A life that is over says nothing of grants of the next one.
  Done(5, 5, 1);
  EXPECT_THAT(world_.Take(), IsEmpty());
  Done(5, 5, 1, /*failed_firing=*/0, /*replaced=*/1);
  EXPECT_THAT(world_.Take(), ::testing::SizeIs(1));
  // To skip what a life was granted that is over is for that life.
  Start(1, 0, {0, 1}, /*skip=*/true);
  EXPECT_THAT(Grants(),
              ElementsAre("0:101 after 0 skip", "1:101 after 0 skip"));
}

TEST_F(IslandSchedulerTest, EndsOnceWithTheFirstFailure) {
  Start(1, 0, {0, 1});
  Grants();
  Done(1, 1, 0, 8);
  Done(1, 1, 0, 2);  // a second copy counts for nothing
  EXPECT_THAT(world_.sent, IsEmpty());
  Done(1, 1, 1, 5);
  ASSERT_EQ(world_.sent.size(), 1u);
  EXPECT_EQ(world_.sent[0].to, directory_.controller());
  const auto control = world_.sent[0].As<proto::Control>();
  EXPECT_EQ(control.grant_done().launch(), 101u);
  EXPECT_EQ(control.grant_done().number(), 1u);  // the ticket
  EXPECT_EQ(control.grant_done().failure().firing(), 5u);
  Done(1, 1, 1, 5);
  EXPECT_EQ(world_.sent.size(), 1u);
}

// A launch of many short steps whose host is lost does this. The cost of each
// grant must not grow with their number.
TEST_F(IslandSchedulerTest, ManyAreGivenUpOrEndInAnyOrder) {
  constexpr uint64_t kMany = 100'000;
  for (uint64_t i = 1; i <= kMany; ++i) Start(i, i - 1, {0});
  EXPECT_EQ(Grants().size(), kMany);
  // Some in the midst end first.
  for (uint64_t i = 5; i <= 50; i += 5) Done(i, i, 0);
  EXPECT_EQ(world_.Take().size(), 10u);
  for (uint64_t i = 1; i <= kMany; ++i) {
    Start(i, i - 1, {0}, /*skip=*/true);
    // A grant that has ended is not given up any more.
    const size_t sent = i <= 50 && i % 5 == 0 ? 0 : 1;
    ASSERT_EQ(world_.Take().size(), sent) << i;
  }
  Done(kMany, kMany, 0);
  EXPECT_THAT(world_.Take(), IsEmpty());
  Start(kMany + 1, kMany, {0});
  EXPECT_EQ(Grants().size(), 1u);
  Done(kMany + 1, kMany + 1, 0);
  EXPECT_EQ(world_.Take().size(), 1u);
}

TEST_F(IslandSchedulerTest, IgnoresWhatIsNotAMessage) {
  scheduler_.OnControl(directory_.controller(), "\xff\xff\xff");
  EXPECT_THAT(world_.sent, IsEmpty());
}

}  // namespace
}  // namespace pathways
