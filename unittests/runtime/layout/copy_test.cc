//===- copy_test.cc - Copies of boxes, element by element -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/layout/layout.h"
#include "unittests/random_cases.h"

namespace pathways::layout {
namespace {

int64_t Product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t extent : shape) product *= extent;
  return product;
}

int64_t Position(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& offset,
                 const std::vector<int64_t>& index) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    position = position * shape[d] + offset[d] + index[d];
  }
  return position;
}

// One element at a time.
void CopySlowly(const std::vector<char>& source,
                const std::vector<int64_t>& source_shape,
                const std::vector<int64_t>& source_offset,
                std::vector<char>* destination,
                const std::vector<int64_t>& destination_shape,
                const std::vector<int64_t>& destination_offset,
                const std::vector<int64_t>& extent, int64_t bytes) {
  std::vector<int64_t> index(extent.size());
  for (int64_t i = 0; i < Product(extent); ++i) {
    int64_t rest = i;
    for (size_t d = extent.size(); d-- > 0;) {
      index[d] = rest % extent[d];
      rest /= extent[d];
    }
    int64_t from = Position(source_shape, source_offset, index) * bytes;
    int64_t into =
        Position(destination_shape, destination_offset, index) * bytes;
    for (int64_t b = 0; b < bytes; ++b) {
      (*destination)[into + b] = source[from + b];
    }
  }
}

TEST(CopyBoxTest, RandomBoxesOfAllRanksAndElementSizes) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (uint64_t i = 0; i < SampleSize(4000, 20000); ++i) {
    auto rank = static_cast<size_t>(below(6));
    std::vector<int64_t> extent(rank), shape[2], offset[2];
    for (size_t d = 0; d < rank; ++d) {
      extent[d] = below(20) == 0 ? 0 : 1 + below(4);
      for (int side : {0, 1}) {
        // Often no more than the box, so that dimensions merge into one run.
        offset[side].push_back(below(3) == 0 ? below(3) : 0);
        int64_t after = below(3) == 0 ? below(3) : 0;
        shape[side].push_back(offset[side][d] + extent[d] + after);
      }
    }
    const int64_t sizes[] = {1, 2, 3, 4, 8, 16, 24};
    int64_t bytes = sizes[below(7)];
    std::vector<char> source(Product(shape[0]) * bytes);
    for (char& byte : source) byte = static_cast<char>(below(256));
    std::vector<char> copied(Product(shape[1]) * bytes, '\x55');
    std::vector<char> expected = copied;
    CopyBox(source.data(), shape[0], offset[0], copied.data(), shape[1],
            offset[1], extent, bytes);
    CopySlowly(source, shape[0], offset[0], &expected, shape[1], offset[1],
               extent, bytes);
    ASSERT_EQ(copied, expected) << "case " << i << " seed " << seed;
  }
}

// Against the places of a box's elements, one by one.
TEST(DenseOffsetTest, IsWhereElementsLieOneAfterAnother) {
  EXPECT_EQ(DenseOffset({}, {}, {}), 0);
  int dense = 0, split = 0;
  for (int64_t code = 0; code < 6 * 6 * 6; ++code) {
    // Boxes of a 3x3x3 buffer: two bounds for each dimension.
    const std::vector<int64_t> shape = {3, 3, 3};
    const int64_t bounds[6][2] = {{0, 1}, {1, 1}, {2, 1},
                                  {0, 2}, {1, 2}, {0, 3}};
    std::vector<int64_t> offset, extent;
    for (int64_t rest = code, d = 0; d < 3; ++d, rest /= 6) {
      offset.push_back(bounds[rest % 6][0]);
      extent.push_back(bounds[rest % 6][1]);
    }
    int64_t first = -1, last = -1;
    bool is_dense = true;
    for (int64_t at = 0; at < 27; ++at) {
      const int64_t place[] = {at / 9, at / 3 % 3, at % 3};
      bool is_in = true;
      for (int d = 0; d < 3; ++d) {
        is_in &= place[d] >= offset[d] && place[d] < offset[d] + extent[d];
      }
      if (!is_in) continue;
      if (first < 0) first = at;
      is_dense &= last < 0 || at == last + 1;
      last = at;
    }
    EXPECT_EQ(DenseOffset(shape, offset, extent), is_dense ? first : -1);
    ++(is_dense ? dense : split);
  }
  EXPECT_GT(dense, 0);
  EXPECT_GT(split, 0);
}

TEST(CopyBoxTest, ScalarsAndEmptyBoxes) {
  double from = 1.5;
  double into = 0;
  CopyBox(&from, {}, {}, &into, {}, {}, {}, sizeof(double));
  EXPECT_EQ(into, 1.5);
  // Nothing is read or written, so there need not be a buffer.
  CopyBox(nullptr, {0, 4}, {0, 0}, nullptr, {3, 4}, {0, 0}, {0, 4}, 4);
  CopyBox(nullptr, {}, {}, nullptr, {}, {}, {}, 0);
}

TEST(CopyBoxTest, ManyDimensions) {
  // Far more than the steps that a copy can need; only two are longer than 1.
  std::vector<int64_t> shape(1000, 1), offset(1000, 0), extent(1000, 1);
  shape[0] = 3;
  shape[999] = 5;
  extent[0] = 2;
  extent[999] = 2;
  offset[0] = 1;
  std::vector<int32_t> source(15), copied(15, -1);
  for (int i = 0; i < 15; ++i) source[i] = i;
  CopyBox(source.data(), shape, offset, copied.data(), shape, offset, extent,
          sizeof(int32_t));
  for (int i = 0; i < 15; ++i) {
    bool in_box = i >= 5 && i % 5 < 2;
    EXPECT_EQ(copied[i], in_box ? i : -1);
  }
}

}  // namespace
}  // namespace pathways::layout
