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
// holds of it, block after block. Immutable; any thread.
class BlockMap {
 public:
  // Of a stepped array all `steps` steps of a block are together.
  BlockMap(const ArrayPlacement& placement, const Parts& parts, uint64_t steps);

  // That the host holds.
  uint64_t bytes() const { return bytes_; }
  // Where bytes [at, at + bytes) of the host are in the array, if they are
  // neighbours there.
  std::optional<uint64_t> Contiguous(uint64_t at, uint64_t bytes) const;
  // Copies them out of the array, and into it. They must be there.
  void Gather(const char* array, uint64_t at, uint64_t bytes, char* to) const;
  void Scatter(const char* from, uint64_t at, uint64_t bytes,
               char* array) const;

 private:
  struct Block {
    uint64_t begin;  // in what the host holds
    layout::BlockRuns runs;
  };

  const Block& At(uint64_t at) const;
  // Calls `copy` with each block that has some of the bytes, where they begin
  // in it, and how many there are.
  template <typename Copy>
  void Walk(uint64_t at, uint64_t bytes, Copy copy) const;

  std::vector<Block> blocks_;  // ascending
  uint64_t bytes_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_BLOCK_MAP_H_
