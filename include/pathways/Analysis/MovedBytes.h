//===- MovedBytes.h - How much a movement moves -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes that one movement sends between different devices, counted from layouts
// and bindings, not shard by shard.
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

/// Counts for a movement between types without `partial` that fit their slices.
/// Saturates at the largest int64. Where it would take long to tell which
/// pieces stay on their device (many coupled coordinates, or devices shared by
/// many shards), all are counted as moved.
MovedBytes countMovedBytes(ArrayType source, BoundSlice from, ArrayType result,
                           BoundSlice to);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_MOVEDBYTES_H
