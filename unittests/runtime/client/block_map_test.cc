//===- block_map_test.cc - Any range of what a host holds of an array -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/block_map.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pathways {
namespace {

// f32 of `shape` over a 2 x 3 mesh, cut as `dims` says.
ArrayPlacement MakePlacement(std::vector<int64_t> shape,
                             std::vector<std::vector<std::string>> dims) {
  ArrayPlacement placement;
  placement.layout.shape = std::move(shape);
  placement.layout.dims = std::move(dims);
  placement.mesh = {{"x", 2}, {"y", 3}};
  placement.element_bytes = 4;
  return placement;
}

// Returns the bytes that a host with `shards` holds, cut box by box.
std::vector<char> CutSlowly(const ArrayPlacement& placement, const Parts& parts,
                            uint64_t steps, const std::vector<char>& array) {
  std::vector<char> bytes(parts.step_bytes * steps);
  const layout::Layout& layout = placement.layout;
  const std::vector<int64_t> zeros(layout.shape.size(), 0);
  for (const Part& part : parts.parts) {
    const layout::Box box =
        layout::ShardBox(layout, placement.mesh, part.shard);
    for (uint64_t step = 0; step < steps; ++step) {
      layout::CopyBox(array.data() + step * (array.size() / steps),
                      layout.shape, box.begin,
                      bytes.data() + part.offset * steps + step * part.bytes,
                      box.extent, zeros, box.extent, placement.element_bytes);
    }
  }
  return bytes;
}

TEST(BlockMapTest, RandomRangesOfRandomHosts) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  const std::vector<std::vector<std::vector<std::string>>> cuts = {
      {{"x"}, {"y"}}, {{"y"}, {"x"}}, {{}, {"y"}}, {{"x", "y"}, {}}, {{}, {}}};
  for (int i = 0; i < 500; ++i) {
    const int64_t rows = 1 + static_cast<int64_t>(random() % 9);
    const int64_t columns = 1 + static_cast<int64_t>(random() % 9);
    const uint64_t steps = 1 + random() % 3;
    const ArrayPlacement placement =
        MakePlacement({rows, columns}, cuts[random() % cuts.size()]);
    std::vector<int32_t> shards;
    for (int32_t shard = 0; shard < 6; ++shard) {
      if (random() % 2 == 0) shards.push_back(shard);
    }
    const Parts parts = CutParts(placement.layout, placement.mesh, 4, shards);
    std::vector<char> array(rows * columns * 4 * steps);
    for (char& byte : array) byte = static_cast<char>(random());
    const std::vector<char> held = CutSlowly(placement, parts, steps, array);

    const BlockMap map(placement, parts, steps);
    ASSERT_EQ(map.bytes(), held.size());
    std::vector<char> gathered(held.size()), back = array;
    for (uint64_t at = 0; at < held.size();) {
      const uint64_t now =
          std::min<uint64_t>(held.size() - at, 1 + random() % 60);
      map.Gather(array.data(), at, now, gathered.data() + at);
      if (const std::optional<uint64_t> offset = map.Contiguous(at, now)) {
        ASSERT_TRUE(std::equal(held.begin() + at, held.begin() + at + now,
                               array.begin() + *offset));
      }
      std::vector<char> other(now, 'z');
      map.Scatter(other.data(), at, now, back.data());
      ASSERT_EQ(CutSlowly(placement, parts, steps, back)[at], 'z');
      map.Scatter(held.data() + at, at, now, back.data());
      at += now;
    }
    ASSERT_EQ(gathered, held) << "case " << i << " seed " << seed;
    ASSERT_EQ(back, array) << "case " << i << " seed " << seed;
  }
}

TEST(BlockMapTest, RowsAreNeighboursAndColumnsAreNot) {
  const ArrayPlacement rows = MakePlacement({6, 4}, {{"x", "y"}, {}});
  const BlockMap two(rows, CutParts(rows.layout, rows.mesh, 4, {2, 3}), 1);
  EXPECT_EQ(two.bytes(), 32u);
  EXPECT_EQ(two.Contiguous(4, 12), 36u);
  // The array has two blocks; the caller need not know that they are
  // neighbours.
  EXPECT_EQ(two.Contiguous(8, 16), std::nullopt);
  const ArrayPlacement columns = MakePlacement({6, 6}, {{}, {"y"}});
  const BlockMap one(columns, CutParts(columns.layout, columns.mesh, 4, {1}),
                     1);
  EXPECT_EQ(one.Contiguous(0, 8), 8u);
  EXPECT_EQ(one.Contiguous(0, 9), std::nullopt);
}

}  // namespace
}  // namespace pathways
