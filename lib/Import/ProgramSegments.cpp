//===- ProgramSegments.cpp - Calls of a program with manual parts ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramSegments.h"
#include "Types.h"

#include "mlir/IR/Builders.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

bool ProgramSegments::isNeededFor(func::FuncOp entry) {
  return !entry.front().getOps<sdy::ManualComputationOp>().empty();
}

LogicalResult ProgramSegments::checkManual(sdy::ManualComputationOp op) {
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    if (size > 1 && !llvm::is_contained(op.getManualAxes().getAxes(), name))
      return op.emitOpError("is manual over some axes of the mesh, without '")
             << name.getValue() << "'; expected all axes"
             << Tag(ErrorId::kPartitioned);
  return success();
}

bool ProgramSegments::isCopied(Operation *op) const {
  return isa<stablehlo::ConstantOp>(op) &&
         !returned.contains(op->getResult(0)) &&
         llvm::none_of(op->getUsers(), llvm::IsaPred<sdy::ManualComputationOp>);
}

void ProgramSegments::findSegments() {
  for (Operation &op : entry.front().without_terminator()) {
    auto manual = dyn_cast<sdy::ManualComputationOp>(op);
    if (isCopied(&op))
      continue;
    if (segments.empty() || manual || segments.back().manual)
      segments.emplace_back();
    segments.back().ops.push_back(&op);
    segments.back().manual = manual;
    segmentOf[&op] = segments.size() - 1;
  }
}

/// Finds which values `segment` takes from others and returns to others.
void ProgramSegments::findValues(Segment &segment) {
  Block *block = &entry.front();
  unsigned number = segmentOf.lookup(segment.ops.front());
  llvm::SetVector<Value> inputs;
  for (Operation *op : segment.ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *def = operand.getDefiningOp();
        Block *place = def ? def->getBlock() : operand.getParentBlock();
        if (place != block || (def && isCopied(def)))
          continue;
        auto own = def ? segmentOf.find(def) : segmentOf.end();
        if (own == segmentOf.end() || own->second != number)
          inputs.insert(operand);
      }
    });
    for (Value result : op->getResults()) {
      bool isReturned = returned.contains(result);
      bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) {
        Operation *ancestor = block->findAncestorOpInBlock(*user);
        auto own = segmentOf.find(ancestor);
        return own != segmentOf.end() && own->second != number;
      });
      if (isReturned || isRead || segment.manual)
        segment.outputs.push_back(result);
    }
  }
  // A manual computation has one argument for each operand.
  if (segment.manual)
    segment.inputs.assign(segment.manual.getTensors().begin(),
                          segment.manual.getTensors().end());
  else
    segment.inputs = inputs.takeVector();
}

LogicalResult ProgramSegments::plan(ArrayRef<Type> argumentTypes,
                                    ArrayRef<Value> results,
                                    ArrayRef<Type> wantedTypes) {
  for (auto [argument, type] :
       llvm::zip_equal(entry.getArguments(), argumentTypes))
    types[argument] = type;
  returned.insert_range(results);
  findSegments();
  for (Segment &segment : segments)
    findValues(segment);
  for (Segment &segment : segments) {
    segment.inputTypes.resize(segment.inputs.size());
    sdy::ManualComputationOp op = segment.manual;
    if (!op)
      continue;
    if (failed(checkManual(op)))
      return failure();
    for (auto [value, sharding] : llvm::zip_equal(
             op.getResults(), op.getOutShardings().getShardings())) {
      FailureOr<ArrayType> type =
          getArrayType(op.getLoc(), value.getType(), sharding);
      if (failed(type))
        return failure();
      types[value] = *type;
    }
    for (auto [value, sharding, type] :
         llvm::zip_equal(segment.inputs, op.getInShardings().getShardings(),
                         segment.inputTypes)) {
      FailureOr<ArrayType> array =
          getArrayType(op.getLoc(), value.getType(), sharding);
      if (failed(array))
        return failure();
      type = *array;
      // The first reader chooses.
      types.try_emplace(value, *array);
    }
  }
  for (auto [value, type] : llvm::zip_equal(results, wantedTypes))
    if (type)
      types.try_emplace(value, type);
  for (Segment &segment : segments)
    for (Value value : segment.outputs) {
      if (types.contains(value))
        continue;
      FailureOr<ArrayType> type =
          getArrayType(value.getLoc(), value.getType(), nullptr);
      if (failed(type))
        return failure();
      types[value] = *type;
    }
  return success();
}

