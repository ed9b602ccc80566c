//===- PackBuffers.h - Places for what is there for a while -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places for what is there for a while.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_PACKBUFFERS_H
#define PATHWAYS_LIB_LOWERING_PACKBUFFERS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mlir::pathways {

/// Bytes that are needed from action `begin` to action `end`, both included.
struct PackItem {
  uint64_t bytes = 0;
  uint32_t begin = 0, end = 0;
};

struct Packing {
  std::vector<uint64_t> offsets; ///< by item
  uint64_t bytes = 0;            ///< from 0 to the end of the last one
};

/// Offsets at which no two items have bytes in common while both are there.
/// Bytes should be multiples of what offsets are to be multiples of, and have a
/// sum below 2^64. The better of two ways: the largest items first, each in the
/// smallest hole that it fits in; or, as they begin, each in a place of its own
/// or that of one which has ended. The former is left out where more than
/// `budget` pairs of items are there at one time, which it looks at.
Packing packItems(llvm::ArrayRef<PackItem> items, uint64_t budget = 1 << 24);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_PACKBUFFERS_H
