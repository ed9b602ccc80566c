//===- control_message.cc - Control messages, used again ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_message.h"

namespace pathways {

void ControlMessage::Begin() {
  // A new arena, not one that was reset: it is the thread's that makes it.
  google::protobuf::ArenaOptions options;
  options.initial_block = memory_;
  options.initial_block_size = sizeof(memory_);
  arena_.emplace(options);
  control_ = google::protobuf::Arena::CreateMessage<proto::Control>(&*arena_);
}

void ControlMessage::Recycle() {
  control_ = nullptr;
  arena_.reset();
  pool_.Free(this);
}

ControlPool::~ControlPool() {
  ControlMessage* message = free_.load().message();
  while (message != nullptr) {
    ControlMessage* const next = message->next_free_.load();
    delete message;
    message = next;
  }
}

ControlRef ControlPool::New() {
  Top top = free_.load(std::memory_order_acquire);
  // What is read of one that somebody else takes is not used: `top` changes.
  while (top.message() != nullptr &&
         !free_.compare_exchange_weak(
             top,
             Top(top.message()->next_free_.load(std::memory_order_relaxed),
                 top.changes() + 1),
             std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  ControlMessage* message = top.message();
  if (message == nullptr) {
    message = new ControlMessage(this);
    made_.fetch_add(1, std::memory_order_relaxed);
  } else {
    message->Revive();
  }
  message->Begin();
  return ControlRef(message);
}

void ControlPool::Free(ControlMessage* message) {
  Top top = free_.load(std::memory_order_relaxed);
  do {
    message->next_free_.store(top.message(), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(top, Top(message, top.changes() + 1),
                                        std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
}

}  // namespace pathways
