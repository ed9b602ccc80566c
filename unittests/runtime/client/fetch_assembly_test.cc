//===- fetch_assembly_test.cc - Blocks of hosts into an array -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/fetch_assembly.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways {
namespace {

using testing::ContributionsOf;
using testing::CopiesOn;
using testing::RowsOn;

HostArray Ramp(std::vector<int64_t> shape) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = std::move(shape);
  std::vector<float> values(array.numElements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  array.data.resize(values.size() * 4);
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

// Returns the bytes that a host holds of `array`.
std::string Held(const ArrayPlacement& placement, const HostArray& array,
                 int32_t host) {
  const uint64_t steps = placement.stepped ? array.shape.front() : 1;
  for (const ArrayPlacement::Host& one : placement.hosts) {
    if (one.host != host) continue;
    const BlockMap map(placement, one.parts, steps);
    std::string bytes(map.bytes(), '\0');
    map.Gather(array.data.data(), 0, bytes.size(), bytes.data());
    return bytes;
  }
  return "";
}

bool Deliver(FetchAssembly* assembly, int32_t host, PulledPiece piece,
             const std::string& held) {
  const uint64_t at = uint64_t{piece.number} * kPieceBytes;
  return assembly->Accept(
      host, piece,
      {held.data() + at, std::min<uint64_t>(kPieceBytes, held.size() - at)});
}

void JoinAll(const std::shared_ptr<const ArrayPlacement>& placement,
             const HostArray& array) {
  FetchAssembly assembly(*placement, array.element, array.shape);
  for (const FetchAssembly::Source& source : assembly.sources()) {
    const std::string held = Held(*placement, array, source.host);
    EXPECT_EQ(source.first, assembly.first(source.host));
    EXPECT_TRUE(Deliver(&assembly, source.host, {source.first, 0}, held));
    while (std::optional<PulledPiece> piece = assembly.Next(source.host)) {
      EXPECT_FALSE(assembly.over(source.host));
      EXPECT_TRUE(Deliver(&assembly, source.host, *piece, held));
      EXPECT_FALSE(Deliver(&assembly, source.host, *piece, held));
    }
    EXPECT_TRUE(assembly.over(source.host));
  }
  EXPECT_TRUE(assembly.complete());
  const HostArray joined = assembly.Take();
  EXPECT_EQ(joined.shape, array.shape);
  EXPECT_EQ(joined.element, array.element);
  EXPECT_TRUE(joined.data == array.data);
}

// An array that a client put comes back bit by bit, since the other hosts
// contribute nothing.
TEST(FetchAssemblyTest, ContributionsComeBackAsTheArray) {
  JoinAll(ContributionsOf({7, 2}, {0, 1}), Ramp({7, 2}));
  JoinAll(ContributionsOf({7}, {3, 5, 8}, /*stepped=*/true), Ramp({4, 7}));
  JoinAll(ContributionsOf({700, 800}, {0, 1}), Ramp({700, 800}));
}

// In the order of the tree: (1e8 + 1) + (-1e8 + 1), in f32.
TEST(FetchAssemblyTest, ContributionsAreCombinedInTheOrderOfRanks) {
  const auto placement = ContributionsOf({1}, {0, 1});
  FetchAssembly assembly(*placement, ElementType::kF32, {1});
  const float first[] = {1e8f, 1}, second[] = {-1e8f, 8};
  for (int32_t host : {1, 0}) {
    EXPECT_FALSE(assembly.complete());
    EXPECT_TRUE(assembly.Accept(host, {assembly.first(host), 0},
                                {host == 0 ? first : second, 8}));
  }
  ASSERT_TRUE(assembly.complete());
  const HostArray sum = assembly.Take();
  float value = -1;
  ASSERT_EQ(sum.data.size(), sizeof value);
  std::memcpy(&value, sum.data.data(), sizeof value);
  EXPECT_EQ(value, (1e8f + 1) + (-1e8f + 8));
}

TEST(FetchAssemblyTest, JoinsSmallAndLargeBlocks) {
  JoinAll(RowsOn({7, 2}, 4, {0, 1}), Ramp({7, 2}));
  JoinAll(RowsOn({7, 2}, 4, {0, 1}, /*stepped=*/true), Ramp({3, 7, 2}));
  // Some pieces hold the end of one block and the begin of the next.
  JoinAll(RowsOn({1000, 77}, 8, {3, 9}), Ramp({1000, 77}));
  JoinAll(RowsOn({100, 77}, 8, {3, 9}, /*stepped=*/true), Ramp({9, 100, 77}));
}

TEST(FetchAssemblyTest, AsksForEachBlockOnce) {
  auto placement = CopiesOn({5}, {2, 4});
  FetchAssembly assembly(*placement, ElementType::kF32, {5});
  ASSERT_EQ(assembly.sources().size(), 1u);
  EXPECT_EQ(assembly.sources()[0].host, 2);
  EXPECT_TRUE(assembly.over(4));
  JoinAll(placement, Ramp({5}));
}

TEST(FetchAssemblyTest, WhatWasNotAskedForChangesNothing) {
  FetchAssembly assembly(*CopiesOn({2}, {2}), ElementType::kF32, {2});
  const std::string eight(8, 'x');
  EXPECT_FALSE(assembly.Accept(1, {0, 0}, {eight.data(), 8}));
  EXPECT_FALSE(assembly.Accept(3, {0, 0}, {eight.data(), 8}));
  EXPECT_FALSE(assembly.Accept(2, {1, 0}, {eight.data(), 8}));
  EXPECT_FALSE(assembly.Accept(2, {0, 1}, {eight.data(), 8}));
  EXPECT_FALSE(assembly.Accept(2, {0, 0}, {eight.data(), 7}));
  EXPECT_FALSE(assembly.Accept(2, {0, 0}, {nullptr, 8}));
  EXPECT_FALSE(assembly.complete());
  EXPECT_EQ(assembly.UnderWay(2), (std::vector<PulledPiece>{{0, 0}}));
  EXPECT_TRUE(assembly.Accept(2, {0, 0}, {eight.data(), 8}));
  EXPECT_TRUE(assembly.complete());
}

TEST(FetchAssemblyTest, AnEmptyArrayIsThere) {
  FetchAssembly assembly(*RowsOn({0}, 2, {0}), ElementType::kF32, {0});
  EXPECT_TRUE(assembly.complete());
  EXPECT_TRUE(assembly.sources().empty());
  EXPECT_TRUE(assembly.Take().data.empty());
}

}  // namespace
}  // namespace pathways
