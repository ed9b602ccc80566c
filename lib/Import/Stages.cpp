//===- Stages.cpp - Calls of a program with stages ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "Types.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::pathways;

/// Names of the functions of calls begin with that of the program.
static constexpr StringLiteral kProgramName = "main";

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Stages::Stages(func::FuncOp entry, SymbolTable &symbols,
               const StageMarks &marks, ArrayRef<Value> results)
    : entry(entry), symbols(symbols), slices(marks.getSlices()),
      placement(entry, marks, results, findLoops(marks)), results(results) {}

std::string Stages::getName(const Call &call) const {
  if (placement.isLoop(call.getOp()))
    return "a loop";
  std::string name = call.stage.slice.str();
  if (call.stage.label)
    name += "." + call.stage.label.str();
  return name;
}

void Stages::explainSplit(Operation *op, unsigned call,
                          const llvm::SetVector<unsigned> &before) {
  const StageMark &stage = calls[call].stage;
  if (!stage.label || !splitStages.insert({stage.slice, stage.label}).second ||
      split)
    return;
  split = op;
  circle = "'" + getName(calls[call]) + "'";
  // Walk back from what `op` needs to the call.
  const llvm::SetVector<unsigned> *from = &before;
  std::string path;
  while (true) {
    auto next = llvm::find_if(*from, [&](unsigned other) {
      return other != call && calls[other].ancestors.test(call);
    });
    if (next == from->end())
      break;
    path = " -> '" + getName(calls[*next]) + "'" + path;
    from = &calls[*next].before;
  }
  circle += path + " -> " + circle;
}

unsigned Stages::findCallFor(Operation *op) {
  llvm::SetVector<unsigned> before;
  for (Value value : placement.getSources(op))
    if (Operation *def = value.getDefiningOp())
      before.insert(callOf.lookup(def));
  StageMark stage = placement.getStage(op);
  if (placement.isLoop(op)) {
    calls.emplace_back().stage = stage;
    return calls.size() - 1;
  }
  SmallVector<unsigned> &same = callsOf[{stage.slice, stage.label}];
  // The first call that does not have to run before what `op` needs.
  for (unsigned call : same)
    if (llvm::none_of(before, [&](unsigned other) {
          return other != call && calls[other].ancestors.test(call);
        }))
      return call;
  if (!same.empty())
    explainSplit(op, same.back(), before);
  same.push_back(calls.size());
  calls.emplace_back().stage = stage;
  return same.back();
}

void Stages::addToCall(Operation *op, unsigned call) {
  callOf[op] = call;
  calls[call].ops.push_back(op);
  llvm::SparseBitVector<> added;
  for (Value value : placement.getSources(op)) {
    Operation *def = value.getDefiningOp();
    unsigned other = def ? callOf.lookup(def) : call;
    if (other == call || !calls[call].before.insert(other))
      continue;
    added |= calls[other].ancestors;
    added.set(other);
    calls[other].isNeeded = true;
  }
  if (calls[call].ancestors.contains(added))
    return;
  calls[call].ancestors |= added;
  if (!calls[call].isNeeded)
    return;
  for (Call &later : calls)
    if (later.ancestors.test(call))
      later.ancestors |= added;
}

void Stages::reportSplits() {
  if (!split)
    return;
  InFlightDiagnostic remark =
      emitRemark(split->getLoc())
      << describe(placement.getStage(split))
      << " becomes several calls, because one would need a result of its own: "
      << circle;
  if (size_t more = splitStages.size() - 1)
    remark << "; the same is true of " << more << " more "
           << (more == 1 ? "label" : "labels");
}

void Stages::findValues() {
  auto resultSet = llvm::SmallDenseSet<Value>(results.begin(), results.end());
  std::vector<llvm::SetVector<Value>> inputs(calls.size());
  DenseSet<Value> isOutput;
  for (auto [number, call] : llvm::enumerate(calls))
    for (Operation *op : call.ops)
      for (Value value : placement.getSources(op)) {
        Operation *def = value.getDefiningOp();
        if (def && callOf.lookup(def) == number)
          continue;
        inputs[number].insert(value);
        isOutput.insert(value);
      }
  for (auto [number, call] : llvm::enumerate(calls)) {
    call.inputs = inputs[number].takeVector();
    for (Operation *op : call.ops)
      for (Value result : op->getResults())
        if (isOutput.contains(result) || resultSet.contains(result))
          call.outputs.push_back(result);
  }
}

