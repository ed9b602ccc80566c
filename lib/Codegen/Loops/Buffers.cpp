//===- Buffers.cpp - Stages on buffers ------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/base/buffer_bytes.h"

using namespace mlir;
using namespace mlir::pathways;

static constexpr uint64_t kAlignment = ::pathways::kBufferAlignment;

//===----------------------------------------------------------------------===//
// Bufferization
//===----------------------------------------------------------------------===//

/// Returns true if fuseRows made `op`. Such loops only write rows of the values
/// that they carry, or add to them.
static bool isRowLoop(Operation *op) {
  return op->hasAttr(kernel::kRowLoopAttrName);
}

/// Returns the value from which `value`, a result of a row loop, starts.
static Value beforeRows(Value value) {
  auto loop = value.getDefiningOp<scf::ForOp>();
  return loop.getTiedLoopInit(cast<OpResult>(value))->get();
}

/// Returns true if `value`, computed by an op of `block`, is in no buffer that
/// existed before.
static bool isFresh(Value value, Block *block) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != block)
    return false;
  if (isRowLoop(def)) {
    Value before = beforeRows(value);
    return before.getDefiningOp<tensor::EmptyOp>() || isFresh(before, block);
  }
  return isa<linalg::LinalgOp, arith::ConstantOp>(def);
}

/// Returns true if `value` is `argument` after updates that can happen in its
/// buffer.
static bool isUpdateOf(Value value, BlockArgument argument) {
  while (value != argument) {
    Operation *op = value.getDefiningOp();
    if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (auto slice = dyn_cast_or_null<tensor::InsertSliceOp>(op))
      value = slice.getDest();
    else if (op && isRowLoop(op))
      value = beforeRows(value);
    else
      return false;
  }
  return true;
}

/// Returns true if `op` is the last one that reads or writes the buffer of
/// `value` before `op` overwrites it: all other uses only read, and earlier.
static bool isLastUse(Value value, Operation *op) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == op)
      return true;
    Operation *before = op->getBlock()->findAncestorOpInBlock(*user);
    return isa<tensor::ExtractOp>(user) && before && before != op &&
           before->isBeforeInBlock(op);
  });
}

/// Returns true if `value` is `argument` after updates by inner loops, among
/// others, that upstream makes in its buffer. What inner loops carry returns to
/// its buffer, because they were prepared first.
static bool isUpdatedByLoops(Value value, BlockArgument argument) {
  bool hasLoop = false;
  while (value != argument) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != argument.getOwner() || isRowLoop(op))
      return false;
    Value before;
    if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      before = insert.getDest();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      before = loop.getTiedLoopInit(cast<OpResult>(value))->get();
      hasLoop = true;
      if (llvm::count(op->getOperands(), before) > 1)
        return false;
    }
    if (!before || !isLastUse(before, op))
      return false;
    value = before;
  }
  return hasLoop;
}

/// Makes the rows of which `value` consists start in a buffer of their own.
/// Upstream would start them in the buffer that they must return to if nothing
/// reads it, and would then treat the insertions of rows as reads of it.
static void beginRowsAside(Value value) {
  auto loop = value.getDefiningOp<scf::ForOp>();
  if (!loop || !isRowLoop(loop))
    return;
  OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(value));
  if (!init->get().getDefiningOp<tensor::EmptyOp>())
    return;
  OpBuilder b(loop);
  init->set(bufferization::AllocTensorOp::create(
      b, loop.getLoc(), cast<RankedTensorType>(value.getType()), ValueRange()));
}

/// Adds copies so that values that a loop carries return in the buffer from
/// which they started. A value that returns from another place of the same loop
/// is saved first.
static void returnToBuffers(Operation *terminator, MutableOperandRange operands,
                            Block *block, unsigned firstArgument) {
  OpBuilder b(terminator);
  Location loc = terminator->getLoc();
  struct Return {
    OpOperand *operand;
    BlockArgument argument;
  };
  SmallVector<Return> returns;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        firstArgument + i >= block->getNumArguments())
      continue;
    BlockArgument argument = block->getArgument(firstArgument + i);
    if (argument == operand.get() ||
        argument.getType() != operand.get().getType() ||
        isUpdatedByLoops(operand.get(), argument))
      continue;
    returns.push_back({&operand, argument});
  }
  // A fresh value can return to one place without a copy.
  SmallPtrSet<Value, 4> returned;
  for (Return &entry : returns) {
    Value value = entry.operand->get();
    if ((isFresh(value, block) || isUpdateOf(value, entry.argument)) &&
        returned.insert(value).second)
      continue;
    entry.operand->set(bufferization::AllocTensorOp::create(
        b, loc, cast<RankedTensorType>(value.getType()), ValueRange(), value));
  }
  for (Return &entry : returns) {
    beginRowsAside(entry.operand->get());
    entry.operand->set(bufferization::MaterializeInDestinationOp::create(
                           b, loc, entry.operand->get().getType(),
                           entry.operand->get(), entry.argument)
                           ->getResult(0));
  }
}

