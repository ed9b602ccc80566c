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

/// Replaces `branch` by the nodes of its regions, which must be calls and
/// movements. The calls get the condition as their guard. The slices of the
/// calls get it by one transfer each. Where two branches meet, one call writes
/// into the array of another, or a guarded copy does.
void flattenBranch(IfOp branch, ShardFunctions &functions);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_BRANCHES_H
