//===- collective.h - What collectives compute ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective gives each member of a group a result that is made of blocks of
// what the members contribute: combined over all of them in the order of the
// group's tree, or one block beside the other. The bits do not depend on who
// arrived first or on where the shards are.
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

// A block of a dense array: so many rows of bytes, in two levels.
struct Block {
  int64_t begin = 0;  // bytes
  int64_t outer = 1, outer_stride = 0;
  int64_t rows = 1, row_stride = 0;
  int64_t row_bytes = 0;
  int64_t bytes() const { return outer * rows * row_bytes; }
};

// Blocks of one array that are alike, the next `step` bytes behind the one
// before.
struct Blocks {
  Block first;
  int64_t step = 0;
  Block at(int64_t index) const {
    Block block = first;
    block.begin += index * step;
    return block;
  }
};

// One collective of a group. Its plan has passed the verifier: what is cut into
// blocks has a whole number of them.
struct CollectiveShape {
  proto::CollectiveKind kind = proto::ALL_REDUCE;
  proto::ReductionKind reduction = proto::ADD;
  proto::ElementType element = proto::F32;
  int64_t element_bytes = 4;
  int64_t size = 1;  // members
  int64_t dim = 0, concat_dim = 0;
  // Of a permute or broadcast, by rank; -1: zeros.
  std::vector<int64_t> sources;
  std::vector<int64_t> source;  // shape of a contribution
  std::vector<int64_t> result;  // shape of the result

  // From here on made of the above, and of the group's tree.
  layout::ReductionOrder order;  // of all contributions, by rank, if it reduces
  // What of a contribution goes to the member of rank i, and where in a result
  // that of rank i comes: with as many rows, equally long. Of an all-reduce,
  // everything; of a reduce-scatter, the result is the block.
  Blocks source_blocks, result_blocks;
  int64_t source_bytes = 0, result_bytes = 0;

  void Complete(const layout::ReductionTree& tree);
  bool reduces() const {
    return kind == proto::ALL_REDUCE || kind == proto::REDUCE_SCATTER;
  }
};

// One as large, and cut into as many rows, without gaps.
Block DenseBlock(const Block& block);
// Copies a block to a place for one.
void CopyBlock(const Block& from, const char* source, const Block& to,
               char* result);

// Writes the result of member `rank`, dense, to `result`. contributions[r]
// points to the contribution of rank r; none may overlap `result`.
void CombineCollective(const CollectiveShape& shape, int64_t rank,
                       const char* const* contributions, char* result);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_COLLECTIVE_H_