/// Returns a value of `type` that nothing reads.
static Value createUnread(OpBuilder &b, Location loc, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return bufferization::AllocTensorOp::create(b, loc, tensor, ValueRange());
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

/// Makes both regions of `loop` take the same values: those that it carries,
/// and then those that the condition computes for the other region or the
/// results.
static void carryInBothRegions(scf::WhileOp loop) {
  OpBuilder b(loop);
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  SmallVector<Value> inits(loop.getInits());
  const unsigned numCarried = inits.size();
  SmallVector<Value> forwarded(before->getArguments());
  SmallVector<unsigned> places; // in `forwarded`, of what the condition passes
  for (Value value : condition.getArgs()) {
    auto found = llvm::find(forwarded, value);
    places.push_back(found - forwarded.begin());
    if (found != forwarded.end())
      continue;
    forwarded.push_back(value);
    inits.push_back(createUnread(b, loop.getLoc(), value.getType()));
    before->addArgument(value.getType(), loop.getLoc());
  }
  const unsigned numOld = after->getNumArguments();
  for (Value value : forwarded)
    after->addArgument(value.getType(), loop.getLoc());
  for (auto [i, place] : llvm::enumerate(places))
    after->getArgument(i).replaceAllUsesWith(
        after->getArgument(numOld + place));
  after->eraseArguments(0, numOld);
  condition.getArgsMutable().assign(forwarded);
  yield.getResultsMutable().append(
      after->getArguments().drop_front(numCarried));
  auto whole = scf::WhileOp::create(b, loop.getLoc(),
                                    ValueRange(forwarded).getTypes(), inits);
  whole.getBefore().takeBody(loop.getBefore());
  whole.getAfter().takeBody(loop.getAfter());
  for (auto [result, place] : llvm::zip_equal(loop.getResults(), places))
    result.replaceAllUsesWith(whole.getResult(place));
  loop.erase();
}

/// Prepares loops whose condition passes on other values than the loop carries,
/// as it does after canonicalization of a result that nothing uses. Upstream
/// expects that tensors return to the buffers of the arguments with the same
/// numbers, in either region.
static void carryInBothRegions(ModuleOp module) {
  SmallVector<scf::WhileOp> loops;
  module.walk([&](scf::WhileOp loop) {
    if (!llvm::equal(loop.getConditionOp().getArgs(),
                     loop.getBeforeArguments()))
      loops.push_back(loop);
  });
  for (scf::WhileOp loop : loops)
    carryInBothRegions(loop);
}

static void prepareLoops(ModuleOp module) {
  module.walk([](Operation *op) {
    if (isRowLoop(op))
      return;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      returnToBuffers(yield, yield.getResultsMutable(), loop.getBody(), 1);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      scf::ConditionOp condition = loop.getConditionOp();
      returnToBuffers(condition, condition.getArgsMutable(),
                      loop.getBeforeBody(), 0);
      scf::YieldOp yield = loop.getYieldOp();
      returnToBuffers(yield, yield.getResultsMutable(), loop.getAfterBody(), 0);
    }
  });
}

/// Returns true if the result of `use` may lie in the buffer of its operand, or
/// if the op needs this buffer unchanged at the end.
static bool mayAlias(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<bufferization::MaterializeInDestinationOp>(op))
    return true;
  auto inPlace = dyn_cast<DestinationStyleOpInterface>(op);
  return inPlace ? inPlace.isDpsInit(&use)
                 : !isa<tensor::ExtractOp, tensor::DimOp>(op);
}

