//===- array_blocks_test.cc - Arrays into blocks, and back ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/executor/launch.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways {
namespace {

using testing::CopiesOn;
using ::testing::ElementsAre;
using testing::RowsOn;

HostArray Ramp(std::vector<int64_t> shape) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = std::move(shape);
  std::vector<float> values(array.num_elements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  array.data.resize(values.size() * 4);
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

std::vector<float> Floats(absl::string_view bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// What each host has in the end.
std::map<int32_t, std::string> Cut(const ArrayPlacement& placement,
                                   const HostArray& array, uint64_t steps) {
  std::map<int32_t, std::string> held;
  CutBlocks(placement, array, steps, [&](const BlockBytes& block) {
    EXPECT_LE(block.data.size(), kMaxPieceBytes);
    EXPECT_EQ(block.offset, held[block.host].size());
    held[block.host].append(block.data.data(), block.data.size());
    EXPECT_LE(held[block.host].size(), block.bytes);
  });
  return held;
}

TEST(ArrayBlocksTest, EachHostGetsItsShards) {
  auto held = Cut(*RowsOn({6}, 4, {3, 7}), Ramp({6}), 1);
  EXPECT_THAT(Floats(held[3]), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Floats(held[7]), ElementsAre(4, 5));  // and an empty one
}

TEST(ArrayBlocksTest, StepsOfAShardLieTogether) {
  auto held = Cut(*RowsOn({2}, 2, {0}, /*stepped=*/true), Ramp({3, 2}), 3);
  EXPECT_THAT(Floats(held[0]), ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(ArrayBlocksTest, PiecesAreBounded) {
  const int64_t rows = static_cast<int64_t>(kMaxPieceBytes) / 4 + 10;
  auto held = Cut(*CopiesOn({rows}, {0}), Ramp({rows}), 1);
  EXPECT_EQ(held[0].size(), 4u * rows);
  EXPECT_EQ(Floats(held[0]).back(), static_cast<float>(rows - 1));
}

TEST(BlockAssemblyTest, JoinsWhatWasCut) {
  const HostArray array = Ramp({3, 7, 2});
  auto placement = RowsOn({7, 2}, 4, {0, 1}, /*stepped=*/true);
  auto held = Cut(*placement, array, 3);
  BlockAssembly assembly(placement, array.element, array.shape);
  bool complete = false;
  for (const BlockAssembly::Range& range : assembly.ranges()) {
    EXPECT_FALSE(complete);
    const absl::string_view bytes =
        absl::string_view(held[range.host])
            .substr(range.offset, range.data.size());
    // In two pieces, the second one first.
    assembly.Write(range.host, range.offset + 4, bytes.substr(4));
    complete = assembly.Write(range.host, range.offset, bytes.substr(0, 4));
  }
  EXPECT_TRUE(complete);
  EXPECT_EQ(assembly.Join().data, array.data);
  EXPECT_EQ(assembly.Join().shape, array.shape);
}

TEST(BlockAssemblyTest, AsksForEachBlockOnce) {
  BlockAssembly assembly(CopiesOn({5}, {2, 4}), ElementType::kF32, {5});
  ASSERT_EQ(assembly.ranges().size(), 1u);
  EXPECT_EQ(assembly.ranges()[0].host, 2);
  EXPECT_EQ(assembly.ranges()[0].data.size(), 20u);
}

TEST(BlockAssemblyTest, WhatWasNotAskedForChangesNothing) {
  BlockAssembly assembly(CopiesOn({2}, {2}), ElementType::kF32, {2});
  const std::string eight(8, 'x');
  EXPECT_FALSE(assembly.Write(1, 0, eight));
  EXPECT_FALSE(assembly.Write(3, 0, eight));
  EXPECT_FALSE(assembly.Write(2, 4, eight));
  EXPECT_FALSE(assembly.Write(2, 100, eight));
  EXPECT_FALSE(assembly.Write(2, 0, eight + eight));
  EXPECT_FALSE(assembly.Write(2, 0, eight.substr(0, 4)));
  EXPECT_FALSE(assembly.Write(2, 0, eight.substr(0, 4)));  // a second copy
  EXPECT_TRUE(assembly.Write(2, 4, eight.substr(0, 4)));
}

TEST(BlockAssemblyTest, AnEmptyArrayIsThere) {
  BlockAssembly assembly(RowsOn({0}, 2, {0}), ElementType::kF32, {0});
  EXPECT_TRUE(assembly.complete());
  EXPECT_TRUE(assembly.Join().data.empty());
}

}  // namespace
}  // namespace pathways
