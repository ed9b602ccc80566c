//===- remote_channel.h - The way to actors of other processes --*- C++ -*-===//
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

// What has crossed the links of a process so far.
struct LinkStats {
  uint64_t messages_sent = 0, bytes_sent = 0;  // with all headers
  uint64_t messages_received = 0, bytes_received = 0;
  uint64_t unlinked = 0;     // for a process that there is no link to
  uint64_t foreign = 0;      // that no process there may send: dropped
  uint64_t frames_sent = 0;  // what the messages went in, alone or several
  uint64_t frames_received = 0;
};

// What the handlers of one worker say to actors of other processes. It may keep
// messages, so that several for one process go as one, but none past Flush. Of
// one thread at a time; must not block, nor call the world.
class UplinkStage {
 public:
  virtual ~UplinkStage() = default;
  // As RemoteChannel's own. True: something is kept.
  virtual bool Send(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) = 0;
  virtual bool SendControl(ActorId from, ActorId to, std::string bytes) = 0;
  virtual void Flush() = 0;
};

// Where a world leaves messages to actors that it does not have: what carries
// them between processes plugs in here, and says World::Send with the far
// sender's number, from a thread that is not a worker, for what comes in.
// Called inside Send, on the sending worker, so on threads from several at a
// time; must not block, nor call the world. A payload is there during the call.
// Without functions such messages are dropped.
//
// Workers that have no work call `poll`, several at a time, before they sleep:
// it may bring what has come, inside the call; false: there was nothing. The
// last one that goes to sleep calls `on_idle`. Who brings it from then on, and
// while all are in handlers, is not their matter.
struct RemoteChannel {
  std::function<void(ActorId from, ActorId to, const WireMessage& message,
                     Payload payload)>
      send;
  std::function<void(ActorId from, ActorId to, std::string bytes)> send_control;
  // Leaves the payload, of a sender that is `owner` here, where it is (see
  // World::Lend). False: there is no way to the receiver; dropped.
  std::function<bool(ActorId from, ActorId to, const WireMessage& message,
                     Payload payload, LocalId owner,
                     const LocalMessage& returned)>
      lend;
  // What became of an offer that World::Offer brought.
  std::function<void(uint64_t offer, LocalId owner,
                     const ReceiveBuffer& landing)>
      take;
  std::function<void(uint64_t offer)> refuse;
  // For each worker, which then says all that its handlers send by it, unless
  // there is none; destroyed with the world.
  std::function<std::unique_ptr<UplinkStage>()> open_stage;
  std::function<bool()> poll;
  std::function<void()> on_idle;
  std::function<LinkStats()> stats;  // on any thread
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_REMOTE_CHANNEL_H_
