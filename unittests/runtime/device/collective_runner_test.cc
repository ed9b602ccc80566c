//===- collective_runner_test.cc - Collectives of two devices -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/collective_runner.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

class Inbox final : public Actor {
 public:
  std::vector<LocalMessage> got;
  void OnLocal(const LocalMessage& message) override { got.push_back(message); }
};

// A device at the head of whose queue is a collective, without the device.
struct Member {
  Member(RecordingWorld* world, const HostActors* actors, uint32_t index,
         const std::shared_ptr<const GangTables>& tables,
         const HostGroup* groups)
      : cohort(world->kernels().kernel_gate(0)),
        work(std::make_unique<NoBackend>(/*costs=*/false), &head, &counters),
        sender(world, &self, actors, &counters),
        runner(index, &cohort, &queue, &head, &work, &sender, &trace) {
    program.queue = tables;
    program.groups = groups;
    program.members = {{.group = 0, .rank = index, .own = 0}};
    program.groups_in = {{.group = 0,
                          .local = index,
                          .cohort = index,
                          .shards_begin = 0,
                          .shards_end = 1}};
    program.shards_in = {0};
    grant.launch = &launch;
    grant.end = launch.end = 4;
    queue.Push(&program, &grant);
    head.poison.Reserve(1);
  }
  bool Run() {
    return runner.Run(&program, queue.gang(), program.queue->collectives[0],
                      /*firing=*/0);
  }

  Inbox self;
  Cohort cohort;
  DeviceProgram program;
  HostLaunch launch;
  HostGrant grant;
  GrantQueue queue;
  HeadGang head;
  DeviceCounters counters;
  DeviceTrace trace;
  DeviceWork work;
  DeviceSender sender;
  CollectiveRunner runner;
};

// Two devices of two workers, and a collective whose values have no bytes.
class CollectiveRunnerTest : public ::testing::Test {
 protected:
  CollectiveRunnerTest() {
    actors_.executor = world_.Register(&executor_, {}, "executor");
    for (Inbox& device : devices_) {
      actors_.devices.push_back(world_.Register(&device, {}, "device"));
    }
  }
  void Make(bool small) {
    GangTables tables;
    tables.gangs.resize(1);
    tables.gangs[0].step_end = 1;
    tables.steps.resize(1);
    tables.steps[0].collective = 0;
    CollectiveTable table;
    table.shape = &shape_;
    table.member_end = table.group_end = 1;
    table.small = small;
    tables.collectives = {table};
    tables.num_meetings = 1;
    const auto shared = std::make_shared<const GangTables>(std::move(tables));
    for (uint32_t i : {0, 1}) {
      members_.push_back(
          std::make_unique<Member>(&world_, &actors_, i, shared, &group_));
    }
  }
  Member& member(size_t i) { return *members_[i]; }
  // Returns what a device has received.
  std::vector<LocalMessage> Received(size_t device) {
    world_.DeliverAll();
    return std::exchange(devices_[device].got, {});
  }

  RecordingWorld world_;
  HostActors actors_;
  Inbox executor_, devices_[2];
  CollectiveShape shape_;
  HostGroup group_;
  std::vector<std::unique_ptr<Member>> members_;
};

TEST_F(CollectiveRunnerTest, TheLastToArriveNotifiesTheOtherOne) {
  group_.meeting = std::make_unique<GroupMeeting>(
      std::vector<std::vector<uint32_t>>{{0}, {1}});
  Make(/*small=*/false);
  EXPECT_FALSE(member(0).Run());
  EXPECT_FALSE(member(0).Run());
  EXPECT_EQ(member(0).head.waiting_groups, 1u);
  EXPECT_EQ(member(0).program.meetings.load(), 1u);
  EXPECT_TRUE(Received(1).empty());

  member(1).head.poison.Add(0);
  EXPECT_TRUE(member(1).Run());
  EXPECT_EQ(member(1).head.step, 1u);
  const std::vector<LocalMessage> got = Received(0);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kGroupDone);
  EXPECT_EQ(got[0].flags & kPoisoned, kPoisoned);
  EXPECT_EQ(got[0].item, 0u);
  EXPECT_TRUE(Received(1).empty());

  // Another firing, then the one for which the device waits.
  CollectiveRunner& runner = member(0).runner;
  EXPECT_FALSE(runner.GroupDone(member(1).program, 0, /*firing=*/1, false));
  EXPECT_TRUE(runner.GroupDone(member(1).program, 0, /*firing=*/0, true));
  EXPECT_FALSE(runner.GroupDone(member(1).program, 0, /*firing=*/0, true));
  EXPECT_TRUE(member(0).head.poison.Has(0));
  EXPECT_TRUE(member(0).Run());
  EXPECT_EQ(member(0).head.step, 1u);
}

TEST_F(CollectiveRunnerTest, AParkedLeaderOfASmallGroupIsNotified) {
  FlagBarrier barrier({{{0}, {0}}, {{1}, {1}}}, /*bytes=*/4,
                      /*result_bytes=*/0);
  group_.small = &barrier;
  Make(/*small=*/true);
  member(0).head.poison.Add(0);
  EXPECT_FALSE(member(0).Run());
  EXPECT_EQ(member(0).head.waiting_groups, 1u);
  EXPECT_FALSE(barrier.Park(0));

  EXPECT_TRUE(member(1).Run());
  EXPECT_TRUE(member(1).head.poison.Has(0));
  EXPECT_EQ(Received(0).size(), 1u);
  member(0).runner.EndWait();
  EXPECT_TRUE(member(0).Run());
  EXPECT_EQ(member(0).head.step, 1u);
  EXPECT_TRUE(Received(1).empty());
}

TEST_F(CollectiveRunnerTest, ADeviceAloneDoesNotWait) {
  Make(/*small=*/false);
  EXPECT_TRUE(member(0).Run());
  EXPECT_EQ(member(0).head.step, 1u);
  EXPECT_TRUE(Received(1).empty());
}

TEST_F(CollectiveRunnerTest, ARemovedHeadNoLongerWaits) {
  group_.meeting = std::make_unique<GroupMeeting>(
      std::vector<std::vector<uint32_t>>{{0}, {1}});
  Make(/*small=*/false);
  EXPECT_FALSE(member(0).Run());
  member(0).head.Reset();
  member(0).runner.Reset();
  EXPECT_FALSE(
      member(0).runner.GroupDone(member(0).program, 0, /*firing=*/0, false));
}

}  // namespace
}  // namespace pathways::testing
