//===- PaddingMask.h - What padding must not reach --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shards of a dimension that is not cut into equal blocks have padding, which
// holds anything. It is computed like elements, as long as it changes none and
// raises no error.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_PADDINGMASK_H
#define PATHWAYS_LIB_TRANSFORMS_PADDINGMASK_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways {

/// A dimension of a shard, or a loop over one, with padding from `extent` on,
/// which is not positive where there is nothing else.
struct PaddedDim {
  unsigned dim;
  Value extent;
};

/// `tensor` with `element` in its padding, at the insertion point.
Value maskPadding(ImplicitLocOpBuilder &builder, Value tensor,
                  ArrayRef<PaddedDim> dims, TypedAttr element);

/// Whether `op` adds up products of elements of two operands, and of one there
/// where nothing else is added in `loops`: zeros in padding of both add
/// nothing.
bool addsProducts(linalg::LinalgOp op, ArrayRef<unsigned> loops);

/// Whether the body of `op` would raise errors for what may be in padding.
bool mayFailInBody(linalg::LinalgOp op);

/// Makes `op` raise no error for its padding and, where it reduces, combine
/// none. getShardingRule must allow it. Returns what `op` became; results keep
/// their numbers.
linalg::GenericOp maskInBody(RewriterBase &rewriter, linalg::LinalgOp op,
                             ArrayRef<PaddedDim> loops,
                             ArrayRef<std::optional<ReductionKind>> reductions);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_PADDINGMASK_H
