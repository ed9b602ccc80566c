//===- Contraction.h - Recognition of products ------------------*- C++ -*-===//
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

/// Returns true if `op` multiplies two operands, which it may convert first,
/// and adds to the third.
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

/// Returns true if `product`, a multiplication of floats, and `sum`, the
/// addition behind it, may be computed with one rounding. The flag `contract`
/// of both marks this; the program's own flags were removed before.
inline bool mayRoundOnce(arith::MulFOp product, Operation *sum) {
  auto add = dyn_cast_or_null<arith::AddFOp>(sum);
  auto allows = [](auto op) {
    return arith::bitEnumContainsAll(op.getFastmath(),
                                     arith::FastMathFlags::contract);
  };
  return product && add && allows(product) && allows(add);
}

/// Returns true if each product and the addition behind it in `op`, a
/// contraction, may be computed with one rounding.
bool mayRoundOnce(linalg::LinalgOp op);

/// Returns true if `op` reads an operand at sums of dimensions, as a
/// convolution does.
inline bool isWindowed(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 &&
         !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Returns the dimension along which matrix units add the terms of `op`, whose
/// operands have fewer bits than its sums. The sum runs again for each place in
/// the other dimensions, in the order of the loops. For a product, it is the
/// last of the longest dimensions that are summed and in both operands. For a
/// convolution, it is the dimension of channels, which must be innermost in the
/// image and not short. Returns -1 if `op` is not for matrix units.
int64_t dimOfSteps(linalg::LinalgOp op);

/// Returns the buffer of which `value` is a view.
Value wholeOf(Value value);

/// Calls `visit` for each user of `value`. If `value` is an address, also
/// visits the users of values computed from it.
void forEachUser(Value value, llvm::function_ref<void(Operation *)> visit);

/// Returns true if the two are known not to overlap.
bool areApart(Value a, Value b);

/// Returns the number to which `op` sets all of `buffer`, or a null value if it
/// does something else.
Value valueSetBy(Operation *op, Value buffer);

/// If all elements that `op`, which is on buffers, adds to were just set to one
/// number, erases the op that set them and returns the number. Otherwise
/// returns a null value.
Value takeFill(linalg::LinalgOp op);

/// Returns the number of the `steps` steps of its sums that `op` makes in one
/// iteration of a loop: at most `most`. Each step adds to `sums` vectors. More
/// steps hide the overhead of the loop; if there is little to compute and a
/// step is long, they only cost compile time.
int64_t stepsPerTurn(linalg::LinalgOp op, int64_t steps, int64_t sums,
                     int64_t most);

/// Returns the outermost loop around `op` in which `buffer` does not change, or
/// `op` itself if there is none.
Operation *outermostUser(Value buffer, Operation *op);

/// Returns true if nothing in `parent` writes to the buffer that `buffer` is a
/// part of.
bool staysIn(Value buffer, Operation *parent);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_H
