//===- ShardingRule.h - How operations may be cut ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an operation on tensors may be cut: what its dimensions have to do with
// each other. After einsum's letters: an operation has factors, each dimension
// of an operand or a result is one of them or none, and cutting a factor cuts
// every dimension that is it.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_SHARDINGRULE_H
#define PATHWAYS_ANALYSIS_SHARDINGRULE_H

#include "pathways/Dialect/Pathways/Pathways.h"
#include <optional>

namespace mlir::pathways {

struct ShardingRule {
  /// No factor: the dimension stays whole.
  static constexpr int64_t kWhole = -1;

  struct Factor {
    int64_t size = 1; ///< it is cut into that many equal blocks, or divisors
    bool isCuttable = true;
    /// Results lack it: cut, they are contributions that this combines.
    bool isReduced = false;
  };
  SmallVector<Factor> factors;
  /// By operand and by result; empty for what is not a tensor.
  SmallVector<SmallVector<int64_t>> operands, results;
  /// By result: how contributions are combined. Set where a factor that is
  /// reduced is cuttable; operands that results start from are the init.
  SmallVector<std::optional<ReductionKind>> reductions;
  /// By result: the operation that combines, as a name.
  SmallVector<StringAttr> combiners;
  /// By result: the operand that it starts from, where there is one.
  SmallVector<std::optional<unsigned>> inits;
};

/// The rule of `op`; none: it is computed from whole operands. What has
/// ShardableOpInterface says it; of others, structured operations of linalg
/// have one by their maps, and elementwise operations.
std::optional<ShardingRule> getShardingRule(Operation *op);

/// A rule without factors for `op`, all of whose dimensions are whole.
ShardingRule makeWholeRule(Operation *op);

/// Gives operations of `tensor` their rules: reshapes, slices, pads and
/// concatenations.
void registerTensorShardingModels(DialectRegistry &registry);

/// Whether tensors of such elements may be communicated.
bool isCommunicable(Type elementType);

/// What changes nothing when combined by `kind`. For sums of floats that is -0:
/// adding +0 would change -0.
TypedAttr getNeutral(ReductionKind kind, Type type);

} // namespace mlir::pathways

#include "pathways/Analysis/ShardingInterfaces.h.inc"

#endif // PATHWAYS_ANALYSIS_SHARDINGRULE_H
