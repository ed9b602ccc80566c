//===- send_queue_test.cc - Order of writes -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/send_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pathways {
namespace {

size_t BytesOf(const std::vector<iovec>& parts) {
  size_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  return bytes;
}

char KindOf(const std::vector<iovec>& parts) {
  return static_cast<const char*>(parts[0].iov_base)[4];
}

TEST(SendQueueTest, PutsShortMessagesSideBySide) {
  SendQueue queue(1000);
  const std::string payload(48, 'x');
  for (int i = 0; i < 500; ++i) queue.AddMessage(Urgency::kBulk, {}, payload);
  EXPECT_EQ(queue.bytes(), 500 * (kFrameBytes + 48));
  const std::vector<iovec> parts = queue.Compose(/*all=*/true);
  EXPECT_EQ(parts.size(), 1);
  EXPECT_EQ(BytesOf(parts), queue.bytes());
}

TEST(SendQueueTest, WritesCriticalMessagesBeforeMorePieces) {
  SendQueue queue(100'000);
  const std::string payload(250'000, 'x');
  std::vector<std::function<void()>> sent;
  queue.AddMessage(Urgency::kBulk, {}, payload);
  EXPECT_EQ(BytesOf(queue.Compose(true)), kFrameBytes + 100'000);
  queue.AddMessage(Urgency::kCritical, {}, absl::MakeSpan("now", 3));
  queue.Consume(50'000, &sent);
  // The piece that was begun continues; the critical message does not wait for
  // the next piece.
  EXPECT_EQ(BytesOf(queue.Compose(false)),
            kFrameBytes + 50'000 + kFrameBytes + 3);
  queue.Consume(kFrameBytes + 50'000, &sent);
  std::vector<iovec> parts = queue.Compose(true);
  EXPECT_EQ(KindOf(parts), 1);
  queue.Consume(kFrameBytes + 3, &sent);
  EXPECT_TRUE(queue.Compose(false)[0].iov_len == kFrameBytes)
      << "the piece behind it was shown with it";
  queue.Consume(2 * kFrameBytes + 150'000, &sent);
  EXPECT_FALSE(queue.empty());
}

TEST(SendQueueTest, LetsMessagesAndPayloadsTakeTurns) {
  SendQueue queue(100'000);
  const std::string bytes(300'000, 'x');
  std::vector<std::function<void()>> sent;
  int given_back = 0;
  queue.AddPayload(1, bytes, [&] { ++given_back; });
  queue.AddMessage(Urgency::kBulk, {}, bytes);
  std::string kinds;
  while (!queue.empty()) {
    const std::vector<iovec> parts = queue.Compose(true);
    kinds += std::to_string(KindOf(parts));
    queue.Consume(BytesOf(parts), &sent);
  }
  EXPECT_EQ(kinds, "232323");
  ASSERT_EQ(sent.size(), 1);
  sent[0]();
  EXPECT_EQ(given_back, 1);
}

TEST(SendQueueTest, KeepsTheRestOfWhatWasBegunInFront) {
  SendQueue queue(1000);
  std::string frame(16, 'f'), body(100, 'b');
  queue.AddMessage(Urgency::kCritical, {}, {});
  queue.AddRest(std::vector<iovec>{{frame.data(), 16}, {body.data(), 100}}, 20);
  EXPECT_EQ(queue.bytes(), 96 + kFrameBytes);
  const std::vector<iovec> parts = queue.Compose(true);
  EXPECT_EQ(parts[0].iov_len, 96);
  EXPECT_EQ(*static_cast<const char*>(parts[0].iov_base), 'b');
}

TEST(SendQueueTest, GivesAllBackWhenItIsCleared) {
  SendQueue queue(100);
  const std::string bytes(250, 'x');
  std::vector<std::function<void()>> sent;
  queue.AddPayload(1, bytes, [] {});
  queue.AddPayload(2, bytes, [] {});
  queue.Compose(true);
  queue.Clear(&sent);
  EXPECT_EQ(sent.size(), 2);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace pathways
