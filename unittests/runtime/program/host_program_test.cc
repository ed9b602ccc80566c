//===- host_program_test.cc - The tables of one host ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/host_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(HostProgramTest, HasItsOwnShardsAlone) {
  const Topology topology = MakeTopology("1x2x2");
  TestHost host(topology, /*host=*/1);
  auto built = host.Build(Prepare(MovePlan("p", 3), topology));
  ASSERT_TRUE(built.ok()) << built.status();
  const HostProgram& program = **built;
  ASSERT_THAT(program.devices, SizeIs(2));
  ASSERT_NE(program.devices[0], nullptr);
  EXPECT_EQ(program.devices[1], nullptr);  // no shard
  EXPECT_EQ(program.num_own_shards, 2u);   // one of each slice
  EXPECT_EQ(program.num_entries, 6u);
  EXPECT_EQ(program.num_queue_entries, 2u);
  EXPECT_THAT(program.argument_bytes, ElementsAre(4));
  EXPECT_THAT(program.result_bytes, ElementsAre(4));
  const DeviceProgram& device = *program.devices[0];
  EXPECT_EQ(device.program, 4u);
  EXPECT_EQ(device.incarnation, 9u);
  EXPECT_EQ(device.window, 2u);
  for (const Entry& entry : device.entries) EXPECT_EQ(entry.shard, 2u);
  EXPECT_EQ(device.LocalIndex(/*slice=*/0, 2), 0u);
}

TEST(HostProgramTest, TheQueueHasGangsInTheOrderOfThePlan) {
  const Topology topology = MakeTopology("1x1x1");
  const auto plan = Prepare(MovePlan("p", 1), topology);
  TestHost host(topology, 0);
  auto built = host.Build(plan);
  ASSERT_TRUE(built.ok()) << built.status();
  std::vector<std::string> names;
  for (const Gang& gang : (*built)->devices[0]->queue->gangs) {
    names.push_back(plan->plan().actions(gang.action).name());
  }
  EXPECT_THAT(names, ElementsAre("first", "second"));
}

TEST(HostProgramTest, EachEntryNeedsTheTokensOfItsEdges) {
  const Topology topology = MakeTopology("2x1x1");
  const auto plan = Prepare(MovePlan("p", 1, 0, 1), topology);
  for (int h = 0; h < 2; ++h) {
    TestHost host(topology, h);
    auto built = host.Build(plan);
    ASSERT_TRUE(built.ok()) << built.status();
    const DeviceProgram& device = *(*built)->devices[0];
    std::vector<uint32_t> need(device.entries.size());
    for (const InEdge& edge : device.in_edges) {
      need[edge.entry] += edge.expected;
    }
    for (size_t i = 0; i < need.size(); ++i) {
      EXPECT_EQ(device.entries[i].need, need[i]) << h << " " << i;
      // Credits count as tokens that came before the first firing.
      for (uint32_t slot = 0; slot < device.window; ++slot) {
        EXPECT_LE(device.counts[device.EntryAt(i, slot)], need[i]);
      }
    }
  }
}

TEST(HostProgramTest, APieceHasOneEndOnEachHost) {
  const Topology topology = MakeTopology("2x1x2");
  const auto plan = Prepare(MovePlan("p", 2, 0, 1), topology);
  TestHost from(topology, 0), to(topology, 1);
  auto sender = from.Build(plan);
  auto receiver = to.Build(plan);
  ASSERT_TRUE(sender.ok()) << sender.status();
  ASSERT_TRUE(receiver.ok()) << receiver.status();
  uint64_t pieces = 0;
  for (const auto& device : (*sender)->devices) {
    for (const PieceOut& piece : device->pieces) {
      ++pieces;
      EXPECT_EQ(piece.token.type, OutToken::kOtherHost);
      EXPECT_EQ(piece.token.where, 1u);
      EXPECT_EQ(piece.bytes, 4u);
    }
  }
  EXPECT_EQ(pieces, 2u);
  EXPECT_TRUE((*sender)->pieces_in.empty());
  EXPECT_THAT((*receiver)->pieces_in, SizeIs(2));
  for (const PieceIn& in : (*receiver)->pieces_in) EXPECT_EQ(in.bytes, 4u);
  for (const auto& device : (*receiver)->devices) {
    EXPECT_TRUE(device->pieces.empty());
  }
}

TEST(HostProgramTest, HoldsNothingWhenThereIsNoRoom) {
  const Topology topology = MakeTopology("1x1x2");
  TestHost host(topology, 0, {}, /*device_bytes=*/64);
  auto built = host.Build(Prepare(MovePlan("p", 2), topology));
  EXPECT_EQ(built.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(built.status().message()),
              HasSubstr("device memory"));
  EXPECT_EQ(host.arenas[0].used(), 0u);
  EXPECT_EQ(host.arenas[1].used(), 0u);
  EXPECT_EQ(host.memory.used(), 0u);
}

TEST(HostProgramTest, GivesItsMemoryBack) {
  const Topology topology = MakeTopology("1x1x1");
  TestHost host(topology, 0);
  auto built = host.Build(Prepare(MovePlan("p", 1), topology));
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_GT(host.arenas[0].used(), 0u);
  built->reset();
  EXPECT_EQ(host.arenas[0].used(), 0u);
  EXPECT_EQ(host.memory.used(), 0u);
}

}  // namespace
}  // namespace pathways::testing
