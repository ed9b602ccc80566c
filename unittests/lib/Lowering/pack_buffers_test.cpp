//===- pack_buffers_test.cpp - Packing of buffers with lifetimes ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Lowering/PackBuffers.h"

#include "runtime/layout/live_bytes.h"
#include "gtest/gtest.h"
#include <random>

namespace mlir::pathways {
namespace {

using Items = std::vector<PackItem>;

uint64_t boundOf(const Items &items) {
  std::vector<::pathways::layout::LiveRange> ranges;
  for (const PackItem &item : items)
    ranges.push_back({item.begin, item.end, item.bytes});
  return ::pathways::layout::PeakLiveBytes(1 << 16, ranges);
}

/// Expects that no two items overlap. Returns the bytes relative to the bound.
double check(const Items &items, const Packing &packing) {
  EXPECT_EQ(packing.offsets.size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_LE(packing.offsets[i] + items[i].bytes, packing.bytes);
    for (size_t k = 0; k < i; ++k) {
      bool meetInTime =
          items[i].begin <= items[k].end && items[k].begin <= items[i].end;
      bool meetInBytes =
          packing.offsets[i] < packing.offsets[k] + items[k].bytes &&
          packing.offsets[k] < packing.offsets[i] + items[i].bytes;
      EXPECT_FALSE(meetInTime && meetInBytes) << "items " << k << " and " << i;
    }
  }
  EXPECT_GE(packing.bytes, boundOf(items));
  return static_cast<double>(packing.bytes) / boundOf(items);
}

Items makeItems(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  uint32_t longest = uint32_t{1} << (1 + random() % 6);
  uint64_t sizes = 1 + random() % 64;
  Items items(count);
  for (size_t i = 0; i < count; ++i) {
    items[i].begin = i;
    items[i].end = i + random() % longest;
    items[i].bytes = 128 * (1 + random() % sizes);
  }
  return items;
}

TEST(PackBuffersTest, NothingTakesNothing) {
  EXPECT_EQ(packItems({}).bytes, 0u);
}

TEST(PackBuffersTest, SmallOnesShareWhatALargeOneHad) {
  EXPECT_EQ(packItems({{512, 0, 1}, {256, 2, 3}, {256, 2, 3}}).bytes, 512u);
}

TEST(PackBuffersTest, RandomLivesComeCloseToTheBound) {
  double sum = 0;
  constexpr int kSeeds = 400;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Items items = makeItems(seed, 60);
    double ratio = check(items, packItems(items));
    EXPECT_LT(ratio, 1.5);
    sum += ratio;
    if (HasFailure())
      return;
  }
  EXPECT_LT(sum / kSeeds, 1.1);
}

TEST(PackBuffersTest, TooManyTogetherArePackedAsTheyBegin) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Items items = makeItems(seed, 60);
    Packing plain = packItems(items, /*budget=*/1);
    check(items, plain);
    EXPECT_LE(packItems(items).bytes, plain.bytes);
  }
}

} // namespace
} // namespace mlir::pathways
