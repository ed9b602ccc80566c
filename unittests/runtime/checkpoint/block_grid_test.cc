//===- block_grid_test.cc - The distinct blocks of an array ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/block_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pathways {
namespace {

TEST(BlockGridTest, AScalarIsOneBlock) {
  const BlockGrid grid({}, {{"x", 4}});
  EXPECT_EQ(grid.size(), 1);
  EXPECT_EQ(grid.box(0), layout::Box());
  grid.Split(0, 1, [](int64_t block, int64_t at, int64_t begin, int64_t n) {
    EXPECT_EQ(block + at + begin, 0);
    EXPECT_EQ(n, 1);
  });
}

TEST(BlockGridTest, EmptyShardsHaveNoBlock) {
  // Blocks of ceil(5 / 4) = 2: three of four shards have something.
  const BlockGrid grid({{5}, {{"x"}}, {}, {}}, {{"x", 4}});
  EXPECT_EQ(grid.size(), 3);
  EXPECT_EQ(grid.box(2), (layout::Box{{4}, {1}}));
  EXPECT_EQ(BlockGrid({{5, 0}, {{"x"}, {}}, {}, {}}, {{"x", 4}}).size(), 0);
}

// Blocks are what shards have, and each element is where Split says.
TEST(BlockGridTest, AgreesWithTheShards) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const layout::Mesh mesh = {{"x", static_cast<int64_t>(1 + random() % 4)},
                               {"y", static_cast<int64_t>(1 + random() % 3)}};
    layout::Layout layout;
    layout.dims.resize(random() % 4);
    for (size_t d = 0; d < layout.dims.size(); ++d) {
      layout.shape.push_back(1 + random() % 6);
    }
    for (const layout::Axis& axis : mesh) {
      const size_t dim = random() % 4;
      if (dim < layout.dims.size()) layout.dims[dim].push_back(axis.name);
    }
    const BlockGrid grid(layout, mesh);
    std::set<int64_t> seen;
    for (int64_t shard = 0; shard < layout::NumShards(mesh); ++shard) {
      const layout::Box box = layout::ShardBox(layout, mesh, shard);
      if (box.empty()) continue;
      const int64_t block = grid.Find(box.begin);
      EXPECT_EQ(grid.box(block), box);
      seen.insert(block);
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), grid.size());

    int64_t elements = 1;
    for (int64_t size : layout.shape) elements *= size;
    const auto first = static_cast<int64_t>(random() % elements);
    const auto count = static_cast<int64_t>(random() % (elements - first + 1));
    int64_t next = 0;
    grid.Split(first, count,
               [&](int64_t block, int64_t at, int64_t begin, int64_t run) {
                 EXPECT_EQ(begin, next);
                 next += run;
                 const layout::Box box = grid.box(block);
                 for (int64_t i = 0; i < run; ++i) {
                   int64_t rest = first + begin + i, in_block = 0, stride = 1;
                   for (size_t d = layout.shape.size(); d-- > 0;) {
                     const int64_t index =
                         rest % layout.shape[d] - box.begin[d];
                     rest /= layout.shape[d];
                     EXPECT_TRUE(index >= 0 && index < box.extent[d]);
                     in_block += index * stride;
                     stride *= box.extent[d];
                   }
                   EXPECT_EQ(in_block, at + i);
                 }
               });
    EXPECT_EQ(next, count);
  }
}

}  // namespace
}  // namespace pathways
