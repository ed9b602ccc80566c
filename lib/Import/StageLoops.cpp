//===- StageLoops.cpp - Loops of a program with stages --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over several slices is a call of its own in the function around it.
// The function with its body is cut into calls in the same way.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::pathways;

unsigned Stages::Loop::getCarriedArgument(unsigned result) const {
  unsigned rank = llvm::count(ArrayRef(loop.resultUses).take_front(result),
                              LoopUse::Carried);
  for (auto [index, use] : llvm::enumerate(loop.operandUses))
    if (use == LoopUse::Carried && rank-- == 0)
      return index;
  llvm_unreachable("a carried result has an argument");
}

SmallVector<int64_t>
Stages::Loop::getDonated(Operation *op, ArrayRef<int64_t> outerDonated) const {
  ArrayRef<Value> results = body->results;
  SmallVector<int64_t> donated;
  for (auto [index, use] : llvm::enumerate(loop.resultUses)) {
    if (use != LoopUse::Carried)
      continue;
    // An array that is several values of the next iteration is still needed, as
    // is one that others read before the first iteration.
    unsigned argument = getCarriedArgument(index);
    Value operand = op->getOperand(argument);
    auto outer = dyn_cast<BlockArgument>(operand);
    bool isNeeded =
        outer && !llvm::is_contained(
                     outerDonated, static_cast<int64_t>(outer.getArgNumber()));
    if (!isNeeded && operand.hasOneUse() &&
        llvm::count(results, results[index]) == 1 &&
        !llvm::is_contained(results, body->entry.getArgument(argument)))
      donated.push_back(argument);
  }
  return donated;
}

DenseMap<Operation *, LoopSlices> Stages::findLoops(const StageMarks &marks) {
  DenseMap<Operation *, LoopSlices> slicesOf;
  for (Operation &op : entry.front()) {
    auto found = marks.getLoops().find(&op);
    if (found == marks.getLoops().end())
      continue;
    ForLoop made = found->second;
    SmallVector<Value> yielded(
        made.body.front().getTerminator()->getOperands());
    Loop &loop = loops[&op];
    loop.loop = made;
    loop.body = std::make_unique<Stages>(made.body, symbols, marks, yielded);
    LoopSlices &loopSlices = slicesOf[&op];
    for (unsigned i = 0, e = op.getNumOperands(); i != e; ++i)
      loopSlices.operands.push_back(loop.body->getArgumentSlice(i));
    for (auto [index, use] : llvm::enumerate(made.resultUses))
      loopSlices.results.push_back(
          use == LoopUse::Carried
              ? loop.body->getArgumentSlice(loop.getCarriedArgument(index))
              : loop.body->getResultSlice(index));
  }
  return slicesOf;
}

void Stages::findReaders(Value argument,
                         llvm::SetVector<StringAttr> &readers) const {
  for (const Call &call : calls) {
    auto found = loops.find(call.getOp());
    if (found == loops.end()) {
      if (llvm::is_contained(call.inputs, argument))
        readers.insert(call.stage.slice);
      continue;
    }
    const Loop &loop = found->second;
    for (auto [index, operand] : llvm::enumerate(call.getOp()->getOperands())) {
      if (operand != argument)
        continue;
      readers.insert(loop.body->getArgumentSlice(index));
      if (index >= loop.loop.operandUses.size())
        loop.body->findReaders(loop.body->entry.getArgument(index), readers);
    }
  }
}

/// Returns the type of `trips` arrays of `type` in a leading dimension, which
/// is not cut.
static ArrayType addLeadingDim(ArrayType type, int64_t trips) {
  SmallVector<int64_t> shape = {trips};
  llvm::append_range(shape, type.getShape());
  ShardingAttr sharding = type.getSharding();
  MLIRContext *context = type.getContext();
  SmallVector<ArrayAttr> dims = {ArrayAttr::get(context, {})};
  llvm::append_range(dims, sharding.getDims());
  SmallVector<bool> open;
  if (!sharding.getOpenDims().empty()) {
    open.push_back(false);
    llvm::append_range(open, sharding.getOpenDims());
  }
  return ArrayType::get(shape, type.getElementType(), type.getSlice(),
                        ShardingAttr::get(context, dims,
                                          sharding.getPartialKind(),
                                          sharding.getPartialAxes(), open));
}

