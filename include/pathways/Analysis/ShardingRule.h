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
    int64_t size = 1;
    bool isCuttable = true;
    /// Blocks need not be equal: all are as large as the first, and what is
    /// behind the last element is padding, which may hold anything. It reaches
    /// padding of results alone, and raises no error where operands are
    /// harmless there. False: the size is divided by the number of blocks.
    bool allowsPadding = false;
    /// Results lack it: cut, they are contributions that this combines.
    bool isReduced = false;

    bool isCuttableInto(int64_t blocks) const {
      return isCuttable && (allowsPadding || size % blocks == 0);
    }
  };
  SmallVector<Factor> factors;
  /// By operand and by result; empty for what is not a tensor.
  SmallVector<SmallVector<int64_t>> operands, results;
  /// The factors of each tensor of getCapturedTensors(). All of its dimensions
  /// are whole, since the body names elements by their indices in the array.
  SmallVector<SmallVector<int64_t>> captures;
  /// By result: how contributions are combined. Set where a factor that is
  /// reduced is cuttable; operands that results start from are the init.
  SmallVector<std::optional<ReductionKind>> reductions;
  /// By result: the operation that combines, as a name.
  SmallVector<StringAttr> combiners;
  /// By result: the operand that it starts from, where there is one.
  SmallVector<std::optional<unsigned>> inits;
  /// By operand: an element that raises no error whatever other operands have,
  /// for its padding; null where that may be anything. Empty: all are null.
  SmallVector<TypedAttr> harmless;
};

/// The rule of `op`; none: it is computed from whole operands. What has
/// ShardableOpInterface says it; of others, structured operations of linalg
/// have one by their maps, and elementwise operations.
std::optional<ShardingRule> getShardingRule(Operation *op);

/// Tensors that the regions of `op` use and that are defined outside of `op`.
SmallVector<Value> getCapturedTensors(Operation *op);

/// A rule without factors for `op`, all of whose dimensions are whole.
ShardingRule makeWholeRule(Operation *op);

/// How `op` combines two values in any order, if it does.
std::optional<ReductionKind> getCombinedKind(Operation *op);

/// Gives operations their rules: of `tensor` reshapes, slices, pads and
/// concatenations, of `linalg` those that are no structured operations.
void registerTensorShardingModels(DialectRegistry &registry);

/// Whether tensors of such elements may be communicated.
bool isCommunicable(Type elementType);

/// Values of operands of `op`, on numbers or elementwise on tensors, for which
/// it raises no error whatever its other operands are. Fails where there are
/// none, or where nothing is known of such operations.
FailureOr<SmallVector<std::pair<unsigned, TypedAttr>>>
getHarmlessOperands(Operation *op);

/// How many of `blocks` blocks of a dimension are padding alone; 0 where the
/// dimension has no element.
int64_t countEmptyBlocks(int64_t size, int64_t blocks);

/// What changes nothing when combined by `kind`. For sums of floats that is -0:
/// adding +0 would change -0.
TypedAttr getNeutral(ReductionKind kind, Type type);

} // namespace mlir::pathways

#include "pathways/Analysis/ShardingInterfaces.h.inc"

#endif // PATHWAYS_ANALYSIS_SHARDINGRULE_H
