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

// Maps the bytes that one host holds of an array, block after block, to their
// offsets in the client's dense array. A partial array has one dense array per
// contribution there, in order of rank. A client with a single dense array
// sends it as the first contribution, and the identity of the reduction as the
// others. Immutable; any thread may call it.
class BlockMap {
 public:
  // All `steps` steps of a block are adjacent. `window`: the client's array is
  // only this box (without steps) of the whole; `parts` are then those of the
  // host's parts that lie in it, in the host's order, and the bytes of its
  // other parts are not in the array. `sends_all`: the array that Contiguous,
  // Gather and GatherRuns read has all contributions; otherwise it is one dense
  // array.
  BlockMap(const ArrayPlacement& placement, const Parts& parts, uint64_t steps,
           const layout::Box* window = nullptr, bool sends_all = false);

  // Bytes that the host holds.
  uint64_t bytes() const { return bytes_; }
  // Returns the offset in the array of bytes [at, at + bytes) of the host;
  // nullopt if they are not contiguous there, or if the array lacks their
  // contribution.
  std::optional<uint64_t> Contiguous(uint64_t at, uint64_t bytes) const;
  // Copies these bytes of the host from the array to `to`. `parts` must include
  // them. Bytes of a contribution that the array lacks must begin and end with
  // an element; they become identities.
  void Gather(const char* array, uint64_t at, uint64_t bytes, char* to) const;
  // Does what Gather does, but calls run(offset, bytes, at) for each contiguous
  // range of the array instead of copying it: its offset in the array, its
  // size, and its offset in `to`. Fills in contributions that the array lacks.
  template <typename Run>
  void GatherRuns(uint64_t at, uint64_t bytes, char* to, Run run) const;
  // Copies these bytes of the host to `arrays`, which has one dense array per
  // contribution.
  void Scatter(const char* from, uint64_t at, uint64_t bytes,
               char* arrays) const;

 private:
  struct Block {
    uint64_t begin;  // offset in the host's bytes
    int64_t contribution;
    layout::BlockRuns runs;
  };

  // Returns true if the array to send has no values of the block, since it
  // lacks the block's contribution.
  bool IsNothing(const Block& block) const {
    return block.contribution != 0 && !sends_all_;
  }
  // Returns the offset of the block's contribution in the array to send.
  uint64_t BeginOf(const Block& block) const {
    return static_cast<uint64_t>(block.contribution) * array_bytes_;
  }
  // Returns the index of the block that has the byte, or of the last block
  // before it.
  size_t IndexAt(uint64_t at) const;
  // Calls copy(block, from, count, begin) for each block that has some of the
  // bytes: their offset in the block, their number, and their offset from `at`.
  template <typename Copy>
  void Walk(uint64_t at, uint64_t bytes, Copy copy) const;
  void FillIdentities(uint64_t bytes, char* to) const;

  std::vector<Block> blocks_;  // ascending
  uint64_t bytes_ = 0;
  uint64_t array_bytes_ = 0;  // size of one contribution, with all steps
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
