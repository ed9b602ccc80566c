//===- wire_message.h - A hot message that may cross hosts ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format on the wire is in wire.md, which a test compares with these
// structs.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_WIRE_MESSAGE_H_
#define RUNTIME_PROTOCOL_WIRE_MESSAGE_H_

#include <cstdint>
#include <type_traits>

#include "runtime/protocol/address.h"

namespace pathways {

// The kind defines the meaning of the fields (wire_kind.h). Messages are
// copied, never allocated, and hold no address.
struct WireMessage {
  uint16_t kind = 0;
  uint16_t flags = 0;
  uint32_t program = 0;  // loaded program, dense per controller
  // Incarnation of the program; messages of older ones are dropped.
  uint32_t incarnation = 0;
  uint32_t target = 0;      // action or edge, by kind
  uint32_t shard = 0;       // of the receiving action
  uint32_t item = 0;        // number among the expected items of an edge
  uint32_t from_epoch = 0;  // epoch of the sending host
  // Epoch of the receiving host, as the sender knows it.
  uint32_t to_epoch = 0;
  uint64_t step = 0;      // firing
  uint64_t sequence = 0;  // per pair of hosts and of their epochs, from 1
};
static_assert(sizeof(WireMessage) == 48 &&
              std::has_unique_object_representations_v<WireMessage>);

// Bytes that go with a message, not owned. The sender keeps them unchanged
// until the protocol says that they were consumed; a handler must copy what it
// wants to keep before it returns. If `data` is null, `bytes` only count as a
// cost.
struct Payload {
  const void* data = nullptr;
  uint64_t bytes = 0;
};

// Header before the payload on a wire.
struct WireFrame {
  ActorId to = kNoActor;
  ActorId from = kNoActor;
  WireMessage message;
  uint64_t payload_bytes = 0;
};
static_assert(sizeof(WireFrame) == 64 &&
              std::has_unique_object_representations_v<WireFrame>);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_WIRE_MESSAGE_H_
