//===- frame.h - What a stream of bytes is cut into -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// frames.md has the layout.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_FRAME_H_
#define RUNTIME_TRANSPORT_FRAME_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace pathways {

inline constexpr size_t kFrameBytes = 16;  // without the body

enum class FrameKind : uint8_t {
  kCritical = 1,  // a message, whole
  kBulk = 2,      // a message, or a piece of one
  kPayload = 3,   // a piece of a payload
};

struct Frame {
  FrameKind kind = FrameKind::kCritical;
  bool first = true, last = true;  // of the pieces
  uint32_t body_bytes = 0;         // that follow this frame
  // The whole message has these, said in the first of its frames.
  uint32_t header_bytes = 0, payload_bytes = 0;
  uint64_t token = 0;  // of a payload, in each of its frames
};

// The frame of a message that is not cut.
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
// InvalidArgument: no side of ours writes such bytes.
absl::StatusOr<Frame> DecodeFrame(const char* bytes);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_FRAME_H_
