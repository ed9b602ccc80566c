//===- wire_kind.h - Hot messages that cross hosts --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages between executors while programs run, and messages that move values
// between executors and clients. docs/protocol.md says who sends each kind, and
// why every handler may be called twice. All messages between executors carry
// `program` and `incarnation`; they are dropped if that incarnation is not
// loaded.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_WIRE_KIND_H_
#define RUNTIME_PROTOCOL_WIRE_KIND_H_

#include <cstdint>

namespace pathways {

// The numbers are part of the wire format and must never be reused for another
// kind. `sequence` numbers messages per direction of a pair of hosts.
enum WireKind : uint16_t {
  // step: firing of the target; target: edge; shard: of the target.
  kTokenMessage = 1,
  // step: firing of the target; target: a send's data edge; shard: of the
  // target; item: source shard; payload: the piece, dense.
  kPieceMessage = 2,
  // step: firing of the source; target: edge; item: number of its shards that
  // have fired.
  kBroadcastMessage = 3,
  // step: firing; target: action; item: step of the action, times
  // kContributionRounds, plus the round; shard: rank 0 of the group; payload:
  // what the host sends in that round.
  kContributionMessage = 4,
  // step: firing of a send that was enqueued; target: its data edge.
  kEnqueuedMessage = 5,
  // The next three kinds carry values between a client and a host. step: the
  // transfer, which is an object that the host requests, or a request of the
  // client.
  kPullMessage = 6,  // item: piece; target: its slot (block_pull.h)
  // item and target: as for kPullMessage; payload: the piece. If kPoisoned is
  // set, there is no such piece.
  kBlockMessage = 7,
  kTransferDoneMessage = 8,  // the requester has all that it wants
  // Records between processes: several messages of kind 1 or 2 with the same
  // step, target and flags. item: their number; payload: members, each with its
  // shard and item (wire.md).
  kTokensMessage = 9,
  kPiecesMessage = 10,
  kNumWireKinds
};

// Returns true if messages of this kind may wait until a worker is idle: each
// takes long to handle, and no other kind relies on arriving after it.
constexpr bool IsBulk(uint16_t kind) { return kind == kBlockMessage; }

// Larger than the number of any round of a collective
// (layout/group_exchange.h).
inline constexpr uint32_t kContributionRounds = 128;

// Bit of `flags`: the message stands for a poisoned value.
inline constexpr uint16_t kPoisoned = 1;

// Returns a name for statistics and traces: "token", "piece", ...; "unknown"
// for other numbers.
const char* WireKindName(int kind);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_WIRE_KIND_H_
