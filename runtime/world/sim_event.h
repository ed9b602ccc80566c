//===- sim_event.h - What happens in a simulation ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a simulation shows to those who look on, and the hash by which two
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

// One delivery, as the observer sees it, before the handler runs. Of `wire`,
// `local`, `control` and `peer` one is not null. Owns nothing: valid during
// the call.
struct SimEvent {
  uint64_t number = 0;  // of the deliveries, from 0
  TimeNs time = 0;
  LocalId from = kNobody;  // kNobody: from outside
  LocalId to = kNobody;
  const WireMessage* wire = nullptr;
  Payload payload;  // of `wire`
  const LocalMessage* local = nullptr;
  const std::string* control = nullptr;
  const PeerWatch::News* peer = nullptr;  // it is down or up
};

// What is about to be delivered, to be changed; one of the three is not null,
// or it is news of a peer.
struct SimDelivery {
  LocalId from = kNobody;
  LocalId to = kNobody;
  bool is_timer = false;  // of `local`
  WireMessage* wire = nullptr;
  char* payload = nullptr;  // of `wire`, if it is a copy
  uint64_t payload_bytes = 0;
  LocalMessage* local = nullptr;
  std::string* control = nullptr;
};

// The hash of a history of which `hash` is that of all before `event`; 0:
// nothing. It covers the time, from whom, to whom, all fields, and the bytes
// of payloads and control messages; no address, and not the number. The same
// on every machine.
uint64_t HashEvent(uint64_t hash, const SimEvent& event);

// The way of a message between hosts, known when it is sent: it waits for the
// wire until `begin`, is on it until `end`, and arrives at `arrival`.
struct SimCrossing {
  LocalId from = kNobody;
  LocalId to = kNobody;
  TimeNs sent = 0, begin = 0, end = 0, arrival = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;  // WireMessage::sequence; 0: a control message
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_EVENT_H_
