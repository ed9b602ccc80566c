//===- frame_decoder.h - Decoder of a stream of frames ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_FRAME_DECODER_H_
#define RUNTIME_TRANSPORT_FRAME_DECODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/transport/frame.h"

namespace pathways {

// Receives the messages and payloads of a stream.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  // `header` and `payload` are valid only during the call. A non-OK status
  // stops decoding and is returned.
  virtual absl::Status OnWholeMessage(absl::Span<const char> header,
                                      absl::Span<const char> payload) = 0;
  // Returns the memory for a payload that begins. It must stay valid until
  // OnWholePayload or the end of decoding. Returns InvalidArgument if the
  // payload is not expected.
  virtual absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) = 0;
  virtual absl::Status OnWholePayload(uint64_t token) = 0;
};

// Decodes a stream. Invariants: (1) each length is checked, against
// `max_message_bytes` or the memory that was named, before anything is
// allocated or written; (2) bodies of payloads and of long messages are read
// directly to their final place; (3) after an error the sink is not called any
// more. One thread at a time may call it. `sink` must outlive it.
class FrameDecoder {
 public:
  FrameDecoder(uint64_t max_message_bytes, FrameSink* sink);

  // Between frames: if `data` is exactly one critical message, passes it to the
  // sink in place, sets `*status` as Advance would, and returns true. Otherwise
  // does nothing and returns false.
  bool TakeWhole(absl::Span<const char> data, absl::Status* status);
  // Returns the memory for the next bytes of the stream, which fill the first
  // span before the second. The first span is never empty.
  std::array<absl::Span<char>, 2> Buffers();
  // Decodes `bytes` bytes that were written to Buffers(). Returns
  // InvalidArgument for bytes that no transport of ours sends.
  absl::Status Advance(size_t bytes);
  // Returns true if the stream may end here.
  bool is_between_frames() const {
    return body_.empty() && begin_ == end_ && bulk_.bytes == nullptr &&
           !in_payload_;
  }

 private:
  // A long message of which only a part has arrived.
  struct Assembly {
    std::unique_ptr<char[]> bytes;
    uint64_t whole = 0, done = 0;
    uint32_t header_bytes = 0;
  };

  // Takes the frame at the front of the buffer, and as much of its body as is
  // there. Sets `*enough` to false if more bytes are needed first.
  absl::Status TakeFrame(bool* enough);
  absl::Status TakeMessage(bool* enough);
  absl::Status TakePiece();
  absl::Status TakePayload();
  // Reads the body of the current frame to `memory`.
  absl::Status TakeBody(absl::Span<char> memory);
  absl::Status FinishBody();
  Assembly& assembly() {
    return frame_.kind == FrameKind::kBulk ? bulk_ : critical_;
  }

  const uint64_t max_message_bytes_;
  FrameSink* const sink_;

  // Bytes that arrived and are not decoded yet: frames, and bodies of short
  // messages.
  const std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;

  Frame frame_;            // the frame whose body is being read
  absl::Span<char> body_;  // memory for the rest of that body

  Assembly critical_, bulk_;

  // The payload of which only a part has arrived.
  bool in_payload_ = false;
  uint64_t token_ = 0;
  absl::Span<char> payload_left_;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_FRAME_DECODER_H_
