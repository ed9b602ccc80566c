//===- InsertTransfers.cpp - Make movement explicit -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Transforms/Passes.h"

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
  void runOnOperation() override {
    SymbolTable table(getOperation());
    symbols = &table;
    SmallVector<ReshardOp> reshards;
    getOperation().walk(
        [&](ReshardOp reshard) { reshards.push_back(reshard); });
    for (ReshardOp reshard : reshards)
      replace(reshard);
  }

  void replace(ReshardOp reshard) {
    ImplicitLocOpBuilder builder(reshard.getLoc(), reshard);
    ArrayType goal = reshard.getType();
    ArrayType whole = goal.withSharding(goal.getSharding().withoutPartial());
    Value value = reshard.getSource();
    auto type = reshard.getSource().getType();
    if (type != goal) {
      if (type.getSharding().isPartial()) {
        std::optional<int64_t> dim = getScatteredDim(type, whole);
        ArrayType reduced =
            dim ? getScattered(type, *dim)
                : type.withSharding(type.getSharding().withoutPartial());
        value = call(builder, getReduction(builder, type, reduced, dim), value,
                     reduced);
        type = reduced;
      }
      if (type != whole)
        value = TransferOp::create(builder, whole, value);
      if (whole != goal)
        value = call(builder, getMask(builder, goal), value, goal);
    }
    reshard.getResult().replaceAllUsesWith(value);
    reshard.erase();
  }

  /// The layout of `partial` once each rank of the group over its partial axes
  /// has a block of dimension `dim` of what they have together.
  static ArrayType getScattered(ArrayType partial, int64_t dim) {
    ShardingAttr sharding = partial.getSharding();
    SmallVector<ArrayAttr> dims(sharding.getDims());
    SmallVector<Attribute> axes(dims[dim].begin(), dims[dim].end());
    llvm::append_range(axes, sharding.getPartialAxes());
    dims[dim] = ArrayAttr::get(partial.getContext(), axes);
    return partial.withSharding(ShardingAttr::get(partial.getContext(), dims));
  }

  /// The dimension along which contributions are scattered when they are
  /// reduced on the way to `whole`; none: everybody gets all of the sum. It is
  /// one that `whole`, on the same slice, cuts over partial axes: who gets all
  /// would throw most of it away. The group is always that of all partial axes
  /// as named, and so the tree of sums, and with it the bits, are those of an
  /// all-reduce. What is left to do moves blocks. Best is where nothing is.
  std::optional<int64_t> getScatteredDim(ArrayType partial, ArrayType whole) {
    if (whole.getSlice() != partial.getSlice())
      return std::nullopt;
    ArrayAttr axes = getGroup(partial);
    int64_t ranks = *getMesh(partial).getGroupSize(axes);
    std::optional<int64_t> found;
    for (auto [dim, cut] : llvm::enumerate(whole.getSharding().getDims())) {
      if (llvm::none_of(cut, [&](Attribute axis) {
            return llvm::is_contained(axes, axis);
          }))
        continue;
      // Ranks' blocks must be equal and make up the shard.
      ArrayType scattered = getScattered(partial, dim);
      int64_t size = getShard(partial).getDimSize(dim);
      int64_t block = getShard(scattered).getDimSize(dim);
      if (size == 0 || block * ranks != size)
        continue;
      if (scattered == whole)
        return dim;
      if (!found)
        found = dim;
    }
    return found;
  }

  /// The partial axes of `partial`, as named.
  static ArrayAttr getGroup(ArrayType partial) {
    ArrayRef<StringAttr> axes = partial.getSharding().getPartialAxes();
    return ArrayAttr::get(partial.getContext(),
                          SmallVector<Attribute>(axes.begin(), axes.end()));
  }

  static Value call(ImplicitLocOpBuilder &builder, func::FuncOp function,
                    Value operand, ArrayType result) {
    return CallOp::create(builder, TypeRange(result), function.getSymName(),
                          ValueRange(operand))
        .getResult(0);
  }

  MeshAttr getMesh(ArrayType type) {
    return symbols->lookup<SliceOp>(type.getSlice().getAttr()).getMesh();
  }

  /// Shards' tensor of an array, on the mesh of its slice.
  RankedTensorType getShard(ArrayType type) {
    return getShardTensorType(type, getMesh(type));
  }

  /// The function that `build` makes of contributions like those of `partial`,
  /// for an array like `result` or from one; shared by all with equal shards,
  /// reduction and axes. In it padding stays padding.
  func::FuncOp
  getGenerated(ImplicitLocOpBuilder &builder, StringRef what, ArrayType partial,
               ArrayType result,
               function_ref<Value(ImplicitLocOpBuilder &, Value, ReductionKind,
                                  ArrayRef<StringAttr>)>
                   build) {
    RankedTensorType tensor = getShard(partial), made = getShard(result);
    ReductionKind kind = partial.getSharding().getPartialKind().getValue();
    ArrayRef<StringAttr> axes = partial.getSharding().getPartialAxes();
    std::string name, key;
    llvm::raw_string_ostream nameStream(name), keyStream(key);
    nameStream << "pw_" << what << '_' << stringifyReductionKind(kind) << '_';
    for (int64_t size : tensor.getShape())
      nameStream << size << 'x';
    nameStream << tensor.getElementType();
    // Axes of one name have other sizes on other slices.
    keyStream << name << ' ' << made;
    for (StringAttr axis : axes) {
      nameStream << '_';
      for (char c : axis.getValue())
        nameStream << (llvm::isAlnum(c) ? c : '_');
      // Lengths keep lists apart whose names run into each other.
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
    func::ReturnOp::create(builder,
                           build(builder, block->getArgument(0), kind, axes));
    // At the end of the module; another name where the program has this one.
    symbols->insert(function);
    return function;
  }

  /// A function that reduces `partial`, to blocks of dimension `dim` if there
  /// is one.
  func::FuncOp getReduction(ImplicitLocOpBuilder &builder, ArrayType partial,
                            ArrayType reduced, std::optional<int64_t> dim) {
    func::FuncOp function = getGenerated(
        builder,
        dim ? "reduce_scatter_dim" + std::to_string(*dim) : "all_reduce",
        partial, reduced,
        [&](ImplicitLocOpBuilder &builder, Value value, ReductionKind kind,
            ArrayRef<StringAttr>) -> Value {
          ArrayAttr group = getGroup(partial);
          if (dim)
            return ReduceScatterOp::create(builder, getShard(reduced), value,
                                           kind, *dim, group);
          return AllReduceOp::create(builder, value.getType(), value, kind,
                                     group);
        });
    function.setArgAttr(0, PathwaysDialect::kAcceptsPartialAttrName,
                        builder.getUnitAttr());
    return function;
  }

  func::FuncOp getMask(ImplicitLocOpBuilder &builder, ArrayType partial) {
    return getGenerated(
        builder, "contribute", partial, partial,
        [](ImplicitLocOpBuilder &builder, Value value, ReductionKind kind,
           ArrayRef<StringAttr> axes) -> Value {
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
};

} // namespace
