//===- frame_decoder.h - Frames out of a stream -----------------*- C++ -*-===//
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

// Who gets what a stream brings.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  // Both are there during the call. Not OK: decoding ends with it.
  virtual absl::Status OnWholeMessage(absl::Span<const char> header,
                                      absl::Span<const char> payload) = 0;
  // Where a payload that begins is to go, until OnWholePayload or the end of
  // decoding. InvalidArgument: it is not expected.
  virtual absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) = 0;
  virtual absl::Status OnWholePayload(uint64_t token) = 0;
};

// Takes a stream apart. Invariants: (1) each length is checked against
// `max_message_bytes` or the memory that was named before anything is allocated
// or written; (2) bodies of payloads and of long messages are read to where
// they stay; (3) after an error nothing more is told. One thread at a time;
// `sink` outlives it.
class FrameDecoder {
 public:
  FrameDecoder(uint64_t max_message_bytes, FrameSink* sink);

  // Where a frame may begin: whether `data` is a critical message, whole and
  // nothing else, which is told then, from where it lies. `*status`: as of
  // Advance. False: nothing was done.
  bool TakeWhole(absl::Span<const char> data, absl::Status* status);
  // Where the next bytes of the stream are to be put, the first span first; the
  // first is never empty.
  std::array<absl::Span<char>, 2> Buffers();
  // That many were. InvalidArgument: no side of ours sends this.
  absl::Status Advance(size_t bytes);
  // The stream may end here.
  bool is_between_frames() const {
    return body_.empty() && begin_ == end_ && bulk_.bytes == nullptr &&
           !in_payload_;
  }

 private:
  // A long message of which there is a part.
  struct Assembly {
    std::unique_ptr<char[]> bytes;
    uint64_t whole = 0, done = 0;
    uint32_t header_bytes = 0;
  };

  // A frame is there: takes of its body what is in the buffer. `*enough`:
  // false, more is needed before anything can be done.
  absl::Status TakeFrame(bool* enough);
  absl::Status TakeMessage(bool* enough);
  absl::Status TakePiece();
  absl::Status TakePayload();
  // The body goes to `memory`.
  absl::Status TakeBody(absl::Span<char> memory);
  absl::Status FinishBody();
  Assembly& assembly() {
    return frame_.kind == FrameKind::kBulk ? bulk_ : critical_;
  }

  const uint64_t max_message_bytes_;
  FrameSink* const sink_;

  // What came and was not looked at: frames, and bodies of short messages.
  const std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;

  Frame frame_;            // whose body is being read
  absl::Span<char> body_;  // what is missing of it, where it goes

  Assembly critical_, bulk_;

  // A payload of which there is a part.
  bool in_payload_ = false;
  uint64_t token_ = 0;
  absl::Span<char> payload_left_;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_FRAME_DECODER_H_
