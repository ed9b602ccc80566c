//===- envelope_body.h - Bodies of messages under way -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_ENVELOPE_BODY_H_
#define RUNTIME_WORLD_ENVELOPE_BODY_H_

#include "runtime/protocol/wire_kind.h"
#include "runtime/world/mailbox.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/world.h"

namespace pathways {

// The queue in which a message waits for its receiver.
inline MailboxQueue QueueOf(const LocalMessage& message) {
  return (message.flags & kTurn) != 0 ? kTurnQueue : kDirectQueue;
}
inline MailboxQueue QueueOf(const WireMessage& message) {
  return IsBulk(message.kind) ? kBulkQueue : kDirectQueue;
}
MailboxQueue QueueOf(const Envelope& envelope);

// Returns a copy of a message of kind kLocal, kWire or kControl. The copy owns
// its payload or bytes, so it may outlive those of the sender.
Envelope KeepEnvelope(const Envelope& envelope);
// Frees what an envelope owns.
void DropEnvelope(const Envelope& envelope);

// Returns true if the handler of a message may run for long.
bool MayTakeLong(const Envelope& envelope);

}  // namespace pathways

#endif  // RUNTIME_WORLD_ENVELOPE_BODY_H_
