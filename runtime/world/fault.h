//===- fault.h - What may go wrong on a link --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Faults are planted by tests, in either world, on messages that cross hosts.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_FAULT_H_
#define RUNTIME_WORLD_FAULT_H_

#include <functional>
#include <string_view>

#include "runtime/world/world.h"

namespace pathways {

// What happens to one message. A message that is delayed may be overtaken by
// later ones; of a duplicate, the first copy arrives in order and the second
// one delay_ns later.
struct Fault {
  enum Kind { kDeliver, kDrop, kDuplicate, kDelay };
  Kind kind = kDeliver;
  TimeNs delay_ns = 0;

  static Fault Deliver() { return {}; }
  static Fault Drop() { return {kDrop, 0}; }
  static Fault Duplicate(TimeNs after_ns = 0) { return {kDuplicate, after_ns}; }
  static Fault Delay(TimeNs by_ns) { return {kDelay, by_ns}; }
};

// A host of a simulation that stops for ever, see SimWorld::StopHost.
struct HostStop {
  int32_t host = 0;
  uint64_t control = 0;  // before the control message of this number, from 0,
                         // of those that are delivered to anybody
  TimeNs tell_after = -1;
};

// Asked once for each message that crosses hosts, inside Send: on the sending
// worker, so on threads from several at a time. It must not call the world.
using FaultHook =
    std::function<Fault(ActorId from, ActorId to, const WireMessage& message)>;
using ControlFaultHook =
    std::function<Fault(ActorId from, ActorId to, std::string_view bytes)>;

}  // namespace pathways

#endif  // RUNTIME_WORLD_FAULT_H_
