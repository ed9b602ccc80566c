//===- repeat_op.h - A node with a region -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A node with a region that no pass has heard of, as a later `pw.for` is before
// passes learn of it.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_ANALYSIS_REPEAT_OP_H
#define UNITTESTS_LIB_ANALYSIS_REPEAT_OP_H

#include "pathways/Dialect/Pathways/Pathways.h"

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

/// Takes memory in a way of its own.
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

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addOperations<RepeatOp, TakeOp, YieldOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

} // namespace mlir::pathways::test

MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::pathways::test::TestDialect)

#endif // UNITTESTS_LIB_ANALYSIS_REPEAT_OP_H