/// Returns `array`, or a copy of it that has `type`.
static Value reshardTo(OpBuilder &b, Type type, Value array) {
  if (array.getType() == type)
    return array;
  return mlir::pathways::ReshardOp::create(b, array.getLoc(), type, array);
}

LogicalResult Stages::findLoopTypes(const Call &call,
                                    const GetArrayType &getArrayType) {
  Operation *op = call.getOp();
  Loop &loop = loops.find(op)->second;
  const ForLoop &made = loop.loop;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto type = cast<ArrayType>(types.lookup(operand));
    if (index < made.operandUses.size() &&
        made.operandUses[index] != LoopUse::Carried)
      type = type.withoutLeadingDim();
    StringAttr slice = loop.body->getArgumentSlice(index);
    loop.argumentTypes.push_back(type.withSlice(FlatSymbolRefAttr::get(slice)));
  }
  SmallVector<Type> wanted;
  for (auto [index, use] : llvm::enumerate(made.resultUses))
    wanted.push_back(use == LoopUse::Carried
                         ? loop.argumentTypes[loop.getCarriedArgument(index)]
                         : Type());
  if (failed(loop.body->findTypes(loop.argumentTypes, wanted, getArrayType)))
    return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Type type = wanted[index];
    if (!type)
      type = loop.body->getType(loop.body->results[index]);
    loop.resultTypes.push_back(type);
    types[result] =
        wanted[index] ? type : addLeadingDim(cast<ArrayType>(type), made.trips);
  }
  return success();
}

ValueRange Stages::emitLoop(const Call &call, OpBuilder &b, GetArray get,
                            ArrayRef<int64_t> donated) {
  Operation *op = call.getOp();
  Loop &loop = loops.find(op)->second;
  Stages &body = *loop.body;
  const ForLoop &made = loop.loop;
  size_t numInits = made.operandUses.size();
  SmallVector<Value> inits, above;
  SmallVector<GivenArray> given;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    StringAttr slice = body.getArgumentSlice(index);
    auto type = cast<ArrayType>(loop.argumentTypes[index]);
    if (index < numInits && made.operandUses[index] != LoopUse::Carried)
      type = addLeadingDim(type, made.trips);
    Value array = reshardTo(b, type, get(operand, slice));
    (index < numInits ? inits : above).push_back(array);
    if (index < numInits)
      continue;
    // Arrays from above move before the loop, once for all iterations.
    llvm::SetVector<StringAttr> readers;
    body.findReaders(body.entry.getArgument(index), readers);
    for (StringAttr reader : readers)
      if (reader != slice)
        given.push_back(
            {static_cast<unsigned>(index), reader, get(operand, reader)});
  }
  auto getUses = [&](ArrayRef<LoopUse> uses) {
    return b.getArrayAttr(
        llvm::map_to_vector(uses, [&](LoopUse use) -> Attribute {
          return LoopUseAttr::get(b.getContext(), use);
        }));
  };
  SmallVector<Type> outputTypes;
  for (Value result : op->getResults())
    outputTypes.push_back(types.lookup(result));
  auto loopOp =
      ForOp::create(b, op->getLoc(), outputTypes, inits,
                    b.getI64IntegerAttr(made.trips), getUses(made.operandUses),
                    getUses(made.resultUses), made.schedule, made.label);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loopOp.getBody());
  for (auto [index, init] : llvm::enumerate(inits))
    block->addArgument(loop.argumentTypes[index], init.getLoc());
  SmallVector<Value> arguments(block->getArguments());
  llvm::append_range(arguments, above);
  SmallVector<Value> yielded = body.emit(
      b, arguments, loop.getDonated(op, donated), loop.resultTypes, given);
  mlir::pathways::YieldOp::create(b, op->getLoc(), yielded);
  symbols.erase(body.entry);
  return loopOp.getOutputs();
}
