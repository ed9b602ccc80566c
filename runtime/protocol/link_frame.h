//===- link_frame.h - What stands on links between processes ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_LINK_FRAME_H_
#define RUNTIME_PROTOCOL_LINK_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/types/span.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// The header of a message between processes, byte by byte as in wire.md. What
// follows it goes by the kind.
struct LinkFrame {
  enum Kind : uint32_t {
    kHot = 1,         // the payload of `wire.message`
    kControl = 2,     // a Control, from wire.from to wire.to
    kMembership = 3,  // a Membership: who is in the cluster, and where
    kBatch = 4,  // frames of kind 1 and 2, one after another (link_batch.h)
  };
  uint32_t kind = 0;
  uint32_t zero = 0;
  WireFrame wire;  // of kMembership and kBatch all zero but its last field

  static LinkFrame Hot(ActorId from, ActorId to, const WireMessage& message,
                       uint64_t payload_bytes) {
    return {kHot, 0, {to, from, message, payload_bytes}};
  }
  static LinkFrame Control(ActorId from, ActorId to, uint64_t bytes) {
    return {kControl, 0, {to, from, {}, bytes}};
  }
  static LinkFrame Membership(uint64_t bytes) {
    return {kMembership, 0, {0, 0, {}, bytes}};
  }
  static LinkFrame Batch(uint64_t bytes) {
    return {kBatch, 0, {0, 0, {}, bytes}};
  }
};
static_assert(sizeof(LinkFrame) == 72 &&
              std::has_unique_object_representations_v<LinkFrame>);

inline absl::Span<const char> AsBytes(const LinkFrame& frame) {
  return absl::MakeConstSpan(reinterpret_cast<const char*>(&frame),
                             sizeof(frame));
}

// Nullopt: that is no frame, or not one of a message with so many bytes behind
// it.
std::optional<LinkFrame> ReadLinkFrame(absl::Span<const char> header,
                                       size_t payload_bytes);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_LINK_FRAME_H_
