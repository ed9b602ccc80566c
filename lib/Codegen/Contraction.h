//===- Contraction.h - What counts as a product -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CONTRACTION_H
#define LIB_CODEGEN_CONTRACTION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pathways::kernel {

/// Whether `op` multiplies two floating-point operands and adds to the third.
inline bool isContraction(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() > 0 &&
         linalg::detail::isContractionBody(
             *op.getBlock(), [](Operation *first, Operation *second) {
               return isa<arith::MulFOp>(first) && isa<arith::AddFOp>(second);
             });
}

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_H
