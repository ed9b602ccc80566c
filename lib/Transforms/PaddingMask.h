//===- PaddingMask.h - Masks for padding ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shards of a dimension that is not cut into equal blocks have padding with
// undefined contents. Padding is computed like elements as long as it changes
// no element and raises no error.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_PADDINGMASK_H
#define PATHWAYS_LIB_TRANSFORMS_PADDINGMASK_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways {

/// A dimension of a shard, or a loop over one, with padding from `extent` on.
/// `extent` is not positive if there is only padding.
struct PaddedDim {
  unsigned dim;
  Value extent;
};

/// Returns `tensor` with `element` in its padding, at the insertion point.
Value maskPadding(ImplicitLocOpBuilder &builder, Value tensor,
                  ArrayRef<PaddedDim> dims, TypedAttr element);

/// Returns true if `op` adds up products of elements of two operands, and adds
/// nothing else in `loops`: zeros in the padding of both operands then add
/// nothing.
bool addsProducts(linalg::LinalgOp op, ArrayRef<unsigned> loops);

/// Returns true if the body of `op` could raise errors for values in padding.
bool mayFailInBody(linalg::LinalgOp op);

/// Makes `op` raise no error for its padding and, if it reduces, combine no
/// padding. Requires that getShardingRule allows it. Returns the new operation;
/// results keep their numbers.
linalg::GenericOp maskInBody(RewriterBase &rewriter, linalg::LinalgOp op,
                             ArrayRef<PaddedDim> loops,
                             ArrayRef<std::optional<ReductionKind>> reductions);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_PADDINGMASK_H
