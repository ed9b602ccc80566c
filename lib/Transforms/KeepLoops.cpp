//===- KeepLoops.cpp - Loops that stay loops in the plan ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepLoops.h"
#include "SteppedArrays.h"

#include "pathways/Analysis/ProgramLiveness.h"
#include "runtime/plan/expand_loops.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::pathways;

/// Longest list of cells that repeats in a run.
static constexpr size_t kMaxPeriod = 512;

//===----------------------------------------------------------------------===//
// Loops that can stay
//===----------------------------------------------------------------------===//

static bool canKeepOperation(Operation &op) {
  if (auto call = dyn_cast<CallOp>(op))
    return !call.getGuard() && call.getAfter().empty();
  if (auto transfer = dyn_cast<TransferOp>(op))
    return !transfer.getGuard();
  return isa<CopyOp>(op);
}

/// Returns true if calls wait for `value` without reading it.
static bool isWaitedFor(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto call = dyn_cast<CallOp>(user);
    return call && llvm::is_contained(call.getAfter(), value);
  });
}

bool mlir::pathways::canKeep(ForOp loop, const ShardFunctions &shards) {
  Block &body = loop.getBody().front();
  if (!isa<ProgramOp>(loop->getParentOp()) || loop.getIsWhile() ||
      loop.getTrips() < 2 || loop.getTrips() > ::pathways::kMaxTrips ||
      llvm::any_of(loop.getOutputs(), isWaitedFor) ||
      !llvm::all_of(body.without_terminator(), canKeepOperation))
    return false;
  auto hasBytes = [&](Value part) {
    return getShardBytes(cast<ArrayType>(part.getType()), shards) > 0;
  };
  for (BlockArgument argument : body.getArguments())
    if (!loop.getCarriedResult(argument.getArgNumber()) && !hasBytes(argument))
      return false;
  for (auto [index, value] : llvm::enumerate(loop.getYield().getValues()))
    if (loop.getResultUse(index) != LoopUse::Carried && !hasBytes(value))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Orders as runs
//===----------------------------------------------------------------------===//

namespace {
struct Cell {
  int64_t gang, iteration;
};

/// The first cells of a list, which are repeated.
struct Run {
  size_t cells = 1, times = 1;
  int64_t step = 0;
  size_t getSaved() const { return cells * (times - 1); }
};
} // namespace

/// Returns how often the first `period` cells come one after the other, with
/// iterations that are `step` higher each time.
static size_t countTimes(ArrayRef<Cell> row, size_t period, int64_t step) {
  size_t at = period;
  while (at < row.size() && row[at].gang == row[at - period].gang &&
         row[at].iteration == row[at - period].iteration + step)
    ++at;
  return at / period;
}

/// Returns the run that saves most at the beginning of `row`.
static Run findRun(ArrayRef<Cell> row) {
  Run best;
  for (size_t period = 1; period <= std::min(kMaxPeriod, row.size() / 2);
       ++period) {
    int64_t step = row[period].iteration - row[0].iteration;
    // A multiple of a period saves less.
    if (row[period].gang != row[0].gang || step < 0 ||
        (best.times > 1 && period % best.cells == 0))
      continue;
    Run run{period, countTimes(row, period, step), step};
    if (run.times > 1 && run.getSaved() > best.getSaved())
      best = run;
  }
  return best;
}

bool mlir::pathways::keepOrder(ForOp loop, ArrayRef<LoopNode> nodes,
                               ArrayRef<unsigned> sorted) {
  llvm::DenseMap<Operation *, int64_t> numbers, next;
  llvm::MapVector<Attribute, std::vector<Cell>> rows;
  for (Operation &op : loop.getBody().front())
    if (auto call = dyn_cast<CallOp>(op)) {
      rows[call.getSlice()];
      int64_t number = numbers.size();
      numbers[call] = number;
    }
  for (unsigned node : sorted) {
    auto call = dyn_cast<CallOp>(nodes[node].op);
    if (!call)
      continue;
    if (next[call]++ != nodes[node].iteration)
      return false;
    rows[call.getSlice()].push_back(
        {numbers.lookup(call), nodes[node].iteration});
  }
  Builder b(loop.getContext());
  for (Operation &op : loop.getBody().front())
    if (auto number = numbers.find(&op); number != numbers.end())
      op.setAttr(PathwaysDialect::kGangAttrName,
                 b.getI64IntegerAttr(number->second));
  SmallVector<Attribute> orders;
  for (auto &[slice, cells] : rows) {
    ArrayRef<Cell> row = cells;
    while (!row.empty()) {
      Run run = findRun(row);
      SmallVector<int64_t> gangs, iterations;
      for (const Cell &cell : row.take_front(run.cells)) {
        gangs.push_back(cell.gang);
        iterations.push_back(cell.iteration);
      }
      orders.push_back(
          b.getArrayAttr({slice, b.getDenseI64ArrayAttr(gangs),
                          b.getDenseI64ArrayAttr(iterations),
                          b.getDenseI64ArrayAttr(
                              {static_cast<int64_t>(run.times), run.step})}));
      row = row.drop_front(run.cells * run.times);
    }
  }
  loop->setAttr(PathwaysDialect::kOrdersAttrName, b.getArrayAttr(orders));
  return true;
}

//===----------------------------------------------------------------------===//
// Arrays with one use
//===----------------------------------------------------------------------===//

/// Returns true if the memory with which `argument`, a carried one, begins
/// could have its value of each iteration.
static bool canStayInPlace(ForOp loop, BlockArgument argument,
                           const ProgramLiveness &liveness) {
  unsigned next = *loop.getCarriedResult(argument.getArgNumber());
  auto call = loop.getYield().getValues()[next].getDefiningOp<CallOp>();
  return call && call->getBlock() == argument.getOwner() &&
         llvm::count(call.getInputs(), argument) == 1 &&
         !liveness.getLaterRead(argument, call);
}

/// Returns true if `loop` uses `value` in another way than as operand `index`.
static bool hasOtherUses(ForOp loop, unsigned index, Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return use.getOwner() == loop ? use.getOperandNumber() != index
                                  : loop->isProperAncestor(use.getOwner());
  });
}

