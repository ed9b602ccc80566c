//===- frame.cc - Frames of a byte stream -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/frame.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/little_endian.h"

namespace pathways {
namespace {

constexpr uint8_t kFirst = 1;
constexpr uint8_t kLast = 2;

}  // namespace

void EncodeFrame(const Frame& frame, char (&bytes)[kFrameBytes]) {
  StoreLittleEndian(frame.body_bytes, 4, bytes);
  StoreLittleEndian(static_cast<uint8_t>(frame.kind), 1, bytes + 4);
  StoreLittleEndian((frame.first ? kFirst : 0) | (frame.last ? kLast : 0), 1,
                    bytes + 5);
  StoreLittleEndian(0, 2, bytes + 6);
  if (frame.kind == FrameKind::kPayload) {
    StoreLittleEndian(frame.token, 8, bytes + 8);
  } else {
    StoreLittleEndian(frame.header_bytes, 4, bytes + 8);
    StoreLittleEndian(frame.payload_bytes, 4, bytes + 12);
  }
}

absl::StatusOr<Frame> DecodeFrame(const char* bytes) {
  const uint64_t kind = LoadLittleEndian(bytes + 4, 1),
                 flags = LoadLittleEndian(bytes + 5, 1);
  if (kind < 1 || kind > 3 || flags > (kFirst | kLast) ||
      LoadLittleEndian(bytes + 6, 2) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("received a frame of kind ", kind, " with flags ", flags,
                     ", expected kinds 1 to 3 and flags 0 to 3"));
  }
  Frame frame;
  frame.kind = static_cast<FrameKind>(kind);
  frame.first = (flags & kFirst) != 0;
  frame.last = (flags & kLast) != 0;
  frame.body_bytes = LoadLittleEndian(bytes, 4);
  if (frame.kind == FrameKind::kPayload) {
    frame.token = LoadLittleEndian(bytes + 8, 8);
  } else {
    frame.header_bytes = LoadLittleEndian(bytes + 8, 4);
    frame.payload_bytes = LoadLittleEndian(bytes + 12, 4);
  }
  return frame;
}

}  // namespace pathways
