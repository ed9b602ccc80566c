//===- gang_builder_test.cc - Builder of a device's gang tables -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/gang_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Makes the tables that gangs need.
class GangBuilderTest : public ::testing::Test {
 protected:
  void Begin(const std::string& topology, proto::Plan plan,
             std::vector<uint32_t> cohorts = {}) {
    t_ = std::make_unique<TestTables>(topology, /*host=*/0, std::move(plan),
                                      std::move(cohorts));
    t_->LayOut();
    t_->AllocateDevices();
    groups_ = MakeGroups(t_->in, t_->devices, &t_->memory);
    t_->AllocateHost();
  }
  GangTables Make(int device) {
    return MakeGangs(t_->in, t_->memory, &groups_, t_->devices[device].get());
  }

  std::unique_ptr<TestTables> t_;
  GroupTables groups_;
};

// Device 1 has shards 1 and 3 of a mesh of two by two.
TEST_F(GangBuilderTest, AKernelHasTheOperandsOfEachShard) {
  Begin("1x1x2",
        ChainBuilder({.slice = {.mesh = {{"x", 2}, {"y", 2}}, .span = 2},
                      .layout = Rows({2})})
            .Feed("u")
            .Run("f", "k", {.cost_ns = 70})
            .Run("g", "k")
            .Fetch("v")
            .Finish());
  const GangTables queue = Make(1);
  ASSERT_THAT(queue.gangs, SizeIs(2));
  EXPECT_EQ(queue.gangs[0].action, 1u);
  EXPECT_EQ(queue.gangs[0].first_entry, t_->devices[1]->first_entry[1]);
  EXPECT_EQ(queue.gangs[0].shards, 2u);
  EXPECT_EQ(queue.gangs[0].cost_ns, 70);
  EXPECT_EQ(queue.gangs[1].need,
            2u);  // the fetch returns a credit for each shard
  EXPECT_EQ(queue.num_shards, 4u);
  // Both gangs have the shards of one slice.
  EXPECT_THAT(t_->devices[1]->coordinates, ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(queue.gangs[0].num_coordinates, 2u);
  EXPECT_EQ(queue.gangs[1].first_coordinate, 0u);
  ASSERT_THAT(queue.steps, SizeIs(2));
  EXPECT_EQ(queue.steps[1].operands, 2u);
  EXPECT_EQ(queue.steps[1].first_slot, 4u);
  EXPECT_EQ(t_->devices[1]->max_operands, 2u);
  const auto& run = t_->plan->plan().actions(2).steps(0).run();
  std::vector<SlotOffset> slots;
  for (int k = 0; k < 2; ++k) {
    for (uint32_t buffer : run.buffers()) {
      slots.push_back(t_->memory.OffsetOf(buffer, /*device=*/1, k));
    }
  }
  ASSERT_THAT(queue.slots, SizeIs(8));
  EXPECT_EQ(std::vector<SlotOffset>(queue.slots.begin() + 4, queue.slots.end()),
            slots);
}

// Two sums over all of four devices.
proto::Plan TwoSums(int64_t numbers) {
  return ChainBuilder({.slice = {.shards = 4}, .layout = Rows({4 * numbers})})
      .Feed("u")
      .Collective("f", proto::ALL_REDUCE)
      .Collective("g", proto::ALL_REDUCE)
      .Fetch("v")
      .Finish();
}

TEST_F(GangBuilderTest, ADeviceIsAMemberOfEachCollective) {
  Begin("1x1x4", TwoSums(2), /*cohorts=*/{0, 1, 0, 0});
  const GangTables queue = Make(3);
  const DeviceProgram& device = *t_->devices[3];
  // Collectives over the same axes have the same members.
  ASSERT_THAT(device.members, SizeIs(1));
  EXPECT_EQ(device.members[0].rank, 3u);
  EXPECT_EQ(device.members[0].own, 2u);  // the third device of its cohort
  ASSERT_THAT(device.groups_in, SizeIs(1));
  EXPECT_EQ(device.groups_in[0].local, 3u);
  EXPECT_EQ(device.groups_in[0].cohort, 0u);
  EXPECT_THAT(device.shards_in, ElementsAre(0));
  ASSERT_THAT(queue.collectives, SizeIs(2));
  EXPECT_EQ(queue.num_meetings, 2u);
  for (uint32_t c = 0; c < 2; ++c) {
    const CollectiveTable& table = queue.collectives[c];
    EXPECT_EQ(table.shape, &groups_.shapes[c]);
    EXPECT_EQ(table.first_group, c);
    EXPECT_EQ(table.first_meeting, c);
    EXPECT_TRUE(table.small);
    EXPECT_FALSE(table.in_place);
    EXPECT_EQ(groups_.groups[c].locals[3].meeting, c);
    EXPECT_EQ(queue.steps[c].collective, static_cast<int32_t>(c));
  }
}

TEST_F(GangBuilderTest, AGroupInPlaceHasTheBuffersOfItsMembers) {
  Begin("1x1x4", TwoSums(4096));
  EXPECT_TRUE(Make(2).collectives[0].in_place);
  const proto::Collective& c =
      t_->plan->plan().actions(1).steps(0).collective();
  const InPlaceGroup& group = *groups_.groups[0].in_place;
  EXPECT_EQ(group.sources[2].base, t_->memory.RefOf(c.source(), 2, 0).base);
  EXPECT_EQ(group.results[2].base, t_->memory.RefOf(c.result(), 2, 0).base);
  EXPECT_NE(group.sources[2].base, nullptr);
  EXPECT_EQ(group.sources[1].base, nullptr);  // device 1 has no tables yet
}

TEST(MarkPlainTest, GangsInARowArePlainUpToTheFirstThatIsNot) {
  DeviceProgram device;
  device.entries.resize(5);
  GangTables queue;
  queue.slots.resize(2);
  for (uint32_t g = 0; g < 5; ++g) {
    Gang gang;
    gang.first_entry = g;
    gang.shards = 1;
    gang.step_begin = g;
    gang.step_end = g + 1;
    queue.gangs.push_back(gang);
    queue.steps.emplace_back().operands = 1;
  }
  device.entries[2].out_end = 1;  // sends a token
  queue.slots[1].credits = 3;     // not a power of two
  queue.steps[4].first_slot = 1;
  MarkPlain(device, &queue);
  std::vector<uint32_t> plain_end;
  std::vector<bool> quiet;
  for (const Gang& gang : queue.gangs) {
    plain_end.push_back(gang.plain_end);
    quiet.push_back(gang.quiet);
  }
  EXPECT_THAT(plain_end, ElementsAre(2, 2, 0, 4, 0));
  EXPECT_THAT(quiet, ElementsAre(true, true, false, true, true));
}

}  // namespace
}  // namespace pathways::testing
