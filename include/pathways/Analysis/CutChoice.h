//===- CutChoice.h - Choice of the factors to cut ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_CUTCHOICE_H
#define PATHWAYS_ANALYSIS_CUTCHOICE_H

#include "pathways/Analysis/BodyReshard.h"
#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways {

/// Axes of each factor of a rule.
using Cut = SmallVector<ArrayAttr>;

/// One operation on one mesh, with the layouts around it. Layouts are normal:
/// they name no axis of size 1. Blocks need not be equal.
struct CutProblem {
  Operation *op;
  const ShardingRule &rule;
  MeshAttr mesh;
  BodyReshards &reshards;
  /// Layouts of the operands, which may be partial. Null for scalars and for
  /// operands that can be made in any layout.
  SmallVector<ShardingAttr> operands;
  /// Wanted layouts of the results, which may be partial. An open dimension
  /// without axes may have any layout; null: nothing is known.
  SmallVector<ShardingAttr> results;
  /// Returns true if an operand is also available in `layout` at no cost.
  function_ref<bool(unsigned operand, ShardingAttr layout)> isThere;
  /// Layouts of the tensors of getCapturedTensors(). Null for tensors that can
  /// be made in any layout, or are available in the layout needed.
  SmallVector<ShardingAttr> captures = {};
};

struct CutOption {
  Cut cut;
  /// Estimated nanoseconds of one step: to bring operands to their layouts,
  /// compute a shard, and bring results to the layouts wanted.
  uint64_t ns;
};

/// Returns the cuts of the operation, the cheapest first. Each factor is cut as
/// the operands are, as the results are wanted, or not at all. Of equally cheap
/// cuts the one with more shards comes first. The list is never empty.
SmallVector<CutOption> rankCuts(const CutProblem &problem);

/// Returns the layout of a tensor whose dimensions are the factors `dims`.
ShardingAttr getLayout(MLIRContext *context, ArrayRef<int64_t> dims,
                       const Cut &cut);

/// Returns the axes of `cut` that cut factors which the results lack.
SmallVector<StringAttr> getReducedAxes(const ShardingRule &rule,
                                       const Cut &cut);

/// Returns the layout of result `result` of a shard: contributions over
/// `reducedAxes`, those of getReducedAxes(), if there are any.
ShardingAttr getMadeLayout(MLIRContext *context, const ShardingRule &rule,
                           const Cut &cut, unsigned result,
                           ArrayRef<StringAttr> reducedAxes);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_CUTCHOICE_H
