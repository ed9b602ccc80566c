//===- host_tokens.h - Tokens and pieces between hosts ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_TOKENS_H_
#define RUNTIME_EXECUTOR_HOST_TOKENS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/device/counters.h"
#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/token_record.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Forwards tokens and pieces of the host's devices to other hosts, places the
// pieces that arrive, and notifies the devices that they are for. Invariants:
// (1) a piece is placed before its device is notified; (2) a message that fits
// no edge, and a malformed record, has no effect. Not thread-safe.
class HostTokens {
 public:
  // All arguments must outlive this object. `actors` must be filled before the
  // first message.
  HostTokens(const Topology* topology, const HostActors* actors, int host,
             const HostPrograms* programs, HostOutbox* outbox,
             HostCounters* counters)
      : topology_(*topology),
        actors_(*actors),
        first_device_(topology->GlobalDevice({host, 0})),
        programs_(*programs),
        outbox_(*outbox),
        counters_(*counters) {}

  // These handle messages of devices. Forward sends a token or piece to another
  // host, ForwardRecords several per message. OnAllFired counts the sources of
  // an edge of relation all.
  void Forward(HostProgram* program, const LocalMessage& message);
  void ForwardRecords(RecordBatch* batch);
  void OnAllFired(HostProgram* program, const LocalMessage& message);
  // Notifies a device that a piece of its buffer is no longer lent.
  void ReturnPiece(const HostProgram& program, const LocalMessage& returned);

  // These handle messages of other hosts. OnRecord receives several tokens or
  // pieces. OnBroadcast receives that `count` sources of an edge of relation
  // all have fired.
  void OnToken(HostProgram* program, const WireMessage& message);
  void OnPiece(HostProgram* program, const WireMessage& message,
               Payload payload);
  void OnRecord(HostProgram* program, const WireMessage& message,
                Payload payload);
  void OnBroadcast(HostProgram* program, uint32_t edge, uint64_t firing,
                   uint32_t count, bool poison);

  // Returns null if no such piece comes to this host.
  static const PieceIn* FindPiece(const HostProgram& program, uint32_t edge,
                                  uint32_t shard, uint32_t source);

 private:
  struct LocalMember {
    const PieceIn* piece;  // null: a token, or poisoned
    const char* bytes;     // bytes of the piece
    TokenBatch::Member member;
  };

  // Lends a piece from a device's buffer, and notifies the device when the
  // piece is returned.
  void LendPiece(HostProgram* program, int host, const WireMessage& message,
                 Payload payload);
  // Returns the binding of the slice that an edge goes to, or null if there is
  // no such edge.
  static const SliceBinding* TargetOf(const HostProgram& program,
                                      uint32_t edge);
  // Returns the entry on this host that a token is for. Its in-edge is
  // UINT32_MAX if there is none.
  TokenBatch::Member FindEntry(const HostProgram& program, uint32_t edge,
                               const SliceBinding& target,
                               uint32_t shard) const;
  // `last`: piece of the preceding member; null: none.
  static const PieceIn* FindNextPiece(const HostProgram& program, uint32_t edge,
                                      MemberHeader member, const PieceIn* last);
  // Reads the members of a record into `members`. Returns false if the record
  // is malformed.
  bool ReadMembers(const HostProgram& program, const WireMessage& message,
                   Payload payload, LocalMember* members) const;
  void TokensToDevices(const HostProgram& program, const WireMessage& message,
                       absl::Span<const LocalMember> members);
  // Copies the bytes of a piece, as they arrived, to its destination.
  void Place(const PieceIn& piece, uint64_t firing, const void* bytes);

  const Topology& topology_;
  const HostActors& actors_;
  const int64_t first_device_;  // number in the cluster
  const HostPrograms& programs_;
  HostOutbox& outbox_;
  HostCounters& counters_;
  Batches<TokenBatch> arrived_;
  // Batches of the current record, by cohort.
  std::vector<TokenBatch*> arriving_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_TOKENS_H_
