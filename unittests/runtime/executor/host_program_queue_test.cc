//===- host_program_queue_test.cc - What a queue runs ---------------------===//
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

#include "unittests/runtime/executor/host_program_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Shards 1 and 3 of a mesh of 2 by 2 are on device 1.
TEST(HostProgramQueueTest, AGangRunsAllShardsOfADevice) {
  const Topology topology = MakeTopology("1x1x2");
  PlanBuilder b("p", 2);
  const uint32_t s = b.AddSlice("s", {{"x", 2}, {"y", 2}}, 0, 0, /*span=*/2);
  const uint32_t u = b.AddBuffer("u", s, Rows(2), 2);
  b.AddGang("g", s, {}, {u}, /*cost_ns=*/70);
  b.AddFetch("u", u);
  TestHost host(topology, 0);
  const auto program = host.MustBuild(Prepare(b.Finish(), topology));
  const DeviceProgram& device = *program->devices[1];
  ASSERT_THAT(device.gangs, SizeIs(1));
  const Gang& gang = device.gangs[0];
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
  PlanBuilder b("p", 2);
  const uint32_t s = b.AddSlice("s", {{"x", 2}}, 0);
  const uint32_t u = b.AddBuffer("u", s, Rows(2), 2);
  const uint32_t v = b.AddBuffer("v", s, Rows(2), 2);
  b.AddFeed("u", u);
  const uint32_t g = b.AddGang("g", s, {u}, {v});
  proto::Collective* collective =
      b.plan().mutable_actions(g)->add_steps()->mutable_collective();
  collective->set_kind(proto::ALL_REDUCE);
  collective->set_reduction(proto::ADD);
  collective->add_axes("x");
  collective->set_source(u);
  collective->set_result(v);
  b.AddFetch("v", v);
  proto::Plan plan = b.Finish();
  TestHost host(topology, 0);
  const auto program = host.MustBuild(Prepare(std::move(plan), topology));
  ASSERT_THAT(program->groups, SizeIs(1));
  EXPECT_THAT(program->groups[0].members, ElementsAre(0, 1));
  for (const auto& device : program->devices) {
    ASSERT_THAT(device->steps, SizeIs(1));
    EXPECT_EQ(device->steps[0].collective, 0);
    EXPECT_EQ(device->gangs[0].step_begin, 0u);
    EXPECT_EQ(device->gangs[0].step_end, 1u);
  }
}

}  // namespace
}  // namespace pathways::testing