void Stages::findCalls() {
  for (Operation &op : entry.front().without_terminator()) {
    if (placement.isLoop(&op))
      loops.find(&op)->second.body->findCalls();
    if (!placement.isCopied(&op))
      addToCall(&op, findCallFor(&op));
  }
  reportSplits();
  findValues();
}

SmallVector<unsigned> Stages::getOrder() const {
  std::vector<SmallVector<unsigned, 2>> after(calls.size());
  std::vector<unsigned> waits(calls.size());
  // Ready calls of each slice, by the place of their first operation.
  std::vector<std::set<std::pair<unsigned, unsigned>>> ready(slices.size());
  auto setReady = [&](unsigned call) {
    unsigned slice = 0;
    while (slices[slice].name != calls[call].stage.slice)
      ++slice;
    ready[slice].insert({placement.getPosition(calls[call].ops.front()), call});
  };
  for (auto [number, call] : llvm::enumerate(calls)) {
    waits[number] = call.before.size();
    for (unsigned other : call.before)
      after[other].push_back(number);
    if (call.before.empty())
      setReady(number);
  }
  SmallVector<unsigned> order;
  while (order.size() != calls.size()) {
    size_t begin = order.size();
    for (auto &queue : ready)
      if (!queue.empty())
        order.push_back(queue.extract(queue.begin()).value().second);
    assert(order.size() != begin && "calls have a circle");
    for (size_t i = begin, e = order.size(); i != e; ++i)
      for (unsigned next : after[order[i]])
        if (!--waits[next])
          setReady(next);
  }
  return order;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Stages::emitSlices(OpBuilder &b, Location loc, MeshAttr mesh) const {
  for (auto [index, slice] : llvm::enumerate(slices)) {
    SmallVector<Attribute> apart, with;
    for (const StageMarks::Slice &other : ArrayRef(slices).take_front(index)) {
      if (!slice.island || !other.island)
        continue;
      auto name = FlatSymbolRefAttr::get(other.name);
      if (!slice.overlaps(other))
        apart.push_back(name);
      else if (with.empty())
        with.push_back(name);
    }
    SliceOp::create(b, loc, slice.name, /*sym_visibility=*/nullptr, mesh,
                    slice.getSpans(), /*kind=*/nullptr,
                    apart.empty() ? nullptr : b.getArrayAttr(apart),
                    with.empty() ? nullptr : b.getArrayAttr(with));
  }
}

LogicalResult Stages::findTypes(ArrayRef<Type> argumentTypes,
                                ArrayRef<Type> wantedTypes,
                                GetArrayType getArrayType) {
  for (auto [argument, type] :
       llvm::zip_equal(entry.getArguments(), argumentTypes))
    types[argument] = type;
  for (auto [value, wanted] : llvm::zip_equal(results, wantedTypes))
    if (wanted && cast<ArrayType>(wanted).getSlice().getAttr() ==
                      placement.getSlice(value))
      types.try_emplace(value, wanted);
  for (const Call &call : calls) {
    if (placement.isLoop(call.getOp()))
      continue;
    for (Value value : call.outputs) {
      if (types.contains(value))
        continue;
      FailureOr<ArrayType> type =
          getArrayType(value.getLoc(), value.getType(), call.stage.slice);
      if (failed(type))
        return failure();
      types[value] = *type;
    }
  }
  for (const Call &call : calls)
    if (placement.isLoop(call.getOp()) &&
        failed(findLoopTypes(call, getArrayType)))
      return failure();
  return success();
}

func::FuncOp Stages::outline(const Call &call, OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(entry->getBlock());
  auto getBodyType = [](Value value) {
    return withElements(value.getType(),
                        removeSign(getElementTypeOrSelf(value.getType())));
  };
  SmallVector<Type> inputTypes = llvm::map_to_vector(call.inputs, getBodyType);
  SmallVector<Type> outputTypes =
      llvm::map_to_vector(call.outputs, getBodyType);
  Location loc = call.ops.front()->getLoc();
  auto function =
      func::FuncOp::create(b, loc, (kProgramName + "." + getName(call)).str(),
                           b.getFunctionType(inputTypes, outputTypes));
  function.setPrivate();
  symbols.insert(function);
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  // The casts vanish when the operations between them are lowered.
  auto cast = [&](Type type, Value value) -> Value {
    return value.getType() == type ? value
                                   : UnrealizedConversionCastOp::create(
                                         b, value.getLoc(), type, value)
                                         .getResult(0);
  };
  IRMapping mapping;
  for (auto [value, argument] :
       llvm::zip_equal(call.inputs, block->getArguments())) {
    argument.setLoc(value.getLoc());
    mapping.map(value, cast(value.getType(), argument));
  }
  // Copies are made before their first user.
  std::function<void(Operation *)> copy = [&](Operation *op) {
    for (Value value : placement.getUsedValues(op)) {
      Operation *def = value.getDefiningOp();
      if (def && placement.isCopied(def) && !mapping.contains(value))
        copy(def);
    }
    b.clone(*op, mapping);
  };
  for (Operation *op : call.ops)
    copy(op);
  SmallVector<Value> outputs;
  for (auto [value, type] : llvm::zip_equal(call.outputs, outputTypes))
    outputs.push_back(cast(type, mapping.lookup(value)));
  func::ReturnOp::create(b, loc, outputs);
  return function;
}

SmallVector<int64_t>
Stages::getDonated(const Call &call,
                   llvm::function_ref<bool(Value)> isLastRead) const {
  SmallVector<int64_t> donated;
  // The memory of an argument is of use if a result has its type.
  for (auto [index, value] : llvm::enumerate(call.inputs))
    if (isLastRead(value) && placement.getSlice(value) == call.stage.slice &&
        llvm::any_of(call.outputs, [&](Value output) {
          return types.lookup(output) == types.lookup(value);
        }))
      donated.push_back(index);
  return donated;
}

SmallVector<Value> Stages::emit(OpBuilder &b, ValueRange arguments,
                                ArrayRef<int64_t> donated,
                                ArrayRef<Type> resultTypes,
                                ArrayRef<GivenArray> given) {
  DenseMap<std::pair<Value, Attribute>, Value> arrays;
  for (auto [value, array] : llvm::zip_equal(entry.getArguments(), arguments))
    arrays[{value, placement.getSlice(value)}] = array;
  for (const GivenArray &other : given)
    arrays[{entry.getArgument(other.argument), other.slice}] = other.array;
  auto get = [&](Value value, StringAttr slice) {
    Value &array = arrays[{value, slice}];
    if (!array) {
      Value source = arrays.lookup({value, placement.getSlice(value)});
      auto type = cast<ArrayType>(source.getType());
      array = mlir::pathways::ReshardOp::create(
          b, value.getLoc(), type.withSlice(FlatSymbolRefAttr::get(slice)),
          source);
    }
    return array;
  };
  SmallVector<unsigned> order = getOrder();
  DenseMap<Value, unsigned> lastReaders;
  for (int64_t index : donated)
    for (unsigned number : order)
      if (llvm::is_contained(calls[number].inputs, entry.getArgument(index)))
        lastReaders[entry.getArgument(index)] = number;
  for (unsigned number : order) {
    const Call &call = calls[number];
    if (placement.isLoop(call.getOp())) {
      for (auto [value, array] : llvm::zip_equal(
               call.getOp()->getResults(), emitLoop(call, b, get, donated)))
        arrays[{value, placement.getSlice(value)}] = array;
      continue;
    }
    if (call.outputs.empty())
      continue;
    SmallVector<Value> operands;
    for (Value value : call.inputs)
      operands.push_back(get(value, call.stage.slice));
    SmallVector<Type> outputTypes;
    for (Value value : call.outputs)
      outputTypes.push_back(types.lookup(value));
    auto made = mlir::pathways::CallOp::create(
        b, call.ops.front()->getLoc(), outputTypes,
        outline(call, b).getSymName(), operands);
    made.setDonated(getDonated(call, [&](Value value) {
      auto reader = lastReaders.find(value);
      return reader != lastReaders.end() && reader->second == number;
    }));
    if (call.stage.label)
      made.setLabelAttr(call.stage.label);
    made.setRecompute(llvm::any_of(
        call.ops, [](Operation *op) { return getStageMark(op).recompute; }));
    for (auto [value, array] : llvm::zip_equal(call.outputs, made.getOutputs()))
      arrays[{value, call.stage.slice}] = array;
  }
  SmallVector<Value> returned;
  for (auto [value, type] : llvm::zip_equal(results, resultTypes)) {
    Value array = get(value, placement.getSlice(value));
    if (array.getType() != type)
      array = mlir::pathways::ReshardOp::create(b, value.getLoc(), type, array);
    returned.push_back(array);
  }
  return returned;
}
