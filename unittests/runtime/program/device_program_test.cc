//===- device_program_test.cc - Tables and counters of one device ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/device_program.h"

#include <gtest/gtest.h>

#include <memory>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

TEST(DeviceProgramTest, TheElementsOfAFiringAreAdjacent) {
  DeviceProgram device;
  device.window = 3;
  device.entries.resize(4);
  device.in_edges.resize(5);
  EXPECT_EQ(device.EntryAt(1, /*firing=*/0), 1u);
  EXPECT_EQ(device.EntryAt(1, /*firing=*/2), 9u);
  EXPECT_EQ(device.EntryAt(1, /*firing=*/3), 1u);
  EXPECT_EQ(device.InEdgeAt(4, /*firing=*/4), 9u);
}

TEST(DeviceProgramTest, CountsPoisonOnce) {
  DeviceProgram device;
  device.poison.assign(4, 0);
  device.MarkPoison(2);
  device.MarkPoison(2);
  device.MarkPoison(3);
  EXPECT_EQ(device.num_poison, 2u);
  device.ClearPoison(2);
  device.ClearPoison(2);
  device.ClearPoison(0);
  EXPECT_EQ(device.num_poison, 1u);
  EXPECT_EQ(device.poison[2], 0);
  EXPECT_EQ(device.poison[3], 1);
}

TEST(DeviceProgramTest, KnowsTheMeetingsAtWhichItHasArrived) {
  DeviceProgram device;
  auto queue = std::make_shared<GangTables>();
  queue->num_meetings = 2;
  device.queue = queue;
  EXPECT_FALSE(device.HasMet(0, 0));
  device.meetings.store(7);  // three firings, and the first meeting of another
  EXPECT_TRUE(device.HasMet(2, 1));
  EXPECT_TRUE(device.HasMet(3, 0));
  EXPECT_FALSE(device.HasMet(3, 1));
}

// A slot counts the tokens of all its firings.
TEST(DeviceProgramTest, TokensOfAFiringExcludeEarlierFirings) {
  TestTables t("1x1x1", 0, MovePlan("p", 1));
  t.LayOut();
  DeviceProgram& device = *t.devices[0];
  ResetCounters(t.in, &device);
  for (uint32_t i = 0; i < device.in_edges.size(); ++i) {
    const InEdge& in = device.in_edges[i];
    const uint32_t tokens = t.plan->edges()[in.edge].tokens;
    ASSERT_LE(tokens, device.window);
    for (uint64_t firing = 0; firing < 6; ++firing) {
      if (firing < tokens) {
        EXPECT_EQ(device.TokensOf(i, firing), in.expected);
        continue;
      }
      EXPECT_EQ(device.TokensOf(i, firing), 0u) << i << " at " << firing;
      device.arrived[device.InEdgeAt(i, firing)] += in.expected;
      EXPECT_EQ(device.TokensOf(i, firing), in.expected) << i;
    }
  }
}

}  // namespace
}  // namespace pathways::testing
