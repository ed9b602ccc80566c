//===- LoopOrder.h - Order of the calls of a loop ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of a loop that have one label, slice and iteration are a cell. An order
// lists the cells of each slice.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_LOOPORDER_H
#define PATHWAYS_LIB_TRANSFORMS_LOOPORDER_H

#include "pathways/Dialect/Pathways/Pathways.h"

#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace mlir::pathways {

struct LoopCell {
  StringAttr label;
  int64_t iteration;

  std::string print() const { return label.str() + std::to_string(iteration); }
};

/// The cells of a slice, in the order in which it runs them.
struct SliceOrder {
  FlatSymbolRefAttr slice;
  std::vector<LoopCell> cells;
};

/// The slices that have labels, in the order in which the module declares them.
using LoopOrder = std::vector<SliceOrder>;

/// An operation of a loop's region in one iteration. The label is null if the
/// operation is not part of a cell.
struct LoopNode {
  Operation *op;
  StringAttr label;
  int64_t iteration;
};

/// Returns true if an operation of the region of `loop` has a label.
bool hasLabels(ForOp loop);

/// Returns the stages whose backward calls are in halves, at least in a part of
/// the iterations, with this schedule: "2" if a file has cells of label 2I or
/// 2W, "*" for all stages. Fails, without a diagnostic, if the file cannot be
/// read. Cells that are no cells of the loop count, too.
FailureOr<llvm::StringSet<>> findHalves(StringRef schedule);

/// Returns the order that `schedule` gives to the cells of `nodes`: the name of
/// a schedule, or @FILE for a file of orders. Fails, with a diagnostic at
/// `loop`, if the order does not have each cell once, on its slice.
FailureOr<LoopOrder> getOrder(ForOp loop, StringRef schedule,
                              ArrayRef<LoopNode> nodes);

/// Returns the numbers of `nodes`, which are all operations of all iterations
/// in a valid order, so that each comes after those that it waits for and the
/// calls of each slice are in the given order. Fails, with a diagnostic at
/// `loop`, if calls would wait for each other. If `inPlace` is not null, it
/// gets the numbers so that also each call that takes the memory of an operand,
/// or yields the next value of a carried one, comes after the other readers of
/// that operand; fewer numbers if some would then wait for each other.
FailureOr<std::vector<unsigned>>
sortNodes(ForOp loop, const LoopOrder &order, ArrayRef<LoopNode> nodes,
          std::vector<unsigned> *inPlace = nullptr);

/// Returns what `value`, as the region of `loop` sees it in an iteration, is: a
/// result of the region in that or an earlier iteration, a stepped argument in
/// one of these, or a value from outside of the loop.
std::pair<Value, int64_t> followCarried(ForOp loop, Value value,
                                        int64_t iteration);

/// Returns the order as text: a line for each slice, cells with commas between.
std::string printOrder(const LoopOrder &order);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_LOOPORDER_H
