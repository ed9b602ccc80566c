//===- Verify.h - Parts of verifiers ----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_STABLEHLO_VERIFY_H
#define LIB_DIALECT_STABLEHLO_VERIFY_H

#include "pathways/Dialect/StableHlo/StableHlo.h"

namespace mlir::pathways::stablehlo::detail {

inline RankedTensorType getTensor(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The type of one element of `type`, as a tensor.
RankedTensorType getScalar(RankedTensorType type);

/// Returns `a * b + c`, or the limit that is nearest to it.
int64_t multiplyAdd(int64_t a, int64_t b, int64_t c);

/// Number of elements, or the largest number if that is too small.
int64_t countElements(ArrayRef<int64_t> shape);

/// Properties that a list of dimensions has besides being in range.
enum class Dims { kAny, kDistinct, kSorted };

/// Verifies that each of `dims`, which `name` stands for in messages, is in
/// [0, `rank`) and that they are distinct, or distinct and sorted.
LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                         int64_t rank, Dims kind);
LogicalResult verifyDim(Operation *op, StringRef name, int64_t dim,
                        int64_t rank);

/// Verifies the number of elements of a list.
LogicalResult verifySize(Operation *op, StringRef name, size_t size,
                         size_t expected);

/// Verifies that no element of a list is less than `least`.
LogicalResult verifyAtLeast(Operation *op, StringRef name,
                            ArrayRef<int64_t> list, int64_t least);

/// Verifies that `type`, which `name` stands for, is the tensor of `shape` and
/// `element`.
LogicalResult verifyTensor(Operation *op, StringRef name, Type type,
                           ArrayRef<int64_t> shape, Type element);

LogicalResult verifyScalar(Operation *op, StringRef name, Type type);

/// Verifies that scalar indices have one type.
LogicalResult verifyIndices(Operation *op, OperandRange indices);

/// Verifies that `region` takes `arguments` and returns `results`.
LogicalResult verifyRegion(Operation *op, StringRef name, Region &region,
                           TypeRange arguments, TypeRange results);

/// Verifies a region that combines two values of each of `elements`, and that
/// inputs of types `inputs` may enter it.
LogicalResult verifyReducer(Operation *op, StringRef name, Region &region,
                            ArrayRef<Type> inputs, ArrayRef<Type> elements);

/// Windows that slide over a tensor. Lists that are not given are null.
struct WindowLists {
  std::optional<ArrayRef<int64_t>> sizes, strides, baseDilations,
      windowDilations;
  DenseIntElementsAttr padding;
};

/// Verifies the lists of a window over `shape` and returns the number of
/// windows along each dimension.
FailureOr<SmallVector<int64_t>>
verifyWindow(Operation *op, ArrayRef<int64_t> shape, const WindowLists &lists);

} // namespace mlir::pathways::stablehlo::detail

#endif // LIB_DIALECT_STABLEHLO_VERIFY_H
