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
    // A hot message whose payload stays with its sender, under the token that
    // is beside the frame; and the answers, which name the token.
    kOffer = 5,
    kTake = 6,    // there is memory for it: to be put (Transport::Put)
    kRefuse = 7,  // nobody wants it
  };
  uint32_t kind = 0;
  uint32_t zero = 0;
  // Of kOffer payload_bytes is not what is beside the frame; of kMembership and
  // what comes after it, but kOffer, all is zero but payload_bytes.
  WireFrame wire;

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
  static LinkFrame Offer(ActorId from, ActorId to, const WireMessage& message,
                         uint64_t payload_bytes) {
    return {kOffer, 0, {to, from, message, payload_bytes}};
  }
  // `kind`: kTake or kRefuse.
  static LinkFrame Answer(Kind kind) {
    return {kind, 0, {0, 0, {}, kTokenBytes}};
  }
  static constexpr uint64_t kTokenBytes = 8;
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
