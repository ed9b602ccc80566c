//===- wire_message.h - A hot message that may cross hosts ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its bytes are the same on every wire: wire.md, which a test compares.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_WIRE_MESSAGE_H_
#define RUNTIME_PROTOCOL_WIRE_MESSAGE_H_

#include <cstdint>
#include <type_traits>

#include "runtime/protocol/address.h"

namespace pathways {

// What the fields mean goes by the kind (wire_kind.h). Copied, never allocated;
// holds no address.
struct WireMessage {
  uint16_t kind = 0;
  uint16_t flags = 0;
  uint32_t program = 0;      // loaded program, dense per controller
  uint32_t incarnation = 0;  // of that program; older ones are dropped
  uint32_t target = 0;       // action or edge, by kind
  uint32_t shard = 0;        // of the receiving action
  uint32_t item = 0;         // which of the expected items of an edge
  uint32_t from_epoch = 0;   // of the sending host
  uint32_t to_epoch = 0;     // of the receiving host, as the sender knows it
  uint64_t step = 0;         // firing
  uint64_t sequence = 0;     // per pair of hosts and of their epochs, from 1
};
static_assert(sizeof(WireMessage) == 48 &&
              std::has_unique_object_representations_v<WireMessage>);

// What goes beside a message, not owned. The sender keeps it unchanged until
// the protocol says that it was consumed; a handler must copy what it wants to
// keep before it returns. `bytes` without `data` are a cost alone.
struct Payload {
  const void* data = nullptr;
  uint64_t bytes = 0;
};

// What stands before the payload on a wire.
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
