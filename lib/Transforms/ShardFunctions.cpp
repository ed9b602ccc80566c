//===- ShardFunctions.cpp - Generated functions for shards ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardFunctions.h"

#include "pathways/Dialect/Pathways/Layouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::pathways;

MeshAttr ShardFunctions::getMesh(ArrayType type) const {
  return symbols.lookup<SliceOp>(type.getSlice().getAttr()).getMesh();
}

RankedTensorType ShardFunctions::getShard(ArrayType type) const {
  return getShardTensorType(type, getMesh(type));
}

FlatSymbolRefAttr ShardFunctions::get(
    ImplicitLocOpBuilder &builder, StringRef what, FunctionType type,
    bool isPartial,
    function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)>
        build) {
  // The functions of one name differ in nothing but what is partial.
  std::string name = what.str();
  llvm::raw_string_ostream os(name);
  Type first = type.getNumInputs() > 0 ? type.getInput(0) : type.getResult(0);
  for (int64_t size : cast<RankedTensorType>(first).getShape())
    os << '_' << size;
  std::string key = name;
  llvm::raw_string_ostream(key) << ' ' << type << isPartial;
  FlatSymbolRefAttr &symbol = generated[key];
  if (symbol)
    return symbol;
  OpBuilder::InsertionGuard guard(builder);
  builder.clearInsertionPoint();
  auto function = func::FuncOp::create(builder, name, type);
  function.setPrivate();
  for (StringRef attribute : {PathwaysDialect::kLocalViewAttrName,
                              PathwaysDialect::kPointwiseAttrName})
    function->setAttr(attribute, builder.getUnitAttr());
  if (isPartial)
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      function.setArgAttr(i, PathwaysDialect::kAcceptsPartialAttrName,
                          builder.getUnitAttr());
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  func::ReturnOp::create(builder, build(builder, block->getArguments()));
  symbols.insert(function);
  return symbol = FlatSymbolRefAttr::get(function.getSymNameAttr());
}