unsigned mlir::pathways::separateArrays(ForOp loop,
                                        const ProgramLiveness &liveness) {
  OpBuilder builder(loop);
  Block &body = loop.getBody().front();
  unsigned copies = 0;
  auto copy = [&](OpOperand &operand) {
    operand.set(CopyOp::create(builder, loop.getLoc(), operand.get().getType(),
                               operand.get()));
    ++copies;
  };
  for (BlockArgument argument : body.getArguments()) {
    OpOperand &init = loop.getInitsMutable()[argument.getArgNumber()];
    bool isCarried = loop.getCarriedResult(argument.getArgNumber()).has_value();
    if (isCarried
            ? canStayInPlace(loop, argument, liveness) &&
                  (hasOtherUses(loop, init.getOperandNumber(), init.get()) ||
                   liveness.getLaterRead(init.get(), loop))
            : hasOtherUses(loop, init.getOperandNumber(), init.get()))
      copy(init);
  }
  builder.setInsertionPoint(loop.getYield());
  // A stacked value is in the memory of the whole array, which one result has.
  // CSE may have made one value of several since takeFromStacks ran.
  llvm::SmallDenseSet<Value> stacked;
  for (bool isCarried : {false, true})
    for (OpOperand &yielded : loop.getYield().getValuesMutable()) {
      unsigned index = yielded.getOperandNumber();
      if ((loop.getResultUse(index) == LoopUse::Carried) != isCarried)
        continue;
      Value value = yielded.get();
      bool isTaken = isCarried ? stacked.contains(value) &&
                                     !loop.getOutputs()[index].use_empty()
                               : !stacked.insert(value).second;
      if (isTaken || !value.getDefiningOp() || value.getParentBlock() != &body)
        copy(yielded);
    }
  return copies;
}
