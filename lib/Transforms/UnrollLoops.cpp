//===- UnrollLoops.cpp - Write the iterations of loops out ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Branches.h"
#include "IterationFunctions.h"
#include "KeepLoops.h"
#include "LoopOrder.h"
#include "ShardFunctions.h"
#include "SteppedArrays.h"
#include "pathways/Support/SourcePlace.h"
#include "pathways/Transforms/LoopSchedules.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <numeric>

namespace mlir::pathways {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

/// A program that has more nodes than this when its loops are written out is
/// refused.
static constexpr uint64_t kMaxNodes = uint64_t{1} << 20;

namespace {

/// Writes out the loops of one program.
class LoopUnroller {
public:
  /// With `keep`, loops stay that the plan can store as loops.
  LoopUnroller(SymbolTable &symbols, IterationFunctions &functions,
               ShardFunctions &generated, bool keep)
      : symbols(symbols), functions(functions), generated(generated),
        keep(keep) {}

  /// Orders the loop that has labels by `schedule`, unless that is empty, and
  /// appends the orders of loops that have a schedule to `orders`.
  LogicalResult unroll(ProgramOp program, StringRef schedule,
                       std::vector<LoopOrderReport> &orders);

private:
  LogicalResult unroll(ForOp loop, std::vector<LoopOrderReport> &orders);
  /// Writes the iterations of a loop out before it, and returns its results;
  /// none if the loop stays.
  FailureOr<SmallVector<Value>>
  writeCounted(ForOp loop, std::vector<LoopOrderReport> &orders);
  /// Does the same with a loop whose iterations a condition ends.
  SmallVector<Value> writeWhile(ForOp loop);
  /// Returns the operations of all iterations, one iteration after the other.
  std::vector<LoopNode> getNodes(ForOp loop) const;
  /// Returns the numbers of `nodes` in the order of the loop's schedule, or in
  /// ascending order if it has none. Appends the order of a schedule to
  /// `orders`. If the plan can store the loop, keeps the order at the loop.
  FailureOr<std::vector<unsigned>> sort(ForOp loop, ArrayRef<LoopNode> nodes,
                                        std::vector<LoopOrderReport> &orders);
  /// Copies `op` for an iteration.
  void clone(ImplicitLocOpBuilder &builder, Operation &op, IRMapping &mapping,
             int64_t iteration);
  /// Returns a branch on the first of `values` in whose first region the
  /// iteration comes, where `builder` then inserts. The second region yields
  /// the other carried values.
  IfOp beginIteration(ImplicitLocOpBuilder &builder, ForOp loop,
                      ArrayRef<Value> values);
  /// Replaces `branch` by its nodes, and each of `yielded` by what the next
  /// iteration takes.
  void endIteration(ImplicitLocOpBuilder &builder, IfOp branch,
                    MutableArrayRef<Value> yielded);
  SymbolTable &symbols;
  IterationFunctions &functions;
  ShardFunctions &generated;
  const bool keep;
  /// Labels, which may be null, of the operations that were an inner loop.
  llvm::DenseMap<Operation *, StringAttr> innerLabels;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

IfOp LoopUnroller::beginIteration(ImplicitLocOpBuilder &builder, ForOp loop,
                                  ArrayRef<Value> values) {
  SmallVector<Value> old;
  for (auto [index, value] : llvm::enumerate(values))
    if (index > 0 && loop.getCarriedResult(index))
      old.push_back(value);
  auto branch =
      IfOp::create(builder, ValueRange(old).getTypes(), values.front());
  builder.createBlock(&branch.getElseBody());
  YieldOp::create(builder, old);
  builder.createBlock(&branch.getThenBody());
  return branch;
}

void LoopUnroller::endIteration(ImplicitLocOpBuilder &builder, IfOp branch,
                                MutableArrayRef<Value> yielded) {
  YieldOp::create(builder, ValueRange(yielded.drop_front()));
  builder.setInsertionPointAfter(branch);
  Value condition = branch.getCondition();
  llvm::copy(flattenBranch(branch, generated), yielded.begin() + 1);
  // An iteration that does not run yields a condition without meaning.
  yielded[0] = combineConditions(builder, generated, condition,
                                 /*firstUnless=*/false, yielded[0],
                                 /*secondUnless=*/false);
}

void LoopUnroller::clone(ImplicitLocOpBuilder &builder, Operation &op,
                         IRMapping &mapping, int64_t iteration) {
  auto call = dyn_cast<CallOp>(builder.clone(op, mapping));
  if (!call)
    return;
  call.setRecompute(false); // there is no other cell in a text in order
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  if (functions.readIndex(callee))
    call.setCalleeAttr(functions.getFor(callee, iteration));
}

SmallVector<Value> LoopUnroller::writeWhile(ForOp loop) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  Block &body = loop.getBody().front();
  // Arguments of an iteration. In the next one, each is an element of a stepped
  // array, or a result that is carried.
  SmallVector<Value> values(loop.getInits());
  SmallVector<ValueRange> stepped(values.size());
  SmallVector<std::optional<unsigned>> carried(values.size());
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    carried[index] = loop.getCarriedResult(index);
    if (!carried[index])
      stepped[index] = splitArray(builder, generated, values[index],
                                  cast<ArrayType>(argument.getType()));
    else if (index > 0) // written in place
      values[index] =
          CopyOp::create(builder, values[index].getType(), values[index]);
  }
  SmallVector<Value> yielded;
  for (int64_t i = 0, e = loop.getTrips(); i < e; ++i) {
    IRMapping mapping;
    for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
      if (!carried[index])
        values[index] =
            stepped[index][getPlace(loop, loop.getOperandUse(index), i)];
      mapping.map(argument, values[index]);
    }
    IfOp branch = beginIteration(builder, loop, values);
    for (Operation &op : body.without_terminator())
      clone(builder, op, mapping, i);
    yielded.clear();
    for (Value value : loop.getYield().getValues())
      yielded.push_back(mapping.lookupOrDefault(value));
    endIteration(builder, branch, yielded);
    for (auto [value, result] : llvm::zip_equal(values, carried))
      if (result)
        value = yielded[*result];
  }
  return yielded;
}

