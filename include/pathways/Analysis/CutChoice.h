//===- CutChoice.h - Which factors of an operation are cut ------*- C++ -*-===//
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

/// What is known of one operation on one mesh. Layouts are normal: they name no
/// axis of size 1. Blocks need not be equal.
struct CutProblem {
  Operation *op;
  const ShardingRule &rule;
  MeshAttr mesh;
  BodyReshards &reshards;
  /// How operands lie, perhaps partial; null for scalars and for what is made
  /// in any layout.
  SmallVector<ShardingAttr> operands;
  /// How results are wanted, perhaps as contributions. An open dimension
  /// without axes is wanted in no particular way; null: nothing is known.
  SmallVector<ShardingAttr> results;
  /// Whether an operand is there in a layout too, without work.
  function_ref<bool(unsigned operand, ShardingAttr layout)> isThere;
  /// How the tensors of getCapturedTensors() lie; null for what is made in any
  /// layout, or is there in the one that is needed.
  SmallVector<ShardingAttr> captures = {};
};

struct CutOption {
  Cut cut;
  /// Estimated time of one step, in nanoseconds: to bring operands there, to
  /// compute a shard, and to bring results to where they are wanted.
  uint64_t ns;
};

/// Ways to cut the operation, the cheapest first: factors are cut like operands
/// lie, like results are wanted, or not. Of equal ones that with more shards is
/// first. There is always one.
SmallVector<CutOption> rankCuts(const CutProblem &problem);

/// The layout of a tensor whose dimensions are the factors `dims`.
ShardingAttr getLayout(MLIRContext *context, ArrayRef<int64_t> dims,
                       const Cut &cut);

/// The axes that `cut` has of factors that results lack.
SmallVector<StringAttr> getReducedAxes(const ShardingRule &rule,
                                       const Cut &cut);

/// How result `result` of a shard lies: as contributions over `reducedAxes`,
/// those of getReducedAxes(), if there are any.
ShardingAttr getMadeLayout(MLIRContext *context, const ShardingRule &rule,
                           const Cut &cut, unsigned result,
                           ArrayRef<StringAttr> reducedAxes);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_CUTCHOICE_H
