//===- WriteOut.h - Loops as sequences of operations ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_WRITEOUT_H
#define PATHWAYS_LIB_IMPORT_WRITEOUT_H

#include "pathways/Dialect/StableHlo/StableHlo.h"

namespace mlir::pathways {

/// Returns the number of iterations of `loop` if that is a constant: one of the
/// carried values begins with a constant, grows by 1, and is compared with a
/// constant.
std::optional<int64_t> getTripCount(stablehlo::WhileOp loop);

/// The carried value of a loop that begins with `first`, and grows by 1.
struct LoopCounter {
  unsigned index;
  APInt first;
};
/// Returns the counter of `loop` if getTripCount() returns a number.
std::optional<LoopCounter> getLoopCounter(stablehlo::WhileOp loop);

/// Returns the number of operations, also in regions, of `trips` iterations.
int64_t getWrittenOutSize(stablehlo::WhileOp loop, int64_t trips);

/// Replaces `loop`, which has `trips` iterations as getTripCount() returns
/// them, by the operations of its iterations. Returns these.
SmallVector<Operation *> writeOut(stablehlo::WhileOp loop, int64_t trips);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_WRITEOUT_H
