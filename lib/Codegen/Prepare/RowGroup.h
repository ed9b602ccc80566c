//===- RowGroup.h - Ops that can run row by row together --------*- C++ -*-===//
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

/// From where on ops become one loop over rows, found by measuring. Tests
/// choose less, so that kernels of any size are cut.
struct RowLimits {
  int64_t leastBytes = 16 << 10; ///< that are handed over, in all
  int64_t leastBlock = 64;       ///< rows of a block around a product
  int64_t mostBlock = 128;
  int64_t fewRows = 0; ///< of a block that reads little; 0: those of a tile
};
/// Not to be changed while others compile, or when there is a cache of code.
RowLimits &rowLimits();

/// The loops of an op that are the dimensions its group shares.
struct RowLoops {
  SmallVector<int64_t> loops;
  SmallVector<int64_t> extents;
  /// Where they are in its result.
  SmallVector<int64_t> dims;
  /// Whether it sums over the last of them, which is not in its result.
  bool isSummed = false;

  /// Elements, or bytes, of a result for each iteration of the group.
  int64_t rowElements(RankedTensorType type) const;
  int64_t rowBytes(RankedTensorType type) const;
};

/// Ops that can become one loop, in the order of the block.
struct RowGroup {
  SmallVector<linalg::LinalgOp> members;
  SmallVector<RowLoops> rows; ///< of each member
  int64_t depth = 0;          ///< dimensions that are shared

  bool contains(Operation *op) const { return llvm::is_contained(members, op); }
  /// Whether `op` is a member that sums over rows.
  bool isSum(linalg::LinalgOp op) const {
    return depth > 0 &&
           rows[llvm::find(members, op) - members.begin()].isSummed;
  }
  void sort() {
    llvm::sort(members, [](linalg::LinalgOp a, linalg::LinalgOp b) {
      return a->isBeforeInBlock(b);
    });
  }
  /// Sets the largest depth that fits all members, and how; or 0. Without
  /// products in it, a row must be long enough for vectors.
  void setDepth(bool hasProducts);
  /// Makes them one loop over blocks of `step` rows.
  void write(int64_t step);
};

/// Whether `op` is a contraction that uses elements of an operand more than
/// once. The sums of the rows of a b, say, are a reduction like any other.
bool isProduct(linalg::LinalgOp op);

/// A product over the rows of a matrix may be written as one of the matrix
/// turned around. Here it reads the matrix, if that lets it sum over blocks.
void readUnturned(linalg::LinalgOp op);

int64_t bytesOf(RankedTensorType type);

AffineMap resultMap(linalg::LinalgOp op, unsigned result = 0);

/// Position of the loop that is dimension `d` of what `map` describes; -1: more
/// than one loop, or none.
int64_t loopAt(AffineMap map, int64_t d);

/// Calls `visit` for every value that `op`, or an op inside, uses from outside.
void forEachUse(Operation *op, llvm::function_ref<void(Value)> visit);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_PREPARE_ROWGROUP_H
