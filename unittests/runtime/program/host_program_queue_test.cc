//===- host_program_queue_test.cc - Entries of a device's queue -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Shards 1 and 3 of a mesh of 2 by 2 are on device 1.
TEST(HostProgramQueueTest, AGangRunsAllShardsOfADevice) {
  const Topology topology = MakeTopology("1x1x2");
  TestHost host(topology, 0);
  const auto program = host.MustBuild(
      Prepare(ChainBuilder({.slice = {.mesh = {{"x", 2}, {"y", 2}}, .span = 2},
                            .layout = Rows({2})})
                  .Gang("g", {.cost_ns = 70})
                  .Fetch("u")
                  .Finish(),
              topology));
  const DeviceProgram& device = *program->devices[1];
  ASSERT_THAT(device.queue->gangs, SizeIs(1));
  const Gang& gang = device.queue->gangs[0];
  EXPECT_EQ(gang.shards, 2u);
  EXPECT_EQ(gang.cost_ns, 70);
  EXPECT_EQ(device.entries[gang.first_entry].shard, 1u);
  EXPECT_EQ(device.entries[gang.first_entry + 1].shard, 3u);
  EXPECT_EQ(gang.num_coordinates, 2u);
  EXPECT_THAT(device.coordinates, ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(device.max_shards, 2u);
}

TEST(HostProgramQueueTest, ACollectiveMeetsWithTheOtherDevices) {
  const Topology topology = MakeTopology("1x1x2");
  proto::Plan plan = AllReducePlan({});
  TestHost host(topology, 0);
  const auto program = host.MustBuild(Prepare(std::move(plan), topology));
  ASSERT_THAT(program->groups, SizeIs(1));
  EXPECT_THAT(program->groups[0].members, ElementsAre(0, 1));
  for (const auto& device : program->devices) {
    ASSERT_THAT(device->queue->steps, SizeIs(1));
    EXPECT_EQ(device->queue->steps[0].collective, 0);
    EXPECT_EQ(device->queue->gangs[0].step_begin, 0u);
    EXPECT_EQ(device->queue->gangs[0].step_end, 1u);
  }
}

// Two all-reduces of a slice, one after the other.
proto::Plan TwoCollectives(layout::Mesh mesh, int64_t span) {
  int64_t rows = 1;
  for (const auto& axis : mesh) rows *= axis.size;
  return ChainBuilder({.slice = {.mesh = std::move(mesh), .span = span},
                       .layout = Rows({rows})})
      .Feed("v")
      .Collective("b1", proto::ALL_REDUCE)
      .Collective("b2", proto::ALL_REDUCE)
      .Fetch("v")
      .Finish();
}

TEST(HostProgramQueueTest, DevicesThatDoTheSameShareIt) {
  const Topology topology = MakeTopology("1x1x4");
  TestHost host(topology, 0);
  const auto program = host.MustBuild(
      Prepare(TwoCollectives({{"x", 2}, {"y", 2}}, /*span=*/4), topology));
  const GangTables& queue = *program->devices[0]->queue;
  EXPECT_THAT(queue.gangs, SizeIs(2));
  EXPECT_THAT(queue.collectives, SizeIs(2));
  for (const auto& device : program->devices) {
    EXPECT_EQ(device->queue.get(), &queue);
    // Both collectives are over the same axes.
    ASSERT_THAT(device->members, SizeIs(1));
    ASSERT_THAT(device->groups_in, SizeIs(1));
    const CollectiveMember& member = device->members[0];
    for (const CollectiveTable& table : queue.collectives) {
      const HostGroup& group =
          program->groups[table.first_group + member.group];
      EXPECT_EQ(group.members[member.rank], device->shards[0][0]);
      EXPECT_NE(group.small, nullptr);
      EXPECT_EQ(group.locals[device->groups_in[0].local].device,
                device->device);
    }
  }
  // The collectives of both use one barrier.
  ASSERT_THAT(program->groups, SizeIs(4));
  EXPECT_EQ(program->groups[0].small, program->groups[2].small);
  EXPECT_EQ(program->groups[1].small, program->groups[3].small);
  EXPECT_NE(program->groups[0].small, program->groups[1].small);
  EXPECT_EQ(program->devices[0]->members[0].group,
            program->devices[2]->members[0].group);
  EXPECT_NE(program->devices[0]->members[0].group,
            program->devices[1]->members[0].group);
}

// Device 0 has two of the five shards.
TEST(HostProgramQueueTest, DevicesWithMoreShardsDoSomethingElse) {
  const Topology topology = MakeTopology("1x1x4");
  TestHost host(topology, 0);
  const auto program =
      host.MustBuild(Prepare(TwoCollectives({{"x", 5}}, /*span=*/4), topology));
  const auto& devices = program->devices;
  EXPECT_EQ(devices[0]->queue->gangs[0].shards, 2u);
  EXPECT_EQ(devices[1]->queue->gangs[0].shards, 1u);
  EXPECT_NE(devices[0]->queue, devices[1]->queue);
  // A device that has two members of a group makes it one that is not small.
  EXPECT_FALSE(devices[1]->queue->collectives[0].small);
  EXPECT_FALSE(devices[0]->queue->collectives[0].small);
  EXPECT_TRUE(program->groups[0].shared);
  EXPECT_EQ(program->groups[0].small, nullptr);
  EXPECT_EQ(devices[1]->queue, devices[3]->queue);
}

TEST(HostProgramQueueTest, TheMeetingsOfADeviceAreNumbered) {
  const Topology topology = MakeTopology("1x1x2");
  TestHost host(topology, 0);
  const auto program =
      host.MustBuild(Prepare(TwoCollectives({{"x", 2}}, /*span=*/2), topology));
  const DeviceProgram& device = *program->devices[1];
  EXPECT_EQ(device.queue->num_meetings, 2u);
  EXPECT_EQ(program->groups[0].locals[1].meeting, 0u);
  EXPECT_EQ(program->groups[1].locals[1].meeting, 1u);
}

}  // namespace
}  // namespace pathways::testing
