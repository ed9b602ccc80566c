//===- RowGroup.h - Groups of ops that can run row by row -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_PREPARE_ROWGROUP_H
#define LIB_CODEGEN_PREPARE_ROWGROUP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::pathways::kernel {

/// Limits from which on ops become one loop over rows, found by measurement.
/// Tests lower them, so that kernels of any size are cut.
struct RowLimits {
  int64_t leastBytes = 16 << 10; ///< Bytes that the ops hand over in all.
  int64_t leastBlock = 64;       ///< rows of a block around a product
  int64_t mostBlock = 128;
  /// Rows of a block whose products read little; 0 for those of a tile.
  int64_t fewRows = 0;
};
/// Returns the limits. They must not be changed while another thread compiles
/// or a cache of compiled code is in use.
RowLimits &rowLimits();

/// The loops of an op that are the shared dimensions of its group.
struct RowLoops {
  SmallVector<int64_t> loops;
  SmallVector<int64_t> extents;
  /// The dimensions of the op's result that are these loops.
  SmallVector<int64_t> dims;
  /// True if the op sums over the last of these loops, which is not in its
  /// result.
  bool isSummed = false;

  /// Returns the elements, or bytes, of a result for each iteration of the
  /// group.
  int64_t rowElements(RankedTensorType type) const;
  int64_t rowBytes(RankedTensorType type) const;
};

/// Ops that can become one loop, in the order of the block.
struct RowGroup {
  SmallVector<linalg::LinalgOp> members;
  SmallVector<RowLoops> rows; ///< loops of each member
  int64_t depth = 0;          ///< number of shared dimensions

  bool contains(Operation *op) const { return llvm::is_contained(members, op); }
  /// Returns true if `op` is a member that sums over rows.
  bool isSum(linalg::LinalgOp op) const {
    return depth > 0 &&
           rows[llvm::find(members, op) - members.begin()].isSummed;
  }
  void sort() {
    llvm::sort(members, [](linalg::LinalgOp a, linalg::LinalgOp b) {
      return a->isBeforeInBlock(b);
    });
  }
  /// Sets the largest depth that fits all members, and the loops of each; the
  /// depth is 0 if none fits. Without products in the group, a row must be long
  /// enough for vectors.
  void setDepth(bool hasProducts);
  /// Replaces the members by one loop over blocks of `step` rows.
  void write(int64_t step);
};

/// Returns true if `op` is a contraction that uses elements of an operand more
/// than once. Sums of the rows of a b, for example, are a reduction like any
/// other.
bool isProduct(linalg::LinalgOp op);

/// Makes a product read the matrix itself instead of its transpose, if this
/// lets the product sum over blocks of rows.
void readUnturned(linalg::LinalgOp op);

int64_t bytesOf(RankedTensorType type);

AffineMap resultMap(linalg::LinalgOp op, unsigned result = 0);

/// Returns the position of the loop that is dimension `d` of the value that
/// `map` describes; -1 if there are several such loops or none.
int64_t loopAt(AffineMap map, int64_t d);

/// Calls `visit` for every operand of `op` and of the ops inside it.
void forEachUse(Operation *op, llvm::function_ref<void(Value)> visit);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_PREPARE_ROWGROUP_H
