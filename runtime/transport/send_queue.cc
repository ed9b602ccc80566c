//===- send_queue.cc - Queue of frames to be written ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/send_queue.h"

#include <algorithm>
#include <utility>

namespace pathways {
namespace {

// Messages up to this size are copied side by side; longer ones are written in
// place.
constexpr size_t kShortBytes = 16 << 10;
constexpr size_t kBatchBytes = 64 << 10;
// Compose returns at least this much, if there is as much. Larger writes save
// no system call that matters.
constexpr size_t kShownBytes = 64 << 10;
constexpr size_t kMaxParts = 64;  // largest number of parts of one write

}  // namespace

void SendQueue::AddMessage(Urgency urgency, absl::Span<const char> header,
                           absl::Span<const char> payload) {
  const bool critical = urgency == Urgency::kCritical;
  AddTo(critical ? &critical_ : &bulk_, header, payload,
        critical ? FrameKind::kCritical : FrameKind::kBulk);
  bytes_ += kFrameBytes + header.size() + payload.size();
}

void SendQueue::AddTo(std::deque<Message>* queue, absl::Span<const char> header,
                      absl::Span<const char> payload, FrameKind kind) {
  const size_t bytes = header.size() + payload.size();
  const bool framed = bytes <= kShortBytes;
  if (!framed || queue->empty() || !queue->back().framed ||
      queue->back().bytes.size() >= kBatchBytes) {
    Message& message = queue->emplace_back();
    message.framed = framed;
    message.header_bytes = header.size();
    if (!framed) message.bytes.reserve(bytes);
  }
  std::string& text = queue->back().bytes;
  if (framed) {
    char frame[kFrameBytes];
    EncodeFrame(WholeFrame(kind, header.size(), payload.size()), frame);
    text.append(frame, kFrameBytes);
  }
  text.append(header.data(), header.size());
  text.append(payload.data(), payload.size());
}

void SendQueue::AddPayload(uint64_t token, absl::Span<const char> bytes,
                           std::function<void()> sent) {
  payloads_.push_back({token, bytes, std::move(sent)});
  bytes_ += kFrameBytes + bytes.size();
}

void SendQueue::AddRest(absl::Span<const iovec> parts, size_t written) {
  std::string rest;
  for (const iovec& part : parts) {
    const size_t skipped = std::min(written, part.iov_len);
    written -= skipped;
    rest.append(static_cast<const char*>(part.iov_base) + skipped,
                part.iov_len - skipped);
  }
  bytes_ += rest.size();
  Part& part = Commit(nullptr, {});
  part.owned = std::move(rest);
  part.body = part.owned;
  committed_bytes_ += part.size();
}

std::vector<iovec> SendQueue::Compose(bool all) {
  while (!critical_.empty() && committed_bytes_ < kShownBytes) {
    CommitMessage(&critical_, FrameKind::kCritical);
  }
  while (all && committed_bytes_ < kShownBytes &&
         !(bulk_.empty() && payloads_.empty())) {
    if (payloads_.empty() || (!payload_next_ && !bulk_.empty())) {
      CommitMessage(&bulk_, FrameKind::kBulk);
      payload_next_ = true;
    } else {
      CommitPayload();
      payload_next_ = false;
    }
  }
  std::vector<iovec> shown;
  size_t skipped = written_;
  for (Part& part : committed_) {
    if (shown.size() + 2 > kMaxParts) break;
    const size_t of_frame = std::min(skipped, part.frame_bytes);
    if (of_frame < part.frame_bytes) {
      shown.push_back({part.frame + of_frame, part.frame_bytes - of_frame});
    }
    const size_t of_body = skipped - of_frame;
    if (of_body < part.body.size()) {
      shown.push_back({const_cast<char*>(part.body.data()) + of_body,
                       part.body.size() - of_body});
    }
    skipped = 0;
  }
  return shown;
}

void SendQueue::CommitMessage(std::deque<Message>* queue, FrameKind kind) {
  Message& message = queue->front();
  if (message.framed) {
    Part& part = Commit(nullptr, {});
    part.owned = std::move(message.bytes);
    part.body = part.owned;
    committed_bytes_ += part.size();
    queue->pop_front();
    return;
  }
  const size_t left = message.bytes.size() - message.done;
  Frame frame = WholeFrame(kind, message.header_bytes,
                           message.bytes.size() - message.header_bytes);
  frame.first = message.done == 0;
  frame.body_bytes =
      kind == FrameKind::kBulk ? std::min<uint64_t>(left, piece_bytes_) : left;
  frame.last = frame.body_bytes == left;
  if (!frame.first) {
    frame.header_bytes = frame.payload_bytes = 0;
    bytes_ += kFrameBytes;
  }
  Part& part = Commit(
      &frame,
      absl::MakeSpan(message.bytes).subspan(message.done, frame.body_bytes));
  committed_bytes_ += part.size();
  message.done += frame.body_bytes;
  if (!frame.last) return;
  // The memory of the message stays in place and is freed with the last piece.
  part.message = std::move(message.bytes);
  queue->pop_front();
}

void SendQueue::CommitPayload() {
  Payload& payload = payloads_.front();
  const size_t left = payload.bytes.size() - payload.done;
  Frame frame;
  frame.kind = FrameKind::kPayload;
  frame.token = payload.token;
  frame.first = payload.done == 0;
  frame.body_bytes = std::min<uint64_t>(left, piece_bytes_);
  frame.last = frame.body_bytes == left;
  if (!frame.first) bytes_ += kFrameBytes;
  Part& part =
      Commit(&frame, payload.bytes.subspan(payload.done, frame.body_bytes));
  committed_bytes_ += part.size();
  payload.done += frame.body_bytes;
  if (!frame.last) return;
  part.sent = std::move(payload.sent);
  payloads_.pop_front();
}

SendQueue::Part& SendQueue::Commit(const Frame* frame,
                                   absl::Span<const char> body) {
  Part& part = committed_.emplace_back();
  if (frame != nullptr) {
    EncodeFrame(*frame, part.frame);
    part.frame_bytes = kFrameBytes;
  }
  part.body = body;
  return part;
}

void SendQueue::Consume(size_t bytes,
                        std::vector<std::function<void()>>* sent) {
  bytes_ -= bytes;
  committed_bytes_ -= bytes;
  written_ += bytes;
  while (!committed_.empty() && written_ >= committed_.front().size()) {
    Part& part = committed_.front();
    written_ -= part.size();
    if (part.sent) sent->push_back(std::move(part.sent));
    committed_.pop_front();
  }
}

void SendQueue::Clear(std::vector<std::function<void()>>* sent) {
  for (Part& part : committed_) {
    if (part.sent) sent->push_back(std::move(part.sent));
  }
  for (Payload& payload : payloads_) sent->push_back(std::move(payload.sent));
  critical_.clear();
  bulk_.clear();
  payloads_.clear();
  committed_.clear();
  bytes_ = committed_bytes_ = written_ = 0;
}

}  // namespace pathways
