//===- link_batch_test.cc - Well-formed and damaged batches ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/link_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "runtime/protocol/wire_kind.h"

namespace pathways {
namespace {

std::string Text(absl::Span<const char> bytes) {
  return std::string(bytes.data(), bytes.size());
}

LinkFrame Token(uint64_t step, uint64_t bytes) {
  WireMessage message;
  message.kind = kTokenMessage;
  message.step = step;
  return LinkFrame::Hot(3, 4, message, bytes);
}

// Three frames: with a payload, without, and a control message.
std::string ThreeFrames() {
  BatchWriter batch;
  EXPECT_TRUE(batch.Add(Token(1, 3), std::string_view("abc")));
  EXPECT_TRUE(batch.Add(Token(2, 0), {}));
  EXPECT_TRUE(
      batch.Add(LinkFrame::Control(5, 6, 7), std::string_view("control")));
  return Text(batch.payload());
}

// In memory of just this size, so that a checker sees what is read beyond it.
bool IsBatch(const std::string& bytes) {
  const auto exact = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  return BatchReader::IsBatch(absl::MakeConstSpan(exact.get(), bytes.size()));
}

TEST(LinkBatchTest, WhatIsAddedIsReadInOrder) {
  BatchWriter batch;
  EXPECT_EQ(batch.count(), 0u);
  ASSERT_TRUE(batch.Add(Token(1, 3), std::string_view("abc")));
  ASSERT_TRUE(
      batch.Add(LinkFrame::Control(5, 6, 7), std::string_view("control")));
  ASSERT_TRUE(batch.Add(Token(2, 0), {}));
  EXPECT_EQ(batch.count(), 3u);
  const auto header = ReadLinkFrame(batch.header(), batch.payload().size());
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->kind, LinkFrame::kBatch);
  ASSERT_TRUE(BatchReader::IsBatch(batch.payload()));
  BatchReader reader(batch.payload());
  auto entry = reader.Next();
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->frame.wire.message.step, 1u);
  EXPECT_EQ(Text(entry->payload), std::string_view("abc"));
  entry = reader.Next();
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->frame.kind, LinkFrame::kControl);
  EXPECT_EQ(entry->frame.wire.from, 5u);
  EXPECT_EQ(Text(entry->payload), std::string_view("control"));
  entry = reader.Next();
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->frame.wire.message.step, 2u);
  EXPECT_TRUE(entry->payload.empty());
  EXPECT_FALSE(reader.Next().has_value());
}

TEST(LinkBatchTest, OneFrameGoesAsItIs) {
  BatchWriter batch;
  for (int round = 0; round < 2; ++round) {
    const LinkFrame frame = Token(1, 3);
    ASSERT_TRUE(batch.Add(frame, std::string_view("abc")));
    EXPECT_EQ(Text(batch.header()), Text(AsBytes(frame)));
    EXPECT_EQ(Text(batch.payload()), std::string_view("abc"));
    batch.Clear();
    EXPECT_EQ(batch.count(), 0u);
  }
}

TEST(LinkBatchTest, AFullBatchTakesNoMore) {
  uint64_t most = 0;
  while (BatchWriter::Fits(most + 1)) ++most;
  BatchWriter batch;
  const std::string longest(most, 'x');
  ASSERT_TRUE(batch.Add(Token(1, most), longest));
  EXPECT_FALSE(batch.Add(Token(2, 0), {}));
  EXPECT_EQ(batch.count(), 1u);
  EXPECT_EQ(Text(batch.payload()), longest);
  batch.Clear();
  EXPECT_FALSE(batch.Add(Token(1, most + 1), longest + "x"));
  uint32_t added = 0;
  while (batch.Add(Token(added, 0), {})) ++added;
  EXPECT_EQ(added, kMaxBatchBytes / sizeof(LinkFrame) - 1);
  EXPECT_EQ(batch.count(), added);
  EXPECT_TRUE(BatchReader::IsBatch(batch.payload()));
}

TEST(LinkBatchTest, WhatIsCutOffIsNoBatch) {
  const std::string good = ThreeFrames();
  ASSERT_TRUE(IsBatch(good));
  // A batch that is cut at the end of a frame is a shorter batch.
  const size_t one = sizeof(LinkFrame) + 3, two = one + sizeof(LinkFrame);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_EQ(IsBatch(good.substr(0, bytes)), bytes == one || bytes == two)
        << bytes;
  }
  EXPECT_FALSE(IsBatch(good + "x"));
  EXPECT_FALSE(IsBatch(good + std::string(sizeof(LinkFrame), '\0')));
}

TEST(LinkBatchTest, LengthsThatAreNotSoAreNoBatch) {
  for (uint64_t bytes :
       {uint64_t{2}, uint64_t{4}, uint64_t{1} << 32, UINT64_MAX,
        UINT64_MAX - sizeof(LinkFrame), UINT64_MAX - sizeof(LinkFrame) + 1}) {
    const LinkFrame frame = Token(1, bytes);
    EXPECT_FALSE(IsBatch(Text(AsBytes(frame)) + "abc")) << bytes;
  }
}

// Nor does anything stand in one that may not come from an actor.
TEST(LinkBatchTest, OtherKindsStandInNoBatch) {
  const std::string good = ThreeFrames();
  for (const LinkFrame& frame :
       {LinkFrame::Membership(3), LinkFrame::Batch(0), LinkFrame{}}) {
    const std::string bytes =
        Text(AsBytes(frame)) + std::string(frame.wire.payload_bytes, 'x');
    EXPECT_FALSE(IsBatch(bytes)) << frame.kind;
    EXPECT_FALSE(IsBatch(good + bytes)) << frame.kind;
  }
  LinkFrame hidden = LinkFrame::Control(5, 6, 0);
  hidden.zero = 1;
  EXPECT_FALSE(IsBatch(good + Text(AsBytes(hidden))));
}

// Whatever comes, nothing beyond it is read and the end is reached.
TEST(LinkBatchTest, AnyBytesAreRead) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string good = ThreeFrames();
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (uint32_t flips = random() % 4; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    const auto span = absl::MakeConstSpan(exact.get(), bytes.size());
    const bool is_batch = BatchReader::IsBatch(span);
    size_t read = 0;
    BatchReader reader(span);
    while (const auto entry = reader.Next()) {
      read += sizeof(LinkFrame) + entry->payload.size();
    }
    EXPECT_EQ(is_batch, read == bytes.size() && read > 0);
  }
}

}  // namespace
}  // namespace pathways
