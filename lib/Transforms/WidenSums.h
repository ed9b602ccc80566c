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

/// Changes results of `op` from f16 or bf16 to f32, and with them the
/// operations that combine: partial sums are rounded once, after they are
/// combined. Each of these results must be combined by one operation that does
/// nothing else, as getShardingRule finds it; `inits` are then tensors of f32.
/// Returns the new operation, which may be of another kind; results keep their
/// numbers.
Operation *widenSums(RewriterBase &rewriter, linalg::LinalgOp op,
                     ArrayRef<Value> inits);

/// Returns true if a sum of such elements is f32 until it is complete.
inline bool isWidened(Type element) {
  return element.isF16() || element.isBF16();
}

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_WIDENSUMS_H
