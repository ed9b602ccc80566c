//===- host_program_collectives_test.cc - Groups of a collective ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// A sum over all of four devices, each of which has so many numbers.
class HostProgramCollectivesTest : public ::testing::Test {
 protected:
  void Build(const std::string& topology, int host, int64_t numbers,
             proto::CollectiveKind kind = proto::ALL_REDUCE,
             std::vector<uint32_t> cohorts = {}) {
    topology_ = std::make_unique<Topology>(MakeTopology(topology));
    proto::Plan plan =
        ChainBuilder({.slice = {.shards = 4}, .layout = Rows({4 * numbers})})
            .Feed("u")
            .Collective("g", kind)
            .Fetch("v")
            .Finish();
    program_ = nullptr;  // before the arenas that it is in
    host_ = std::make_unique<TestHost>(*topology_, host, std::move(cohorts),
                                       uint64_t{64} << 20);
    program_ = host_->MustBuild(Prepare(std::move(plan), *topology_));
    ASSERT_NE(program_, nullptr);
    ASSERT_THAT(program_->groups, SizeIs(1));
  }
  const HostGroup& group() const { return program_->groups[0]; }

  std::unique_ptr<Topology> topology_;
  std::unique_ptr<TestHost> host_;
  std::unique_ptr<HostProgram> program_;
};

TEST_F(HostProgramCollectivesTest, AGroupOfOneHostMeetsThere) {
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

TEST_F(HostProgramCollectivesTest, CohortsMeetForWhatIsSmall) {
  for (proto::CollectiveKind kind : {proto::ALL_REDUCE, proto::ALL_GATHER}) {
    Build("1x1x4", 0, /*numbers=*/4, kind, /*cohorts=*/{0, 1, 0, 0});
    ASSERT_NE(group().small, nullptr);
    const FlagBarrier& meeting = *group().small;
    ASSERT_EQ(meeting.cohorts(), 2u);
    EXPECT_THAT(meeting.devices(0), ElementsAre(0, 2, 3));
    EXPECT_THAT(meeting.devices(1), ElementsAre(1));
    EXPECT_EQ(meeting.memory_bytes(), 0u);
    const auto& devices = program_->devices;
    EXPECT_EQ(devices[2]->members[0].own, 1u);
    EXPECT_EQ(devices[3]->members[0].own, 2u);
    EXPECT_EQ(devices[1]->members[0].own, 0u);
  }
  // Contributions that do not fit the cells are in the host's memory.
  Build("1x1x4", 0, /*numbers=*/5, proto::ALL_REDUCE, /*cohorts=*/{0, 1, 0, 0});
  ASSERT_NE(group().small, nullptr);
  EXPECT_GT(group().small->memory_bytes(), 0u);
  EXPECT_GE(program_->host_memory.bytes(), group().small->memory_bytes());
}

TEST_F(HostProgramCollectivesTest, WhatIsNotSmallIsCopied) {
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

TEST_F(HostProgramCollectivesTest, WhatIsLargeIsAddedUpWhereItLies) {
  Build("1x1x4", 0, /*numbers=*/2048);  // 32 KiB of all four
  EXPECT_NE(group().in_place, nullptr);
  EXPECT_NE(group().in_place->leaving, nullptr);
  EXPECT_FALSE(group().shared);
  EXPECT_EQ(group().slot_bytes, 0u);
  Build("1x1x4", 0, /*numbers=*/2047);
  EXPECT_EQ(group().in_place, nullptr);
}

TEST_F(HostProgramCollectivesTest, AGroupOfTwoHostsExchanges) {
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
TEST_F(HostProgramCollectivesTest, OnlySumsBetweenHostsAreMadeInPlace) {
  Build("1x2x2", 0, /*numbers=*/1 << 14, proto::ALL_TO_ALL);
  EXPECT_NE(group().exchange, nullptr);
  EXPECT_EQ(group().in_place, nullptr);
}

}  // namespace
}  // namespace pathways::testing
