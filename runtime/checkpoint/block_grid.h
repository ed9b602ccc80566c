//===- block_grid.h - The distinct blocks of an array -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_BLOCK_GRID_H_
#define RUNTIME_CHECKPOINT_BLOCK_GRID_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/layout/layout.h"

namespace pathways {

// The distinct non-empty blocks that the shards of a layout hold. Blocks cover
// the array, do not overlap, and are numbered row-major by their place.
// Immutable; any thread may call it.
class BlockGrid {
 public:
  // `layout` must fit `mesh`.
  BlockGrid(const layout::Layout& layout, const layout::Mesh& mesh);

  // Returns the number of blocks.
  int64_t size() const { return size_; }
  layout::Box box(int64_t block) const;
  // Returns the block that contains this element of the array.
  int64_t Find(const std::vector<int64_t>& element) const;

  // Splits elements [first, first + count) of the row-major array into runs
  // that lie in one block each, and calls run(block, at, begin, count) for each
  // run in order. `begin`: first element of the run, relative to `first`. `at`:
  // its index in the row-major block.
  template <typename Run>
  void Split(int64_t first, int64_t count, Run run) const;

 private:
  struct Place {
    int64_t block;
    int64_t at;     // index in the block
    int64_t count;  // elements contiguous in both array and block
  };
  Place Locate(int64_t element) const;

  std::vector<int64_t> shape_;
  std::vector<int64_t> extent_;  // of a full block
  std::vector<int64_t> counts_;  // number of blocks per dimension
  int64_t size_ = 1;
  // Dimensions [0, cut_) end with the last one that has several blocks.
  size_t cut_ = 0;
};

template <typename Run>
void BlockGrid::Split(int64_t first, int64_t count, Run run) const {
  for (int64_t done = 0; done < count;) {
    const Place place = Locate(first + done);
    const int64_t here = std::min(place.count, count - done);
    run(place.block, place.at, done, here);
    done += here;
  }
}

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_BLOCK_GRID_H_
