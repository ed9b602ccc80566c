//===- InsertTransfers.cpp - Make movement explicit -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardPlanner.h"
#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Transforms/Machines.h"
#include "pathways/Transforms/Passes.h"
#include "pathways/Transforms/Profiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_INSERTTRANSFERS
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

class InsertTransfersPass
    : public mlir::pathways::impl::InsertTransfersBase<InsertTransfersPass> {
public:
  using InsertTransfersBase::InsertTransfersBase;

private:
  void runOnOperation() override {
    const ::pathways::Topology *machines = nullptr;
    if (!topology.empty()) {
      machines = getAnalysis<Machines>().read(topology);
      if (!machines)
        return signalPassFailure();
    }
    FailureOr<const ::pathways::Profile *> measured =
        getAnalysis<Profiles>().read(profile);
    if (failed(measured))
      return signalPassFailure();
    ReshardPlanner reshards(getOperation(), machines, *measured);
    if (failed(reshards.checkBindings()))
      return signalPassFailure();
    planner = &reshards;
    SymbolTable table(getOperation());
    symbols = &table;
    SmallVector<ReshardOp> ops;
    getOperation().walk([&](ReshardOp reshard) { ops.push_back(reshard); });
    for (ReshardOp reshard : ops)
      replace(reshard);
  }

  void replace(ReshardOp reshard) {
    ImplicitLocOpBuilder builder(reshard.getLoc(), reshard);
    ArrayType goal = reshard.getType();
    Value value = reshard.getSource();
    if (value.getType() != goal) {
      for (const MovementStep &step :
           planner->plan(reshard.getSource().getType(), goal))
        value = make(builder, step, value, goal.getSlice());
      if (value.getType() != goal)
        value = call(builder, getMask(builder, goal), value, goal);
    }
    reshard.getResult().replaceAllUsesWith(value);
    reshard.erase();
  }

  /// Returns `value` after `step`.
  Value make(ImplicitLocOpBuilder &builder, const MovementStep &step,
             Value value, FlatSymbolRefAttr target) {
    auto type = cast<ArrayType>(value.getType());
    ArrayType result = type.withSharding(step.to);
    if (step.crosses)
      result = result.withSlice(target);
    // Slices and pieces are plain transfers and need no kernel.
    if (step.kind == MovementStep::Pieces || step.kind == MovementStep::Slice)
      return TransferOp::create(builder, result, value);
    return call(builder, getCollective(builder, step, type, result), value,
                result);
  }

  static Value call(ImplicitLocOpBuilder &builder, func::FuncOp function,
                    Value operand, ArrayType result) {
    return CallOp::create(builder, TypeRange(result), function.getSymName(),
                          ValueRange(operand))
        .getResult(0);
  }

  /// Returns the function that `build` makes for shards like those of
  /// `operand`, for an array like `result`. All steps with equal shards that do
  /// `what` over groups of one size share it. Padding stays padding in it.
  func::FuncOp
  getGenerated(ImplicitLocOpBuilder &builder, StringRef what, ArrayType operand,
               ArrayType result, ArrayRef<Attribute> axes,
               function_ref<Value(ImplicitLocOpBuilder &, Value)> build) {
    RankedTensorType tensor = planner->getShard(operand),
                     made = planner->getShard(result);
    std::string name, key;
    llvm::raw_string_ostream nameStream(name), keyStream(key);
    nameStream << "pw_" << what << '_';
    for (int64_t size : tensor.getShape())
      nameStream << size << 'x';
    nameStream << tensor.getElementType();
    // Axes with the same name have other sizes on other slices.
    keyStream << name << ' ' << made << ' '
              << getNumBlocks(planner->getMesh(operand), axes);
    for (Attribute attribute : axes) {
      auto axis = cast<StringAttr>(attribute);
      nameStream << '_';
      for (char c : axis.getValue())
        nameStream << (llvm::isAlnum(c) ? c : '_');
      // Lengths separate lists whose concatenated names are equal.
      keyStream << ' ' << axis.size() << ':' << axis.getValue();
    }
    func::FuncOp &function = generated[key];
    if (function)
      return function;

    OpBuilder::InsertionGuard guard(builder);
    builder.clearInsertionPoint();
    function = func::FuncOp::create(builder, name,
                                    builder.getFunctionType(tensor, made));
    function.setPrivate();
    function->setAttr(PathwaysDialect::kLocalViewAttrName,
                      builder.getUnitAttr());
    function->setAttr(PathwaysDialect::kPointwiseAttrName,
                      builder.getUnitAttr());
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    func::ReturnOp::create(builder, build(builder, block->getArgument(0)));
    // Inserted at the end of the module; renamed if the program has that name.
    symbols->insert(function);
    return function;
  }

  /// Returns the name of a function that does `step`, without the suffix for
  /// the shard.
  static std::string nameOf(const MovementStep &step) {
    std::string name;
    llvm::raw_string_ostream os(name);
    auto kind = [&] {
      return stringifyReductionKind(step.from.getPartialKind().getValue());
    };
    if (step.kind == MovementStep::AllReduce)
      os << "all_reduce_" << kind();
    else if (step.kind == MovementStep::ReduceScatter)
      os << "reduce_scatter_dim" << step.dim << '_' << kind();
    else if (step.kind == MovementStep::AllGather)
      os << "all_gather_dim" << step.dim;
    else
      os << "all_to_all_split" << step.split << "_concat" << step.dim;
    return name;
  }

  /// Returns a function that does `step`, a collective.
  func::FuncOp getCollective(ImplicitLocOpBuilder &builder,
                             const MovementStep &step, ArrayType operand,
                             ArrayType result) {
    int64_t ranks = getNumBlocks(planner->getMesh(operand), step.axes);
    std::string what = nameOf(step);
    func::FuncOp function = getGenerated(
        builder, what, operand, result, step.axes,
        [&](ImplicitLocOpBuilder &builder, Value value) -> Value {
          ArrayAttr axes = builder.getArrayAttr(step.axes);
          RankedTensorType made = planner->getShard(result);
          switch (step.kind) {
          case MovementStep::AllReduce:
            return AllReduceOp::create(builder, made, value,
                                       step.from.getPartialKind().getValue(),
                                       axes);
          case MovementStep::ReduceScatter:
            return ReduceScatterOp::create(
                builder, made, value, step.from.getPartialKind().getValue(),
                step.dim, axes);
          case MovementStep::AllToAll:
            return AllToAllOp::create(builder, made, value, step.split,
                                      step.dim, axes);
          default:
            return gather(builder, value, step.dim, axes, ranks, made);
          }
        });
    if (step.from.isPartial())
      function.setArgAttr(0, PathwaysDialect::kAcceptsPartialAttrName,
                          builder.getUnitAttr());
    return function;
  }

  /// Gathers the blocks of `dim` and drops the padding that `made` does not
  /// have.
  static Value gather(ImplicitLocOpBuilder &builder, Value value, int64_t dim,
                      ArrayAttr axes, int64_t ranks, RankedTensorType made) {
    auto shard = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(shard.getShape());
    shape[dim] *= ranks;
    Value all =
        AllGatherOp::create(builder, shard.clone(shape), value, dim, axes);
    if (all.getType() == made)
      return all;
    SmallVector<OpFoldResult> offsets(made.getRank(), builder.getIndexAttr(0)),
        strides(made.getRank(), builder.getIndexAttr(1)), sizes;
    for (int64_t size : made.getShape())
      sizes.push_back(builder.getIndexAttr(size));
    return tensor::ExtractSliceOp::create(builder, made, all, offsets, sizes,
                                          strides);
  }

  func::FuncOp getMask(ImplicitLocOpBuilder &builder, ArrayType partial) {
    ReductionKind kind = partial.getSharding().getPartialKind().getValue();
    ArrayRef<StringAttr> axes = partial.getSharding().getPartialAxes();
    return getGenerated(
        builder, "contribute_" + stringifyReductionKind(kind).str(), partial,
        partial, SmallVector<Attribute>(axes.begin(), axes.end()),
        [&](ImplicitLocOpBuilder &builder, Value value) -> Value {
          Value zero = arith::ConstantIndexOp::create(builder, 0);
          Value isFirst;
          for (StringAttr axis : axes) {
            Value index =
                ShardIndexOp::create(builder, builder.getIndexType(), axis);
            Value isZero = arith::CmpIOp::create(
                builder, arith::CmpIPredicate::eq, index, zero);
            isFirst = isFirst ? arith::AndIOp::create(builder, isFirst, isZero)
                                    .getResult()
                              : isZero;
          }
          auto type = cast<RankedTensorType>(value.getType());
          Value identity = arith::ConstantOp::create(
              builder, getNeutral(kind, type.getElementType()));
          Value empty = tensor::EmptyOp::create(builder, type.getShape(),
                                                type.getElementType());
          AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
          SmallVector<utils::IteratorType> iterators(
              type.getRank(), utils::IteratorType::parallel);
          return linalg::GenericOp::create(
                     builder, TypeRange(type), ValueRange(value),
                     ValueRange(empty), ArrayRef<AffineMap>{map, map},
                     iterators,
                     [&](OpBuilder &nested, Location loc, ValueRange args) {
                       Value element = arith::SelectOp::create(
                           nested, loc, isFirst, args[0], identity);
                       linalg::YieldOp::create(nested, loc, element);
                     })
              .getResult(0);
        });
  }

  llvm::StringMap<func::FuncOp> generated;
  SymbolTable *symbols = nullptr;
  ReshardPlanner *planner = nullptr;
};

} // namespace
