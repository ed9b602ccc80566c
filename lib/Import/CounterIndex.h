//===- CounterIndex.h - Indices that follow a counter -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_COUNTERINDEX_H
#define PATHWAYS_LIB_IMPORT_COUNTERINDEX_H

#include "mlir/IR/Operation.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways {

/// Finds scalars that grow or shrink by the same number in each iteration of a
/// loop with a counter.
class CounterIndex {
public:
  /// `counter` begins with `first` and grows by 1 in each of `trips`
  /// iterations.
  CounterIndex(Value counter, const APInt &first, int64_t trips)
      : counter(counter), first(first), trips(trips) {}

  /// Returns Stepped or Reversed if the part of type `part` of an array of type
  /// `whole`, at `starts`, is one index of the leading dimension, and the
  /// iterations take all indices in this order. Returns nothing otherwise.
  std::optional<LoopUse> getUse(Type whole, Type part, ValueRange starts);

private:
  /// A value that is `start` in the first iteration, and grows by `step`.
  struct Line {
    int64_t start, step;
  };
  std::optional<Line> find(Value value);
  std::optional<Line> compute(Operation *op);
  std::optional<Line> choose(Operation *op, ArrayRef<Line> operands);
  /// Returns true if `lhs` is less than `rhs` in all iterations, false if it is
  /// in none, and nothing otherwise.
  std::optional<bool> isLess(Line lhs, Line rhs) const;
  std::optional<bool> isEqual(Line lhs, Line rhs) const;
  std::optional<Line> combine(Line lhs, Line rhs, int64_t sign) const;
  std::optional<int64_t> getLast(Line line) const;

  Value counter;
  APInt first;
  int64_t trips;
  DenseMap<Value, std::optional<Line>> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_COUNTERINDEX_H
