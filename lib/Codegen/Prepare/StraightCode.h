//===- StraightCode.h - Collectives in straight code ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_PREPARE_STRAIGHTCODE_H
#define LIB_CODEGEN_PREPARE_STRAIGHTCODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways::kernel {

/// Turns `clone`, a copy of `body` outside of any module, into code that can be
/// cut at its collectives. Inlines calls, unrolls loops and resolves branches
/// around collectives, since all shards run them alike, and computes valid
/// extents of its arguments, whose types are `operandTypes`, from coordinates
/// in `mesh`, which is null if there are none. Fails, with a diagnostic, if a
/// call cannot be inlined, bounds or conditions around collectives are not
/// constant, or the code would be too large.
LogicalResult makeStraight(func::FuncOp clone, func::FuncOp body, MeshAttr mesh,
                           ArrayRef<ArrayType> operandTypes);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_PREPARE_STRAIGHTCODE_H
