//===- block_runs.h - Byte ranges of a block in its array -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_BLOCK_RUNS_H_
#define RUNTIME_LAYOUT_BLOCK_RUNS_H_

#include <cstdint>
#include <vector>

#include "runtime/layout/layout.h"

namespace pathways::layout {

// Maps bytes of a block to bytes of its array (dense, row-major). The block is
// also stored apart from the array, densely, and may travel in pieces that end
// anywhere. In the array its bytes form runs of equal length, whose order is
// the same in both. Immutable; any thread may call it.
class BlockRuns {
 public:
  // `box` lies in an array of `shape` and is not empty.
  BlockRuns(const std::vector<int64_t>& shape, const Box& box,
            int64_t element_bytes);

  // Returns the size of the block.
  uint64_t bytes() const { return bytes_; }
  // The offset in the array of one byte of the block, and the number of bytes
  // from there on that are contiguous in both.
  struct Run {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  Run At(uint64_t at) const;

  // Copies bytes [at, at + bytes) of the block out of the array, or into it.
  // The range must lie inside the block.
  void Gather(const char* array, uint64_t at, uint64_t bytes, char* to) const;
  void Scatter(const char* from, uint64_t at, uint64_t bytes,
               char* array) const;

 private:
  // A dimension of the grid of runs; the last dimension varies fastest.
  struct Dim {
    uint64_t extent = 0;  // runs, or groups of runs
    uint64_t stride = 0;  // in bytes of the array
  };

  // Calls `copy` for all runs of a range with the offset of the first run in
  // the array, the length of a run, the number of runs, and their distance.
  template <typename Copy>
  void Walk(uint64_t at, uint64_t bytes, Copy copy) const;

  uint64_t run_bytes_ = 0;
  uint64_t base_ = 0;  // offset of the first run
  uint64_t bytes_ = 0;
  std::vector<Dim> dims_;
};

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_BLOCK_RUNS_H_
