//===- WidenSums.h - Parts of sums in f32 -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_WIDENSUMS_H
#define PATHWAYS_LIB_TRANSFORMS_WIDENSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pathways {

/// Makes results of `op` that are f16 or bf16 f32, and what combines them:
/// parts of a sum are rounded once, when they are together. Each of these
/// results must be combined by one operation that does nothing else, as
/// getShardingRule finds it; `inits` are then tensors of f32. Returns what `op`
/// became, which may be another operation; results keep their numbers.
Operation *widenSums(RewriterBase &rewriter, linalg::LinalgOp op,
                     ArrayRef<Value> inits);

/// Whether a sum of such elements is f32 until it is whole.
inline bool isWidened(Type element) {
  return element.isF16() || element.isBF16();
}

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_WIDENSUMS_H
