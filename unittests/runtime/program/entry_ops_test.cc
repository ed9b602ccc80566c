//===- entry_ops_test.cc - Tokens, pieces and operations of entries -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/entry_ops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace pathways {
namespace {

TEST(OutTokenTest, LeavesTheHostForOtherHostsAlone) {
  OutToken token;
  for (OutToken::Type type :
       {OutToken::kSameDevice, OutToken::kSameWorker, OutToken::kSameHost,
        OutToken::kBroadcast, OutToken::kHostAction}) {
    token.type = type;
    EXPECT_FALSE(token.leaves_host()) << type;
  }
  for (OutToken::Type type : {OutToken::kOtherHost, OutToken::kOtherProcess}) {
    token.type = type;
    EXPECT_TRUE(token.leaves_host()) << type;
  }
}

TEST(PieceInTest, HasAPlaceIfItsBytesAreContiguousThere) {
  char memory[64];
  PieceIn piece;
  piece.to = {memory, /*stride=*/32, /*credits=*/2};
  EXPECT_EQ(piece.PlaceAt(/*firing=*/1), nullptr);
  piece.dense_offset = 8;
  EXPECT_EQ(piece.PlaceAt(/*firing=*/1), memory + 40);
  EXPECT_EQ(piece.PlaceAt(/*firing=*/2), memory + 8);
}

TEST(FillPaddingTest, KeepsTheValidBoxOnly) {
  for (int64_t a = 0; a <= 2; ++a) {
    for (int64_t b = 0; b <= 3; ++b) {
      for (int64_t c = 0; c <= 4; ++c) {
        std::vector<int16_t> data(24, 7);
        FillPadding({2, 3, 4}, {a, b, c}, 2,
                    reinterpret_cast<char*>(data.data()));
        for (int64_t i = 0; i < 24; ++i) {
          const bool valid = i / 12 < a && i / 4 % 3 < b && i % 4 < c;
          ASSERT_EQ(data[i], valid ? 7 : 0) << a << b << c << " at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pathways
