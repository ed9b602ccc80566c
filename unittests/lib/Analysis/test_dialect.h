//===- test_dialect.h - Operations that no pass knows -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that no pass knows: a node with a region, like a future `pw.for`,
// and an operation that has its own sharding rule.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_ANALYSIS_TEST_DIALECT_H
#define UNITTESTS_LIB_ANALYSIS_TEST_DIALECT_H

#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways::test {

/// Runs its region some number of times: `"test.repeat"(%x) ({ ... })`.
class RepeatOp : public Op<RepeatOp, OpTrait::VariadicOperands,
                           OpTrait::VariadicResults, OpTrait::OneRegion,
                           OpTrait::ZeroSuccessors, NodeOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.repeat"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

/// Ends the region of a RepeatOp.
class YieldOp
    : public Op<YieldOp, OpTrait::VariadicOperands, OpTrait::ZeroResults,
                OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                OpTrait::IsTerminator, NodeOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.yield"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

/// Consumes memory in its own way.
class TakeOp : public Op<TakeOp, OpTrait::OneOperand, OpTrait::OneResult,
                         OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                         NodeOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.take"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  SmallVector<OpOperand *> getDonations() {
    return {&getOperation()->getOpOperand(0)};
  }
};

/// Reverses the order of the rows of a matrix, which may be cut between rows:
/// `"test.reverse"(%x)`.
class ReverseOp : public Op<ReverseOp, OpTrait::OneOperand, OpTrait::OneResult,
                            OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                            ShardableOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.reverse"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  std::optional<ShardingRule> getShardingRule() {
    ShardingRule rule = makeWholeRule(getOperation());
    auto type = cast<RankedTensorType>((*this)->getResult(0).getType());
    rule.factors.push_back({type.getDimSize(0)});
    rule.operands[0][0] = rule.results[0][0] = 0;
    return rule;
  }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addOperations<RepeatOp, ReverseOp, TakeOp, YieldOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

} // namespace mlir::pathways::test

MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::pathways::test::TestDialect)

#endif // UNITTESTS_LIB_ANALYSIS_TEST_DIALECT_H
