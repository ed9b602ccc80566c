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

/// Makes of `clone`, a copy of `body` outside of any module, what can be cut at
/// its collectives: calls are inlined, loops and branches around collectives
/// are written out, since all shards run them alike, and valid extents of its
/// arguments, whose types are `operandTypes`, are computed from coordinates in
/// `mesh` (null: there are none). Fails, with a diagnostic, where a call cannot
/// be inlined, bounds or conditions around collectives are not constant, or the
/// code would be too large.
LogicalResult makeStraight(func::FuncOp clone, func::FuncOp body, MeshAttr mesh,
                           ArrayRef<ArrayType> operandTypes);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_PREPARE_STRAIGHTCODE_H
