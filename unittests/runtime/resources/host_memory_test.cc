//===- host_memory_test.cc - Hosts' memory, as the controller knows -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/host_memory.h"

#include "gtest/gtest.h"
#include "runtime/store/store.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways {
namespace {

using testing::MakeTopology;

TEST(HostMemoryTest, IsSureWhileAllFits) {
  HostMemory memory(MakeTopology("1x2x1"));
  const uint64_t bound = kDefaultHostMemoryBytes;
  const uint64_t most = Mapping::kAskedBytes - 1;
  memory.SetProgram(/*program=*/5, /*host=*/1, bound - most);
  EXPECT_TRUE(memory.Charge({0, 1}, {most, most}));
  EXPECT_EQ(memory.used(1), bound);
  EXPECT_FALSE(memory.Charge({0, 1}, {1, 1}));  // not on the second one
  EXPECT_EQ(memory.used(0), most + 1);
  memory.Discharge(1, 1, /*sequence=*/1);
  memory.Discharge(1, most, /*sequence=*/1);
  EXPECT_TRUE(memory.Charge({1}, {most}));
  memory.Discharge(1, most, /*sequence=*/1);
  memory.FreeProgram(5);
  EXPECT_EQ(memory.used(1), 0u);
  memory.FreeProgram(5);
  EXPECT_EQ(memory.used(1), 0u);
}

TEST(HostMemoryTest, AHostThatIsGoneHoldsNothing) {
  HostMemory memory(MakeTopology("1x2x1"));
  for (int32_t host : {0, 1}) memory.SetProgram(/*program=*/5, host, 100);
  memory.Charge({0, 1}, {10, 10});
  memory.HostGone(1);
  EXPECT_EQ(memory.used(0), 110u);
  EXPECT_EQ(memory.used(1), 0u);
  // Nor does what it held count for its next life.
  memory.Charge({1}, {7});
  memory.FreeProgram(5);
  EXPECT_EQ(memory.used(0), 10u);
  EXPECT_EQ(memory.used(1), 7u);
}

TEST(HostMemoryTest, AProgramTakesWhatWasSaidLast) {
  HostMemory memory(MakeTopology("1x2x1"));
  memory.SetProgram(5, 0, 100);
  memory.SetProgram(5, 0, 30);
  EXPECT_EQ(memory.used(0), 30u);
  EXPECT_EQ(memory.OfProgram(5).at(0), 30u);
  EXPECT_TRUE(memory.OfProgram(6).empty());
  const uint64_t version = memory.version(0);
  memory.FreeProgram(5);
  EXPECT_EQ(memory.used(0), 0u);
  EXPECT_NE(memory.version(0), version);
}

// Memory that a host is to drop is not free for loads until the host confirms
// it, however many drops follow meanwhile.
TEST(HostMemoryTest, WhatLeavesIsFreeWhenTheHostSaysSo) {
  HostMemory memory(MakeTopology("1x1x1"));
  memory.Charge({0}, {100});
  memory.Discharge(0, 10, /*sequence=*/3);
  EXPECT_EQ(memory.used(0), 90u);
  EXPECT_EQ(memory.leaving(0), 10u);
  memory.Discharge(0, 20, /*sequence=*/4);
  EXPECT_FALSE(memory.Settled(0, 2));
  EXPECT_EQ(memory.leaving(0), 30u);
  EXPECT_TRUE(memory.Settled(0, 3));
  EXPECT_EQ(memory.leaving(0), 20u);
  memory.Discharge(0, 5, /*sequence=*/5);
  EXPECT_TRUE(memory.Settled(0, 4));
  EXPECT_EQ(memory.leaving(0), 5u);
  EXPECT_TRUE(memory.Settled(0, 5));
  EXPECT_EQ(memory.leaving(0), 0u);
  EXPECT_FALSE(memory.Settled(0, 5));
  memory.Discharge(0, 5, 6);
  memory.Discharge(0, 5, 7);
  EXPECT_TRUE(memory.Settled(0, 9));
  EXPECT_EQ(memory.leaving(0), 0u);
}

TEST(HostMemoryTest, IsNotSureOfWhatTheSystemMayRefuse) {
  HostMemory memory(MakeTopology("1x1x1"));
  EXPECT_FALSE(memory.Charge({0}, {Mapping::kAskedBytes}));
  EXPECT_EQ(memory.used(0), Mapping::kAskedBytes);
}

// Bytes that are certainly in memory, and bytes that may be in a file.
TEST(HostMemoryTest, IsNotSureWhileArraysMayBeInFiles) {
  proto::Cluster cluster = *ReadTopology("1x2x1");
  cluster.mutable_islands(0)->mutable_hosts(0)->set_memory_bytes(1000);
  const SpillOptions spill{.folder = "disk", .bytes = 500, .begin = 0.8};
  HostMemory memory(*Topology::Create(cluster), spill);
  EXPECT_EQ(memory.spill(0), 500u);
  EXPECT_EQ(HostMemory(*Topology::Create(cluster)).spill(0), 0u);
  memory.SetProgram(5, 0, 300);
  EXPECT_EQ(memory.programs(0), 300u);
  EXPECT_TRUE(memory.Charge({0, 1}, {500, 500}));
  EXPECT_TRUE(memory.AreHere({0, 1}));
  EXPECT_FALSE(memory.Charge({0}, {1}));
  EXPECT_FALSE(memory.AreHere({0, 1}));
  EXPECT_TRUE(memory.AreHere({1}));
  // A charge that was discharged does not come back by itself.
  memory.Discharge(0, 400, /*sequence=*/1);
  EXPECT_TRUE(memory.Settled(0, 1));
  EXPECT_FALSE(memory.Charge({0}, {1}));
  memory.Discharge(0, 102, /*sequence=*/2);
  EXPECT_FALSE(memory.AreHere({0}));
  EXPECT_TRUE(memory.Settled(0, 2));
  EXPECT_EQ(memory.used(0), memory.programs(0));
  EXPECT_TRUE(memory.AreHere({0}));
  EXPECT_TRUE(memory.Charge({0}, {500}));
}

TEST(HostMemoryTest, NumbersThatAreTooLargeDoNotWrap) {
  HostMemory memory(MakeTopology("1x1x1"));
  EXPECT_FALSE(memory.Charge({0}, {UINT64_MAX}));
  EXPECT_FALSE(memory.Charge({0}, {UINT64_MAX}));
  EXPECT_FALSE(memory.Charge({0}, {1}));
  memory.Discharge(0, UINT64_MAX, /*sequence=*/1);
  EXPECT_EQ(memory.used(0), 0u);
  memory.Discharge(0, 1, /*sequence=*/1);
  EXPECT_EQ(memory.used(0), 0u);
}

}  // namespace
}  // namespace pathways