/// Gives `function`, whose only block has the types of the program, the types
/// of bodies: integers lose their sign. The casts vanish when the operations
/// between them are lowered.
static void removeSigns(func::FuncOp function) {
  Block &block = function.front();
  OpBuilder b = OpBuilder::atBlockBegin(&block);
  auto getBodyType = [](Type type) {
    return withElements(type, removeSign(getElementTypeOrSelf(type)));
  };
  for (BlockArgument argument : block.getArguments()) {
    Type type = argument.getType(), bodyType = getBodyType(type);
    if (type == bodyType)
      continue;
    argument.setType(bodyType);
    auto cast = UnrealizedConversionCastOp::create(b, argument.getLoc(), type,
                                                   argument);
    argument.replaceAllUsesExcept(cast.getResult(0), cast);
  }
  Operation *end = block.getTerminator();
  b.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands()) {
    Type bodyType = getBodyType(operand.get().getType());
    if (bodyType != operand.get().getType())
      operand.set(UnrealizedConversionCastOp::create(b, end->getLoc(), bodyType,
                                                     operand.get())
                      .getResult(0));
  }
  function.setFunctionType(
      b.getFunctionType(block.getArgumentTypes(), end->getOperandTypes()));
}

func::FuncOp ProgramSegments::outline(Segment &segment, unsigned number) {
  OpBuilder b(entry);
  Location loc = segment.ops.front()->getLoc();
  auto function = func::FuncOp::create(
      b, loc, (entry.getSymName() + "." + Twine(number)).str(),
      b.getFunctionType(TypeRange(ValueRange(segment.inputs)),
                        TypeRange(ValueRange(segment.outputs))));
  function.setPrivate();
  symbols.insert(function);
  if (sdy::ManualComputationOp op = segment.manual) {
    function.getBody().takeBody(op.getBody());
    Operation *end = function.front().getTerminator();
    b.setInsertionPoint(end);
    func::ReturnOp::create(b, end->getLoc(), end->getOperands());
    end->erase();
    function->setAttr(PathwaysDialect::kLocalViewAttrName, b.getUnitAttr());
    removeSigns(function);
    return function;
  }
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  auto end = func::ReturnOp::create(b, loc, segment.outputs);
  for (Operation *op : segment.ops)
    op->moveBefore(end);
  auto isInside = [&](OpOperand &use) {
    return block->findAncestorOpInBlock(*use.getOwner()) != nullptr;
  };
  for (auto [value, argument] :
       llvm::zip_equal(segment.inputs, block->getArguments()))
    value.replaceUsesWithIf(argument, isInside);
  // Constants are copied to where they are read.
  b.setInsertionPointToStart(block);
  for (auto constant : entry.front().getOps<stablehlo::ConstantOp>()) {
    if (!isCopied(constant) || llvm::none_of(constant->getUses(), isInside))
      continue;
    Value copy = b.clone(*constant)->getResult(0);
    constant.getResult().replaceUsesWithIf(copy, isInside);
  }
  removeSigns(function);
  return function;
}

SmallVector<Value> ProgramSegments::emit(OpBuilder &b, ValueRange arguments,
                                         ArrayRef<Value> results,
                                         ArrayRef<Type> resultTypes) {
  DenseMap<Value, Value> arrays;
  for (auto [value, array] : llvm::zip_equal(entry.getArguments(), arguments))
    arrays[value] = array;
  auto get = [&](Value value, Type type) -> Value {
    Value array = arrays.lookup(value);
    if (!type || array.getType() == type)
      return array;
    return mlir::pathways::ReshardOp::create(b, value.getLoc(), type, array);
  };
  for (auto [number, segment] : llvm::enumerate(segments)) {
    if (segment.outputs.empty())
      continue;
    SmallVector<Value> operands;
    for (auto [value, type] :
         llvm::zip_equal(segment.inputs, segment.inputTypes))
      operands.push_back(get(value, type));
    SmallVector<Type> outputTypes;
    for (Value value : segment.outputs)
      outputTypes.push_back(types.lookup(value));
    Location loc = segment.ops.front()->getLoc();
    func::FuncOp function = outline(segment, number);
    auto call = mlir::pathways::CallOp::create(b, loc, outputTypes,
                                               function.getSymName(), operands);
    for (auto [value, array] :
         llvm::zip_equal(segment.outputs, call.getOutputs()))
      arrays[value] = array;
  }
  SmallVector<Value> returned;
  for (auto [value, type] : llvm::zip_equal(results, resultTypes))
    returned.push_back(get(value, type));
  return returned;
}
