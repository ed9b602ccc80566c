//===- fault.h - Faults of links --------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests plant faults, in either world, on messages that cross hosts.
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

// The fate of one message. Later messages may overtake a delayed one. The first
// copy of a duplicate arrives in order and the second copy delay_ns later.
struct Fault {
  enum Kind { kDeliver, kDrop, kDuplicate, kDelay };
  Kind kind = kDeliver;
  TimeNs delay_ns = 0;

  static Fault Deliver() { return {}; }
  static Fault Drop() { return {kDrop, 0}; }
  static Fault Duplicate(TimeNs after_ns = 0) { return {kDuplicate, after_ns}; }
  static Fault Delay(TimeNs by_ns) { return {kDelay, by_ns}; }
};

// A host of a simulation that stops and never resumes; see SimWorld::StopHost.
struct HostStop {
  int32_t host = 0;
  // The host stops before the control message of this number is delivered. All
  // control messages delivered to any actor are numbered from 0.
  uint64_t control = 0;
  // Time in ns until watchers are notified; negative: never.
  TimeNs tell_after = -1;
};

// Probabilities of faults, in [0, 1], for messages that cross hosts.
struct FaultRates {
  double drop = 0;
  double duplicate = 0;  // the second copy comes up to max_extra_ns later
  double delay = 0;  // delays this and all later messages of the link, in order
  // Delays this one by up to max_extra_ns; others may overtake.
  double reorder = 0;
  TimeNs max_extra_ns = 100'000;

  bool any() const {
    return drop > 0 || duplicate > 0 || delay > 0 || reorder > 0;
  }
};

// A lasting fault of the links between a host of `some` and one of `others`, in
// both directions. The lists hold places (Placement::host); an empty list means
// any host.
struct LinkFault {
  std::vector<int32_t> some, others;
  FaultRates messages;  // for hot messages
  FaultRates controls;
  // Factors of the link's own times.
  double latency_factor = 1;
  double wire_factor = 1;  // for the time on the wire
  // kLoses drops all messages. kHolds delivers nothing before `until`, and then
  // everything in order.
  enum Cut { kOpen, kLoses, kHolds };
  Cut cut = kOpen;
  TimeNs until = 0;

  bool Concerns(int32_t from, int32_t to) const;
  // Returns true if nothing comes from `from` to `to` as long as the fault
  // lasts. The connection between a client and the controller ends then.
  bool Parts(int32_t from, int32_t to) const {
    return cut == kLoses && Concerns(from, to);
  }
};

// Called once for each message that crosses hosts, inside Send on the sending
// worker; on threads, several workers may call it at one time. It must not call
// the world.
using FaultHook =
    std::function<Fault(ActorId from, ActorId to, const WireMessage& message)>;
using ControlFaultHook =
    std::function<Fault(ActorId from, ActorId to, std::string_view bytes)>;

}  // namespace pathways

#endif  // RUNTIME_WORLD_FAULT_H_
