//===- KeepLoops.h - Loops that stay loops in the plan ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_KEEPLOOPS_H
#define PATHWAYS_LIB_TRANSFORMS_KEEPLOOPS_H

#include "LoopOrder.h"
#include "ShardFunctions.h"

namespace mlir::pathways {

class ProgramLiveness;

/// Returns true if the plan can store the operations of `loop` once: it is
/// counted, at the top level of its program, and has calls, transfers and
/// copies only, none of which has a guard or waits for arrays that it does not
/// read; and the parts of its stepped arrays have bytes.
bool canKeep(ForOp loop, const ShardFunctions &shards);

/// Stores at `loop` the order of its calls on each slice, as runs, and at the
/// calls their numbers. `sorted` has the numbers of `nodes` in that order.
/// Returns false, and changes nothing, if a call has its iterations out of
/// order.
bool keepOrder(ForOp loop, ArrayRef<LoopNode> nodes, ArrayRef<unsigned> sorted);

/// Adds copies, so that each stepped array of `loop`, which has its order, has
/// no other use in it, operations of its region make all that it yields, and
/// arrays that it carries in place have no other use from the loop on. Returns
/// the number of copies.
unsigned separateArrays(ForOp loop, const ProgramLiveness &liveness);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_KEEPLOOPS_H
