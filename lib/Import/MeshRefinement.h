//===- MeshRefinement.h - Axes that several meshes share --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Partitions are numbered from 0. A mesh, a tiling or a group of partitions
// counts them by digits of these numbers. The axes of the refinement are the
// largest digits of which all others consist.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_MESHREFINEMENT_H
#define PATHWAYS_LIB_IMPORT_MESHREFINEMENT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <string>

namespace mlir::pathways {

/// A digit of the numbers of partitions: `number / stride % size`.
struct Digit {
  int64_t stride;
  int64_t size;
};

/// Digits in the order in which they count, major first.
using Digits = SmallVector<Digit, 4>;

/// Returns the fewest digits that count `numbers`: element i is the sum of the
/// digits of i, each times its stride. Returns nothing if there are none such.
/// A single element gives no digit.
std::optional<Digits> findDigits(ArrayRef<int64_t> numbers);

/// A row-major grid of all partitions.
struct Grid {
  SmallVector<int64_t> sizes; ///< sizes of the dimensions, major first
  Digits order; ///< digits of the partitions at positions of the grid
  /// Positions at which parts of dimensions begin, besides the dimensions.
  SmallVector<int64_t> cuts;
  std::string what; ///< what messages call it
  Location loc;

  int64_t getNumPartitions() const;
  /// Returns the first and the last-but-one position of dimension `dim`, as
  /// the product of the sizes after it and that product times its own size.
  std::pair<int64_t, int64_t> getRange(unsigned dim) const;
};

/// The common refinement of grids.
class MeshRefinement {
public:
  /// Adds `grid`. Fails, with a diagnostic, if no refinement has its
  /// dimensions and parts as whole axes.
  LogicalResult add(const Grid &grid);
  /// Adds `digits`, for example of a group of partitions. Fails, without a
  /// diagnostic and without a change, if no refinement has them as whole axes.
  LogicalResult add(ArrayRef<Digit> digits);
  /// Computes the axes. Nothing is added later.
  void finish();

  /// Returns the axes, major first: the numbers of partitions are row-major
  /// over them.
  ArrayRef<Digit> getAxes() const { return axes; }
  /// Returns the numbers of the axes that make up the positions of `grid` from
  /// `low` to `high`, major first. `grid` was added, and the positions are
  /// those of dimensions or cuts.
  SmallVector<unsigned> getAxes(const Grid &grid, int64_t low,
                                int64_t high) const;

private:
  struct Source {
    std::string what;
    std::optional<Location> loc;
  };
  /// Returns a stride that neither divides `stride` nor is a multiple of it.
  std::optional<int64_t> findConflict(int64_t stride) const;

  /// Strides of all digits, with the number of the source that had it first.
  std::map<int64_t, unsigned> strides;
  std::vector<Source> sources;
  Digits axes;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_MESHREFINEMENT_H