std::vector<LoopNode> LoopUnroller::getNodes(ForOp loop) const {
  std::vector<LoopNode> nodes;
  for (int64_t iteration = 0, e = loop.getTrips(); iteration < e; ++iteration)
    for (Operation &op : loop.getBody().front().without_terminator()) {
      auto call = dyn_cast<CallOp>(op);
      auto inner = innerLabels.find(&op);
      nodes.push_back({&op,
                       inner != innerLabels.end() ? inner->second
                       : call                     ? call.getCellLabel()
                                                  : nullptr,
                       iteration});
    }
  return nodes;
}

FailureOr<std::vector<unsigned>>
LoopUnroller::sort(ForOp loop, ArrayRef<LoopNode> nodes,
                   std::vector<LoopOrderReport> &orders) {
  bool mayStay = keep && canKeep(loop, generated);
  std::optional<StringRef> schedule = loop.getSchedule();
  if (!schedule) {
    std::vector<unsigned> all(nodes.size());
    std::iota(all.begin(), all.end(), 0);
    if (mayStay)
      keepOrder(loop, nodes, all);
    return all;
  }
  FailureOr<LoopOrder> order = getOrder(loop, *schedule, nodes);
  if (failed(order))
    return failure();
  std::vector<unsigned> inPlace;
  FailureOr<std::vector<unsigned>> sorted =
      sortNodes(loop, *order, nodes, mayStay ? &inPlace : nullptr);
  if (failed(sorted))
    return failure();
  orders.push_back(
      {getSourcePlace(loop.getLoc()), schedule->str(), printOrder(*order)});
  if (mayStay && inPlace.size() == nodes.size())
    keepOrder(loop, nodes, inPlace);
  return sorted;
}

