//===- BlockLookup.h - Look-ups in a block of a table -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_BLOCKLOOKUP_H
#define PATHWAYS_LIB_TRANSFORMS_BLOCKLOOKUP_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways {

/// Returns the reduction that combines the contributions of blocks of a table.
ReductionKind getLookupReduction(Type element);

/// Returns the rule of a look-up along one dimension. That dimension is the
/// last factor; if it is cut, results are contributions.
ShardingRule getBlockLookupRule(tensor::GatherOp op);

/// Returns the contribution of `block`, a block of the table of `op` that
/// begins at index `begin`, for `indices`: the slices that the block has, and
/// the identity of the reduction for the others. An index outside of the whole
/// table fails.
Value lookUpInBlock(ImplicitLocOpBuilder &builder, tensor::GatherOp op,
                    Value block, Value indices, Value begin);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_BLOCKLOOKUP_H
