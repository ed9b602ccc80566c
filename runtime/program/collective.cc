//===- collective.cc - Arithmetic of collectives --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/collective.h"

#include <algorithm>
#include <cstring>

#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// Product of the sizes of dimensions [begin, end).
int64_t Volume(const std::vector<int64_t>& shape, int64_t begin, int64_t end) {
  int64_t count = 1;
  for (int64_t d = begin; d < end; ++d) count *= shape[d];
  return count;
}

// Returns the whole array as the one block, the same for every member.
Blocks Everything(const std::vector<int64_t>& array, int64_t element_bytes) {
  Blocks blocks;
  blocks.first.row_bytes =
      Volume(array, 0, static_cast<int64_t>(array.size())) * element_bytes;
  return blocks;
}

// Returns the blocks of size `extent` along `dim` of `array`. Rows are cut by
// two dimensions, `dim` and `other`, so that they are also dense in an array
// that is cut along `other`.
Blocks BlocksAlong(const std::vector<int64_t>& array, int64_t element_bytes,
                   int64_t dim, int64_t extent, int64_t other) {
  const auto rank = static_cast<int64_t>(array.size());
  const int64_t first = std::min(dim, other), last = std::max(dim, other);
  std::vector<int64_t> box = array;
  box[dim] = extent;
  Blocks blocks;
  blocks.step = extent * Volume(array, dim + 1, rank) * element_bytes;
  blocks.first.outer = Volume(array, 0, first);
  blocks.first.outer_stride = Volume(array, first, rank) * element_bytes;
  blocks.first.rows = Volume(box, first, last);
  blocks.first.row_stride = Volume(array, last, rank) * element_bytes;
  blocks.first.row_bytes = Volume(box, last, rank) * element_bytes;
  return blocks;
}

// Returns the order that combines all ranks of a group into one result.
layout::ReductionOrder OrderOfAll(const layout::ReductionTree& tree) {
  std::vector<layout::TreeNode> ranks(tree.size());
  for (int64_t r = 0; r < tree.size(); ++r) ranks[r] = {r, r + 1};
  return tree.OrderOf({0, tree.size()}, ranks);
}

void Reduce(const CollectiveShape& shape, const Block& block,
            const char* const* contributions, char* result) {
  const Reducer reducer(shape.reduction, shape.element);
  Reduction reduction;
  reduction.order = &shape.order;
  reduction.operands = contributions;
  reduction.results = &result;
  reduction.count = block.row_bytes / shape.element_bytes;
  for (int64_t i = 0; i < block.outer; ++i) {
    reduction.operand_first =
        (block.begin + i * block.outer_stride) / shape.element_bytes;
    reduction.result_first = i * reduction.count;
    reducer.Reduce(reduction);
  }
}

}  // namespace

void CollectiveShape::Complete(const layout::ReductionTree& tree) {
  if (reduces()) order = OrderOfAll(tree);
  source_blocks = Everything(source, element_bytes);
  result_blocks = Everything(result, element_bytes);
  source_bytes = source_blocks.first.row_bytes;
  result_bytes = result_blocks.first.row_bytes;
  switch (kind) {
    case proto::REDUCE_SCATTER:
      source_blocks =
          BlocksAlong(source, element_bytes, dim, source[dim] / size, dim);
      return;
    case proto::ALL_GATHER:
      source_blocks = BlocksAlong(source, element_bytes, dim, source[dim], dim);
      source_blocks.step = 0;  // the whole contribution goes to each member
      result_blocks = BlocksAlong(result, element_bytes, dim, source[dim], dim);
      return;
    case proto::ALL_TO_ALL:
      source_blocks = BlocksAlong(source, element_bytes, dim,
                                  source[dim] / size, concat_dim);
      result_blocks = BlocksAlong(result, element_bytes, concat_dim,
                                  result[concat_dim] / size, dim);
      return;
    default:
      return;
  }
}

Block DenseBlock(const Block& block) {
  Block dense;
  dense.outer = block.outer;
  dense.outer_stride = block.rows * block.row_bytes;
  dense.rows = block.rows;
  dense.row_stride = dense.row_bytes = block.row_bytes;
  return dense;
}

void CopyBlock(const Block& from, const char* source, const Block& to,
               char* result) {
  for (int64_t o = 0; o < from.outer; ++o) {
    const char* in = source + from.begin + o * from.outer_stride;
    char* out = result + to.begin + o * to.outer_stride;
    for (int64_t r = 0; r < from.rows; ++r) {
      std::memcpy(out + r * to.row_stride, in + r * from.row_stride,
                  from.row_bytes);
    }
  }
}

void CombineCollective(const CollectiveShape& shape, int64_t rank,
                       const char* const* contributions, char* result) {
  if (shape.result_bytes == 0) return;
  if (shape.reduces()) {
    return Reduce(shape, shape.source_blocks.at(rank), contributions, result);
  }
  if (IsPermutation(shape.kind)) {
    const int64_t from = shape.sources[rank];
    if (from < 0) {
      std::memset(result, 0, shape.result_bytes);
    } else {
      std::memcpy(result, contributions[from], shape.result_bytes);
    }
    return;
  }
  for (int64_t from = 0; from < shape.size; ++from) {
    CopyBlock(shape.source_blocks.at(rank), contributions[from],
              shape.result_blocks.at(from), result);
  }
}

}  // namespace pathways
