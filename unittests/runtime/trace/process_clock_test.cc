//===- process_clock_test.cc - Offsets between the clocks of processes ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/process_clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

namespace pathways {
namespace {

TEST(ProcessClocksTest, TheShortestRoundTripCounts) {
  ProcessClocks clocks;
  EXPECT_EQ(clocks.Of(1).process, 1u);
  EXPECT_EQ(clocks.Of(1).offset_ns, 0);
  clocks.Add(1, 100, 1100, 200);
  EXPECT_EQ(clocks.Of(1).offset_ns, 950);
  EXPECT_EQ(clocks.Of(1).error_ns, 50);
  clocks.Add(1, 300, 1311, 321);
  EXPECT_EQ(clocks.Of(1).offset_ns, 1001);
  EXPECT_EQ(clocks.Of(1).error_ns, 11);
  clocks.Add(1, 400, 1900, 500);
  EXPECT_EQ(clocks.Of(1).offset_ns, 1001);
  EXPECT_EQ(clocks.Of(2).error_ns, 0);
}

TEST(ProcessClocksTest, TheTruthIsWithinTheError) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  auto up_to = [&](TimeNs most) {
    return std::uniform_int_distribution<TimeNs>(0, most)(random);
  };
  for (int i = 0; i < 1000; ++i) {
    ProcessClocks clocks;
    const TimeNs truth = up_to(2'000'000) - 1'000'000;
    TimeNs now = up_to(1000);
    for (int round = 0; round < 3; ++round) {
      const TimeNs asked = now, there = asked + up_to(500);
      now = there + up_to(500);
      clocks.Add(7, asked, there + truth, now);
    }
    const ProcessClock clock = clocks.Of(7);
    EXPECT_LE(clock.offset_ns - clock.error_ns, truth);
    EXPECT_GE(clock.offset_ns + clock.error_ns, truth);
  }
}

TEST(ProcessClocksTest, WhatCannotBeIsNoEstimate) {
  ProcessClocks clocks;
  clocks.Add(1, 100, 5, 99);
  EXPECT_EQ(clocks.Of(1).offset_ns, 0);
  clocks.Add(1, 100, std::numeric_limits<TimeNs>::min(), 102);
  EXPECT_EQ(clocks.Of(1).error_ns, 1);
}

}  // namespace
}  // namespace pathways
