//===- CostModel.h - What things cost ---------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one home of what things cost. Only ratios between actions matter.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_COSTMODEL_H
#define PATHWAYS_ANALYSIS_COSTMODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways {

/// What a worker copies in a nanosecond.
inline constexpr uint64_t kMemoryBytesPerNs = 8;

class CostModel {
public:
  /// Nanoseconds to feed, fetch, send or receive `bytes` of one shard.
  uint64_t getMovementNs(uint64_t bytes) const;

  /// Nanoseconds of the body of one shard, calls not followed: what is computed
  /// counts by elements, what is communicated eight times that.
  uint64_t getBodyNs(func::FuncOp body) const;

  /// Nanoseconds of one of `shards` equal parts of `op`, on tensors.
  uint64_t getShardNs(Operation *op, int64_t shards) const;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_COSTMODEL_H
