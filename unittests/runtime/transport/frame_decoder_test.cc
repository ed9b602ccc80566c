//===- frame_decoder_test.cc - Frames out of a stream -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/frame_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/transport/send_queue.h"
#include "unittests/random_cases.h"

namespace pathways {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMost = 1 << 20;

class Sink : public FrameSink {
 public:
  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override {
    const std::string text(payload.data(), payload.size());
    came.push_back(absl::StrCat(std::string(header.data(), header.size()), "|",
                                text.size() > 100 ? "long" : text));
    bytes += header.size() + payload.size();
    return absl::OkStatus();
  }
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override {
    const auto found = memory.find(token);
    if (found == memory.end())
      return absl::InvalidArgumentError("not expected");
    return absl::MakeSpan(found->second);
  }
  absl::Status OnWholePayload(uint64_t token) override {
    came.push_back(absl::StrCat("payload ", token));
    return absl::OkStatus();
  }

  std::vector<std::string> came;
  std::map<uint64_t, std::string> memory;
  size_t bytes = 0;
};

// Feeds `stream` as if the socket brought up to `step` bytes each time.
absl::Status Feed(FrameDecoder* decoder, absl::string_view stream,
                  size_t step) {
  while (!stream.empty()) {
    size_t came = 0;
    for (absl::Span<char> buffer : decoder->Buffers()) {
      const size_t bytes =
          std::min({buffer.size(), stream.size(), step - came});
      if (bytes > 0) std::memcpy(buffer.data(), stream.data(), bytes);
      stream.remove_prefix(bytes);
      came += bytes;
    }
    if (came == 0) return absl::InternalError("no room");
    absl::Status status = decoder->Advance(came);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// All that the queue would write.
std::string Written(SendQueue* queue) {
  std::string stream;
  std::vector<std::function<void()>> sent;
  while (!queue->empty()) {
    size_t bytes = 0;
    for (const iovec& part : queue->Compose(/*all=*/true)) {
      stream.append(static_cast<const char*>(part.iov_base), part.iov_len);
      bytes += part.iov_len;
    }
    queue->Consume(bytes, &sent);
  }
  return stream;
}

std::string FrameText(const Frame& frame, const std::string& body = "") {
  char bytes[kFrameBytes];
  EncodeFrame(frame, bytes);
  return std::string(bytes, kFrameBytes) + body;
}

TEST(FrameDecoderTest, TakesWhatAQueueWroteHoweverItIsCut) {
  const std::string whole(300'000, 'p'), body(200'000, 'b');
  for (size_t step : {1, 7, 16, 1000, 65536, 1 << 20}) {
    SendQueue queue(/*piece_bytes=*/10'000);
    queue.AddMessage(Urgency::kBulk, absl::MakeSpan("bulk", 4), body);
    queue.AddMessage(Urgency::kBulk, {}, {});
    queue.AddMessage(Urgency::kCritical, absl::MakeSpan("c", 1), body);
    queue.AddMessage(Urgency::kCritical, absl::MakeSpan("c", 1),
                     absl::MakeSpan("p", 1));
    queue.AddPayload(7, whole, nullptr);
    queue.AddPayload(8, {}, nullptr);
    Sink sink;
    sink.memory[7] = std::string(whole.size(), '.');
    sink.memory[8] = "";
    FrameDecoder decoder(kMost, &sink);
    EXPECT_TRUE(Feed(&decoder, Written(&queue), step).ok());
    EXPECT_TRUE(decoder.is_between_frames());
    EXPECT_EQ(sink.came[0], "c|long");
    EXPECT_EQ(sink.came[1], "c|p");
    EXPECT_THAT(sink.came,
                testing::UnorderedElementsAre("c|long", "c|p", "bulk|long", "|",
                                              "payload 7", "payload 8"));
    EXPECT_TRUE(sink.memory[7] == whole);
  }
}

TEST(FrameDecoderTest, TakesAWholeMessageFromWhereItLies) {
  Sink sink;
  FrameDecoder decoder(/*max_message_bytes=*/10, &sink);
  const auto takes = [&](const std::string& data) {
    absl::Status status;
    const bool taken = decoder.TakeWhole(data, &status);
    EXPECT_TRUE(status.ok()) << status;
    return taken;
  };
  const std::string message =
      FrameText(WholeFrame(FrameKind::kCritical, 1, 2), "hpp");
  EXPECT_TRUE(takes(message));
  EXPECT_THAT(sink.came, ElementsAre("h|pp"));
  // The decoder takes neither a part, nor more, nor another kind, nor a frame
  // that would be an error.
  Frame longer = WholeFrame(FrameKind::kCritical, 1, 2);
  longer.body_bytes = 4;
  for (const std::string& data :
       {message.substr(0, 5), message.substr(0, message.size() - 1),
        message + "x", FrameText(WholeFrame(FrameKind::kBulk, 1, 2), "hpp"),
        FrameText(WholeFrame(FrameKind::kCritical, 1, 10), "0123456789a"),
        FrameText(longer, "hpp"), FrameText(longer, "hppp"),
        std::string(kFrameBytes + 3, '?'), std::string()}) {
    EXPECT_FALSE(takes(data)) << data.size();
  }
  // Nor inside a frame; between pieces of another message, yes.
  ASSERT_TRUE(Feed(&decoder, message.substr(0, 5), 100).ok());
  EXPECT_FALSE(takes(message));
  ASSERT_TRUE(Feed(&decoder, message.substr(5), 100).ok());
  Frame piece = WholeFrame(FrameKind::kBulk, 0, 4);
  piece.last = false;
  piece.body_bytes = 2;
  ASSERT_TRUE(Feed(&decoder, FrameText(piece, "ab"), 100).ok());
  EXPECT_TRUE(takes(message));
  piece = WholeFrame(FrameKind::kBulk, 0, 0);
  piece.first = false;
  piece.body_bytes = 2;
  ASSERT_TRUE(Feed(&decoder, FrameText(piece, "cd"), 100).ok());
  EXPECT_THAT(sink.came, ElementsAre("h|pp", "h|pp", "h|pp", "|abcd"));
}

TEST(FrameDecoderTest, KnowsWhetherTheStreamMayEnd) {
  Sink sink;
  FrameDecoder decoder(kMost, &sink);
  EXPECT_TRUE(decoder.is_between_frames());
  const std::string frame =
      FrameText(WholeFrame(FrameKind::kCritical, 1, 1), "hp");
  EXPECT_TRUE(Feed(&decoder, frame.substr(0, 5), 100).ok());
  EXPECT_FALSE(decoder.is_between_frames());
  EXPECT_TRUE(Feed(&decoder, frame.substr(5), 100).ok());
  EXPECT_TRUE(decoder.is_between_frames());
  Frame piece = WholeFrame(FrameKind::kBulk, 0, 10);
  piece.last = false;
  piece.body_bytes = 4;
  EXPECT_TRUE(Feed(&decoder, FrameText(piece, "abcd"), 100).ok());
  EXPECT_FALSE(decoder.is_between_frames());
  EXPECT_THAT(sink.came, ElementsAre("h|p"));
}

TEST(FrameDecoderTest, RefusesWhatNoSideOfOursSends) {
  const auto refuse = [](const std::string& stream, const std::string& why) {
    Sink sink;
    sink.memory[7] = "0123456789";
    FrameDecoder decoder(kMost, &sink);
    const absl::Status status = Feed(&decoder, stream, stream.size());
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_THAT(status.message(), HasSubstr(why));
    EXPECT_TRUE(sink.came.empty());
  };
  refuse(std::string(16, '\0'), "kind 0 with flags 0");
  refuse(FrameText(Frame()).replace(4, 1, "\x04"), "kind 4");
  refuse(FrameText(Frame()).replace(5, 1, "\x07"), "flags 7");
  refuse(FrameText(Frame()).replace(6, 1, "\x01"), "a frame of kind");
  refuse(FrameText(WholeFrame(FrameKind::kCritical, 1, kMost)),
         "a message of 1048577 bytes, expected at most 1048576");
  refuse(FrameText(WholeFrame(FrameKind::kBulk, UINT32_MAX, UINT32_MAX)),
         "a message of 8589934590 bytes");

  Frame frame = WholeFrame(FrameKind::kCritical, 0, 10);
  frame.body_bytes = 9;
  refuse(FrameText(frame), "a piece of 9 bytes of a message of 10 bytes");
  frame.last = false;
  refuse(FrameText(frame),
         "received a piece of a critical message, expected the whole message");
  frame.kind = FrameKind::kBulk;
  frame.body_bytes = 10;
  refuse(FrameText(frame), "a piece of 10 bytes of a message of 10 bytes");
  frame.body_bytes = 0;
  refuse(FrameText(frame), "an empty piece");
  frame.body_bytes = 4;
  refuse(FrameText(frame, "abcd") + FrameText(frame), "inside another");
  Frame next = WholeFrame(FrameKind::kBulk, 0, 0);
  next.first = false;
  next.body_bytes = 7;
  refuse(FrameText(frame, "abcd") + FrameText(next),
         "a piece of 7 bytes, but 6 bytes of its message are missing");
  refuse(FrameText(next), "a later piece of a message without its first piece");
  next.payload_bytes = 1;
  refuse(FrameText(next),
         "received a later piece with a length, expected it only in the first");
}

TEST(FrameDecoderTest, RefusesPayloadsThatAreNotAsExpected) {
  const auto refuse = [](const std::string& stream, const std::string& why) {
    Sink sink;
    sink.memory[7] = "0123456789";
    FrameDecoder decoder(kMost, &sink);
    const absl::Status status = Feed(&decoder, stream, stream.size());
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_THAT(status.message(), HasSubstr(why));
    EXPECT_TRUE(sink.came.empty());
  };
  Frame frame;
  frame.kind = FrameKind::kPayload;
  frame.token = 6;
  refuse(FrameText(frame), "not expected");
  frame.token = 7;
  frame.body_bytes = 9;
  refuse(FrameText(frame),
         "a last piece of 9 bytes, but 10 bytes of payload 7 are missing");
  frame.body_bytes = 11;
  refuse(FrameText(frame), "a last piece of 11 bytes, but");
  frame.last = false;
  frame.body_bytes = 10;
  refuse(FrameText(frame), "a piece of 10 bytes, but 10 bytes of payload");
  frame.body_bytes = 4;
  refuse(FrameText(frame, "abcd") + FrameText(frame),
         "a piece of payload 7 inside payload 7");
  Frame other = frame;
  other.first = false;
  other.token = 8;
  refuse(FrameText(frame, "abcd") + FrameText(other), "inside payload 7");
  refuse(FrameText(other), "a piece of payload 8 without its first piece");
}

TEST(FrameDecoderTest, BearsAnyBytes) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (uint64_t round = 0; round < SampleSize(1000, 3000); ++round) {
    std::string stream;
    const int frames = random() % 8;
    for (int i = 0; i < frames; ++i) {
      // Nearly right, so that more than the first check is reached.
      Frame frame;
      frame.kind = static_cast<FrameKind>(1 + random() % 3);
      frame.first = random() % 4 != 0;
      frame.last = random() % 4 != 0;
      frame.token = 7;
      frame.header_bytes = random() % 20;
      frame.payload_bytes = random() % 40;
      frame.body_bytes = random() % 4 != 0
                             ? frame.header_bytes + frame.payload_bytes
                             : random() % 60;
      if (!frame.first) frame.header_bytes = frame.payload_bytes = 0;
      stream += FrameText(frame, std::string(random() % 64, 'x'));
    }
    const int changed = random() % 4;
    for (int i = 0; i < changed && !stream.empty(); ++i) {
      stream[random() % stream.size()] = static_cast<char>(random());
    }
    Sink sink;
    sink.memory[7] = std::string(random() % 50, '.');
    FrameDecoder decoder(kMost, &sink);
    Feed(&decoder, stream, 1 + random() % 100).IgnoreError();
    EXPECT_LE(sink.bytes, stream.size());
  }
}

}  // namespace
}  // namespace pathways