/// Gives each user that may write to a tensor.empty, or to a fill of one, a
/// clone of its own: filling again is less work than copying, and such users do
/// not conflict. Does not do so in a loop, where the fill would run in each
/// iteration.
static void unshareFills(ModuleOp module) {
  auto isBeginning = [](Operation *op) {
    auto fill = dyn_cast<linalg::LinalgOp>(op);
    bool isFill = fill && fill.getNumDpsInits() == 1 &&
                  fill->getNumResults() == 1 &&
                  llvm::none_of(fill.getDpsInputs(),
                                [](Value input) {
                                  return isa<ShapedType>(input.getType());
                                }) &&
                  fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() &&
                  !fill.payloadUsesValueFromOperand(fill.getDpsInitOperand(0));
    return isFill || isa<tensor::EmptyOp>(op);
  };
  SmallVector<Operation *> beginnings;
  module.walk([&](Operation *op) {
    if (isBeginning(op))
      beginnings.push_back(op);
  });
  // Visits users before their operands: a clone of a fill is a user of its
  // tensor.empty.
  for (Operation *op : llvm::reverse(beginnings)) {
    Value value = op->getResult(0);
    SmallVector<OpOperand *> writers;
    for (OpOperand &use : value.getUses())
      if (use.getOwner()->getBlock() == op->getBlock() && mayAlias(use))
        writers.push_back(&use);
    if (value.hasOneUse())
      continue;
    for (OpOperand *use : writers) {
      OpBuilder b(use->getOwner());
      use->set(b.clone(*op)->getResult(0));
    }
  }
}

/// Returns true if `use` takes a slice in a loop or branch and the slice is
/// dead at the end of it, so that nothing reads it when results are written to
/// their outputs.
static bool staysInside(OpOperand &use) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
  if (!slice || isa<func::FuncOp>(slice->getParentOp()))
    return false;
  SetVector<Value> values;
  values.insert(slice.getResult());
  for (unsigned i = 0; i < values.size(); ++i)
    for (OpOperand &inner : values[i].getUses()) {
      if (!mayAlias(inner))
        continue;
      Operation *user = inner.getOwner();
      if (!isa<linalg::LinalgOp, tensor::ExtractSliceOp>(user))
        return false;
      values.insert(user->result_begin(), user->result_end());
    }
  return true;
}

/// Returns true if `use` returns an argument of a loop, updated, to itself.
static bool comesBack(OpOperand &use) {
  auto write =
      dyn_cast<bufferization::MaterializeInDestinationOp>(use.getOwner());
  auto argument = dyn_cast<BlockArgument>(use.get());
  return write && argument && write.isDpsInit(&use) &&
         isUpdateOf(write.getSource(), argument);
}

/// Returns true if another value may be written where `result` is computed, or
/// may be live there when results are written to their outputs. That is so if
/// `result`, or a value that it was made from, is also the start of another
/// value.
static bool sharesItsBeginning(Value result) {
  SetVector<Value> chain;
  chain.insert(result);
  for (unsigned i = 0; i < chain.size(); ++i) {
    Value value = chain[i];
    if (llvm::count_if(value.getUses(), [](OpOperand &use) {
          return mayAlias(use) && !staysInside(use) && !comesBack(use);
        }) > 1)
      return true;
    // An argument of a region comes from the operands of its op.
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    if (isa<func::FuncOp, linalg::LinalgOp>(op) && isa<BlockArgument>(value))
      continue;
    if (isRowLoop(op)) {
      if (auto result = dyn_cast<OpResult>(value))
        chain.insert(cast<scf::ForOp>(op).getTiedLoopInit(result)->get());
      continue;
    }
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) && mayAlias(operand))
        chain.insert(operand.get());
    if (isa<linalg::LinalgOp>(op))
      continue;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value yielded : block.getTerminator()->getOperands())
          if (isa<RankedTensorType>(yielded.getType()))
            chain.insert(yielded);
  }
  return false;
}

/// Results are computed in the output buffers where that is safe. Bufferization
/// does not detect the unsafe cases: it assumes that a write to an output
/// touches no tensor. This function gives such results a buffer of their own.
static void computeAside(ModuleOp module) {
  module.walk([](bufferization::MaterializeInDestinationOp write) {
    Value result = write.getSource();
    if (!isa<MemRefType>(write.getDest().getType()) ||
        !sharesItsBeginning(result))
      return;
    OpBuilder b(write);
    write.getSourceMutable().assign(bufferization::AllocTensorOp::create(
        b, write.getLoc(), cast<RankedTensorType>(result.getType()),
        ValueRange(), result));
  });
}

/// Writes a selection between two tensors by a scalar as branches that copy one
/// of them. Canonicalization turns empty branches back into one operation,
/// whose result would be one of the two buffers even if both are read later.
static void chooseByBranches(ModuleOp module) {
  module.walk([](arith::SelectOp select) {
    if (!isa<TensorType>(select.getType()) ||
        isa<TensorType>(select.getCondition().getType()))
      return;
    OpBuilder b(select);
    auto yield = [](Value value) {
      return [value](OpBuilder &b, Location loc) {
        Value copy = bufferization::AllocTensorOp::create(
            b, loc, cast<RankedTensorType>(value.getType()), ValueRange(),
            value);
        scf::YieldOp::create(b, loc, copy);
      };
    };
    auto branch = scf::IfOp::create(b, select.getLoc(), select.getCondition(),
                                    yield(select.getTrueValue()),
                                    yield(select.getFalseValue()));
    select.getResult().replaceAllUsesWith(branch.getResult(0));
    select.erase();
  });
}

