//===- KeepLoops.cpp - Loops that stay loops in the plan ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepLoops.h"

#include "pathways/Dialect/Pathways/Layouts.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/expand_loops.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::pathways;

/// Longest list of cells that repeats in a run.
static constexpr size_t kMaxPeriod = 512;

//===----------------------------------------------------------------------===//
// Loops that can stay
//===----------------------------------------------------------------------===//

/// Returns true if parts of this type, one after the other, are aligned.
static bool areAligned(ArrayType type, const ShardFunctions &shards) {
  RankedTensorType shard = shards.getShard(type);
  uint64_t bytes =
      shard.getNumElements() * getElementBytes(shard.getElementType());
  return bytes > 0 && bytes % ::pathways::kBufferAlignment == 0;
}

static bool canKeepOperation(Operation &op,
                             function_ref<bool(CallOp)> readsIndex) {
  if (auto call = dyn_cast<CallOp>(op))
    return !call.getGuard() && call.getAfter().empty() && !readsIndex(call);
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

bool mlir::pathways::canKeep(ForOp loop, const ShardFunctions &shards,
                             function_ref<bool(CallOp)> readsIndex) {
  Block &body = loop.getBody().front();
  if (!isa<ProgramOp>(loop->getParentOp()) || loop.getIsWhile() ||
      loop.getTrips() < 2 || loop.getTrips() > ::pathways::kMaxTrips ||
      llvm::any_of(loop.getOutputs(), isWaitedFor) ||
      !llvm::all_of(body.without_terminator(), [&](Operation &op) {
        return canKeepOperation(op, readsIndex);
      }))
    return false;
  llvm::SmallDenseSet<Value> stepped;
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    if (loop.getCarriedResult(index))
      continue;
    // The parts take the memory of the whole array, which can happen once.
    Value whole = loop.getInits()[index];
    if (!areAligned(cast<ArrayType>(argument.getType()), shards) ||
        !stepped.insert(whole).second)
      return false;
  }
  for (auto [index, init] : llvm::enumerate(loop.getInits()))
    if (loop.getCarriedResult(index) && stepped.contains(init))
      return false;
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return stepped.contains(operand); }))
      return false;
  llvm::SmallDenseSet<Value> stacked;
  for (auto [index, value] : llvm::enumerate(loop.getYield().getValues())) {
    if (!value.getDefiningOp() || value.getParentBlock() != &body)
      return false;
    if (loop.getResultUse(index) != LoopUse::Carried &&
        (!areAligned(cast<ArrayType>(value.getType()), shards) ||
         !stacked.insert(value).second))
      return false;
  }
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
