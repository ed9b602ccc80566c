//===- HalfPrecisionOperands.h - Products of bf16 ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_PREPARE_HALFPRECISIONOPERANDS_H
#define LIB_CODEGEN_PREPARE_HALFPRECISIONOPERANDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::pathways::kernel {

/// On tensors: lets contractions whose two operands are widened bf16 take the
/// bf16 values and widen each element in the body.
void takeNarrowOperands(ModuleOp module);

/// On buffers: widens the whole operands of such contractions before the loops
/// in which they do not change.
void widenNarrowOperands(func::FuncOp func);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_PREPARE_HALFPRECISIONOPERANDS_H
