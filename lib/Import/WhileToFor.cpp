//===- WhileToFor.cpp - Counted loops that become pw.for ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of JAX for a scan is a loop with a counter, which slices its inputs
// at the counter, and writes its outputs at the counter into arrays that it
// carries. The slices become stepped operands, and the arrays stepped results.
//
//===----------------------------------------------------------------------===//

#include "WhileToFor.h"
#include "CounterIndex.h"
#include "WriteOut.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;

func::FuncOp WhileToFor::outline(SymbolTable &symbols) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getBody(), used);
  Block &source = loop.getBody().front();
  OpBuilder b(loop.getContext());
  body = func::FuncOp::create(
      b, loop.getLoc(), "main.loop",
      b.getFunctionType(source.getArgumentTypes(), loop.getResultTypes()));
  body.setPrivate();
  symbols.insert(body);
  Block *block = body.addEntryBlock();
  b.setInsertionPointToEnd(block);
  IRMapping mapping;
  // Constants need no place on a slice.
  auto copyConstant = [&](Value value, Value replaced) {
    auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
    if (constant)
      mapping.map(replaced, b.clone(*constant)->getResult(0));
    return static_cast<bool>(constant);
  };
  for (auto [index, argument] : llvm::enumerate(source.getArguments())) {
    Value next = source.getTerminator()->getOperand(index);
    if (next != argument || !copyConstant(loop.getOperands()[index], argument))
      mapping.map(argument, block->getArgument(index));
  }
  for (Value value : used) {
    if (copyConstant(value, value))
      continue;
    above.push_back(value);
    mapping.map(value, block->addArgument(value.getType(), value.getLoc()));
  }
  for (Operation &op : source.without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> results;
  for (auto [index, next] :
       llvm::enumerate(source.getTerminator()->getOperands()))
    results.push_back(next == source.getArgument(index)
                          ? Value(block->getArgument(index))
                          : mapping.lookup(next));
  func::ReturnOp::create(b, loop.getLoc(), results);
  return body;
}

bool WhileToFor::canReplace() {
  if (trips < 1 || trips > ForOp::kMaxTrips) {
    reason = "a pw.for has 1 to 16777216 iterations";
    return false;
  }
  for (Operation &op : body.front().without_terminator())
    if (op.getNumResults() == 0) {
      reason = "an operation in its body has no results";
      return false;
    }
  unsigned counter = getLoopCounter(loop)->index;
  Block &block = body.front();
  auto isFixed = [&](unsigned index) {
    return block.getTerminator()->getOperand(index) == block.getArgument(index);
  };
  for (unsigned i = 0, e = loop.getNumResults(); i != e; ++i)
    if (i != counter && !isFixed(i))
      return true;
  reason = "it has no results";
  return false;
}

void WhileToFor::takeSteppedOperands(BlockArgument argument, Value outside) {
  CounterIndex index(body.getArgument(getLoopCounter(loop)->index),
                     getLoopCounter(loop)->first, trips);
  DenseMap<int, BlockArgument> taken;
  for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
    auto slice = dyn_cast<stablehlo::DynamicSliceOp>(user);
    if (!slice || slice.getOperand() != argument ||
        slice->getBlock() != &body.front())
      continue;
    std::optional<LoopUse> use = index.getUse(
        argument.getType(), slice.getType(), slice.getStartIndices());
    if (!use)
      continue;
    BlockArgument &element = taken[static_cast<int>(*use)];
    auto type = cast<RankedTensorType>(argument.getType());
    if (!element) {
      element = body.front().addArgument(
          type.clone(type.getShape().drop_front()), argument.getLoc());
      steppedInputs.emplace_back(outside, element);
      steppedUses.push_back(*use);
    }
    for (Operation *reader : llvm::make_early_inc_range(slice->getUsers()))
      if (isa<stablehlo::ReshapeOp>(reader) &&
          reader->getResult(0).getType() == element.getType()) {
        reader->getResult(0).replaceAllUsesWith(element);
        reader->erase();
      }
    if (!slice->use_empty()) {
      OpBuilder b(slice);
      Value whole = stablehlo::ReshapeOp::create(b, slice.getLoc(),
                                                 slice.getType(), element);
      slice.replaceAllUsesWith(whole);
    }
    slice->erase();
  }
}

/// Returns `update`, whose leading dimension has size 1, without that
/// dimension.
static Value dropLeadingDim(OpBuilder &b, Value update) {
  auto type = cast<RankedTensorType>(update.getType());
  auto part = type.clone(type.getShape().drop_front());
  Operation *op = update.getDefiningOp();
  bool addsDim = isa_and_nonnull<stablehlo::ReshapeOp>(op);
  if (auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op))
    addsDim = llvm::all_of(
        llvm::enumerate(broadcast.getBroadcastDimensions()), [](auto dim) {
          return dim.value() == static_cast<int64_t>(dim.index()) + 1;
        });
  if (addsDim && op->getOperand(0).getType() == part)
    return op->getOperand(0);
  return stablehlo::ReshapeOp::create(b, update.getLoc(), part, update);
}

