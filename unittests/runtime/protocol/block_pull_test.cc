//===- block_pull_test.cc - Pieces asked for, late, twice and never -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/block_pull.h"

#include <deque>
#include <iostream>
#include <map>
#include <random>

#include "gtest/gtest.h"

namespace pathways {
namespace {

TEST(BlockPullTest, AsksForEachPieceOnceAndForAWindowAtATime) {
  BlockPull pull({{2, 4}, {7, 7}, {9, 13}});
  std::vector<uint32_t> asked;
  std::deque<PulledPiece> under_way;
  while (!pull.over()) {
    while (std::optional<PulledPiece> piece = pull.Next()) {
      asked.push_back(piece->number);
      under_way.push_back(*piece);
    }
    ASSERT_LE(under_way.size(), kPullWindow);
    ASSERT_FALSE(under_way.empty());
    EXPECT_TRUE(pull.Accept(under_way.back()));
    under_way.pop_back();
  }
  EXPECT_EQ(asked, (std::vector<uint32_t>{2, 3, 9, 10, 11, 12}));
  EXPECT_EQ(pull.accepted(), 6u);
}

TEST(BlockPullTest, NothingToAskForIsOver) {
  EXPECT_TRUE(BlockPull({}).over());
  BlockPull empty({{3, 3}});
  EXPECT_TRUE(empty.over());
  EXPECT_FALSE(empty.Next().has_value());
}

TEST(BlockPullTest, DropsWhatWasNotAskedForAndSecondCopies) {
  BlockPull pull({{0, 2}});
  const PulledPiece first = *pull.Next();
  EXPECT_FALSE(pull.Accept({1, first.slot}));
  EXPECT_FALSE(pull.Accept({0, first.slot + 1}));
  EXPECT_FALSE(pull.Accept({0, kPullWindow}));
  EXPECT_TRUE(pull.Accept(first));
  EXPECT_FALSE(pull.Accept(first));
  EXPECT_FALSE(pull.over());
}

TEST(BlockPullTest, WhatIsLostIsAskedForAgain) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    BlockPull pull({{0, 1 + random() % 40}});
    std::map<uint32_t, int> accepted;
    std::deque<PulledPiece> under_way;
    while (!pull.over()) {
      while (std::optional<PulledPiece> piece = pull.Next()) {
        under_way.push_back(*piece);
      }
      if (under_way.empty()) {
        const std::vector<PulledPiece> again = pull.UnderWay();
        under_way.assign(again.begin(), again.end());
      }
      const PulledPiece piece = under_way.front();
      under_way.pop_front();
      const uint64_t fate = random() % 4;
      if (fate == 0) continue;                    // lost
      if (fate == 1) under_way.push_back(piece);  // comes twice
      if (pull.Accept(piece)) ++accepted[piece.number];
    }
    for (const auto& [number, times] : accepted) ASSERT_EQ(times, 1) << number;
    ASSERT_EQ(accepted.size(), pull.accepted());
    ASSERT_EQ(accepted.rbegin()->first + 1, accepted.size());
  }
}

}  // namespace
}  // namespace pathways
