//===- LoopWriter.h - Loops and subscripts of tiled code --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_LOOPWRITER_H
#define LIB_CODEGEN_LOOPWRITER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::pathways::kernel {

/// Base of the classes that replace one op by loops over tiles.
class LoopWriter {
protected:
  using Body = llvm::function_ref<void(Value)>;

  explicit LoopWriter(Operation *op) : b(op->getLoc(), op) {}

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value lhs, int64_t rhs) {
    return rhs == 0 ? lhs
                    : arith::AddIOp::create(b, lhs, index(rhs)).getResult();
  }
  Value min(Value lhs, Value rhs) {
    return arith::MinSIOp::create(b, lhs, rhs);
  }

  /// Writes: for i = begin to end step `step`.
  void loop(Value begin, Value end, int64_t step, Body body) {
    auto loop = scf::ForOp::create(b, begin, end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    body(loop.getInductionVar());
  }
  void loop(int64_t begin, int64_t end, int64_t step, Body body) {
    if (begin >= end)
      return;
    if (end - begin <= step)
      return body(index(begin));
    loop(index(begin), index(end), step, body);
  }

  ImplicitLocOpBuilder b;
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_LOOPWRITER_H