void WhileToFor::classify() {
  Block &block = body.front();
  Operation *end = block.getTerminator();
  LoopCounter counter = *getLoopCounter(loop);
  CounterIndex index(block.getArgument(counter.index), counter.first, trips);
  SmallVector<Value> nexts(end->getOperands());
  end->setOperands({});
  OpBuilder b(end);
  SmallVector<Input> fixed;
  for (auto [i, next] : llvm::enumerate(nexts)) {
    BlockArgument argument = block.getArgument(i);
    Value outside = loop.getOperands()[i];
    if (i == counter.index)
      continue;
    if (next == argument) {
      fixed.emplace_back(outside, argument);
      continue;
    }
    resultOf.push_back(i);
    auto update = next.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
    std::optional<LoopUse> use;
    // The array is written whole, and nothing else reads it.
    if (update && update.getOperand() == argument && argument.hasOneUse() &&
        update->use_empty() && llvm::count(nexts, next) == 1)
      use = index.getUse(argument.getType(), update.getUpdate().getType(),
                         update.getStartIndices());
    if (use) {
      yielded.push_back(dropLeadingDim(b, update.getUpdate()));
      resultUses.push_back(*use);
      update->erase();
      continue;
    }
    carriedInputs.emplace_back(outside, argument);
    yielded.push_back(next);
    resultUses.push_back(LoopUse::Carried);
  }
  for (auto [i, value] : llvm::enumerate(above))
    fixed.emplace_back(value, block.getArgument(nexts.size() + i));
  end->setOperands(yielded);
  for (auto [outside, argument] : fixed)
    takeSteppedOperands(argument, outside);
  eraseDeadOps();
  for (Input input : fixed)
    if (!input.second.use_empty())
      aboveInputs.push_back(input);
}

void WhileToFor::eraseDeadOps() {
  SmallVector<Operation *> ops;
  for (Operation &op : body.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

void WhileToFor::replaceCounter(BlockArgument counter) {
  if (counter.use_empty())
    return;
  Location loc = loop.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&body.front());
  auto type = cast<RankedTensorType>(counter.getType());
  auto integer = b.getIntegerType(type.getElementTypeBitWidth());
  Value number = arith::IndexCastOp::create(
      b, loc, integer, IterationIndexOp::create(b, loc, b.getIndexType()));
  number = tensor::FromElementsOp::create(
      b, loc, RankedTensorType::get({}, integer), number);
  // The cast vanishes when the operations that read the number are lowered.
  if (number.getType() != type)
    number =
        UnrealizedConversionCastOp::create(b, loc, type, number).getResult(0);
  APInt first = getLoopCounter(loop)->first;
  if (!first.isZero())
    number = stablehlo::AddOp::create(
        b, loc, type, number,
        stablehlo::ConstantOp::create(b, loc, type,
                                      DenseElementsAttr::get(type, first)));
  counter.replaceAllUsesWith(number);
}

void mlir::pathways::cloneSharedConstants(func::CallOp call) {
  OpBuilder b(call);
  for (OpOperand &operand : call->getOpOperands()) {
    Operation *op = operand.get().getDefiningOp();
    if (isa_and_nonnull<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp>(
            op) &&
        !operand.get().hasOneUse())
      operand.set(b.clone(*op)->getResult(0));
  }
}

bool WhileToFor::replace(ForLoops &loops) {
  if (!canReplace())
    return false;
  classify();
  Block &block = body.front();
  LoopCounter counter = *getLoopCounter(loop);
  replaceCounter(block.getArgument(counter.index));

  ForLoop made{body, trips, steppedUses, resultUses, nullptr, nullptr};
  made.operandUses.append(carriedInputs.size(), LoopUse::Carried);
  SmallVector<Value> operands;
  unsigned numOld = block.getNumArguments();
  for (ArrayRef<Input> inputs :
       {ArrayRef(steppedInputs), ArrayRef(carriedInputs),
        ArrayRef(aboveInputs)})
    for (auto [outside, argument] : inputs) {
      operands.push_back(outside);
      argument.replaceAllUsesWith(
          block.addArgument(argument.getType(), argument.getLoc()));
    }
  block.eraseArguments(0, numOld);
  OpBuilder b(loop);
  body.setFunctionType(b.getFunctionType(
      block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));

  SmallVector<Type> types;
  for (unsigned index : resultOf)
    types.push_back(loop.getResult(index).getType());
  auto call = func::CallOp::create(b, loop.getLoc(), body.getSymName(), types,
                                   operands);
  SmallVector<Value> results(loop.getOperands());
  for (auto [index, result] : llvm::zip_equal(resultOf, call.getResults()))
    results[index] = result;
  auto type = cast<RankedTensorType>(results[counter.index].getType());
  results[counter.index] = stablehlo::ConstantOp::create(
      b, loop.getLoc(), type,
      DenseElementsAttr::get(
          type, counter.first + APInt(counter.first.getBitWidth(), trips)));
  loop.replaceAllUsesWith(results);
  loop.erase();
  cloneSharedConstants(call);
  loops[call] = std::move(made);
  return true;
}
