//===- UniformControl.h - What all shards run alike -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives may stand in loops and branches that all shards run alike by
// construction: a loop whose bounds and step, and a branch whose condition,
// follow from constants and the numbers of such loops. These can be written
// out.
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

/// The innermost operation around `op`, and inside of `function`, that shards
/// may run differently, if there is one.
std::optional<Uncertain> findUncertain(Operation *op, Operation *function);

/// What `value`, an integer or an index, is computed to from constants, if it
/// is; numbers of loops that were written out are constants.
std::optional<llvm::APInt> evaluate(Value value);

} // namespace mlir::pathways

#endif // PATHWAYS_DIALECT_PATHWAYS_UNIFORMCONTROL_H
