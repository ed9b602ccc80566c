//===- token_record_test.cc - Records for another process -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/token_record.h"

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

// Returns how many members each record has.
std::vector<uint32_t> Members(const RecordBatch& batch) {
  std::vector<uint32_t> members;
  for (const TokenRecord& record : batch.records()) {
    members.push_back(record.message.item);
  }
  return members;
}

TEST(TokenRecordTest, ARecordHoldsCommonFieldsOnce) {
  RecordBatch batch;
  const char bytes[] = "abcdefghi";
  EXPECT_TRUE(batch.Add(1, Pieces(), {/*shard=*/5, /*item=*/0}, bytes, 4));
  EXPECT_TRUE(batch.Add(1, Pieces(), {5, 1}, bytes + 4, 3));
  ASSERT_THAT(batch.records(), SizeIs(1));
  const TokenRecord& record = batch.records()[0];
  EXPECT_EQ(record.host, 1);
  EXPECT_EQ(record.message.target, 7u);
  EXPECT_EQ(record.message.step, 3u);
  EXPECT_EQ(record.message.item, 2u);
  using std::string_literals::operator""s;
  EXPECT_EQ(std::string(record.data, record.bytes),
            "\5\0\0\0\0\0\0\0abcd\5\0\0\0\1\0\0\0efg"s);
}

TEST(TokenRecordTest, WhatDiffersIsARecordOfItsOwn) {
  RecordBatch batch;
  std::vector<WireMessage> all(6, Pieces());
  all[1].kind = kTokensMessage;
  all[2].flags = kPoisoned;
  all[3].target = 8;
  all[4].incarnation = 2;
  all[5].step = 4;
  for (uint32_t item : {0, 1}) {
    for (const WireMessage& like : all) {
      EXPECT_TRUE(batch.Add(1, like, {0, item}, nullptr, 0));
    }
    EXPECT_TRUE(batch.Add(2, all[0], {0, item}, nullptr, 0));
  }
  EXPECT_THAT(Members(batch), ElementsAre(2, 2, 2, 2, 2, 2, 2));
}

TEST(TokenRecordTest, LanesAscend) {
  RecordBatch batch;
  for (const MemberHeader member :
       {MemberHeader{2, 1}, {3, 1}, {0, 2}, {3, 1}, {0, 2}}) {
    EXPECT_TRUE(batch.Add(1, Pieces(), member, nullptr, 0));
  }
  EXPECT_THAT(Members(batch), ElementsAre(3, 2));
}

TEST(TokenRecordTest, ARecordHasABoundAndSoHasAParcel) {
  RecordBatch batch;
  const std::vector<char> bytes(kMaxMemberBytes);
  constexpr uint32_t kMost =
      kMaxRecordBytes / (sizeof(MemberHeader) + kMaxMemberBytes);
  uint32_t item = 0;
  while (batch.Add(1, Pieces(), {0, item}, bytes.data(), bytes.size())) {
    ++item;
  }
  EXPECT_EQ(item, 8 * kMost);
  EXPECT_THAT(Members(batch), ElementsAre(kMost, kMost, kMost, kMost, kMost,
                                          kMost, kMost, kMost));
  batch.Clear();
  for (uint32_t i = 0; i <= kMaxMembers; ++i) {
    EXPECT_TRUE(batch.Add(1, Pieces(), {0, i}, nullptr, 0));
  }
  EXPECT_THAT(Members(batch), ElementsAre(kMaxMembers, 1));
}

TEST(TokenRecordTest, AParcelIsUsedAgainWhenItIsBack) {
  Batches<TokenBatch> batches;
  TokenBatch* const first = batches.Take();
  first->Add({1, 2});
  first->Leave();
  TokenBatch* const second = batches.Take();
  EXPECT_NE(second, first);
  second->Leave();
  first->Return();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(batches.Take(), first);
    EXPECT_TRUE(first->members().empty());
  }
  EXPECT_EQ(batches.size(), 2u);
}

}  // namespace
}  // namespace pathways
