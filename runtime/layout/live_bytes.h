//===- live_bytes.h - Most bytes that are in use at a time ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound for the memory of any placement of buffers: the largest number
// of bytes in use at one position of the order in which the buffers are used.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_LIVE_BYTES_H_
#define RUNTIME_LAYOUT_LIVE_BYTES_H_

#include <cstdint>
#include <vector>

namespace pathways::layout {

// Bytes that are in use from position `begin` to `end`, both included.
struct LiveRange {
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t bytes = 0;
};

// Returns the largest sum of bytes at one of `positions` positions, at most
// 2^64 - 1. Ranges are clipped to these positions, and ranges that end before
// they begin do not count. Takes time linear in positions and ranges.
uint64_t PeakLiveBytes(int64_t positions, const std::vector<LiveRange>& ranges);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_LIVE_BYTES_H_
