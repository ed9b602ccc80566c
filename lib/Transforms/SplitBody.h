//===- SplitBody.h - Cut a function into two halves -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_SPLITBODY_H
#define PATHWAYS_LIB_TRANSFORMS_SPLITBODY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

#include <string>

namespace mlir::pathways {

/// One half of a function, outside of any module. Its results are results of
/// the whole function, and then, in the first half, values that the second one
/// reads. Its arguments are arguments of the whole function, and then, in the
/// second half, these values.
struct BodyHalf {
  func::FuncOp function;
  SmallVector<unsigned> arguments; ///< numbers in the whole function
  SmallVector<unsigned> results;   ///< likewise
};

struct SplitBody {
  BodyHalf first, second;
  /// Types of the values that cross from the first half to the second, as the
  /// body has them. A scalar crosses as a tensor of one element with rank 1.
  SmallVector<RankedTensorType> crossing;
  int64_t crossingBytes = 0;
  /// Bytes of the arguments in `isKept` that the second half reads.
  int64_t keptBytes = 0;
};

/// Cuts `body` in two so that the first half computes the results in
/// `isFirst`, and the second half computes as many others as it can. No
/// operation but constants is in both halves. The cut is where the fewest bytes
/// are kept between the halves: values that cross, and arguments in `isKept`
/// that the second half reads. The first half runs no sum, loop or collective
/// that the results in `isFirst` do not need. Returns, without a diagnostic,
/// why this is not possible, or "".
std::string splitBody(func::FuncOp body, const llvm::BitVector &isFirst,
                      const llvm::BitVector &isKept, SplitBody &split);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_SPLITBODY_H
