//===- collective.h - Arithmetic of collectives -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective gives each member of a group a result made of blocks of the
// members' contributions: either combined over all members in the order of the
// group's tree, or laid side by side. The bits of a result do not depend on
// arrival order or on the placement of shards.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_COLLECTIVE_H_
#define RUNTIME_PROGRAM_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "runtime/layout/reduction_tree.h"
#include "runtime/program/reduction.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// A block of a dense array: `outer` times `rows` rows of `row_bytes` bytes.
struct Block {
  int64_t begin = 0;  // bytes
  int64_t outer = 1, outer_stride = 0;
  int64_t rows = 1, row_stride = 0;
  int64_t row_bytes = 0;
  int64_t bytes() const { return outer * rows * row_bytes; }
};

// Equal blocks of one array; block i + 1 begins `step` bytes after block i.
struct Blocks {
  Block first;
  int64_t step = 0;
  Block at(int64_t index) const {
    Block block = first;
    block.begin += index * step;
    return block;
  }
};

// One collective of a group. Its plan has passed the verifier, so every
// dimension that is cut divides evenly.
struct CollectiveShape {
  proto::CollectiveKind kind = proto::ALL_REDUCE;
  proto::ReductionKind reduction = proto::ADD;
  proto::ElementType element = proto::F32;
  int64_t element_bytes = 4;
  int64_t size = 1;  // members
  int64_t dim = 0, concat_dim = 0;
  // Permute or broadcast: the source rank of each rank; -1: zeros.
  std::vector<int64_t> sources;
  std::vector<int64_t> source;  // shape of a contribution
  std::vector<int64_t> result;  // shape of the result

  // Complete() derives the fields below from those above and the group's tree.
  layout::ReductionOrder order;  // contributions by rank; set if it reduces
  // source_blocks.at(i) is the block of a contribution that goes to the member
  // of rank i. result_blocks.at(i) is the block of a result that comes from
  // rank i; it has as many rows, of equal length. Of an all-reduce, both are
  // the whole array; of a reduce-scatter, the result is one block.
  Blocks source_blocks, result_blocks;
  int64_t source_bytes = 0, result_bytes = 0;

  void Complete(const layout::ReductionTree& tree);
  bool reduces() const {
    return kind == proto::ALL_REDUCE || kind == proto::REDUCE_SCATTER;
  }
};

// Returns a block with the rows of `block`, without gaps.
Block DenseBlock(const Block& block);
// Copies block `from` of `source` to block `to` of `result`. Both must have
// equal rows.
void CopyBlock(const Block& from, const char* source, const Block& to,
               char* result);

// Writes the result of member `rank`, dense, to `result`. contributions[r]
// points to the contribution of rank r; none may overlap `result`.
void CombineCollective(const CollectiveShape& shape, int64_t rank,
                       const char* const* contributions, char* result);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_COLLECTIVE_H_
