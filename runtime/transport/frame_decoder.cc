//===- frame_decoder.cc - Decoder of a stream of frames ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/frame_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

constexpr size_t kBufferBytes = 64 << 10;
// Bytes that are read after a body which goes to other memory: enough for
// urgent messages, and so few that a long body is hardly ever copied.
constexpr size_t kBehindBodyBytes = 4 << 10;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

}  // namespace

FrameDecoder::FrameDecoder(uint64_t max_message_bytes, FrameSink* sink)
    : max_message_bytes_(max_message_bytes),
      sink_(sink),
      buffer_(new char[kBufferBytes]) {}

bool FrameDecoder::TakeWhole(absl::Span<const char> data,
                             absl::Status* status) {
  if (!body_.empty() || begin_ != end_ || data.size() < kFrameBytes) {
    return false;
  }
  const absl::StatusOr<Frame> frame = DecodeFrame(data.data());
  if (!frame.ok() || frame->kind != FrameKind::kCritical || !frame->first ||
      !frame->last) {
    return false;
  }
  const uint64_t whole = uint64_t{frame->header_bytes} + frame->payload_bytes;
  if (whole != data.size() - kFrameBytes || whole != frame->body_bytes ||
      whole > max_message_bytes_) {
    return false;
  }
  data.remove_prefix(kFrameBytes);
  *status = sink_->OnWholeMessage(data.first(frame->header_bytes),
                                  data.subspan(frame->header_bytes));
  return true;
}

std::array<absl::Span<char>, 2> FrameDecoder::Buffers() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (!body_.empty()) {
    return {body_, absl::MakeSpan(buffer_.get(), kBehindBodyBytes)};
  }
  // The buffer holds at most a frame and the body of a short message, so there
  // is room once they are moved to its beginning.
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return {absl::MakeSpan(buffer_.get() + end_, kBufferBytes - end_), {}};
}

absl::Status FrameDecoder::Advance(size_t bytes) {
  if (!body_.empty()) {
    const size_t taken = std::min(bytes, body_.size());
    body_.remove_prefix(taken);
    bytes -= taken;
    end_ += bytes;
    if (!body_.empty()) return absl::OkStatus();
    if (absl::Status status = FinishBody(); !status.ok()) return status;
  } else {
    end_ += bytes;
  }
  for (bool enough = true; body_.empty() && end_ - begin_ >= kFrameBytes;) {
    absl::Status status = TakeFrame(&enough);
    if (!status.ok() || !enough) return status;
  }
  return absl::OkStatus();
}

absl::Status FrameDecoder::TakeFrame(bool* enough) {
  absl::StatusOr<Frame> frame = DecodeFrame(buffer_.get() + begin_);
  if (!frame.ok()) return frame.status();
  if (!frame->last && frame->body_bytes == 0) {
    return Invalid("received an empty piece that is not the last one");
  }
  frame_ = *frame;
  if (frame_.kind != FrameKind::kPayload) return TakeMessage(enough);
  begin_ += kFrameBytes;
  return TakePayload();
}

absl::Status FrameDecoder::TakeMessage(bool* enough) {
  if (frame_.kind == FrameKind::kCritical && !(frame_.first && frame_.last)) {
    return Invalid(
        "received a piece of a critical message, expected the whole message");
  }
  const uint64_t whole = uint64_t{frame_.header_bytes} + frame_.payload_bytes;
  if (!frame_.first) {
    if (whole != 0)
      return Invalid(
          "received a later piece with a length, expected it only in the "
          "first");
    begin_ += kFrameBytes;
    return TakePiece();
  }
  if (whole > max_message_bytes_) {
    return Invalid("received a message of ", whole, " bytes, expected at most ",
                   max_message_bytes_);
  }
  if (assembly().bytes != nullptr) {
    return Invalid(
        "received the beginning of a message inside another message of its "
        "class");
  }
  if (frame_.last && frame_.body_bytes == whole &&
      whole <= kBufferBytes - kFrameBytes) {
    *enough = end_ - begin_ >= kFrameBytes + whole;
    if (!*enough) return absl::OkStatus();
    const char* body = buffer_.get() + begin_ + kFrameBytes;
    begin_ += kFrameBytes + whole;
    return sink_->OnWholeMessage(
        absl::MakeSpan(body, frame_.header_bytes),
        absl::MakeSpan(body + frame_.header_bytes, frame_.payload_bytes));
  }
  if (frame_.last ? frame_.body_bytes != whole : frame_.body_bytes >= whole) {
    return Invalid("received a piece of ", frame_.body_bytes,
                   " bytes of a message of ", whole, " bytes");
  }
  begin_ += kFrameBytes;
  assembly() = {std::unique_ptr<char[]>(new char[whole]), whole, 0,
                frame_.header_bytes};
  return TakePiece();
}

absl::Status FrameDecoder::TakePiece() {
  Assembly& message = assembly();
  if (message.bytes == nullptr) {
    return Invalid(
        "received a later piece of a message without its first piece");
  }
  const uint64_t left = message.whole - message.done;
  if (frame_.last ? frame_.body_bytes != left : frame_.body_bytes >= left) {
    return Invalid("received a piece of ", frame_.body_bytes, " bytes, but ",
                   left, " bytes of its message are missing");
  }
  char* body = message.bytes.get() + message.done;
  message.done += frame_.body_bytes;
  return TakeBody(absl::MakeSpan(body, frame_.body_bytes));
}

absl::Status FrameDecoder::TakePayload() {
  if (frame_.first == in_payload_ || (in_payload_ && frame_.token != token_)) {
    return Invalid("received a piece of payload ", frame_.token,
                   in_payload_ ? absl::StrCat(" inside payload ", token_)
                               : " without its first piece");
  }
  if (frame_.first) {
    absl::StatusOr<absl::Span<char>> memory = sink_->FindPayload(frame_.token);
    if (!memory.ok()) return memory.status();
    in_payload_ = true;
    token_ = frame_.token;
    payload_left_ = *memory;
  }
  const uint64_t left = payload_left_.size();
  if (frame_.last ? frame_.body_bytes != left : frame_.body_bytes >= left) {
    return Invalid("received a ", frame_.last ? "last " : "", "piece of ",
                   frame_.body_bytes, " bytes, but ", left,
                   " bytes of payload ", token_, " are missing");
  }
  const absl::Span<char> body = payload_left_.first(frame_.body_bytes);
  payload_left_.remove_prefix(frame_.body_bytes);
  return TakeBody(body);
}

absl::Status FrameDecoder::TakeBody(absl::Span<char> memory) {
  const size_t there = std::min(memory.size(), end_ - begin_);
  if (there > 0) std::memcpy(memory.data(), buffer_.get() + begin_, there);
  begin_ += there;
  body_ = memory.subspan(there);
  return body_.empty() ? FinishBody() : absl::OkStatus();
}

absl::Status FrameDecoder::FinishBody() {
  if (!frame_.last) return absl::OkStatus();
  if (frame_.kind == FrameKind::kPayload) {
    in_payload_ = false;
    return sink_->OnWholePayload(token_);
  }
  const Assembly message = std::move(assembly());
  assembly() = {};
  const char* bytes = message.bytes.get();
  return sink_->OnWholeMessage(
      absl::MakeSpan(bytes, message.header_bytes),
      absl::MakeSpan(bytes + message.header_bytes,
                     message.whole - message.header_bytes));
}

}  // namespace pathways
