//===- send_queue.h - What waits to be written ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SEND_QUEUE_H_
#define RUNTIME_TRANSPORT_SEND_QUEUE_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/transport/frame.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Frames that a connection has to write, and which comes next: critical
// messages first, then in turn bulk messages and pieces of payloads.
// Invariants: (1) what Compose showed is written next, whatever is added
// meanwhile, and stays where it is until Consume; (2) short messages wait side
// by side, so that many are one part. The connection's lock guards it, but what
// was shown may be read without.
class SendQueue {
 public:
  explicit SendQueue(uint64_t piece_bytes) : piece_bytes_(piece_bytes) {}

  void AddMessage(Urgency urgency, absl::Span<const char> header,
                  absl::Span<const char> payload);
  void AddPayload(uint64_t token, absl::Span<const char> bytes,
                  std::function<void()> sent);
  // What is left of a frame that was begun without the queue, which had shown
  // nothing: all but the first `written` bytes. It comes next.
  void AddRest(absl::Span<const iovec> parts, size_t written);

  bool empty() const { return bytes_ == 0; }
  uint64_t bytes() const { return bytes_; }
  bool has_critical() const { return !critical_.empty(); }

  // What is to be written next. Of what is not critical only what was shown
  // before, unless `all`.
  std::vector<iovec> Compose(bool all);
  // So much of it was. Adds what is to be called for payloads that are written.
  void Consume(size_t bytes, std::vector<std::function<void()>>* sent);
  // Forgets all.
  void Clear(std::vector<std::function<void()>>* sent);

 private:
  struct Message {  // or several short ones, as frames
    std::string bytes;
    bool framed = false;
    uint32_t header_bytes = 0;
    size_t done = 0;
  };
  struct Payload {
    uint64_t token;
    absl::Span<const char> bytes;
    std::function<void()> sent;
    size_t done = 0;
  };
  // What is written in one go. Stays where it is.
  struct Part {
    char frame[kFrameBytes];
    size_t frame_bytes = 0;
    std::string owned;
    absl::Span<const char> body;  // `owned`, or what was lent
    std::function<void()> sent;   // the payload ends with it
    std::string message;          // the long message that ends with it
    size_t size() const { return frame_bytes + body.size(); }
  };

  static void AddTo(std::deque<Message>* queue, absl::Span<const char> header,
                    absl::Span<const char> payload, FrameKind kind);
  void CommitMessage(std::deque<Message>* queue, FrameKind kind);
  void CommitPayload();
  Part& Commit(const Frame* frame, absl::Span<const char> body);

  const uint64_t piece_bytes_;
  std::deque<Message> critical_, bulk_;
  std::deque<Payload> payloads_;
  bool payload_next_ = false;
  std::deque<Part> committed_;  // in the order in which they are written
  size_t committed_bytes_ = 0;  // of them, without what is written
  size_t written_ = 0;          // of the first
  uint64_t bytes_ = 0;          // of all, frames of pieces when they are made
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SEND_QUEUE_H_
