//===- BodyPartitioner.cpp - Partitioning of one body ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "InlineBody.h"
#include "WidenSums.h"
#include "pathways/Dialect/Pathways/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void BodyPartitioner::define(Value value, Value local, ShardingAttr sharding) {
  locals[value] = {local, sharding};
  versions[{value, sharding}] = local;
}

Value BodyPartitioner::makeFilled(TypedAttr value, RankedTensorType type) {
  return arith::ConstantOp::create(
      builder, cast<TypedAttr>(DenseElementsAttr::get(type, value)));
}

Value BodyPartitioner::narrow(Value value, Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return arith::TruncFOp::create(builder, type.clone(element), value);
}

Value BodyPartitioner::widen(Value value) {
  RankedTensorType type = typeOf(value);
  if (!isWidened(type.getElementType()))
    return value;
  return arith::ExtFOp::create(builder, type.clone(builder.getF32Type()),
                               value);
}

/// Makes the result of `op` as a tensor of `type`.
Value BodyPartitioner::makeFree(Operation *op, RankedTensorType type) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tensor::EmptyOp) -> Value {
        return tensor::EmptyOp::create(builder, type.getShape(),
                                       type.getElementType());
      })
      .Case([&](tensor::SplatOp splat) -> Value {
        return tensor::SplatOp::create(builder,
                                       scalars.lookup(splat.getInput()), type);
      })
      .Case([&](linalg::FillOp fill) -> Value {
        Value empty = tensor::EmptyOp::create(builder, type.getShape(),
                                              type.getElementType());
        return linalg::FillOp::create(
                   builder, scalars.lookup(fill.getInputs()[0]), empty)
            .getResult(0);
      })
      .Default([&](Operation *op) -> Value {
        DenseElementsAttr constant;
        matchPattern(op, m_Constant(&constant));
        return arith::ConstantOp::create(
            builder,
            cast<TypedAttr>(constant.resizeSplat(cast<ShapedType>(type))));
      });
}

/// Inserts what is derived from `value` at the level of `value`, outside of
/// loops and branches that use it: it is made once, and by all shards.
void BodyPartitioner::setPlaceFor(Value value) {
  for (auto [op, copy] : nest)
    if (!op->isAncestor(value.getParentBlock()->getParentOp()))
      return builder.setInsertionPoint(copy);
}

bool BodyPartitioner::isOutside(Value value) {
  return !nest.empty() &&
         !nest.front().first->isAncestor(value.getParentBlock()->getParentOp());
}

Value BodyPartitioner::get(Value value, ShardingAttr sharding) {
  Value &version = versions[{value, sharding}];
  if (version)
    return version;
  OpBuilder::InsertionGuard guard(builder);
  setPlaceFor(value);
  const Local &local = locals.find(value)->second;
  if (local.isFree())
    return version = makeFree(value.getDefiningOp(),
                              layouts.getShardType(typeOf(value), sharding));
  Value made = layouts.convert(builder, local.value, typeOf(value),
                               local.sharding, sharding);
  return version = narrow(made, typeOf(value).getElementType());
}

/// Returns contributions to `value`: the existing ones, or the whole value on
/// one shard and the identity on the others.
Value BodyPartitioner::getContributions(Value value, ShardingAttr sharding) {
  const Local &local = locals.find(value)->second;
  RankedTensorType type = typeOf(value);
  if (!local.isFree() && areAlike(local.sharding, sharding))
    return narrow(layouts.convert(builder, local.value, type,
                                  local.sharding.withoutPartial(),
                                  sharding.withoutPartial()),
                  type.getElementType());
  Value whole = get(value, sharding.withoutPartial());
  Value isFirst;
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  for (StringAttr axis : sharding.getPartialAxes()) {
    Value index = ShardIndexOp::create(builder, builder.getIndexType(), axis);
    Value isZero =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, index, zero);
    isFirst =
        isFirst ? arith::AndIOp::create(builder, isFirst, isZero) : isZero;
  }
  Value nothing = makeFilled(
      getNeutral(sharding.getPartialKind().getValue(), type.getElementType()),
      typeOf(whole));
  return arith::SelectOp::create(builder, isFirst, whole, nothing);
}

Value BodyPartitioner::getWhole(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !locals.contains(value))
    return scalars.lookup(value);
  return get(value, layouts.getWhole(type.getRank()));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the size or rank that `op` computes, if it is known.
static std::optional<int64_t> getKnownSize(Operation *op) {
  if (auto rank = dyn_cast<tensor::RankOp>(op))
    if (auto type = dyn_cast<RankedTensorType>(rank.getTensor().getType()))
      return type.getRank();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (type && index && *index >= 0 && *index < type.getRank() &&
        !type.isDynamicDim(*index))
      return type.getDimSize(*index);
  }
  return std::nullopt;
}

