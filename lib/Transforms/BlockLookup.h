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

/// How the contributions of blocks of a table are combined.
ReductionKind getLookupReduction(Type element);

/// The rule of a look-up along one dimension, in which that dimension is a
/// factor too, the last one: cut, results are contributions.
ShardingRule getBlockLookupRule(tensor::GatherOp op);

/// The contribution of a block of the table of `op`, `block`, that begins at
/// index `begin`, for `indices`: the slices that it has, and in place of others
/// what changes nothing. An index outside of the whole table fails.
Value lookUpInBlock(ImplicitLocOpBuilder &builder, tensor::GatherOp op,
                    Value block, Value indices, Value begin);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_BLOCKLOOKUP_H
