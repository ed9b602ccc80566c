//===- block_map.h - Bytes of a host in a client's array --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_BLOCK_MAP_H_
#define RUNTIME_CLIENT_BLOCK_MAP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/executor/parts.h"
#include "runtime/layout/block_runs.h"

namespace pathways {

// Which bytes of an array, dense in a client's memory, are those that one host
// holds of it, block after block. A partial array goes out as one contribution
// of all of it and others of nothing, and comes back as contributions, one
// array behind the other. Immutable; any thread.
class BlockMap {
 public:
  // Of a stepped array all `steps` steps of a block are together.
  BlockMap(const ArrayPlacement& placement, const Parts& parts, uint64_t steps);

  // That the host holds.
  uint64_t bytes() const { return bytes_; }
  // Where bytes [at, at + bytes) of the host are in the array, if they are
  // there, as neighbours.
  std::optional<uint64_t> Contiguous(uint64_t at, uint64_t bytes) const;
  // Copies them out of the array. They must be there, and those that are of
  // another contribution than the first begin and end with an element.
  void Gather(const char* array, uint64_t at, uint64_t bytes, char* to) const;
  // Copies them into `arrays`, of which there is one for each contribution.
  void Scatter(const char* from, uint64_t at, uint64_t bytes,
               char* arrays) const;

 private:
  struct Block {
    uint64_t begin;  // in what the host holds
    int64_t contribution;
    layout::BlockRuns runs;
  };

  const Block& At(uint64_t at) const;
  // Calls `copy` with each block that has some of the bytes, where they begin
  // in it, and how many there are.
  template <typename Copy>
  void Walk(uint64_t at, uint64_t bytes, Copy copy) const;

  std::vector<Block> blocks_;  // ascending
  uint64_t bytes_ = 0;
  uint64_t array_bytes_ = 0;  // of all steps
  layout::Reduction reduction_ = layout::Reduction::kNone;
  proto::ElementType element_ = proto::ELEMENT_TYPE_UNSPECIFIED;
  int64_t element_bytes_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_BLOCK_MAP_H_