FailureOr<SmallVector<Value>>
LoopUnroller::writeCounted(ForOp loop, std::vector<LoopOrderReport> &orders) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  int64_t trips = loop.getTrips();
  Block &body = loop.getBody().front();
  std::vector<LoopNode> nodes = getNodes(loop);
  FailureOr<std::vector<unsigned>> sorted = sort(loop, nodes, orders);
  if (failed(sorted))
    return failure();
  if (loop->hasAttr(PathwaysDialect::kOrdersAttrName))
    return SmallVector<Value>();
  SmallVector<ValueRange> stepped(loop.getInits().size());
  for (auto [index, argument] : llvm::enumerate(body.getArguments()))
    if (!loop.getCarriedResult(index))
      stepped[index] = splitArray(builder, generated, loop.getInits()[index],
                                  cast<ArrayType>(argument.getType()));
  std::vector<IRMapping> copies(trips);
  auto lookup = [&](Value value, int64_t iteration) -> Value {
    auto [is, at] = followCarried(loop, value, iteration);
    auto argument = dyn_cast<BlockArgument>(is);
    if (!argument || argument.getOwner() != &body)
      return copies[at].lookupOrDefault(is);
    unsigned index = argument.getArgNumber();
    return stepped[index][getPlace(loop, loop.getOperandUse(index), at)];
  };
  for (unsigned number : *sorted) {
    auto [op, label, iteration] = nodes[number];
    IRMapping &mapping = copies[iteration];
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand))
        mapping.map(operand, lookup(operand, iteration));
    clone(builder, *op, mapping, iteration);
  }
  SmallVector<Value> results;
  for (auto [index, output] : llvm::enumerate(loop.getOutputs())) {
    LoopUse use = loop.getResultUse(index);
    Value yielded = loop.getYield().getValues()[index];
    if (use == LoopUse::Carried) {
      results.push_back(lookup(yielded, trips - 1));
      continue;
    }
    SmallVector<Value> elements(trips);
    for (int64_t i = 0; i < trips; ++i)
      elements[getPlace(loop, use, i)] = lookup(yielded, i);
    results.push_back(stackArrays(builder, generated, elements,
                                  cast<ArrayType>(output.getType())));
  }
  return results;
}

LogicalResult LoopUnroller::unroll(ForOp loop,
                                   std::vector<LoopOrderReport> &orders) {
  Operation *begin =
      loop->getPrevNode(); // null: the block begins with the copies
  FailureOr<SmallVector<Value>> results =
      loop.getIsWhile() ? writeWhile(loop) : writeCounted(loop, orders);
  if (failed(results))
    return failure();
  if (results->empty()) {
    takeFromStacks(loop, generated);
    functions.passNumbers(loop, generated);
    alignParts(loop, generated);
    loop.getBody().walk([](CallOp call) { call.setRecompute(false); });
    return success();
  }
  loop.replaceAllUsesWith(*results);
  if (!isa<ProgramOp>(loop->getParentOp()))
    for (Operation *op = begin ? begin->getNextNode()
                               : &loop->getBlock()->front();
         op != loop; op = op->getNextNode())
      innerLabels[op] = loop.getLabelAttr();
  loop.erase();
  return success();
}

/// Returns the number of nodes that `op` runs, with those of its region, or a
/// number above kMaxNodes. A loop counts as one node more in each iteration.
static uint64_t countNodes(Operation &op) {
  uint64_t count = 1;
  for (Region &region : op.getRegions())
    for (Operation &inner : region.front().without_terminator())
      count = std::min(count + countNodes(inner), kMaxNodes + 1);
  auto loop = dyn_cast<ForOp>(op);
  return loop ? count * loop.getTrips() : count;
}

