//===- MovedBytes.h - Bytes that a movement sends ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the bytes that a movement sends between different devices, from
// layouts and bindings, not shard by shard.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_MOVEDBYTES_H
#define PATHWAYS_ANALYSIS_MOVEDBYTES_H

#include "pathways/Dialect/Pathways/Layouts.h"

namespace mlir::pathways {

/// A slice and its binding, both valid.
struct BoundSlice {
  SliceOp slice;
  BindOp bind;
};

struct MovedBytes {
  int64_t ici = 0; ///< Between devices of one island.
  int64_t dcn = 0; ///< Between islands.
};

/// Counts the bytes of a movement between types without `partial` that fit
/// their slices. Saturates at the largest int64. If it would take long to find
/// the pieces that stay on their device (many coupled coordinates, or devices
/// shared by many shards), all pieces count as moved.
MovedBytes countMovedBytes(ArrayType source, BoundSlice from, ArrayType result,
                           BoundSlice to);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_MOVEDBYTES_H
