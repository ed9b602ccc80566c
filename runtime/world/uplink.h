//===- uplink.h - Messages to other processes -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_UPLINK_H_
#define RUNTIME_WORLD_UPLINK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/world/remote_channel.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/world.h"

namespace pathways {

// Sends the messages of a world to actors of other processes, through the
// RemoteChannel. A message of a worker's handler goes to the worker's stage, if
// it has one; all others go to the channel at once. `self` is the worker as
// which the calling thread runs, or null.
class Uplink {
 public:
  explicit Uplink(RemoteChannel channel) : channel_(std::move(channel)) {}
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;

  // Returns a function that opens the stage of one worker, or null if the
  // channel has no stages.
  const StageOpener& stage_opener() const { return channel_.open_stage; }

  void Send(ThreadWorker* self, ActorId from, ActorId to,
            const WireMessage& message, Payload payload);
  void SendControl(ThreadWorker* self, ActorId from, ActorId to,
                   std::string bytes);
  // Returns true if payloads for other processes may be lent.
  bool lends() const { return channel_.lend != nullptr; }
  // Lends a payload of `owner` (World::Lend), after all messages that the
  // worker has sent. Returns false, and drops the message, if there is no link
  // to the receiver.
  bool Lend(ThreadWorker& self, ActorId from, ActorId to,
            const WireMessage& message, Payload payload, LocalId owner,
            const LocalMessage& returned);
  // Answers an offer of another process to `receiver`. Null memory in `buffer`
  // refuses the payload.
  void Answer(uint64_t offer, LocalId receiver, const ReceiveBuffer& buffer);

  // Returns true if workers must poll for messages of other processes.
  bool polls() const { return channel_.poll != nullptr; }
  // Polls once. Returns true if messages of other processes came.
  bool Poll(ThreadWorker& self);
  // Returns true if NotifyIdle has an effect.
  bool watches_idle() const { return channel_.on_idle != nullptr; }
  // Notifies the transports that no worker polls from now on.
  void NotifyIdle() {
    if (channel_.on_idle) channel_.on_idle();
  }

  // Returns the number of messages that were dropped because the channel lacks
  // a function to send them.
  uint64_t undelivered() const {
    return undelivered_.load(std::memory_order_relaxed);
  }

 private:
  const RemoteChannel channel_;
  std::atomic<uint64_t> undelivered_{0};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_UPLINK_H_
