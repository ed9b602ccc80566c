//===- token_builder.h - Builder of outgoing tokens -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_TOKEN_BUILDER_H_
#define RUNTIME_PROGRAM_TOKEN_BUILDER_H_

#include <cstdint>
#include <vector>

#include "runtime/program/arriving_pieces.h"
#include "runtime/program/device_program.h"
#include "runtime/program/edge_bases.h"
#include "runtime/program/table_inputs.h"

namespace pathways {

// Makes the tokens that entries pass on when they have fired.
class TokenBuilder {
 public:
  // `bases` and `self_bases` are those of LayOutEntries; they must be complete
  // when a function is called. All arguments must outlive this object.
  TokenBuilder(const TableInputs& in, const EdgeBases& bases,
               const EdgeBases& self_bases, ArrivingPieces* pieces)
      : in_(in), bases_(bases), self_bases_(self_bases), pieces_(*pieces) {}

  // Returns the token that an entry of `from` passes on `edge` to `shard`,
  // which may be on any host.
  OutToken TokenTo(const DeviceProgram& from, uint32_t edge,
                   int64_t shard) const;
  // Makes the `out` tokens of a device that has its entries, and sets the
  // entries' ranges in it.
  void MakeTokens(DeviceProgram* device);

 private:
  // Adds the tokens of entry number `i` on edge `e`.
  void AddTokens(DeviceProgram* device, uint32_t i, uint32_t e);

  const TableInputs& in_;
  const EdgeBases& bases_;
  const EdgeBases& self_bases_;
  ArrivingPieces& pieces_;
};

// Returns the edges of relation all that begin or end on this host. Reads the
// shards of `devices`.
std::vector<HostAllEdge> MakeAllEdges(const TableInputs& in,
                                      const DevicePrograms& devices,
                                      const EdgeBases& bases);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_TOKEN_BUILDER_H_
