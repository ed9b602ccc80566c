//===- group_tables_test.cc - Groups of a collective ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/group_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/base/buffer_bytes.h"
#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// A collective over all of four devices, each of which has so many numbers.
class GroupTablesTest : public ::testing::Test {
 protected:
  void Build(const std::string& topology, int host, int64_t numbers,
             proto::CollectiveKind kind = proto::ALL_REDUCE,
             std::vector<uint32_t> cohorts = {}) {
    t_ = std::make_unique<TestTables>(
        topology, host,
        ChainBuilder({.slice = {.shards = 4}, .layout = Rows({4 * numbers})})
            .Feed("u")
            .Collective("g", kind)
            .Fetch("v")
            .Finish(),
        std::move(cohorts));
    t_->AllocateDevices();
    tables_ = MakeGroups(t_->in, t_->devices, &t_->memory);
    ASSERT_THAT(tables_.groups, SizeIs(1));
  }
  const HostGroup& group() const { return tables_.groups[0]; }

  std::unique_ptr<TestTables> t_;
  GroupTables tables_;
};

TEST_F(GroupTablesTest, AGroupOfOneHostMeetsThere) {
  Build("1x1x4", 0, /*numbers=*/2);
  EXPECT_THAT(group().members, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(group().locals, SizeIs(4));
  EXPECT_NE(group().meeting, nullptr);
  EXPECT_EQ(group().exchange, nullptr);
  EXPECT_EQ(group().num_own(), 4);
  // One sum for all.
  EXPECT_TRUE(group().shared);
  EXPECT_EQ(group().bytes, 2 * sizeof(float));
}

TEST_F(GroupTablesTest, CohortsMeetForWhatIsSmall) {
  for (proto::CollectiveKind kind : {proto::ALL_REDUCE, proto::ALL_GATHER}) {
    Build("1x1x4", 0, /*numbers=*/4, kind, /*cohorts=*/{0, 1, 0, 0});
    ASSERT_NE(group().small, nullptr);
    const FlagBarrier& meeting = *group().small;
    ASSERT_EQ(meeting.cohorts(), 2u);
    EXPECT_THAT(meeting.devices(0), ElementsAre(0, 2, 3));
    EXPECT_THAT(meeting.devices(1), ElementsAre(1));
    EXPECT_EQ(meeting.memory_bytes(), 0u);
  }
  // Contributions that do not fit the cells are in the host's memory.
  Build("1x1x4", 0, /*numbers=*/5, proto::ALL_REDUCE, /*cohorts=*/{0, 1, 0, 0});
  ASSERT_NE(group().small, nullptr);
  EXPECT_GT(group().small->memory_bytes(), 0u);
  EXPECT_EQ(t_->memory.host_bytes(), group().small->memory_bytes());
}

TEST_F(GroupTablesTest, WhatIsNotSmallIsCopied) {
  // 4 KiB of all four are.
  Build("1x1x4", 0, /*numbers=*/256);
  EXPECT_NE(group().small, nullptr);
  Build("1x1x4", 0, /*numbers=*/257);
  EXPECT_EQ(group().small, nullptr);
  EXPECT_EQ(group().in_place, nullptr);
  EXPECT_TRUE(group().shared);
  // Each has a place of its own in a slot.
  EXPECT_THAT(group().at, SizeIs(4));
  EXPECT_GE(group().slot_bytes, 4 * group().bytes);
}

TEST_F(GroupTablesTest, WhatIsLargeIsAddedUpWhereItLies) {
  Build("1x1x4", 0, /*numbers=*/2048);  // 32 KiB of all four
  EXPECT_NE(group().in_place, nullptr);
  EXPECT_NE(group().in_place->leaving, nullptr);
  EXPECT_FALSE(group().shared);
  EXPECT_EQ(group().slot_bytes, 0u);
  Build("1x1x4", 0, /*numbers=*/2047);
  EXPECT_EQ(group().in_place, nullptr);
}

TEST_F(GroupTablesTest, AGroupOfTwoHostsExchanges) {
  for (int host : {0, 1}) {
    Build("1x2x2", host, /*numbers=*/2);
    EXPECT_THAT(group().members, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(group().locals, SizeIs(2));
    EXPECT_EQ(group().num_own(), 2);
    ASSERT_NE(group().exchange, nullptr);
    EXPECT_THAT(group().exchange->plan().ranks,
                ElementsAre(2 * host, 2 * host + 1));
    EXPECT_THAT(group().exchange->plan().receives, SizeIs(1));
    EXPECT_EQ(group().exchange->plan().receives[0].host, 1 - host);
    EXPECT_FALSE(group().shared);
    EXPECT_EQ(group().in_place, nullptr);
  }
  Build("1x2x2", 0, /*numbers=*/4096);
  EXPECT_NE(group().in_place, nullptr);
  EXPECT_NE(group().exchange, nullptr);
}

// The exchange places results that are not sums.
TEST_F(GroupTablesTest, OnlySumsBetweenHostsAreMadeInPlace) {
  Build("1x2x2", 0, /*numbers=*/1 << 14, proto::ALL_TO_ALL);
  EXPECT_NE(group().exchange, nullptr);
  EXPECT_EQ(group().in_place, nullptr);
}

// Two all-reduces over each axis of a mesh of two by two, on one host.
proto::Plan FourCollectives() {
  ChainBuilder b({.slice = {.mesh = {{"x", 2}, {"y", 2}}, .span = 4},
                  .layout = Rows({4})});
  b.Feed("u");
  for (const char* name : {"a", "b", "c", "d"}) {
    b.Collective(name, proto::ALL_REDUCE);
  }
  proto::Plan plan = b.Fetch("v").Finish();
  for (int a = 3; a <= 4; ++a) {
    plan.mutable_actions(a)->mutable_steps(0)->mutable_collective()->set_axes(
        0, "y");
  }
  return plan;
}

TEST_F(GroupTablesTest, GroupsAreFoundByCollectiveAndFirstMember) {
  t_ = std::make_unique<TestTables>("1x1x4", 0, FourCollectives());
  tables_ = MakeGroups(t_->in, t_->devices, &t_->memory);
  ASSERT_THAT(tables_.shapes, SizeIs(4));
  ASSERT_THAT(tables_.groups, SizeIs(8));
  for (uint32_t action = 1; action <= 4; ++action) {
    const GroupTables::Collective& c = tables_.collectives.at({action, 0});
    EXPECT_EQ(c.shape, action - 1);
    EXPECT_EQ(c.first_group, 2 * (action - 1));
  }
  const HostGroup& group = tables_.groups[tables_.group_of.at({3, 0, 2})];
  EXPECT_EQ(group.action, 3u);
  EXPECT_THAT(group.members, ElementsAre(2, 3));
  // Collectives of equal members and sizes share a barrier.
  EXPECT_THAT(tables_.flag_barriers, SizeIs(4));
  EXPECT_EQ(tables_.groups[0].small, tables_.groups[2].small);
  EXPECT_NE(tables_.groups[0].small, tables_.groups[1].small);
  EXPECT_NE(tables_.groups[2].small, tables_.groups[4].small);
}

TEST_F(GroupTablesTest, EachGroupGetsTheMemoryThatItReserved) {
  Build("1x1x4", 0, /*numbers=*/257);  // copied
  EXPECT_THAT(tables_.group_at, ElementsAre(0));
  EXPECT_EQ(t_->memory.host_bytes(),
            2 * group().slot_bytes + 2 * group().result_bytes);
  t_->AllocateHost();
  SetGroupMemory(t_->memory, &tables_);
  EXPECT_EQ(group().data, t_->host_memory.data());

  Build("1x2x2", 0, /*numbers=*/2);  // exchanged
  EXPECT_EQ(t_->memory.host_bytes(),
            2 * AlignBuffer(group().exchange->slot_bytes()));
  t_->AllocateHost();
  SetGroupMemory(t_->memory, &tables_);
  EXPECT_EQ(group().exchange->memory(0), t_->host_memory.data());
  EXPECT_EQ(
      group().exchange->memory(1),
      t_->host_memory.data() + AlignBuffer(group().exchange->slot_bytes()));
}

}  // namespace
}  // namespace pathways::testing
