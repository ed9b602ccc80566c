//===- sim_event.cc - Events of a simulation --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_event.h"

#include "runtime/world/mix.h"

namespace pathways {
namespace {

uint64_t HashFields(uint64_t hash, uint16_t kind, uint16_t flags,
                    uint32_t program, uint32_t incarnation, uint32_t target) {
  hash = Mix(hash, static_cast<uint64_t>(kind) << 48 |
                       static_cast<uint64_t>(flags) << 32 | program);
  return Mix(hash, static_cast<uint64_t>(incarnation) << 32 | target);
}

// Hashes a message except the address of its payload.
uint64_t HashWire(uint64_t hash, const WireMessage& m, Payload payload) {
  hash = HashFields(hash, m.kind, m.flags, m.program, m.incarnation, m.target);
  hash = Mix(hash, m.step);
  hash = Mix(hash, m.sequence);
  hash = Mix(hash, static_cast<uint64_t>(m.shard) << 32 | m.item);
  hash = Mix(hash, static_cast<uint64_t>(m.from_epoch) << 32 | m.to_epoch);
  hash = Mix(hash, payload.bytes);
  if (payload.data != nullptr && payload.bytes > 0) {
    hash = MixBytes(hash, payload.data, payload.bytes);
  }
  return hash;
}

uint64_t HashLocal(uint64_t hash, const LocalMessage& m) {
  hash = HashFields(hash, m.kind, m.flags, m.program, m.incarnation, m.target);
  hash = Mix(hash, m.step);
  hash = Mix(hash, static_cast<uint64_t>(m.shard) << 32 | m.item);
  hash = Mix(hash, m.payload_bytes);
  return Mix(hash, m.extra);
}

uint64_t HashPeer(uint64_t hash, const PeerWatch::News& news) {
  const auto& [peer, is_up] = news;
  hash = Mix(hash, static_cast<uint64_t>(peer.host) << 32 | peer.epoch);
  return is_up ? Mix(hash, 1) : hash;
}

}  // namespace

uint64_t HashEvent(uint64_t hash, const SimEvent& event) {
  hash = Mix(hash, static_cast<uint64_t>(event.time));
  hash = Mix(hash, static_cast<uint64_t>(IndexOf(event.from)) << 32 |
                       IndexOf(event.to));
  if (event.local != nullptr) return HashLocal(hash, *event.local);
  if (event.wire != nullptr) return HashWire(hash, *event.wire, event.payload);
  if (event.control != nullptr) {
    return MixBytes(hash, event.control->data(), event.control->size());
  }
  return event.peer != nullptr ? HashPeer(hash, *event.peer) : hash;
}

}  // namespace pathways