FailureOr<ForOp> mlir::pathways::findLabelledLoop(ProgramOp program,
                                                  StringRef schedule) {
  SmallVector<ForOp> loops;
  program.walk([&](ForOp loop) {
    if (hasLabels(loop))
      loops.push_back(loop);
  });
  if (loops.empty())
    return program.emitOpError() << "'" << program.getSymName()
                                 << "' has no loop with labels to which "
                                    "schedule '"
                                 << schedule << "' could apply";
  if (loops.size() > 1) {
    InFlightDiagnostic error = loops[1].emitOpError()
                               << "has labels, too, so schedule '" << schedule
                               << "' may mean either loop; write it at one";
    error.attachNote(loops[0].getLoc()) << "the other loop is here";
    return error;
  }
  if (loops[0].getIsWhile())
    return loops[0].emitOpError()
           << "has 'while', so its iterations cannot have schedule '"
           << schedule << "'";
  return loops[0];
}

LogicalResult LoopUnroller::unroll(ProgramOp program, StringRef schedule,
                                   std::vector<LoopOrderReport> &orders) {
  uint64_t nodes = 0;
  for (Operation &op : program.getBody().front())
    if ((nodes += countNodes(op)) > kMaxNodes)
      return op.emitOpError()
             << "makes the program run more than " << kMaxNodes
             << " nodes, since the iterations of loops are written out";
  // An inner loop is written out before the loop around it copies the result.
  SmallVector<Operation *> nested;
  program.walk([&](Operation *op) {
    if (isa<ForOp, IfOp>(op))
      nested.push_back(op);
  });
  if (!schedule.empty()) {
    FailureOr<ForOp> loop = findLabelledLoop(program, schedule);
    if (failed(loop))
      return failure();
    loop->setSchedule(schedule);
  }
  for (Operation *op : nested) {
    if (auto branch = dyn_cast<IfOp>(op))
      flattenBranch(branch, generated);
    else if (failed(unroll(cast<ForOp>(op), orders)))
      return failure();
  }
  WalkResult walked = program.walk([&](CallOp call) -> WalkResult {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    if (!functions.readIndex(callee))
      return WalkResult::advance();
    InFlightDiagnostic error =
        call.emitOpError() << "of '" << call.getCallee()
                           << "', which reads 'pw.iteration_index', is not in "
                              "a loop";
    error.attachNote(callee.getLoc()) << "the function is defined here";
    return error;
  });
  return failure(walked.wasInterrupted());
}

namespace {
class UnrollLoopsPass
    : public mlir::pathways::impl::UnrollLoopsBase<UnrollLoopsPass> {
public:
  UnrollLoopsPass(UnrollLoopsOptions options,
                  std::vector<LoopOrderReport> *reported)
      : UnrollLoopsBase(std::move(options)), reported(reported) {}
  using UnrollLoopsBase::UnrollLoopsBase;

private:
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IterationFunctions functions(symbols);
    ShardFunctions generated(symbols);
    std::vector<LoopOrderReport> orders;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(LoopUnroller(symbols, functions, generated, keep)
                     .unroll(program, schedule, orders)))
        return signalPassFailure();
    if (!emitOrder.empty() && failed(writeOrders(orders)))
      return signalPassFailure();
    if (reported)
      llvm::append_range(*reported, std::move(orders));
  }

  LogicalResult writeOrders(ArrayRef<LoopOrderReport> orders) {
    if (orders.empty())
      return getOperation().emitError("no loop has a schedule, so there is no "
                                      "order to write to '")
             << emitOrder << "'";
    std::error_code error;
    llvm::raw_fd_ostream file(emitOrder, error);
    if (!error) {
      for (const LoopOrderReport &order : orders)
        file << order.order;
      file.close();
      error = file.error();
      file.clear_error();
    }
    if (error)
      return getOperation().emitError("the order cannot be written to '")
             << emitOrder << "': " << error.message();
    return success();
  }

  std::vector<LoopOrderReport> *reported = nullptr;
};
} // namespace

std::unique_ptr<Pass>
mlir::pathways::createUnrollLoops(UnrollLoopsOptions options,
                                  std::vector<LoopOrderReport> *orders) {
  return std::make_unique<UnrollLoopsPass>(std::move(options), orders);
}