void BodyPartitioner::partition(Operation *op) {
  builder.setLoc(op->getLoc());
  if (isMadeAnywhere(op)) {
    locals[op->getResult(0)] = {};
    return;
  }
  // An operation that asks for a size reads no element.
  if (std::optional<int64_t> size = getKnownSize(op)) {
    scalars[op->getResult(0)] = arith::ConstantIndexOp::create(builder, *size);
    return;
  }
  if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    ShardingAttr layout = shardings->get(constrain.getResult()).getClosed();
    explainEmpty(constrain);
    define(constrain.getResult(), get(constrain.getSource(), layout), layout);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (!partitionLoop(loop))
      computeWhole(op);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (!partitionBranch(branch))
      computeWhole(op);
  } else if (auto manual = dyn_cast<ManualOp>(op)) {
    partitionManual(manual);
  } else if (isa<scf::WhileOp>(op) && containsManual(op)) {
    partitionWhile(cast<scf::WhileOp>(op));
  } else if (isa<scf::IndexSwitchOp>(op) && containsManual(op)) {
    partitionAllBranches(op);
  } else if (isa<CollectiveOpInterface>(op) && skipCollective(op)) {
    // It is its operand.
  } else if (std::optional<ShardingRule> rule = getShardingRule(op)) {
    if (!cutInBlocks(op) && !keepContributions(op, *rule))
      cutByRule(op, *rule);
  } else {
    computeWhole(op);
  }
  if (isExplained)
    explainLayouts(op);
}

//===----------------------------------------------------------------------===//
// Whole
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> BodyPartitioner::run() {
  auto whole = inlineBody(body, symbols);
  if (failed(whole))
    return failure();
  inlined = std::move(*whole);

  SmallVector<Type> inputTypes, resultTypes;
  bool hasPadding = false;
  for (ArrayType type : operands) {
    inputTypes.push_back(getShardTensorType(type, mesh));
    hasPadding |= !isEven(type, mesh);
  }
  for (ArrayType type : results)
    resultTypes.push_back(getShardTensorType(type, mesh));
  builder.clearInsertionPoint();
  OwningOpRef<func::FuncOp> made =
      func::FuncOp::create(builder, (body.getSymName() + "_sharded").str(),
                           builder.getFunctionType(inputTypes, resultTypes));
  func::FuncOp function = *made;
  function.setPrivate();
  function->setAttr(PathwaysDialect::kLocalViewAttrName, builder.getUnitAttr());
  // Padding changes no element and raises no error.
  if (hasPadding)
    function->setAttr(PathwaysDialect::kPointwiseAttrName,
                      builder.getUnitAttr());
  for (auto [index, type] : llvm::enumerate(operands))
    if (type.getSharding().isPartial())
      function.setArgAttr(index, PathwaysDialect::kAcceptsPartialAttrName,
                          builder.getUnitAttr());
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);

  Block &from = inlined->front();
  Operation *end = from.getTerminator();
  SmallVector<ShardingAttr> given, asked;
  for (ArrayType type : operands)
    given.push_back(type.getSharding());
  for (ArrayType type : results)
    asked.push_back(type.getSharding());
  for (auto [value, sharding] : llvm::zip_equal(end->getOperands(), asked))
    if (ShardingAttr normal = layouts.normalize(sharding); normal.isPartial())
      askContributions(value, normal);
  shardings.emplace(from, mesh, given, asked);
  shardings->propagate();

  for (auto [argument, type, shard] :
       llvm::zip_equal(from.getArguments(), operands, block->getArguments())) {
    if (argument.use_empty())
      continue;
    ShardingAttr sharding = layouts.normalize(type.getSharding());
    define(argument, sharding.isPartial() ? widen(shard) : shard, sharding);
  }
  for (Operation &op : from.without_terminator())
    partition(&op);
  builder.setLoc(end->getLoc());
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip_equal(end->getOperands(), results)) {
    ShardingAttr sharding = layouts.normalize(type.getSharding());
    values.push_back(sharding.isPartial() ? getContributions(value, sharding)
                                          : get(value, sharding));
  }
  func::ReturnOp::create(builder, values);
  if (hasFailed)
    return failure();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  symbols.insert(made.release());
  return function;
}

FailureOr<func::FuncOp>
mlir::pathways::partitionBody(func::FuncOp body, MeshAttr mesh,
                              ArrayRef<ArrayType> operands,
                              ArrayRef<ArrayType> results, SymbolTable &symbols,
                              const BodyExplanations &explanations) {
  return BodyPartitioner(body, mesh, operands, results, symbols, explanations)
      .run();
}
