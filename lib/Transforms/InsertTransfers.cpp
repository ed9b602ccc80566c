//===- InsertTransfers.cpp - Make movement explicit -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MovedBytes.h"
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

/// The value that changes nothing when combined by `kind`. For sums of floats
/// that is -0: adding +0 would change -0.
TypedAttr getIdentity(ReductionKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (kind) {
    case ReductionKind::Add:
      return FloatAttr::get(type,
                            APFloat::getZero(semantics, /*Negative=*/true));
    case ReductionKind::Mul:
      return FloatAttr::get(type, APFloat::getOne(semantics));
    case ReductionKind::Max:
      return FloatAttr::get(type,
                            APFloat::getInf(semantics, /*Negative=*/true));
    case ReductionKind::Min:
      return FloatAttr::get(type, APFloat::getInf(semantics));
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isBool = width == 1; // false < true, whatever signed i1 would say.
  switch (kind) {
  case ReductionKind::Add:
    return IntegerAttr::get(type, APInt::getZero(width));
  case ReductionKind::Mul:
    return IntegerAttr::get(type, APInt(width, 1));
  case ReductionKind::Max:
    return IntegerAttr::get(type, isBool ? APInt::getZero(width)
                                         : APInt::getSignedMinValue(width));
  case ReductionKind::Min:
    return IntegerAttr::get(type, isBool ? APInt(width, 1)
                                         : APInt::getSignedMaxValue(width));
  }
  llvm_unreachable("unknown reduction");
}

class InsertTransfersPass
    : public mlir::pathways::impl::InsertTransfersBase<InsertTransfersPass> {
  void runOnOperation() override {
    for (auto bind : getOperation().getOps<BindOp>())
      binds[bind.getSlice()] = bind;
    SymbolTable table(getOperation());
    symbols = &table;
    SmallVector<ReshardOp> reshards;
    for (auto program : getOperation().getOps<ProgramOp>())
      llvm::append_range(reshards, program.getBody().getOps<ReshardOp>());
    for (ReshardOp reshard : reshards)
      if (failed(replace(reshard)))
        return signalPassFailure();
  }

  LogicalResult replace(ReshardOp reshard) {
    ImplicitLocOpBuilder builder(reshard.getLoc(), reshard);
    ArrayType goal = reshard.getType();
    ArrayType whole = goal.withSharding(goal.getSharding().withoutPartial());
    Value value = reshard.getSource();
    auto type = reshard.getSource().getType();
    if (type != goal) {
      if (type.getSharding().isPartial()) {
        ArrayType reduced =
            type.withSharding(type.getSharding().withoutPartial());
        value = call(builder, getAllReduce(builder, type), value, reduced);
        type = reduced;
      }
      if (type != whole) {
        FailureOr<BoundSlice> from = getBound(reshard, type);
        FailureOr<BoundSlice> to = getBound(reshard, whole);
        if (failed(from) || failed(to))
          return failure();
        auto [it, inserted] = bytes.try_emplace({type, whole});
        if (inserted)
          it->second = countMovedBytes(type, *from, whole, *to);
        value = TransferOp::create(builder, whole, value, it->second.ici,
                                   it->second.dcn);
      }
      if (whole != goal)
        value = call(builder, getMask(builder, goal), value, goal);
    }
    reshard.getResult().replaceAllUsesWith(value);
    reshard.erase();
    return success();
  }

  FailureOr<BoundSlice> getBound(ReshardOp reshard, ArrayType type) {
    auto slice = symbols->lookup<SliceOp>(type.getSlice().getAttr());
    if (BindOp bind = binds.lookup(type.getSlice().getValue()))
      return BoundSlice{slice, bind};
    InFlightDiagnostic diagnostic =
        reshard.emitOpError() << "moves between slices, but " << type.getSlice()
                              << " is not bound; run pw-place first";
    diagnostic.attachNote(slice.getLoc())
        << "slice '" << slice.getSymName() << "' is declared here";
    return diagnostic;
  }

  static Value call(ImplicitLocOpBuilder &builder, func::FuncOp function,
                    Value operand, ArrayType result) {
    return CallOp::create(builder, TypeRange(result), function.getSymName(),
                          ValueRange(operand))
        .getResult(0);
  }

  /// Shards' tensor of a partial array, on the mesh of its slice.
  RankedTensorType getShard(ArrayType type) {
    return getShardTensorType(
        type, symbols->lookup<SliceOp>(type.getSlice().getAttr()).getMesh());
  }

  /// The function that `build` makes for contributions like those of `partial`,
  /// shared by all with equal shards, reduction and axes. In it padding stays
  /// padding.
  func::FuncOp
  getGenerated(ImplicitLocOpBuilder &builder, StringRef what, ArrayType partial,
               function_ref<Value(ImplicitLocOpBuilder &, Value, ReductionKind,
                                  ArrayRef<StringAttr>)>
                   build) {
    RankedTensorType tensor = getShard(partial);
    ReductionKind kind = partial.getSharding().getPartialKind().getValue();
    ArrayRef<StringAttr> axes = partial.getSharding().getPartialAxes();
    std::string name, key;
    llvm::raw_string_ostream nameStream(name);
    nameStream << "pw_" << what << '_' << stringifyReductionKind(kind) << '_';
    for (int64_t size : tensor.getShape())
      nameStream << size << 'x';
    nameStream << tensor.getElementType();
    key = name;
    for (StringAttr axis : axes) {
      nameStream << '_';
      for (char c : axis.getValue())
        nameStream << (llvm::isAlnum(c) ? c : '_');
      // Lengths keep lists apart whose names run into each other.
      key += " " + std::to_string(axis.size()) + ":" + axis.str();
    }
    func::FuncOp &function = generated[key];
    if (function)
      return function;

    OpBuilder::InsertionGuard guard(builder);
    builder.clearInsertionPoint();
    function = func::FuncOp::create(builder, name,
                                    builder.getFunctionType(tensor, tensor));
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

  func::FuncOp getAllReduce(ImplicitLocOpBuilder &builder, ArrayType partial) {
    func::FuncOp function = getGenerated(
        builder, "all_reduce", partial,
        [](ImplicitLocOpBuilder &builder, Value value, ReductionKind kind,
           ArrayRef<StringAttr> axes) -> Value {
          SmallVector<Attribute> names(axes.begin(), axes.end());
          return AllReduceOp::create(builder, value.getType(), value, kind,
                                     builder.getArrayAttr(names));
        });
    function.setArgAttr(0, PathwaysDialect::kAcceptsPartialAttrName,
                        builder.getUnitAttr());
    return function;
  }

  func::FuncOp getMask(ImplicitLocOpBuilder &builder, ArrayType partial) {
    return getGenerated(
        builder, "contribute", partial,
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
              builder, getIdentity(kind, type.getElementType()));
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

  llvm::StringMap<BindOp> binds;
  llvm::StringMap<func::FuncOp> generated;
  llvm::DenseMap<std::pair<Type, Type>, MovedBytes> bytes;
  SymbolTable *symbols = nullptr;
};

} // namespace
