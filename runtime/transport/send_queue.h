//===- send_queue.h - Queue of frames to be written -------------*- C++ -*-===//
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

// Queue of frames that a connection must write. Critical messages come first,
// then bulk messages and pieces of payloads take turns. Invariants: (1) the
// bytes that Compose returned are written next, whatever is added meanwhile,
// and stay at their address until Consume; (2) short messages are stored side
// by side, so that many form one part. The connection's lock guards the queue,
// but returned bytes may be read without it.
class SendQueue {
 public:
  explicit SendQueue(uint64_t piece_bytes) : piece_bytes_(piece_bytes) {}

  void AddMessage(Urgency urgency, absl::Span<const char> header,
                  absl::Span<const char> payload);
  void AddPayload(uint64_t token, absl::Span<const char> bytes,
                  std::function<void()> sent);
  // Adds the rest of a frame that was begun without the queue, while nothing
  // was composed: all but the first `written` bytes of `parts`. It is written
  // next.
  void AddRest(absl::Span<const iovec> parts, size_t written);

  bool empty() const { return bytes_ == 0; }
  uint64_t bytes() const { return bytes_; }
  bool has_critical() const { return !critical_.empty(); }

  // Returns the bytes to be written next. Unless `all`, bulk messages and
  // payloads are included only if an earlier call returned them.
  std::vector<iovec> Compose(bool all);
  // Removes the first `bytes` bytes, which have been written. Appends to `sent`
  // the callbacks of payloads that are written completely.
  void Consume(size_t bytes, std::vector<std::function<void()>>* sent);
  // Removes everything. Appends the callbacks of all payloads to `sent`.
  void Clear(std::vector<std::function<void()>>* sent);

 private:
  struct Message {  // a long one, or short ones with their frames
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
  // Bytes that are written together. A part never moves.
  struct Part {
    char frame[kFrameBytes];
    size_t frame_bytes = 0;
    std::string owned;
    absl::Span<const char> body;  // in `owned`, or lent
    std::function<void()> sent;   // set if the payload ends here
    std::string message;          // memory of a long message that ends here
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
  std::deque<Part> committed_;  // in the order of writing
  size_t committed_bytes_ = 0;  // bytes of all parts that are not written
  size_t written_ = 0;          // bytes of the first part
  // Unwritten bytes; a piece's frame counts once it is made.
  uint64_t bytes_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SEND_QUEUE_H_
