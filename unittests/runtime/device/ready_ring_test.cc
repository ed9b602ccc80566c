//===- ready_ring_test.cc - Entries that may happen -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ready_ring.h"

#include <gtest/gtest.h>

#include "runtime/program/host_program.h"

namespace pathways::testing {
namespace {

TEST(ReadyRingTest, GivesEntriesInTheOrderInWhichTheyCame) {
  DeviceProgram program;
  ReadyRing ring;
  ring.Reserve(3);
  EXPECT_TRUE(ring.empty());
  for (uint32_t i = 0; i < 20; ++i) {  // around and around
    ring.Push({&program, i});
    ring.Push({&program, 100 + i});
    EXPECT_EQ(ring.Pop().entry, i);
    EXPECT_EQ(ring.Pop().entry, 100 + i);
  }
  EXPECT_TRUE(ring.empty());
}

TEST(ReadyRingTest, KeepsWhatItHasWhenItGrows) {
  DeviceProgram program;
  ReadyRing ring;
  ring.Reserve(2);
  ring.Push({&program, 0});
  ring.Push({&program, 1});
  ring.Pop();
  ring.Push({&program, 2});
  ring.Reserve(3);
  ring.Push({&program, 3});
  for (uint32_t i = 1; i <= 3; ++i) EXPECT_EQ(ring.Pop().entry, i);
  EXPECT_TRUE(ring.empty());
}

TEST(ReadyRingTest, ForgetsAProgram) {
  DeviceProgram programs[2];
  ReadyRing ring;
  ring.Reserve(4);
  for (uint32_t i = 0; i < 4; ++i) ring.Push({&programs[i % 2], i});
  ring.Remove(&programs[0]);
  EXPECT_EQ(ring.Pop().entry, 1u);
  EXPECT_EQ(ring.Pop().entry, 3u);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace pathways::testing
