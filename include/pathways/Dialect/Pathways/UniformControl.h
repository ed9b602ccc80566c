//===- UniformControl.h - Control flow that all shards share ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives may be in loops and branches that all shards run alike by
// construction: the bounds and step of a loop, and the condition of a branch,
// follow from constants and the induction variables of such loops. These loops
// and branches can be unrolled.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_UNIFORMCONTROL_H
#define PATHWAYS_DIALECT_PATHWAYS_UNIFORMCONTROL_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APInt.h"
#include <optional>
#include <string>

namespace mlir::pathways {

/// An operation that shards may run differently.
struct Uncertain {
  Operation *op = nullptr;
  std::string reason; ///< completes "it is inside this"; may be empty
};

/// Returns the innermost operation around `op` and inside `function` that
/// shards may run differently, or nullopt.
std::optional<Uncertain> findUncertain(Operation *op, Operation *function);

/// Evaluates `value`, an integer or an index, from constants; nullopt if it
/// depends on anything else. Induction variables of unrolled loops are
/// constants.
std::optional<llvm::APInt> evaluate(Value value);

} // namespace mlir::pathways

#endif // PATHWAYS_DIALECT_PATHWAYS_UNIFORMCONTROL_H
