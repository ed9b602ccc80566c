//===- block_runs.h - Where the bytes of a block lie ------------*- C++ -*-===//
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

// A block of an array that is kept apart, densely, and may travel in pieces
// that end anywhere: says which bytes of the array (dense, row-major) a range
// of the block's bytes is. Those are runs of equal length, one after the other
// in both. Immutable; any thread.
class BlockRuns {
 public:
  // `box` lies in an array of `shape` and is not empty.
  BlockRuns(const std::vector<int64_t>& shape, const Box& box,
            int64_t element_bytes);

  // Of the block.
  uint64_t bytes() const { return bytes_; }
  // Where byte `at` of the block is in the array, in bytes, and how many bytes
  // from there on are neighbours in both.
  struct Run {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  Run At(uint64_t at) const;

  // Bytes [at, at + bytes) of the block, out of the array and into it. They lie
  // in the block.
  void Gather(const char* array, uint64_t at, uint64_t bytes, char* to) const;
  void Scatter(const char* from, uint64_t at, uint64_t bytes,
               char* array) const;

 private:
  // Of runs, the last one fastest.
  struct Dim {
    uint64_t extent = 0;  // runs, or blocks of them
    uint64_t stride = 0;  // bytes of the array
  };

  // Calls `copy` with where runs of the array are, how long each is, how many
  // there are, and how far apart, for all of a range.
  template <typename Copy>
  void Walk(uint64_t at, uint64_t bytes, Copy copy) const;

  uint64_t run_bytes_ = 0;
  uint64_t base_ = 0;  // where the first run is
  uint64_t bytes_ = 0;
  std::vector<Dim> dims_;
};

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_BLOCK_RUNS_H_
