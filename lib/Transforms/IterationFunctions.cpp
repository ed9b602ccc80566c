//===- IterationFunctions.cpp - Functions that read iterations ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationFunctions.h"

#include "runtime/base/buffer_bytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

bool IterationFunctions::readIndex(func::FuncOp function) {
  auto known = reads.find(function);
  if (known != reads.end())
    return known->second;
  WalkResult walked = function.walk([&](Operation *op) {
    if (isa<IterationIndexOp>(op))
      return WalkResult::interrupt();
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? getCallee(call) : nullptr;
    return callee && readIndex(callee) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return reads[function] = walked.wasInterrupted();
}

FlatSymbolRefAttr IterationFunctions::getFor(func::FuncOp function,
                                             int64_t iteration) {
  auto known = copies.find({function, iteration});
  if (known != copies.end())
    return known->second;
  func::FuncOp copy = function.clone();
  copy.setSymName(
      (function.getSymName() + "_iteration" + Twine(iteration)).str());
  copy.setPrivate();
  SmallVector<IterationIndexOp> indices;
  copy.walk([&](Operation *op) {
    if (auto index = dyn_cast<IterationIndexOp>(op))
      indices.push_back(index);
    else if (auto call = dyn_cast<func::CallOp>(op))
      if (func::FuncOp callee = getCallee(call); callee && readIndex(callee))
        call.setCalleeAttr(getFor(callee, iteration));
  });
  for (IterationIndexOp index : indices) {
    OpBuilder builder(index);
    index.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, index.getLoc(), iteration)
            .getResult());
    index.erase();
  }
  symbols.insert(copy);
  reads[copy] = false;
  auto name = FlatSymbolRefAttr::get(copy.getSymNameAttr());
  copies[{function, iteration}] = name;
  return name;
}

FlatSymbolRefAttr IterationFunctions::getTaking(func::FuncOp function,
                                                RankedTensorType row) {
  auto known = taking.find(function);
  if (known != taking.end())
    return known->second;
  func::FuncOp copy = function.clone();
  copy.setSymName((function.getSymName() + "_numbered").str());
  copy.setPrivate();
  unsigned last = copy.getNumArguments();
  (void)copy.insertArgument(last, row, /*argAttrs=*/nullptr, copy.getLoc());
  Value numbers = copy.getArgument(last);
  auto builder =
      ImplicitLocOpBuilder::atBlockBegin(copy.getLoc(), &copy.front());
  Value number = tensor::ExtractOp::create(
      builder, numbers,
      ValueRange(arith::ConstantIndexOp::create(builder, 0).getResult()));
  number = arith::IndexCastOp::create(builder, builder.getIndexType(), number);
  copy.walk([&](Operation *op) {
    if (auto index = dyn_cast<IterationIndexOp>(op)) {
      index.replaceAllUsesWith(number);
      index.erase();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = getCallee(call);
      if (!callee || !readIndex(callee))
        return;
      call.setCalleeAttr(getTaking(callee, row));
      call.getOperandsMutable().append(numbers);
    }
  });
  symbols.insert(copy);
  reads[copy] = false;
  auto name = FlatSymbolRefAttr::get(copy.getSymNameAttr());
  taking[function] = name;
  return name;
}

Value IterationFunctions::addNumbers(ForOp loop, FlatSymbolRefAttr slice,
                                     RankedTensorType row,
                                     ShardFunctions &shards) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  auto rows = RankedTensorType::get(
      {static_cast<int64_t>(loop.getTrips()), row.getDimSize(0)},
      row.getElementType());
  FlatSymbolRefAttr function = shards.get(
      builder, "pw_count", builder.getFunctionType({}, rows),
      /*isPartial=*/false, [&](ImplicitLocOpBuilder &b, ValueRange) {
        Value all =
            tensor::EmptyOp::create(b, rows.getShape(), rows.getElementType());
        AffineMap map = b.getMultiDimIdentityMap(2);
        SmallVector<utils::IteratorType> iterators(
            2, utils::IteratorType::parallel);
        auto fill = linalg::GenericOp::create(
            b, rows, ValueRange(), all, ArrayRef<AffineMap>(map), iterators,
            [&](OpBuilder &inner, Location loc, ValueRange) {
              Value index = linalg::IndexOp::create(inner, loc, 0);
              Value number = arith::IndexCastOp::create(
                  inner, loc, inner.getI32Type(), index);
              linalg::YieldOp::create(inner, loc, number);
            });
        return SmallVector<Value>{fill.getResult(0)};
      });
  ArrayAttr whole = builder.getArrayAttr({});
  auto type =
      ArrayType::get(rows.getShape(), builder.getI32Type(), slice,
                     ShardingAttr::get(builder.getContext(), {whole, whole}));
  Value numbers = CallOp::create(builder, TypeRange(type), function.getValue(),
                                 ValueRange())
                      .getOutputs()
                      .front();
  loop.getInitsMutable().append(numbers);
  SmallVector<Attribute> uses(loop.getOperandUses().getValue());
  uses.push_back(LoopUseAttr::get(builder.getContext(), LoopUse::Stepped));
  loop.setOperandUsesAttr(builder.getArrayAttr(uses));
  return loop.getBody().addArgument(type.withoutLeadingDim(), loop.getLoc());
}

void IterationFunctions::passNumbers(ForOp loop, ShardFunctions &shards) {
  // A row for each iteration, as long as the alignment of the parts of arrays.
  auto type = IntegerType::get(loop.getContext(), 32);
  auto row = RankedTensorType::get(::pathways::kBufferAlignment / 4, type);
  llvm::DenseMap<Attribute, Value> arguments; // by slice
  for (CallOp call : loop.getBody().getOps<CallOp>()) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    if (!readIndex(callee))
      continue;
    Value &argument = arguments[call.getSlice()];
    if (!argument)
      argument = addNumbers(loop, call.getSlice(), row, shards);
    call.setCalleeAttr(getTaking(callee, row));
    call.getInputsMutable().append(argument);
  }
}
