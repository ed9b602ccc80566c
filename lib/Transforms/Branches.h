//===- Branches.h - Branches of programs as guarded nodes -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_BRANCHES_H
#define PATHWAYS_LIB_TRANSFORMS_BRANCHES_H

#include "ShardFunctions.h"

namespace mlir::pathways {

/// Returns whether `first` and `second` both hold, each inverted if its flag is
/// set: the result of a call that is inserted with `builder`. Both are on one
/// slice.
Value combineConditions(ImplicitLocOpBuilder &builder,
                        ShardFunctions &functions, Value first,
                        bool firstUnless, Value second, bool secondUnless);

/// Replaces `branch` by the nodes of its regions, which must be calls and
/// movements. The calls and transfers get the condition as their guard. Their
/// slices get it by one transfer each. Where the regions meet, a call of one
/// writes into the array that the other one yields, or a guarded copy does.
/// Returns what the results become.
SmallVector<Value> flattenBranch(IfOp branch, ShardFunctions &functions);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_BRANCHES_H
