//===- move_builder.h - Builder of sends and recvs --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_MOVE_BUILDER_H_
#define RUNTIME_PROGRAM_MOVE_BUILDER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/program/arriving_pieces.h"
#include "runtime/program/device_program.h"
#include "runtime/program/edge_bases.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"
#include "runtime/program/token_builder.h"

namespace pathways {

// Makes the operations that move pieces between shards. Calls come in this
// order: ReserveStaging for each device, once `memory` is allocated MakeOps for
// each device in the same order, and TakeReceived.
class MoveBuilder {
 public:
  // `bases` are those of LayOutEntries. Reads the shards of `devices`. All
  // arguments must outlive this object.
  MoveBuilder(const TableInputs& in, const DevicePrograms& devices,
              const EdgeBases& bases, const TokenBuilder& tokens,
              ArrivingPieces* pieces, ProgramMemory* memory)
      : in_(in),
        devices_(devices),
        bases_(bases),
        tokens_(tokens),
        arriving_(*pieces),
        memory_(*memory) {}

  // Reserves staging for every piece of every shard of the device that leaves
  // the host and is not lent in place. The device must have its entries.
  void ReserveStaging(const DeviceProgram& device);
  // Makes the `sends`, `pieces` and `recvs` of the device, and sets the `op` of
  // their entries.
  void MakeOps(DeviceProgram* device);
  // Sets the pieces that come from other hosts, for all devices (see
  // HostProgram::pieces_in and piece_begin).
  void TakeReceived(std::vector<PieceIn>* pieces,
                    std::vector<uint32_t>* piece_begin);

 private:
  // Returns the offset of a piece for `host` in its source if it is lent; else
  // -1.
  int64_t LentOffset(const PreparedBuffer& from, const layout::Piece& piece,
                     int host) const;
  SendOp MakeSend(DeviceProgram* device, const Entry& entry, int64_t k);
  PieceOut MakePiece(const DeviceProgram& device, const proto::Action& send,
                     uint32_t edge, const SlotRef& from, layout::Piece piece);
  RecvOp MakeRecv(const DeviceProgram& device, const Entry& entry, int64_t k);

  const TableInputs& in_;
  const DevicePrograms& devices_;
  const EdgeBases& bases_;
  const TokenBuilder& tokens_;
  ArrivingPieces& arriving_;
  ProgramMemory& memory_;
  // Reserved ranges, in the order in which MakeOps uses them.
  std::vector<uint64_t> staging_;
  size_t next_staging_ = 0;
  std::map<uint32_t, std::vector<PieceIn>> received_;  // by recv
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_MOVE_BUILDER_H_
