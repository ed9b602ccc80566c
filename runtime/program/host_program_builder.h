//===- host_program_builder.h - Builder of one host's tables ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the host_program*.cc files: shards and entries (host_program.cc),
// and moves (host_program_moves.cc).
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_HOST_PROGRAM_BUILDER_H_
#define RUNTIME_PROGRAM_HOST_PROGRAM_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/program/arriving_pieces.h"
#include "runtime/program/dispatch_builder.h"
#include "runtime/program/entry_tables.h"
#include "runtime/program/gang_builder.h"
#include "runtime/program/gang_table_pool.h"
#include "runtime/program/group_tables.h"
#include "runtime/program/host_program.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"
#include "runtime/program/token_builder.h"
#include "runtime/program/value_builder.h"

namespace pathways {

class HostProgramBuilder {
 public:
  HostProgramBuilder(const PreparedPlan& plan, const Topology& topology,
                     const HostActors& host_actors,
                     const DispatchOptions& dispatch, HostReach reach,
                     HostProgram* out)
      : p_(plan),
        host_actors_(host_actors),
        reach_(std::move(reach)),
        out_(*out),
        in_{plan, topology, host_actors, dispatch, reach_, out->host},
        memory_(plan, out->devices),
        arriving_(plan),
        tokens_(in_, out->edge_bases, self_bases_, &arriving_) {}

  absl::Status Build(const std::vector<Arena*>& arenas, Arena* host_arena);
  // Bytes of the host's own memory that must be free for Build to succeed; set
  // if it failed for lack of them.
  uint64_t lacking() const { return lacking_; }

 private:
  const proto::Plan& plan() const { return p_.plan(); }

  // host_program.cc
  void FindCohorts();
  // Returns ResourceExhausted if the tables would not fit into the free room of
  // `arena`. The tables do not live there, but must be of its order, so that a
  // plan with many shards on one device is refused before anything is allocated
  // for it.
  absl::Status CheckTables(const Arena& arena);
  void CountAll();

  // host_program_moves.cc
  // Makes sends and recvs.
  void MakeMoves(DeviceProgram* device);
  // The in-edge entry of `edge` for the device's first shard.
  uint32_t BaseOf(uint32_t edge, const DeviceProgram& device) const {
    return out_.edge_bases.At(edge, device.device);
  }
  // Counts the staging of sends. MakeMoves makes the operations themselves.
  void MakeOps(DeviceProgram* device);
  // Returns the offset of a piece for `host` in its source if it is lent; else
  // -1.
  int64_t LentOffset(const PreparedBuffer& from, const layout::Piece& piece,
                     int host) const;
  // Returns the byte offset of a piece in its source, or -1 if it is not
  // contiguous there.
  static int64_t DenseOffset(const PreparedBuffer& from,
                             const layout::Piece& piece);
  void MakeSend(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k);
  void MakeRecv(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k);
  // Collects the received pieces of all devices.
  void SortReceived();

  const PreparedPlan& p_;
  const HostActors& host_actors_;
  const HostReach reach_;
  HostProgram& out_;
  const TableInputs in_;
  ProgramMemory memory_;
  // Like HostProgram::edge_bases, but for a recv without pieces, which stands
  // in for its send.
  EdgeBases self_bases_;
  std::map<uint32_t, std::vector<PieceIn>> received_;  // by receive
  uint64_t lacking_ = 0;
  std::vector<uint64_t> staging_;
  size_t next_staging_ = 0;
  GroupTables groups_;
  ArrivingPieces arriving_;
  TokenBuilder tokens_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_PROGRAM_BUILDER_H_
