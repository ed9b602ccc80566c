//===- block_map.h - Bytes of a host in a client's array --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_BLOCK_MAP_H_
#define RUNTIME_CLIENT_BLOCK_MAP_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/binding/parts.h"
#include "runtime/layout/block_runs.h"

namespace pathways {

// Which bytes of an array, dense in a client's memory, are those that one host
// holds of it, block after block. Contributions to a partial array are one
// dense array behind the other there. A client that has one dense array of it
// sends that as the first contribution, and nothing as the others. Immutable;
// any thread.
class BlockMap {
 public:
  // Of a stepped array all `steps` steps of a block are together. With a
  // `window` the client has only that box (without steps) of the array.
  // `parts`, in the order of the host's, are those in it, and the bytes of its
  // other parts are none of the array's. `sends_all`: what Contiguous, Gather
  // and GatherRuns read has all contributions; else it is one dense array.
  BlockMap(const ArrayPlacement& placement, const Parts& parts, uint64_t steps,
           const layout::Box* window = nullptr, bool sends_all = false);

  // That the host holds.
  uint64_t bytes() const { return bytes_; }
  // Where bytes [at, at + bytes) of the host are in the array, if they are
  // there, as neighbours.
  std::optional<uint64_t> Contiguous(uint64_t at, uint64_t bytes) const;
  // Copies them out of the array. They must be there, and those of a
  // contribution that it does not have begin and end with an element.
  void Gather(const char* array, uint64_t at, uint64_t bytes, char* to) const;
  // Calls run(offset, bytes, at) for those of Gather that the array has, in
  // turn: where neighbours are in it, how many there are, and where they are in
  // `to`; fills in those of contributions that it does not have.
  template <typename Run>
  void GatherRuns(uint64_t at, uint64_t bytes, char* to, Run run) const;
  // Copies them into `arrays`, of which there is one for each contribution.
  void Scatter(const char* from, uint64_t at, uint64_t bytes,
               char* arrays) const;

 private:
  struct Block {
    uint64_t begin;  // in what the host holds
    int64_t contribution;
    layout::BlockRuns runs;
  };

  // Whether an array that is sent has no values of the block: it is of a
  // contribution of nothing.
  bool IsNothing(const Block& block) const {
    return block.contribution != 0 && !sends_all_;
  }
  // Where the block's contribution begins in an array that is sent.
  uint64_t BeginOf(const Block& block) const {
    return static_cast<uint64_t>(block.contribution) * array_bytes_;
  }
  // The block that has the byte, or the last one before it.
  size_t IndexAt(uint64_t at) const;
  // Calls `copy` with each block that has some of the bytes, where they begin
  // in it, how many there are, and where they begin in the bytes.
  template <typename Copy>
  void Walk(uint64_t at, uint64_t bytes, Copy copy) const;
  void FillIdentities(uint64_t bytes, char* to) const;

  std::vector<Block> blocks_;  // ascending
  uint64_t bytes_ = 0;
  uint64_t array_bytes_ = 0;  // of all steps
  layout::Reduction reduction_ = layout::Reduction::kNone;
  proto::ElementType element_ = proto::ELEMENT_TYPE_UNSPECIFIED;
  int64_t element_bytes_ = 0;
  bool sends_all_ = false;
};

template <typename Copy>
void BlockMap::Walk(uint64_t at, uint64_t bytes, Copy copy) const {
  const uint64_t end = at + bytes;
  for (size_t i = IndexAt(at); i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const uint64_t first = std::max(at, block.begin);
    const uint64_t last = std::min(end, block.begin + block.runs.bytes());
    if (first >= end) return;
    if (first < last) {
      copy(block, first - block.begin, last - first, first - at);
    }
  }
}

template <typename Run>
void BlockMap::GatherRuns(uint64_t at, uint64_t bytes, char* to,
                          Run run) const {
  Walk(at, bytes,
       [&](const Block& block, uint64_t from, uint64_t here, uint64_t begin) {
         if (IsNothing(block)) return FillIdentities(here, to + begin);
         for (uint64_t done = 0; done < here;) {
           const layout::BlockRuns::Run next = block.runs.At(from + done);
           const uint64_t count = std::min(next.bytes, here - done);
           run(BeginOf(block) + next.offset, count, begin + done);
           done += count;
         }
       });
}

}  // namespace pathways

#endif  // RUNTIME_CLIENT_BLOCK_MAP_H_
