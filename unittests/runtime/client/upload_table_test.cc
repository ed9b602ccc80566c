//===- upload_table_test.cc - Values that hosts request from a client -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/upload_table.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pathways {
namespace {

constexpr uint64_t kUploadedObject = 9, kWantingLaunch = 4;

class UploadTableTest : public ::testing::Test {
 protected:
  // Rows of an array of one byte each, cut by `columns` over two hosts.
  void Add(int64_t rows, int64_t row_bytes, bool columns) {
    values_ = std::make_shared<std::vector<char>>(rows * row_bytes);
    for (size_t i = 0; i < values_->size(); ++i) {
      (*values_)[i] = static_cast<char>(i * 31 + i / 512);
    }
    auto placement = std::make_shared<ArrayPlacement>();
    placement->layout.shape = {rows, row_bytes};
    placement->layout.dims = {{}, {}};
    placement->layout.dims[columns ? 1 : 0] = {"x"};
    placement->mesh = {{"x", 2}};
    placement->element_bytes = 1;
    for (int32_t host : {0, 1}) {
      placement->hosts.push_back(
          {host, CutParts(placement->layout, placement->mesh, 1, {host})});
    }
    table_.Add(kUploadedObject, kWantingLaunch, {values_->data(), values_},
               std::move(placement), 1);
  }