/// Copies a tensor that is inserted into itself first: its producer must not be
/// made to compute it in a part of itself.
static void copyWhatGoesIntoItself(ModuleOp module) {
  module.walk([](tensor::InsertSliceOp insert) {
    if (insert.getSource() != insert.getDest())
      return;
    OpBuilder b(insert);
    insert.getSourceMutable().assign(bufferization::AllocTensorOp::create(
        b, insert.getLoc(), insert.getSourceType(), ValueRange(),
        insert.getSource()));
  });
}

LogicalResult kernel::bufferizeSegments(ModuleOp module) {
  carryInBothRegions(module);
  prepareLoops(module);
  unshareFills(module);
  computeAside(module);
  chooseByBranches(module);
  copyWhatGoesIntoItself(module);
  MLIRContext *context = module.getContext();
  if (hasOp(module, llvm::IsaPred<tensor::EmptyOp>)) {
    PassManager pm(context);
    // Compute in the output buffer where the chain of results begins.
    pm.addPass(bufferization::createEmptyTensorEliminationPass());
    if (failed(runPasses(pm, module)))
      return failure();
    // Upstream's pass for this fails after a number of rounds.
    RewritePatternSet patterns(context);
    bufferization::populateEmptyTensorToAllocTensorPattern(patterns);
    applyPatternsToEnd(module, std::move(patterns));
  }
  PassManager bufferize(context);
  bufferization::OneShotBufferizePassOptions options;
  options.bufferAlignment = kAlignment;
  bufferize.addPass(bufferization::createOneShotBufferizePass(options));
  if (failed(runPasses(bufferize, module)))
    return failure();
  simplify(module);
  WalkResult walk = module.walk([](Operation *op) -> WalkResult {
    if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
      return op->emitOpError(
          "is not supported in a kernel: it has no form on buffers");
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Inputs and outputs in one memory
//===----------------------------------------------------------------------===//

/// Returns true if `op` reads each element of `input` only to write the same
/// element of `output`, or copies `input` to `output`.
static bool updatesByElement(Operation *op, Value input, Value output) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.getSource() == input && copy.getTarget() == output;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !llvm::all_of(generic.getIteratorTypesArray(),
                                linalg::isParallelIterator))
    return false;
  AffineMap map;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (operand.get() != input && operand.get() != output)
      return true;
    AffineMap own = generic.getMatchingIndexingMap(&operand);
    if (!map)
      map = own;
    return own == map && own.isPermutation();
  });
}

/// Returns true if no element of `input` is needed after that element of
/// `output` is written.
static bool canUpdateInPlace(Block &body, Value input, Value output) {
  auto placeOf = [&](Operation *op) { return body.findAncestorOpInBlock(*op); };
  Operation *first = nullptr;
  for (Operation *user : output.getUsers()) {
    Operation *place = placeOf(user);
    if (!first || place->isBeforeInBlock(first))
      first = place;
  }
  return first && llvm::all_of(input.getUsers(), [&](Operation *user) {
           // Other users, such as views and branches, may read the input later.
           if (!isa<linalg::LinalgOp, memref::LoadOp, memref::CopyOp>(user))
             return false;
           return placeOf(user)->isBeforeInBlock(first) ||
                  (user == first && updatesByElement(user, input, output));
         });
}

void kernel::shareMemory(func::FuncOp func, unsigned numInputs,
                         ArrayRef<int64_t> pairs) {
  Block &body = func.getBody().front();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    BlockArgument input = body.getArgument(pairs[i]);
    BlockArgument output = body.getArgument(numInputs + pairs[i + 1]);
    if (canUpdateInPlace(body, input, output)) {
      input.replaceAllUsesWith(output);
      continue;
    }
    OpBuilder b(func.getContext());
    b.setInsertionPointToStart(&body);
    Value aside = memref::AllocOp::create(b, func.getLoc(),
                                          cast<MemRefType>(output.getType()));
    output.replaceAllUsesWith(aside);
    b.setInsertionPoint(body.getTerminator());
    memref::CopyOp::create(b, func.getLoc(), aside, output);
  }
}
