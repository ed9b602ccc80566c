//===- live_bytes_test.cc -------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/live_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "unittests/random_cases.h"

namespace pathways::layout {
namespace {

TEST(LiveBytesTest, BothEndsCount) {
  EXPECT_EQ(PeakLiveBytes(4, {{0, 1, 5}, {1, 3, 7}, {2, 2, 4}}), 12u);
  EXPECT_EQ(PeakLiveBytes(4, {{0, 1, 5}, {2, 3, 7}}), 7u);
}

TEST(LiveBytesTest, WhatIsOutsideIsCut) {
  EXPECT_EQ(PeakLiveBytes(2, {{-5, 0, 1}, {1, 9, 2}}), 2u);
  EXPECT_EQ(PeakLiveBytes(2, {{1, 0, 1}, {2, 9, 2}, {-3, -1, 4}}), 0u);
  EXPECT_EQ(PeakLiveBytes(0, {{0, 0, 1}}), 0u);
}

TEST(LiveBytesTest, SumsDoNotWrapAround) {
  EXPECT_EQ(PeakLiveBytes(1, {{0, 0, UINT64_MAX}, {0, 0, 2}}), UINT64_MAX);
  EXPECT_EQ(PeakLiveBytes(2, {{0, 0, UINT64_MAX}, {1, 1, 2}}), UINT64_MAX);
}

TEST(LiveBytesTest, IsTheMostAtAnyPosition) {
  for (uint64_t seed = 0; seed < SampleSize(400, 2000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto positions = static_cast<int64_t>(1 + random() % 12);
    std::vector<LiveRange> ranges(random() % 8);
    for (LiveRange& range : ranges) {
      range.begin = static_cast<int64_t>(random() % 14) - 1;
      range.end = static_cast<int64_t>(random() % 14) - 1;
      range.bytes = random() % 100;
    }
    uint64_t most = 0;
    for (int64_t at = 0; at < positions; ++at) {
      uint64_t sum = 0;
      for (const LiveRange& range : ranges) {
        if (range.begin <= at && at <= range.end) sum += range.bytes;
      }
      most = std::max(most, sum);
    }
    EXPECT_EQ(PeakLiveBytes(positions, ranges), most);
  }
}

}  // namespace
}  // namespace pathways::layout
