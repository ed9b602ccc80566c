//===- live_bytes.h - How much is in use at one time ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no placement of buffers can fall below: the most bytes that are in use
// at one position of the order in which they are used.
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

// The largest sum of bytes over one of `positions` positions; 2^64 - 1 when it
// is larger. Ranges are cut to the positions there are, those that end before
// they begin are none. Linear in positions and ranges.
uint64_t PeakLiveBytes(int64_t positions, const std::vector<LiveRange>& ranges);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_LIVE_BYTES_H_
