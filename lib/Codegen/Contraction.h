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

/// Whether `op` multiplies two operands, which may be converted first, and adds
/// to the third.
inline bool isContraction(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() > 0 &&
         linalg::detail::isContractionBody(
             *op.getBlock(), [](Operation *first, Operation *second) {
               return (isa<arith::MulFOp>(first) &&
                       isa<arith::AddFOp>(second)) ||
                      (isa<arith::MulIOp>(first) && isa<arith::AddIOp>(second));
             });
}

/// Whether `op` reads an operand at sums of dimensions, as a convolution does.
inline bool isWindowed(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 &&
         !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Along which dimension matrix units add the terms of `op`, whose operands are
/// of fewer bits than its sums: for each place in the others again, in the
/// order of the loops. Of a product that is the last of the longest dimensions
/// that are summed and in both operands; of a convolution that of channels,
/// which has to be innermost in the image and not short. -1: not for them.
int64_t dimOfSteps(linalg::LinalgOp op);

/// The buffer of which `value` is a view.
Value wholeOf(Value value);

/// Calls `visit` for what uses `value`, of addresses also for what uses what is
/// computed from them.
void forEachUser(Value value, llvm::function_ref<void(Operation *)> visit);

/// Whether the two are known not to meet.
bool areApart(Value a, Value b);

/// The number that `op` sets all of `buffer` to; none when it does something
/// else.
Value valueSetBy(Operation *op, Value buffer);

/// Where all of what `op`, on buffers, adds to was just set to one number:
/// takes the op that does it away and returns the number. Else returns none.
Value takeFill(linalg::LinalgOp op);

/// How many of `steps` steps of its sums `op` is to make in one turn of a loop,
/// at most `most`, where each adds to `sums` vectors. More of them hide what
/// the loop itself costs; where there is little to compute, and a step is long,
/// they only take time to compile.
int64_t stepsPerTurn(linalg::LinalgOp op, int64_t steps, int64_t sums,
                     int64_t most);

/// The outermost loop around `op` in which `buffer` stays as it is; `op` itself
/// where there is none.
Operation *outermostUser(Value buffer, Operation *op);

/// Whether nothing in `parent` writes to what `buffer` is a part of.
bool staysIn(Value buffer, Operation *parent);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_H
