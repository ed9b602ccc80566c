//===- remote_channel.h - Channel to actors of other processes --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_REMOTE_CHANNEL_H_
#define RUNTIME_WORLD_REMOTE_CHANNEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/world/world.h"

namespace pathways {

// Messages that crossed the links of a process so far.
struct LinkStats {
  uint64_t messages_sent = 0, bytes_sent = 0;  // including all headers
  uint64_t messages_received = 0, bytes_received = 0;
  uint64_t unlinked = 0;  // messages to a process without a link
  uint64_t foreign = 0;  // received, but not allowed from that process: dropped
  uint64_t frames_sent = 0;  // frames that held one or several messages
  uint64_t frames_received = 0;
};

// Messages that the handlers of one worker send to actors of other processes. A
// stage may hold messages, so that several for one process go as one, but none
// after Flush. Used by one thread at a time. Its functions must not block or
// call the world.
class UplinkStage {
 public:
  virtual ~UplinkStage() = default;
  // Sends like RemoteChannel::send. Returns true if the stage holds messages.
  virtual bool Send(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) = 0;
  virtual bool SendControl(ActorId from, ActorId to, std::string bytes) = 0;
  virtual void Flush() = 0;
};

using StageOpener = std::function<std::unique_ptr<UplinkStage>()>;

// Functions to which a world passes messages for actors of other processes. The
// transport between processes provides them. For messages that come in, it
// calls World::Send with the far sender's address, on a thread that is not a
// worker. The functions are called inside Send on the sending worker, so
// several threads may call them at one time; they must not block or call the
// world. A payload is valid only during the call. Messages are dropped if a
// function is missing.
//
// Workers without work call `poll` before they sleep, several at a time. It may
// deliver messages that have come, inside the call, and returns false if there
// were none. The last worker that goes to sleep calls `on_idle`. From then on,
// and while all workers are in handlers, the transport must deliver messages by
// its own means.
struct RemoteChannel {
  std::function<void(ActorId from, ActorId to, const WireMessage& message,
                     Payload payload)>
      send;
  std::function<void(ActorId from, ActorId to, std::string bytes)> send_control;
  // Sends an offer and leaves the payload with its sender, which is `owner` in
  // this process (see World::Lend). Returns false, and drops the message, if
  // there is no link to the receiver.
  std::function<bool(ActorId from, ActorId to, const WireMessage& message,
                     Payload payload, LocalId owner,
                     const LocalMessage& returned)>
      lend;
  // The receiver's answer to an offer that RemoteArrivals::Offer brought.
  std::function<void(uint64_t offer, LocalId owner,
                     const ReceiveBuffer& landing)>
      take;
  std::function<void(uint64_t offer)> refuse;
  // Creates a stage for each worker, which then sends all messages of its
  // handlers through the stage. Without this function workers have no stages.
  // The stages are destroyed with the world.
  StageOpener open_stage;
  std::function<bool()> poll;
  std::function<void()> on_idle;
  std::function<LinkStats()> stats;  // any thread
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_REMOTE_CHANNEL_H_
