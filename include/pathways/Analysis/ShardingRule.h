//===- ShardingRule.h - Rules for cutting operations ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes how an operation on tensors may be cut, after the letters of
// einsum. An operation has factors. Each dimension of an operand or a result is
// one of the factors or none, and cutting a factor cuts every dimension that is
// this factor.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_SHARDINGRULE_H
#define PATHWAYS_ANALYSIS_SHARDINGRULE_H

#include "pathways/Dialect/Pathways/Pathways.h"
#include <optional>

namespace mlir::pathways {

struct ShardingRule {
  /// The dimension is no factor and stays whole.
  static constexpr int64_t kWhole = -1;

  struct Factor {
    int64_t size = 1;
    bool isCuttable = true;
    /// True if blocks need not be equal: all are as large as the first, and
    /// elements after the last one are padding with any contents. Padding of
    /// operands affects padding of results only, and raises no error if
    /// operands are harmless there. False: the number of blocks must divide the
    /// size.
    bool allowsPadding = false;
    /// Results lack this factor; if it is cut, they are contributions to
    /// combine.
    bool isReduced = false;

    bool isCuttableInto(int64_t blocks) const {
      return isCuttable && (allowsPadding || size % blocks == 0);
    }
  };
  SmallVector<Factor> factors;
  /// Factors of each operand and each result; empty for anything but tensors.
  SmallVector<SmallVector<int64_t>> operands, results;
  /// The factors of each tensor of getCapturedTensors(). All of its dimensions
  /// are whole, since the body indexes elements by their position in the array.
  SmallVector<SmallVector<int64_t>> captures;
  /// Combination of the contributions to each result. Set if a reduced factor
  /// is cuttable; the operands that results start from are the inits.
  SmallVector<std::optional<ReductionKind>> reductions;
  /// Name of the operation that combines, for each result.
  SmallVector<StringAttr> combiners;
  /// Operand that each result starts from, if any.
  SmallVector<std::optional<unsigned>> inits;
  /// Element for the padding of each operand that raises no error whatever the
  /// other operands have; null if the padding may have any value. An empty list
  /// is all nulls.
  SmallVector<TypedAttr> harmless;
};

/// Returns the rule of `op`, or nullopt if it is computed from whole operands.
/// Operations with ShardableOpInterface define their rule; structured
/// operations of linalg get one from their maps, and elementwise operations
/// and collectives have one, too.
std::optional<ShardingRule> getShardingRule(Operation *op);

/// Returns the tensors that the regions of `op` use and that are defined
/// outside of it.
SmallVector<Value> getCapturedTensors(Operation *op);

/// Returns a rule without factors for `op`: all dimensions are whole.
ShardingRule makeWholeRule(Operation *op);

/// Returns how `op` combines two values, if it does and the order does not
/// matter.
std::optional<ReductionKind> getCombinedKind(Operation *op);

/// Attaches rules to operations: reshapes, slices, pads and concatenations of
/// `tensor`, and operations of `linalg` that are not structured.
void registerTensorShardingModels(DialectRegistry &registry);

/// Returns true if tensors of this element type may be communicated.
bool isCommunicable(Type elementType);

/// Returns, for operands of `op`, values for which it raises no error whatever
/// its other operands are. `op` works on numbers, or elementwise on tensors.
/// Fails if there are no such values, or if nothing is known of such
/// operations.
FailureOr<SmallVector<std::pair<unsigned, TypedAttr>>>
getHarmlessOperands(Operation *op);

/// Returns how many of `blocks` blocks of a dimension are padding only; 0 if
/// the dimension has no element.
int64_t countEmptyBlocks(int64_t size, int64_t blocks);

/// Returns the identity of reduction `kind`. For sums of floats it is -0:
/// adding +0 would change -0.
TypedAttr getNeutral(ReductionKind kind, Type type);

} // namespace mlir::pathways

#include "pathways/Analysis/ShardingInterfaces.h.inc"

#endif // PATHWAYS_ANALYSIS_SHARDINGRULE_H
