//===- PackBuffers.h - Offsets for items with lifetimes ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns offsets in a common memory to items with limited lifetimes.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_PACKBUFFERS_H
#define PATHWAYS_LIB_LOWERING_PACKBUFFERS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mlir::pathways {

/// Bytes that are in use from action `begin` to action `end`, both included.
struct PackItem {
  uint64_t bytes = 0;
  uint32_t begin = 0, end = 0;
};

struct Packing {
  std::vector<uint64_t> offsets; ///< by item
  uint64_t bytes = 0;            ///< end of the last item
};

/// Returns offsets such that no two items overlap while both are in use. The
/// bytes of items should be multiples of the alignment of the offsets, and have
/// a sum below 2^64. Takes the better of two packings: (1) the largest items
/// first, each in the smallest hole that fits; (2) in order of `begin`, each in
/// a place of its own or that of an item that has ended. (1) is skipped if it
/// would compare more than `budget` pairs of items in use at one time.
Packing packItems(llvm::ArrayRef<PackItem> items, uint64_t budget = 1 << 24);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_PACKBUFFERS_H
