//===- Recompute.cpp - Run calls again instead of keeping results ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineBody.h"
#include "pathways/Analysis/CostModel.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_RECOMPUTE
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Recomputes the results of calls of one loop.
class LoopRecomputer {
public:
  LoopRecomputer(SymbolTable &symbols, ForOp loop)
      : symbols(symbols), body(loop.getBody().front()) {
    findCells();
  }

  LogicalResult run();

private:
  /// Finds the cell of each call and loop of the body: that of its label. A
  /// call without one goes with the last cell of its slice that it reads, else
  /// with the first that reads it.
  void findCells();
  LogicalResult recompute(CallOp call);
  /// Returns the uses of results of `call` by calls of its slice in other
  /// cells.
  SmallVector<OpOperand *> findReads(CallOp call);
  LogicalResult remark(CallOp call, CallOp again,
                       ArrayRef<OpOperand *> operands);
  int64_t getShardBytes(Value array);

  SymbolTable &symbols;
  Block &body;
  /// The labels, and the last operations of these cells that are read.
  llvm::DenseMap<Operation *, StringAttr> cells;
};

} // namespace

void LoopRecomputer::findCells() {
  llvm::DenseMap<Operation *, unsigned> places;
  SmallVector<CallOp> open;
  for (auto [place, op] : llvm::enumerate(body)) {
    auto call = dyn_cast<CallOp>(op);
    auto inner = dyn_cast<ForOp>(op);
    StringAttr label = call    ? call.getCellLabel()
                       : inner ? inner.getLabelAttr()
                               : nullptr;
    if (label) {
      cells[&op] = label;
      places[&op] = place;
    }
    if (label || !call)
      continue;
    for (Value operand : call->getOperands()) {
      Operation *writer = operand.getDefiningOp();
      auto before = dyn_cast_or_null<CallOp>(writer);
      if (!before || before.getSlice() != call.getSlice() ||
          !cells.contains(writer))
        continue;
      if (!cells.contains(call) || places[call] < places[writer]) {
        cells[call] = cells[writer];
        places[call] = places[writer];
      }
    }
    if (!cells.contains(call))
      open.push_back(call);
  }
  for (CallOp call : llvm::reverse(open)) {
    Operation *first = nullptr;
    for (Operation *user : call->getUsers())
      if (auto reader = dyn_cast<CallOp>(user);
          reader && reader.getSlice() == call.getSlice() &&
          cells.contains(user) && (!first || user->isBeforeInBlock(first)))
        first = user;
    if (first)
      cells[call] = cells[first];
  }
}

int64_t LoopRecomputer::getShardBytes(Value array) {
  auto type = cast<ArrayType>(array.getType());
  auto slice = symbols.lookup<SliceOp>(type.getSlice().getAttr());
  int64_t bytes = getElementBytes(type.getElementType());
  for (int64_t size : getShardShape(type, slice.getMesh()))
    bytes *= size;
  return bytes;
}

SmallVector<OpOperand *> LoopRecomputer::findReads(CallOp call) {
  SmallVector<OpOperand *> reads;
  for (Value output : call.getOutputs())
    for (OpOperand &use : output.getUses()) {
      auto reader = dyn_cast<CallOp>(use.getOwner());
      if (!reader || reader.getSlice() != call.getSlice() ||
          use.getOperandNumber() >= reader.getInputs().size())
        continue;
      StringAttr cell = cells.lookup(body.findAncestorOpInBlock(*reader));
      if (cell && cell != call.getCellLabel())
        reads.push_back(&use);
    }
  return reads;
}

LogicalResult LoopRecomputer::remark(CallOp call, CallOp again,
                                     ArrayRef<OpOperand *> reads) {
  llvm::SetVector<Value> saved;
  for (OpOperand *read : reads)
    saved.insert(read->get());
  int64_t savedBytes = 0, keptBytes = 0;
  for (Value value : saved)
    savedBytes += getShardBytes(value);
  llvm::SetVector<Value> inputs(call.getInputs().begin(),
                                call.getInputs().end());
  for (Value input : inputs) {
    bool isOfIteration = input.getParentBlock() == &body;
    bool isKept = llvm::any_of(input.getUsers(), [&](Operation *user) {
      Operation *node = body.findAncestorOpInBlock(*user);
      return node != again && cells.contains(node) &&
             cells.lookup(node) != call.getCellLabel();
    });
    if (isOfIteration && !isKept)
      keptBytes += getShardBytes(input);
  }
  FailureOr<OwningOpRef<func::FuncOp>> inlined = inlineBody(
      symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr()), symbols);
  if (failed(inlined))
    return failure();
  call.emitRemark() << "'" << *call.getLabel() << "' runs again before '"
                    << *again.getCell() << "': " << savedBytes
                    << " bytes are not kept on each device, " << keptBytes
                    << " bytes of operands are kept instead, and each "
                       "iteration takes about "
                    << CostModel().getBodyNs(**inlined) << " ns more";
  return success();
}

LogicalResult LoopRecomputer::recompute(CallOp call) {
  SmallVector<OpOperand *> reads = findReads(call);
  call.setRecompute(false);
  if (reads.empty()) {
    call.emitWarning() << "'" << *call.getLabel()
                       << "' has 'recompute', but no call of slice "
                       << call.getSlice()
                       << " with another label reads its results";
    return success();
  }
  // A donated operand would be gone before the second call.
  call.setDonated({});
  Operation *first = nullptr;
  for (OpOperand *read : reads) {
    Operation *node = body.findAncestorOpInBlock(*read->getOwner());
    if (!first || node->isBeforeInBlock(first))
      first = node;
  }
  OpBuilder builder(first);
  auto again = cast<CallOp>(builder.clone(*call));
  again.setCellAttr(cells.lookup(first));
  cells[again] = again.getCellAttr();
  if (failed(remark(call, again, reads)))
    return failure();
  for (OpOperand *read : reads)
    read->set(
        again.getOutputs()[cast<OpResult>(read->get()).getResultNumber()]);
  return success();
}

LogicalResult LoopRecomputer::run() {
  // The last ones come first: what they read is recomputed, too.
  SmallVector<CallOp> calls(body.getOps<CallOp>());
  for (CallOp call : llvm::reverse(calls))
    if (call.getRecompute() && failed(recompute(call)))
      return failure();
  return success();
}

namespace {
class RecomputePass
    : public mlir::pathways::impl::RecomputeBase<RecomputePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult walked = getOperation().walk([&](ForOp loop) {
      return WalkResult(LoopRecomputer(symbols, loop).run());
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
