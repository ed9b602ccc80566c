//===- link_frame.h - Frames on links between processes ---------*- C++ -*-===//
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

// Header of a message between processes, in the format of wire.md. The kind
// defines what follows the header.
struct LinkFrame {
  enum Kind : uint32_t {
    kHot = 1,         // the payload of `wire.message`
    kControl = 2,     // a Control, from wire.from to wire.to
    kMembership = 3,  // a Membership: processes and hosts
    // Frames of kinds 1 and 2, one after another (link_batch.h).
    kBatch = 4,
    // An offer of a hot message whose payload stays with its sender, under the
    // token that follows the frame; and its two answers, which name the token.
    kOffer = 5,
    // The receiver has memory for the payload, so it may be put
    // (Transport::Put).
    kTake = 6,
    kRefuse = 7,  // the receiver does not want the payload
  };
  uint32_t kind = 0;
  uint32_t zero = 0;
  // For kOffer, payload_bytes is the size of the offered payload, not of what
  // follows the frame. For kMembership, kBatch, kTake and kRefuse all fields
  // but payload_bytes are zero.
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

// Parses a header. Returns nullopt if it is no frame, or does not fit a message
// with `payload_bytes` bytes of payload.
std::optional<LinkFrame> ReadLinkFrame(absl::Span<const char> header,
                                       size_t payload_bytes);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_LINK_FRAME_H_
