//===- uplink.h - The way to actors of other processes ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_UPLINK_H_
#define RUNTIME_WORLD_UPLINK_H_

#include <functional>
#include <string>

#include "runtime/world/world.h"

namespace pathways {

// Where a world leaves messages to actors that it does not have: what carries
// them between processes plugs in here, and says World::Send with the far
// sender's number, from a thread that is not a worker, for what comes in.
// Called inside Send, on the sending worker, so on threads from several at a
// time; must not block, nor call the world. A payload is there during the call.
// Without functions such messages are dropped.
struct Uplink {
  std::function<void(ActorId from, ActorId to, const WireMessage& message,
                     Payload payload)>
      send;
  std::function<void(ActorId from, ActorId to, std::string bytes)> send_control;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_UPLINK_H_
