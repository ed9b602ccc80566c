//===- wire_kind.h - Hot messages that cross hosts --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What executors tell each other while programs run, and how values go between
// them and clients. docs/protocol.md says who sends each kind, and why every
// handler may be called twice. All between executors carry `program` and
// `incarnation`; those of an incarnation that is not loaded are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_WIRE_KIND_H_
#define RUNTIME_PROTOCOL_WIRE_KIND_H_

#include <cstdint>

namespace pathways {

// The numbers are part of the wire format: they are never used again for
// something else. `sequence` numbers messages per direction of a pair of hosts.
enum WireKind : uint16_t {
  kTokenMessage = 1,         // step: firing of the target; target: edge; shard
  kPieceMessage = 2,         // likewise of a send's data edge; item: source
                             // shard; payload: the piece, dense
  kBroadcastMessage = 3,     // step: firing of the source; target: edge; item:
                             // how many of its shards have fired
  kContributionMessage = 4,  // step; target: action; item: its step, times
                             // kContributionRounds, plus the round; shard:
                             // rank 0 of the group; payload: what the host
                             // sends in that round
  kEnqueuedMessage = 5,      // step: firing of a send that was enqueued;
                             // target: its data edge
  // Of values, between a client and a host; step: the transfer, which is an
  // object that the host asks for, or a request of the client.
  kPullMessage = 6,   // item: piece; target: its slot (block_pull.h)
  kBlockMessage = 7,  // likewise; payload: the piece. kPoisoned: there is none
  kTransferDoneMessage = 8,  // whoever asked has all that it wants
  // Between processes: several of kind 1 or 2 that have step, target and flags
  // in common. item: how many; payload: those, each with its shard and item
  // (wire.md).
  kTokensMessage = 9,
  kPiecesMessage = 10,
  kNumWireKinds
};

// Whether messages of a kind may wait until a worker has nothing else to do:
// each takes long to handle, and no other kind relies on coming after it.
constexpr bool IsBulk(uint16_t kind) { return kind == kBlockMessage; }

// Above the number of any round of a collective (layout/group_exchange.h).
inline constexpr uint32_t kContributionRounds = 128;

// A bit of `flags`: what the message tells of is poisoned.
inline constexpr uint16_t kPoisoned = 1;

// For statistics and traces: "token", "piece", ...; "unknown" of others.
const char* WireKindName(int kind);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_WIRE_KIND_H_
