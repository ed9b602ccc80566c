//===- block_runs_test.cc - Ranges of blocks against copies of boxes ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/block_runs.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "unittests/random_cases.h"

namespace pathways::layout {
namespace {

TEST(BlockRunsTest, RandomRangesAreThoseOfTheCopiedBox) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (uint64_t i = 0; i < SampleSize(1000, 5000); ++i) {
    std::vector<int64_t> shape;
    Box box;
    int64_t elements = 1;
    for (int64_t d = below(5); d > 0; --d) {
      const int64_t extent = 1 + below(4);
      const int64_t begin = below(3) == 0 ? below(3) : 0;
      const int64_t after = below(3) == 0 ? below(3) : 0;
      box.extent.push_back(extent);
      box.begin.push_back(begin);
      shape.push_back(begin + extent + after);
      elements *= shape.back();
    }
    const int64_t sizes[] = {1, 2, 3, 4, 8, 16};
    const int64_t bytes = sizes[below(6)];
    std::vector<char> array(elements * bytes);
    for (char& byte : array) byte = static_cast<char>(below(256));
    const uint64_t size = static_cast<uint64_t>(box.numElements() * bytes);
    const std::vector<int64_t> zeros(shape.size(), 0);
    std::vector<char> block(size);
    CopyBox(array.data(), shape, box.begin, block.data(), box.extent, zeros,
            box.extent, bytes);

    const BlockRuns runs(shape, box, bytes);
    ASSERT_EQ(runs.bytes(), size);
    std::vector<char> gathered(size, '\x55'), back(array.size(), '\x55');
    std::vector<char> expected = back;
    CopyBox(block.data(), box.extent, zeros, expected.data(), shape, box.begin,
            box.extent, bytes);
    for (uint64_t at = 0; at < size;) {
      const uint64_t now =
          std::min<uint64_t>(size - at, 1 + below(1 + below(40)));
      runs.Gather(array.data(), at, now, gathered.data() + at);
      runs.Scatter(block.data() + at, at, now, back.data());
      const BlockRuns::Run run = runs.At(at);
      ASSERT_GT(run.bytes, 0u);
      for (uint64_t b = 0; b < std::min(run.bytes, size - at); ++b) {
        ASSERT_EQ(array[run.offset + b], block[at + b]);
      }
      at += now;
    }
    ASSERT_EQ(gathered, block) << "case " << i << " seed " << seed;
    ASSERT_EQ(back, expected) << "case " << i << " seed " << seed;
  }
}

TEST(BlockRunsTest, RowsOfAnArrayAreOneRun) {
  const BlockRuns rows({8, 5, 3}, {{2, 0, 0}, {4, 5, 3}}, 4);
  EXPECT_EQ(rows.bytes(), 240u);
  EXPECT_EQ(rows.At(0).offset, 120u);
  EXPECT_EQ(rows.At(0).bytes, 240u);
  EXPECT_EQ(rows.At(100).offset, 220u);
  EXPECT_EQ(rows.At(100).bytes, 140u);
  const BlockRuns columns({8, 6}, {{0, 2}, {8, 2}}, 4);
  EXPECT_EQ(columns.At(8).offset, 32u);
  EXPECT_EQ(columns.At(8).bytes, 8u);
  const BlockRuns scalar({}, {{}, {}}, 8);
  EXPECT_EQ(scalar.bytes(), 8u);
  EXPECT_EQ(scalar.At(3).bytes, 5u);
}

}  // namespace
}  // namespace pathways::layout