  std::shared_ptr<std::vector<char>> values_;
  UploadTable table_;
};

TEST_F(UploadTableTest, NeighboursAreNotCopied) {
  Add(4, kPieceBytes, /*columns=*/false);
  const Payload piece = *table_.Piece(kUploadedObject, 1, {1, 0});
  EXPECT_EQ(piece.data, values_->data() + 3 * kPieceBytes);
  EXPECT_EQ(piece.bytes, kPieceBytes);
  EXPECT_EQ(table_.bytes_gathered(), 0u);
}

TEST_F(UploadTableTest, OthersAreCopiedOnceAndStayUntilTheNextOfTheirSlot) {
  constexpr size_t kRows = kPieceBytes / 256;  // of a piece
  Add(4 * kRows, 512, /*columns=*/true);
  const Payload first = *table_.Piece(kUploadedObject, 1, {0, 0});
  const Payload second = *table_.Piece(kUploadedObject, 1, {1, 1});
  EXPECT_EQ(table_.bytes_gathered(), 2 * kPieceBytes);
  for (size_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(std::memcmp(static_cast<const char*>(first.data) + row * 256,
                          values_->data() + row * 512 + 256, 256),
              0);
  }
  EXPECT_NE(first.data, second.data);
  const std::string kept(static_cast<const char*>(second.data), second.bytes);
  EXPECT_EQ(table_.Piece(kUploadedObject, 1, {2, 0})->data, first.data);
  EXPECT_EQ(std::memcmp(second.data, kept.data(), kept.size()), 0);
}

TEST_F(UploadTableTest, WhatWasHandedOutIsNotWrittenAgain) {
  Add(1 << 10, 512, /*columns=*/true);
  const Payload first = *table_.Piece(kUploadedObject, 0, {0, 0});
  const Payload again = *table_.Piece(kUploadedObject, 0, {0, 0});
  EXPECT_NE(first.data, again.data);
  EXPECT_EQ(std::memcmp(first.data, again.data, kPieceBytes), 0);
  EXPECT_NE(table_.Piece(kUploadedObject, 0, {1, 0})->data, nullptr);
  // A second copy of the first question comes late.
  EXPECT_EQ(table_.Piece(kUploadedObject, 0, {0, 0})->data, nullptr);
}

TEST_F(UploadTableTest, RefusesWhatIsNotThere) {
  Add(2, 100, /*columns=*/false);
  EXPECT_FALSE(table_.Piece(kUploadedObject + 1, 0, {0, 0}).has_value());
  EXPECT_FALSE(table_.Piece(kUploadedObject, 2, {0, 0}).has_value());
  EXPECT_FALSE(table_.Piece(kUploadedObject, 0, {1, 0}).has_value());
  EXPECT_FALSE(table_.Piece(kUploadedObject, 0, {0, kPullWindow}).has_value());
  EXPECT_EQ(table_.Piece(kUploadedObject, 0, {0, 0})->bytes, 100u);
}

TEST_F(UploadTableTest, ValuesAreHeldUntilAllHostsHaveThem) {
  Add(2, 100, /*columns=*/false);
  EXPECT_EQ(values_.use_count(), 2);
  EXPECT_EQ(table_.Pulled(kUploadedObject, 0), nullptr);
  EXPECT_EQ(table_.Pulled(kUploadedObject, 0), nullptr);
  EXPECT_EQ(table_.Pulled(kUploadedObject, 1), values_);
  EXPECT_EQ(values_.use_count(), 1);
  EXPECT_EQ(table_.Pulled(kUploadedObject, 1), nullptr);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_TRUE(table_.EndLaunch(kWantingLaunch).empty());
}

// Before its launch ends, or after.
TEST_F(UploadTableTest, AHostThatIsGoneIsNotWaitedFor) {
  Add(2, 100, /*columns=*/false);
  ASSERT_TRUE(table_.Piece(kUploadedObject, 0, {0, 0}).has_value());
  EXPECT_TRUE(table_.HostGone(0).empty());
  EXPECT_TRUE(table_.HostGone(7).empty());
  EXPECT_EQ(table_.EndLaunch(kWantingLaunch).size(), 1u);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(values_.use_count(), 1);

  Add(2, 100, /*columns=*/false);
  ASSERT_TRUE(table_.Piece(kUploadedObject, 0, {0, 0}).has_value());
  EXPECT_TRUE(table_.EndLaunch(kWantingLaunch).empty());
  EXPECT_EQ(table_.HostGone(0).size(), 1u);
  EXPECT_EQ(table_.size(), 0u);
}

// A late message of an earlier epoch of a host says nothing about the next
// epoch.
TEST_F(UploadTableTest, AHostThatHasNotAskedYetMay) {
  Add(2, 100, /*columns=*/false);
  EXPECT_TRUE(table_.HostGone(0).empty());
  EXPECT_TRUE(table_.Piece(kUploadedObject, 0, {0, 0}).has_value());
}

TEST_F(UploadTableTest, AHostThatBeganToAskIsWaitedForBeyondTheLaunch) {
  Add(2, 100, /*columns=*/false);
  ASSERT_TRUE(table_.Piece(kUploadedObject, 0, {0, 0}).has_value());
  EXPECT_TRUE(table_.EndLaunch(kWantingLaunch).empty());
  EXPECT_FALSE(table_.Piece(kUploadedObject, 1, {0, 0}).has_value());
  EXPECT_EQ(table_.Pulled(kUploadedObject, 0), values_);
}

TEST_F(UploadTableTest, AllThatNobodyAskedForGoesWithTheClient) {
  Add(2, 100, /*columns=*/false);
  ASSERT_TRUE(table_.Piece(kUploadedObject, 1, {0, 0}).has_value());
  EXPECT_TRUE(table_.EndAll().empty());
  EXPECT_EQ(table_.Pulled(kUploadedObject, 1), values_);
  Add(2, 100, /*columns=*/false);
  EXPECT_EQ(table_.EndAll().size(), 1u);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(UploadTableTest, WhatNobodyAskedForGoesWithItsLaunch) {
  Add(2, 100, /*columns=*/false);
  EXPECT_TRUE(table_.EndLaunch(kWantingLaunch + 1).empty());
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_EQ(table_.EndLaunch(kWantingLaunch).size(), 1u);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(UploadTableTest, WhatAnotherLaunchNeedsStaysForIt) {
  Add(2, 100, /*columns=*/false);
  table_.AddLaunch(kUploadedObject, kWantingLaunch + 1);
  table_.AddLaunch(kUploadedObject + 1, kWantingLaunch + 1);  // is not here
  EXPECT_TRUE(table_.EndLaunch(kWantingLaunch).empty());
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_EQ(table_.EndLaunch(kWantingLaunch + 1).size(), 1u);
  EXPECT_EQ(table_.size(), 0u);
}

}  // namespace
}  // namespace pathways
