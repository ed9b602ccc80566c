//===- link_frame.cc - Frames on links between processes ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/link_frame.h"

#include <cstring>

namespace pathways {

std::optional<LinkFrame> ReadLinkFrame(absl::Span<const char> header,
                                       size_t payload_bytes) {
  LinkFrame frame;
  if (header.size() != sizeof(frame)) return std::nullopt;
  std::memcpy(&frame, header.data(), sizeof(frame));
  if (frame.kind == LinkFrame::kOffer) {
    const bool is_one =
        payload_bytes == LinkFrame::kTokenBytes && frame.zero == 0;
    return is_one ? std::optional(frame) : std::nullopt;
  }
  if (frame.wire.payload_bytes != payload_bytes) return std::nullopt;
  LinkFrame expected;
  switch (frame.kind) {
    case LinkFrame::kHot:  // uses all other fields
      return frame.zero == 0 ? std::optional(frame) : std::nullopt;
    case LinkFrame::kControl:
      expected =
          LinkFrame::Control(frame.wire.from, frame.wire.to, payload_bytes);
      break;
    case LinkFrame::kMembership:
      expected = LinkFrame::Membership(payload_bytes);
      break;
    case LinkFrame::kBatch:
      expected = LinkFrame::Batch(payload_bytes);
      break;
    case LinkFrame::kTake:
    case LinkFrame::kRefuse:
      expected = LinkFrame::Answer(static_cast<LinkFrame::Kind>(frame.kind));
      break;
    default:
      return std::nullopt;
  }
  // Fields that a kind does not use must be zero.
  if (std::memcmp(&frame, &expected, sizeof(frame)) != 0) return std::nullopt;
  return frame;
}

}  // namespace pathways
