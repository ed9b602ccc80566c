//===- entry_tables_test.cc - Entries and in-edges of devices -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/entry_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

TEST(EdgeBasesTest, HasNoInEdgesUntilTheyAreSet) {
  EdgeBases bases(/*edges=*/2, /*devices=*/3);
  EXPECT_EQ(bases.At(1, 2), kNoEntry);
  bases.Set(1, 2, 7);
  bases.Set(0, 2, 5);
  EXPECT_EQ(bases.At(1, 2), 7u);
  EXPECT_EQ(bases.At(0, 2), 5u);
  EXPECT_EQ(bases.At(1, 1), kNoEntry);
  EXPECT_EQ(bases.At(1, 0), kNoEntry);
}

TEST(MakeDevicesTest, EachDeviceHasItsShards) {
  // Devices 1 and 2 of four; the first has two of the three shards.
  const TestTables t(
      "1x1x4", /*host=*/0,
      ChainBuilder({.slice = {.shards = 3, .base = 1, .span = 2}})
          .Feed("u")
          .Fetch("v")
          .Finish());
  ASSERT_EQ(t.devices.size(), 4u);
  EXPECT_EQ(t.devices[0], nullptr);
  EXPECT_EQ(t.devices[3], nullptr);
  EXPECT_THAT(t.devices[1]->shards, ElementsAre(ElementsAre(0, 2)));
  EXPECT_THAT(t.devices[2]->shards, ElementsAre(ElementsAre(1)));
  EXPECT_EQ(t.devices[1]->program, 4u);
  EXPECT_EQ(t.devices[1]->incarnation, 9u);
  EXPECT_EQ(t.devices[2]->device, 2u);
  EXPECT_EQ(t.devices[2]->window, 2u);
  EXPECT_EQ(t.devices[2]->plan, t.plan.get());
}

TEST(TableBytesTest, GrowsWithShardsAndIfTheHostPrepares) {
  TestTables one("1x1x1", 0, MovePlan("p", 1));
  TestTables two("1x1x2", 0, MovePlan("p", 2));
  const uint64_t bytes = TableBytes(one.in, one.devices);
  EXPECT_GT(bytes, 6 * sizeof(Entry));
  EXPECT_EQ(TableBytes(two.in, two.devices), 2 * bytes);
  one.dispatch.sequential = true;
  EXPECT_GE(TableBytes(one.in, one.devices),
            bytes + 6 * (sizeof(OutToken) + sizeof(DispatchTable::Item)));
}

TEST(LayOutEntriesTest, EntriesOfAnActionAreAdjacentAndNeedTheirTokens) {
  TestTables t("1x1x1", 0, MovePlan("p", /*size=*/1));
  t.LayOut();
  const DeviceProgram& device = *t.devices[0];
  EXPECT_THAT(device.entries, ElementsAre(Field(&Entry::kind, proto::FEED),
                                          Field(&Entry::kind, proto::GANG),
                                          Field(&Entry::kind, proto::SEND),
                                          Field(&Entry::kind, proto::RECV),
                                          Field(&Entry::kind, proto::GANG),
                                          Field(&Entry::kind, proto::FETCH)));
  EXPECT_THAT(device.move_entries, ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(device.first_entry, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(device.entries[1].queued);
  EXPECT_FALSE(device.entries[2].queued);
  EXPECT_EQ(device.max_shards, 1u);
  std::vector<uint32_t> need(device.entries.size());
  for (uint32_t i = 0; i < device.in_edges.size(); ++i) {
    const InEdge& in_edge = device.in_edges[i];
    need[in_edge.entry] += in_edge.expected;
    EXPECT_TRUE(t.bases.At(in_edge.edge, 0) == i ||
                t.self_bases.At(in_edge.edge, 0) == i);
  }
  for (uint32_t i = 0; i < need.size(); ++i) {
    EXPECT_EQ(device.entries[i].need, need[i]) << i;
  }
  EXPECT_GT(need[2], 0u);  // the send waits for the gang
}

// Device 1 of the destination has only padding.
TEST(LayOutEntriesTest, ARecvWithoutPiecesSendsCreditsToItself) {
  TestTables t("2x1x2", /*host=*/1,
               MovePlan("p", 2, /*from=*/0, /*to=*/1, 0, /*elements=*/1));
  t.LayOut();
  int own = 0;
  for (uint32_t e = 0; e < t.plan->edges().size(); ++e) {
    for (uint32_t d = 0; d < 2; ++d) {
      const uint32_t at = t.self_bases.At(e, d);
      if (at == kNoEntry) continue;
      ++own;
      EXPECT_EQ(t.devices[d]->in_edges[at].expected, d) << e;
    }
  }
  EXPECT_GT(own, 0);
}

TEST(ResetCountersTest, FiringsBelowTheTokensOfAnEdgeDoNotWaitForIt) {
  TestTables t("1x1x1", 0, MovePlan("p", 1));
  t.LayOut();
  DeviceProgram& device = *t.devices[0];
  ResetCounters(t.in, &device);
  ASSERT_EQ(device.counts.size(), 2 * device.entries.size());
  EXPECT_EQ(device.arrived.size(), 2 * device.in_edges.size());
  EXPECT_EQ(device.poison.size(), 2 * device.entries.size());
  for (uint64_t n = 0; n < 2; ++n) {
    std::vector<uint32_t> missing(device.entries.size());
    for (const InEdge& in_edge : device.in_edges) {
      if (t.plan->edges()[in_edge.edge].tokens <= n) {
        missing[in_edge.entry] += in_edge.expected;
      }
    }
    for (uint32_t i = 0; i < missing.size(); ++i) {
      EXPECT_EQ(device.counts[device.EntryAt(i, n)], missing[i]) << i;
    }
  }
  // Every entry also waits for the host if it prepares.
  const uint32_t before = device.counts[0];
  t.dispatch.host_work_ns = 5;
  ResetCounters(t.in, &device);
  EXPECT_EQ(device.counts[0], before + 1);
}

}  // namespace
}  // namespace pathways::testing
