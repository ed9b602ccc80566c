//===- uplink.cc - Messages to other processes ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/uplink.h"

namespace pathways {
namespace {

// Returns the worker's stage, or null if the thread does not run a handler.
UplinkStage* StageOf(ThreadWorker* self) {
  return self == nullptr || self->polls ? nullptr : self->stage.get();
}

}  // namespace

void Uplink::Send(ThreadWorker* self, ActorId from, ActorId to,
                  const WireMessage& message, Payload payload) {
  if (UplinkStage* stage = StageOf(self)) {
    self->staged = stage->Send(from, to, message, payload);
  } else if (channel_.send) {
    channel_.send(from, to, message, payload);
  } else {
    undelivered_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Uplink::SendControl(ThreadWorker* self, ActorId from, ActorId to,
                         std::string bytes) {
  if (UplinkStage* stage = StageOf(self)) {
    self->staged = stage->SendControl(from, to, std::move(bytes));
  } else if (channel_.send_control) {
    channel_.send_control(from, to, std::move(bytes));
  } else {
    undelivered_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool Uplink::Lend(ThreadWorker& self, ActorId from, ActorId to,
                  const WireMessage& message, Payload payload, LocalId owner,
                  const LocalMessage& returned) {
  // Messages sent so far must not wait for this large payload.
  self.FlushStage();
  return channel_.lend(from, to, message, payload, owner, returned);
}

void Uplink::Answer(uint64_t offer, LocalId receiver,
                    const ReceiveBuffer& buffer) {
  if (buffer.memory == nullptr) {
    channel_.refuse(offer);
  } else {
    channel_.take(offer, receiver, buffer);
  }
}

bool Uplink::Poll(ThreadWorker& self) {
  if (!channel_.poll) return false;
  self.polls = true;
  const bool moved = channel_.poll();
  self.polls = false;
  return moved;
}

}  // namespace pathways
