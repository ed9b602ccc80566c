//===- frame.h - Frames of a byte stream ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout is in frames.md.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_FRAME_H_
#define RUNTIME_TRANSPORT_FRAME_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace pathways {

inline constexpr size_t kFrameBytes = 16;  // size without the body

enum class FrameKind : uint8_t {
  kCritical = 1,  // a whole message
  kBulk = 2,      // a whole message, or one piece
  kPayload = 3,   // one piece of a payload
};

struct Frame {
  FrameKind kind = FrameKind::kCritical;
  bool first = true, last = true;  // piece flags
  uint32_t body_bytes = 0;         // body bytes after this frame
  // Sizes of the whole message, given in its first frame only.
  uint32_t header_bytes = 0, payload_bytes = 0;
  uint64_t token = 0;  // token of a payload, in each of its frames
};

// Returns the frame of a message that is sent in one piece.
inline Frame WholeFrame(FrameKind kind, size_t header_bytes,
                        size_t payload_bytes) {
  Frame frame;
  frame.kind = kind;
  frame.body_bytes = static_cast<uint32_t>(header_bytes + payload_bytes);
  frame.header_bytes = static_cast<uint32_t>(header_bytes);
  frame.payload_bytes = static_cast<uint32_t>(payload_bytes);
  return frame;
}

void EncodeFrame(const Frame& frame, char (&bytes)[kFrameBytes]);
// Returns InvalidArgument for bytes that no transport of ours writes.
absl::StatusOr<Frame> DecodeFrame(const char* bytes);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_FRAME_H_
