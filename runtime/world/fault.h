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

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

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

// Probabilities, in [0, 1], for messages that cross hosts.
struct FaultRates {
  double drop = 0;
  double duplicate = 0;  // the second copy comes up to max_extra_ns later
  double delay = 0;      // this and all later ones of the link, in order
  double reorder = 0;    // up to max_extra_ns later, may be overtaken
  TimeNs max_extra_ns = 100'000;

  bool any() const {
    return drop > 0 || duplicate > 0 || delay > 0 || reorder > 0;
  }
};

// What happens, while it lasts, to messages from one of `some` to one of
// `others` and back: places (Placement::host), none: any.
struct LinkFault {
  std::vector<int32_t> some, others;
  FaultRates messages;  // hot ones
  FaultRates controls;
  // Times what the link says.
  double latency_factor = 1;
  double wire_factor = 1;  // of the time on the wire
  // kLoses: nothing comes through. kHolds: nothing does before `until`, and
  // then all, in its order.
  enum Cut { kOpen, kLoses, kHolds };
  Cut cut = kOpen;
  TimeNs until = 0;

  bool Concerns(int32_t from, int32_t to) const;
  // Whether nothing comes from one to the other again: between a client and the
  // controller there is a connection, which ends then.
  bool Parts(int32_t from, int32_t to) const {
    return cut == kLoses && Concerns(from, to);
  }
};

// Asked once for each message that crosses hosts, inside Send: on the sending
// worker, so on threads from several at a time. It must not call the world.
using FaultHook =
    std::function<Fault(ActorId from, ActorId to, const WireMessage& message)>;
using ControlFaultHook =
    std::function<Fault(ActorId from, ActorId to, std::string_view bytes)>;

}  // namespace pathways

#endif  // RUNTIME_WORLD_FAULT_H_
