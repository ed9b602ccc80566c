//===- reduction.h - The arithmetic of reductions ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions combine element by element in the order of a tree
// (layout/reduction_tree.h). The output of every node but the last is *wide*:
// f16 and bf16 are f32 there, so that a result is rounded once. Integers wrap
// around; i1 is unsigned modulo 2. The kind alone decides whether integers are
// signed: max and min take the bits of all integers as signed, umax and umin
// take them as unsigned. Maximum and minimum of floats are those of
// arith.maximumf and arith.minimumf: NaN wins, and -0 is less than +0. Which
// NaN results is unspecified.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_REDUCTION_H_
#define RUNTIME_PROGRAM_REDUCTION_H_

#include <cstddef>
#include <cstdint>

#include "runtime/layout/reduction_tree.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// Fills `count` elements with the identity of the reduction. For sums of floats
// that is -0: adding +0 would change -0.
void FillIdentity(proto::ReductionKind reduction, proto::ElementType element,
                  int64_t count, char* data);

// The operands and results of one call of a Reducer. It reads `count` elements
// of each operand, from element number operand_first on, in the order's
// numbering, and writes them to each result, from result_first on. Results
// overlap no operand.
struct Reduction {
  const layout::ReductionOrder* order = nullptr;
  const char* const* operands = nullptr;
  int64_t operand_first = 0;
  bool wide_operands = false;
  char* const* results = nullptr;
  size_t num_results = 1;
  int64_t result_first = 0;
  bool wide_results = false;
  // Writes results past the caches, which they would only evict.
  bool streams = false;
  int64_t count = 0;
};

// The arithmetic of one kind of reduction and element type. Immutable; any
// thread may use it.
class Reducer {
 public:
  Reducer(proto::ReductionKind kind, proto::ElementType element);

  void Reduce(const Reduction& reduction) const {
    if (function_ != nullptr) function_(element_, reduction);
  }

 private:
  using Function = void (*)(proto::ElementType, const Reduction&);
  proto::ElementType element_;
  Function function_;  // null: no such reduction of these elements
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_REDUCTION_H_
