//===- open_batches_test.cc - Batches of frames and when they are sent ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/open_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Records each sent batch: its peer and, for each frame, the number passed to
// Add.
class OpenBatchesTest : public ::testing::Test {
 protected:
  bool Add(uint32_t peer, uint32_t number, size_t bytes = 0) {
    return batches_.Add(PeerId{peer}, LinkFrame::Control(number, 0, bytes),
                        std::string(bytes, 'x'), send_);
  }
  void Keep(PeerId peer, const BatchWriter& batch) {
    std::vector<uint32_t> numbers;
    if (batch.count() == 1) {
      numbers = {
          ReadLinkFrame(batch.header(), batch.payload().size())->wire.from};
    } else {
      BatchReader reader(batch.payload());
      while (auto entry = reader.Next()) {
        numbers.push_back(entry->frame.wire.from);
      }
    }
    EXPECT_EQ(numbers.size(), batch.count());
    sent_.emplace_back(static_cast<uint32_t>(peer), std::move(numbers));
  }

  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> sent_;
  const std::function<void(PeerId, const BatchWriter&)> send_ =
      [this](PeerId peer, const BatchWriter& batch) { Keep(peer, batch); };
  OpenBatches batches_;
};

TEST_F(OpenBatchesTest, EachPeerGetsItsOwnInOrder) {
  EXPECT_TRUE(batches_.empty());
  Add(5, 1), Add(7, 2), Add(5, 3), Add(7, 4), Add(9, 5);
  EXPECT_FALSE(batches_.empty());
  EXPECT_THAT(sent_, IsEmpty());
  batches_.FlushAll(send_);
  EXPECT_TRUE(batches_.empty());
  EXPECT_THAT(sent_, ElementsAre(Pair(5u, ElementsAre(1, 3)),
                                 Pair(7u, ElementsAre(2, 4)),
                                 Pair(9u, ElementsAre(5))));
  batches_.FlushAll(send_);
  EXPECT_EQ(sent_.size(), 3u);
}

TEST_F(OpenBatchesTest, OnePeerIsFlushedAlone) {
  Add(5, 1), Add(7, 2), Add(9, 3);
  batches_.Flush(PeerId{7}, send_);
  batches_.Flush(PeerId{7}, send_);
  batches_.Flush(PeerId{8}, send_);
  EXPECT_THAT(sent_, ElementsAre(Pair(7u, ElementsAre(2))));
  Add(9, 4), Add(7, 5), Add(5, 6);
  batches_.FlushAll(send_);
  EXPECT_THAT(
      sent_,
      ElementsAre(Pair(7u, ElementsAre(2)), Pair(5u, ElementsAre(1, 6)),
                  Pair(9u, ElementsAre(3, 4)), Pair(7u, ElementsAre(5))));
}

TEST_F(OpenBatchesTest, AFullBatchGoesBeforeTheNextBegins) {
  const size_t third = kMaxBatchBytes / 3;
  Add(5, 1, third), Add(5, 2, third), Add(5, 3, third);
  EXPECT_THAT(sent_, ElementsAre(Pair(5u, ElementsAre(1, 2))));
  batches_.FlushAll(send_);
  EXPECT_THAT(sent_.back(), Pair(5u, ElementsAre(3)));
}

TEST_F(OpenBatchesTest, WhatFitsNoBatchComesAfterWhatWasAdded) {
  Add(5, 1), Add(7, 2);
  EXPECT_FALSE(Add(5, 3, kMaxBatchBytes));
  EXPECT_THAT(sent_, ElementsAre(Pair(5u, ElementsAre(1))));
  EXPECT_FALSE(Add(9, 3, kMaxBatchBytes));
  EXPECT_EQ(sent_.size(), 1u);
}

TEST_F(OpenBatchesTest, OnePeerTooManyHasAllSent) {
  std::vector<uint32_t> begun;
  for (uint32_t peer = 0; peer < OpenBatches::kMaxPeers; ++peer) {
    Add(peer, peer);
    begun.push_back(peer);
  }
  EXPECT_THAT(sent_, IsEmpty());
  Add(100, 100);
  std::vector<uint32_t> peers;
  for (const auto& [peer, numbers] : sent_) peers.push_back(peer);
  EXPECT_EQ(peers, begun);
  batches_.FlushAll(send_);
  EXPECT_THAT(sent_.back(), Pair(100u, ElementsAre(100)));
}

}  // namespace
}  // namespace pathways
