//===- lanes_test.cc - What goes together to another process --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

WireMessage Pieces(uint64_t step = 3) {
  WireMessage like;
  like.kind = kPiecesMessage;
  like.target = 7;
  like.step = step;
  return like;
}

// How many lanes each record has.
std::vector<uint32_t> Lanes(const LaneParcel& parcel) {
  std::vector<uint32_t> lanes;
  for (const LaneRecord& record : parcel.records()) {
    lanes.push_back(record.message.item);
  }
  return lanes;
}

TEST(LanesTest, ARecordHasWhatItsLanesHaveInCommonOnce) {
  LaneParcel parcel;
  const char bytes[] = "abcdefghi";
  EXPECT_TRUE(parcel.Add(1, Pieces(), {/*shard=*/5, /*item=*/0}, bytes, 4));
  EXPECT_TRUE(parcel.Add(1, Pieces(), {5, 1}, bytes + 4, 3));
  ASSERT_THAT(parcel.records(), SizeIs(1));
  const LaneRecord& record = parcel.records()[0];
  EXPECT_EQ(record.host, 1);
  EXPECT_EQ(record.message.target, 7u);
  EXPECT_EQ(record.message.step, 3u);
  EXPECT_EQ(record.message.item, 2u);
  using std::string_literals::operator""s;
  EXPECT_EQ(std::string(record.data, record.bytes),
            "\5\0\0\0\0\0\0\0abcd\5\0\0\0\1\0\0\0efg"s);
}

TEST(LanesTest, WhatDiffersIsARecordOfItsOwn) {
  LaneParcel parcel;
  std::vector<WireMessage> all(6, Pieces());
  all[1].kind = kTokensMessage;
  all[2].flags = kPoisoned;
  all[3].target = 8;
  all[4].incarnation = 2;
  all[5].step = 4;
  for (uint32_t item : {0, 1}) {
    for (const WireMessage& like : all) {
      EXPECT_TRUE(parcel.Add(1, like, {0, item}, nullptr, 0));
    }
    EXPECT_TRUE(parcel.Add(2, all[0], {0, item}, nullptr, 0));
  }
  EXPECT_THAT(Lanes(parcel), ElementsAre(2, 2, 2, 2, 2, 2, 2));
}

TEST(LanesTest, LanesAscend) {
  LaneParcel parcel;
  for (const LaneHeader lane :
       {LaneHeader{2, 1}, {3, 1}, {0, 2}, {3, 1}, {0, 2}}) {
    EXPECT_TRUE(parcel.Add(1, Pieces(), lane, nullptr, 0));
  }
  EXPECT_THAT(Lanes(parcel), ElementsAre(3, 2));
}

TEST(LanesTest, ARecordHasABoundAndSoHasAParcel) {
  LaneParcel parcel;
  const std::vector<char> bytes(kMaxLaneBytes);
  constexpr uint32_t kMost =
      kMaxRecordBytes / (sizeof(LaneHeader) + kMaxLaneBytes);
  uint32_t item = 0;
  while (parcel.Add(1, Pieces(), {0, item}, bytes.data(), bytes.size())) {
    ++item;
  }
  EXPECT_EQ(item, 8 * kMost);
  EXPECT_THAT(Lanes(parcel), ElementsAre(kMost, kMost, kMost, kMost, kMost,
                                         kMost, kMost, kMost));
  parcel.Clear();
  for (uint32_t i = 0; i <= kMaxLanes; ++i) {
    EXPECT_TRUE(parcel.Add(1, Pieces(), {0, i}, nullptr, 0));
  }
  EXPECT_THAT(Lanes(parcel), ElementsAre(kMaxLanes, 1));
}

TEST(LanesTest, AParcelIsUsedAgainWhenItIsBack) {
  Parcels<ArrivedLanes> parcels;
  ArrivedLanes* const first = parcels.Take();
  first->Add({1, 2});
  first->Leave();
  ArrivedLanes* const second = parcels.Take();
  EXPECT_NE(second, first);
  second->Leave();
  first->GiveBack();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(parcels.Take(), first);
    EXPECT_TRUE(first->lanes().empty());
  }
  EXPECT_EQ(parcels.size(), 2u);
}

}  // namespace
}  // namespace pathways
