//===- sim_event.h - Events of a simulation ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The events that a simulation shows to observers, and the hash by which two
// histories are compared.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_EVENT_H_
#define RUNTIME_WORLD_SIM_EVENT_H_

#include <cstdint>
#include <string>

#include "runtime/world/peer_watch.h"
#include "runtime/world/world.h"

namespace pathways {

// One delivery, as the observer sees it before the handler runs. Exactly one of
// `wire`, `local`, `control` and `peer` is not null. Owns nothing: valid only
// during the call.
struct SimEvent {
  uint64_t number = 0;  // number of the delivery, from 0
  TimeNs time = 0;
  LocalId from = kNobody;  // kNobody: from outside
  LocalId to = kNobody;
  const WireMessage* wire = nullptr;
  Payload payload;  // payload of `wire`
  const LocalMessage* local = nullptr;
  const std::string* control = nullptr;
  const PeerWatch::News* peer = nullptr;  // news that a peer is down or up
};

// A delivery that a mutation may change. One of `wire`, `local` and `control`
// is not null, unless the delivery is news of a peer.
struct SimDelivery {
  LocalId from = kNobody;
  LocalId to = kNobody;
  bool is_timer = false;  // only for `local`
  WireMessage* wire = nullptr;
  char* payload = nullptr;  // payload of `wire` if it is a copy
  uint64_t payload_bytes = 0;
  LocalMessage* local = nullptr;
  std::string* control = nullptr;
};

// Returns the hash of a history; `hash` is that of all events before `event`,
// and 0 for none. The hash covers the time, the sender, the receiver, all
// fields, and the bytes of payloads and control messages, but no address and
// not the number. It is the same on every machine.
uint64_t HashEvent(uint64_t hash, const SimEvent& event);

// The times of a message between hosts, which are known when it is sent. It
// waits for the wire until `begin`, is on it until `end`, and arrives at
// `arrival`.
struct SimCrossing {
  LocalId from = kNobody;
  LocalId to = kNobody;
  TimeNs sent = 0, begin = 0, end = 0, arrival = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;  // WireMessage::sequence; 0: a control message
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_EVENT_H_
