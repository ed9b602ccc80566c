//===- StagePlacement.cpp - Slices of all operations ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlacement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::pathways;

StagePlacement::StagePlacement(func::FuncOp entry, const StageMarks &marks,
                               ArrayRef<Value> results,
                               DenseMap<Operation *, LoopSlices> loopSlices)
    : entry(entry), block(&entry.front()), loops(std::move(loopSlices)) {
  firstSlice = marks.getSlices().front().name;
  returned.insert_range(results);
  for (const auto &[op, slices] : loops)
    returned.insert_range(op->getOperands());
  for (BlockArgument argument : entry.getArguments())
    if (StringAttr home = marks.getHome(argument))
      homes[argument] = home;
  findSources();
  for (Operation &op : block->without_terminator())
    if (StageMark mark = getStageMark(&op); mark.slice)
      stages[&op] = mark;
  for (const auto &[op, slices] : loops)
    stages[op] = StageMark{slices.results.front(), nullptr};
  placeAtUsers(/*takeLabels=*/true);
  findHomes();
  placeAtOperands();
  placeAtUsers(/*takeLabels=*/false);
  for (Operation &op : block->without_terminator())
    if (!isCopied(&op))
      stages.try_emplace(&op, StageMark{firstSlice, getStageMark(&op).label});
  findHomes();
  for (BlockArgument argument : entry.getArguments())
    homes.try_emplace(argument, firstSlice);
}

StringAttr StagePlacement::getSlice(Value value) const {
  Operation *op = value.getDefiningOp();
  if (auto loop = loops.find(op); loop != loops.end())
    return loop->second.results[cast<OpResult>(value).getResultNumber()];
  return op ? stages.lookup(op).slice : homes.lookup(value);
}

SmallVector<Value> StagePlacement::getUsedValues(Operation *op) const {
  llvm::SetVector<Value> used;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == block)
        used.insert(operand);
  });
  return used.takeVector();
}

bool StagePlacement::isCheap(Operation *op) const {
  StageMark mark = getStageMark(op);
  if (mark.slice || op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op) || returned.contains(op->getResult(0)))
    return false;
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp, stablehlo::BroadcastInDimOp,
          stablehlo::ReshapeOp, ConstrainOp, UnrealizedConversionCastOp,
          IterationIndexOp, arith::IndexCastOp, tensor::FromElementsOp>(op))
    return true;
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  return isa_and_present<stablehlo::StableHloDialect, chlo::ChloDialect>(
             op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(), isScalar) &&
         isScalar(op->getResult(0).getType());
}

void StagePlacement::findSources() {
  unsigned position = 0;
  for (Operation &op : block->without_terminator()) {
    positions[&op] = position++;
    if (isCheap(&op))
      copied.insert(&op);
    llvm::SetVector<Value> found;
    for (Value value : getUsedValues(&op)) {
      Operation *def = value.getDefiningOp();
      if (def && isCopied(def))
        found.insert_range(getSources(def));
      else
        found.insert(value);
    }
    ArrayRef<Value> values = found.getArrayRef();
    sources[&op].assign(values.begin(), values.end());
  }
}

StageMark StagePlacement::getStageOfUse(Operation *user, Value value) const {
  auto loop = loops.find(user);
  if (loop == loops.end())
    return getStage(user);
  for (auto [operand, slice] :
       llvm::zip_equal(user->getOperands(), loop->second.operands))
    if (operand == value)
      return {slice, nullptr};
  llvm_unreachable("a loop reads nothing but its operands");
}

void StagePlacement::visitUser(Operation *user) {
  for (Value value : getSources(user)) {
    StageMark stage = getStageOfUse(user, value);
    if (Operation *def = value.getDefiningOp())
      firstUser[def] = stage;
    else
      firstReader[value] = stage;
  }
}

void StagePlacement::placeAtUsers(bool takeLabels) {
  firstUser.clear();
  firstReader.clear();
  // Operations that marked ones are before.
  DenseSet<Operation *> behindMarked;
  for (Operation &op : block->without_terminator())
    if (getStageMark(&op).slice || isLoop(&op) ||
        llvm::any_of(getSources(&op), [&](Value value) {
          Operation *def = value.getDefiningOp();
          return def && behindMarked.contains(def);
        }))
      behindMarked.insert(&op);
  for (Operation &op : llvm::reverse(block->without_terminator())) {
    if (isCopied(&op))
      continue;
    auto stage = stages.find(&op);
    if (stage == stages.end()) {
      StageMark mark = firstUser.lookup(&op);
      if (!mark.slice)
        continue;
      // Operations that only prepare arguments are no part of a labelled call,
      // so that the calls of all micro-batches are alike.
      if (!takeLabels || !behindMarked.contains(&op))
        mark.label = nullptr;
      if (StringAttr own = getStageMark(&op).label)
        mark.label = own;
      stages[&op] = mark;
    }
    visitUser(&op);
  }
}

static int64_t getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return 0;
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8) *
         type.getNumElements();
}

void StagePlacement::placeAtOperands() {
  for (Operation &op : block->without_terminator()) {
    if (isCopied(&op) || stages.contains(&op))
      continue;
    llvm::MapVector<StringAttr, int64_t> bytes;
    Operation *latest = nullptr;
    for (Value value : getSources(&op)) {
      StringAttr slice = getSlice(value);
      if (!slice)
        continue;
      bytes[slice] += getBytes(value);
      Operation *def = value.getDefiningOp();
      if (def && (!latest || latest->isBeforeInBlock(def)))
        latest = def;
    }
    if (bytes.empty())
      continue;
    StageMark latestStage = latest ? getStage(latest) : StageMark();
    int64_t most = -1;
    StageMark mark;
    for (auto [slice, size] : bytes)
      if (size > most || (size == most && slice == latestStage.slice)) {
        most = size;
        mark.slice = slice;
      }
    // The sum of the gradients so far belongs to the call that computes the
    // last one.
    if (latestStage.slice == mark.slice)
      mark.label = latestStage.label;
    if (StringAttr own = getStageMark(&op).label)
      mark.label = own;
    stages[&op] = mark;
    for (Value value : getSources(&op))
      if (!value.getDefiningOp())
        homes.try_emplace(value, mark.slice);
  }
}

void StagePlacement::findHomes() {
  firstReader.clear();
  for (Operation &op : llvm::reverse(block->without_terminator()))
    if (stages.contains(&op))
      visitUser(&op);
  for (BlockArgument argument : entry.getArguments())
    if (StringAttr slice = firstReader.lookup(argument).slice)
      homes.try_emplace(argument, slice);
}
