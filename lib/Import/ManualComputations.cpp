//===- ManualComputations.cpp - pw.manual of imported modules -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManualComputations.h"
#include "Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "runtime/base/error_codes.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

/// Largest number of operations in a region after inlining.
static constexpr int64_t kMaxRegionOps = 1 << 18;

namespace {

class ManualLowering {
public:
  ManualLowering(SymbolTable &symbols, const Shardings &shardings)
      : symbols(symbols), shardings(shardings) {}

  LogicalResult run(ModuleOp module);

private:
  bool communicates(func::FuncOp function);
  LogicalResult inlineCalls(sdy::ManualComputationOp op);
  void takeCaptures(sdy::ManualComputationOp op, SmallVectorImpl<Value> &inputs,
                    SmallVectorImpl<Attribute> &inShardings);
  FailureOr<SmallVector<Attribute>>
  convert(sdy::ManualComputationOp op, TypeRange types,
          sdy::TensorShardingPerValueAttr given);
  FailureOr<ArrayAttr> getAxes(sdy::ManualComputationOp op);
  LogicalResult lower(sdy::ManualComputationOp op);
  void inlineRegion(sdy::ManualComputationOp op);

  SymbolTable &symbols;
  const Shardings &shardings;
  /// Functions that communicate, themselves or in what they call.
  DenseMap<Operation *, bool> known;
};

} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool ManualLowering::communicates(func::FuncOp function) {
  // A function that calls itself is refused later.
  auto [it, isNew] = known.try_emplace(function, false);
  if (!isNew)
    return it->second;
  bool found =
      function
          ->walk([&](Operation *op) {
            if (isa<stablehlo::AllReduceOp, stablehlo::AllGatherOp,
                    stablehlo::AllToAllOp, stablehlo::CollectiveBroadcastOp,
                    stablehlo::CollectivePermuteOp, stablehlo::PartitionIdOp,
                    stablehlo::ReduceScatterOp, stablehlo::ReplicaIdOp,
                    sdy::ManualComputationOp, ManualOp>(op))
              return WalkResult::interrupt();
            auto call = dyn_cast<func::CallOp>(op);
            auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee())
                               : func::FuncOp();
            return callee && communicates(callee) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
          })
          .wasInterrupted();
  return known[function] = found;
}

/// Inlines calls of functions that communicate: they are written for one shard
/// only where `op` calls them.
LogicalResult ManualLowering::inlineCalls(sdy::ManualComputationOp op) {
  int64_t numOps = 0;
  while (true) {
    SmallVector<func::CallOp> calls;
    op.walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && communicates(callee))
        calls.push_back(call);
    });
    if (calls.empty())
      return success();
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee.isExternal() || !callee.getBody().hasOneBlock())
        return call.emitOpError("calls '")
               << call.getCallee() << "', which has no body of one block"
               << Tag(ErrorId::kNotCompilable);
      numOps += callee.front().getOperations().size();
      if (numOps > kMaxRegionOps)
        return op.emitOpError("has more than ")
               << kMaxRegionOps << " operations after inlining what it calls"
               << Tag(ErrorId::kNotCompilable);
      IRMapping mapping;
      mapping.map(callee.getArguments(), call.getOperands());
      OpBuilder b(call);
      for (Operation &inner : callee.front().without_terminator())
        b.clone(inner, mapping);
      for (auto [result, value] :
           llvm::zip_equal(call.getResults(),
                           callee.front().getTerminator()->getOperands()))
        result.replaceAllUsesWith(mapping.lookup(value));
      call.erase();
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Makes values from outside that the region reads arguments of it. Manual axes
/// hold copies of them.
void ManualLowering::takeCaptures(sdy::ManualComputationOp op,
                                  SmallVectorImpl<Value> &inputs,
                                  SmallVectorImpl<Attribute> &inShardings) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  Block &block = op.getBody().front();
  for (Value value : captured) {
    Operation *def = value.getDefiningOp();
    Value inside;
    if (def && def->hasTrait<OpTrait::ConstantLike>()) {
      inside = OpBuilder::atBlockBegin(&block).clone(*def)->getResult(0);
    } else {
      inside = block.addArgument(value.getType(), value.getLoc());
      inputs.push_back(value);
      inShardings.push_back(ShardingAttr::getOpen(
          op.getContext(), cast<ShapedType>(value.getType()).getRank()));
    }
    replaceAllUsesInRegionWith(value, inside, op.getBody());
  }
}

FailureOr<SmallVector<Attribute>>
ManualLowering::convert(sdy::ManualComputationOp op, TypeRange types,
                        sdy::TensorShardingPerValueAttr given) {
  SmallVector<Attribute> converted;
  for (auto [type, sharding] : llvm::zip_equal(types, given.getShardings())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op.emitOpError("expected tensors of static shapes, got ")
             << type << Tag(ErrorId::kNotCompilable);
    FailureOr<ShardingAttr> one =
        shardings.convert(op.getLoc(), sharding, tensor.getRank());
    if (failed(one))
      return failure();
    converted.push_back(*one);
  }
  return converted;
}

/// Returns the manual axes of `op`, as axes of the slice.
FailureOr<ArrayAttr> ManualLowering::getAxes(sdy::ManualComputationOp op) {
  MLIRContext *context = op.getContext();
  auto names = op.getManualAxes().getAxes();
  if (names.empty() || shardings.getMesh().getNames().empty())
    return ArrayAttr::get(context, {});
  Attribute mesh;
  for (auto list : {op.getInShardings(), op.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : list.getShardings())
      mesh = sharding.getMeshOrRef();
  if (!mesh)
    return ArrayAttr::get(context, {});
  // A dimension that is cut by all of them.
  SmallVector<sdy::AxisRefAttr> axes;
  for (StringAttr name : names)
    axes.push_back(
        sdy::AxisRefAttr::get(context, name, /*pre_size=*/0, /*size=*/0));
  auto dim = sdy::DimensionShardingAttr::get(context, axes, /*is_closed=*/true,
                                             /*priority=*/-1);
  FailureOr<ShardingAttr> sharding = shardings.convert(
      op.getLoc(), sdy::TensorShardingAttr::get(context, mesh, dim, {}, {}),
      /*rank=*/1);
  if (failed(sharding))
    return failure();
  return sharding->getDims().front();
}

void ManualLowering::inlineRegion(sdy::ManualComputationOp op) {
  Block &block = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip_equal(block.getArguments(), op.getTensors()))
    argument.replaceAllUsesWith(input);
  op.replaceAllUsesWith(block.getTerminator()->getOperands());
  block.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations());
  op.erase();
}

/// Returns `value` as a tensor of `type`, which differs in the sign of integers
/// only. The cast vanishes when the operations around it are lowered.
static Value castSign(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

static Type getSignless(Type type) {
  return withElements(type, removeSign(getElementTypeOrSelf(type)));
}

LogicalResult ManualLowering::lower(sdy::ManualComputationOp op) {
  FailureOr<ArrayAttr> axes = getAxes(op);
  if (failed(axes))
    return failure();
  if (axes->empty()) {
    inlineRegion(op);
    return success();
  }
  auto in = convert(op, op.getOperandTypes(), op.getInShardings());
  auto out = convert(op, op.getResultTypes(), op.getOutShardings());
  if (failed(in) || failed(out))
    return failure();
  SmallVector<Value> inputs(op.getTensors());
  takeCaptures(op, inputs, *in);
  OpBuilder b(op);
  Location loc = op.getLoc();
  for (Value &input : inputs)
    input = castSign(b, loc, input, getSignless(input.getType()));
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), getSignless);
  auto manual = ManualOp::create(b, loc, types, inputs, *axes,
                                 b.getArrayAttr(*in), b.getArrayAttr(*out));
  manual.getBody().takeBody(op.getBody());
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), manual.getOutputs()))
    result.replaceAllUsesWith(castSign(b, loc, value, result.getType()));
  op.erase();
  Block &block = manual.getBody().front();
  b.setInsertionPointToStart(&block);
  for (BlockArgument argument : block.getArguments()) {
    Type type = argument.getType();
    argument.setType(getSignless(type));
    Value cast = castSign(b, argument.getLoc(), argument, type);
    if (cast != argument)
      argument.replaceAllUsesExcept(cast, cast.getDefiningOp());
  }
  Operation *end = block.getTerminator();
  b.setInsertionPoint(end);
  SmallVector<Value> values;
  for (Value value : end->getOperands())
    values.push_back(
        castSign(b, end->getLoc(), value, getSignless(value.getType())));
  mlir::pathways::YieldOp::create(b, end->getLoc(), values);
  end->erase();
  return success();
}

LogicalResult ManualLowering::run(ModuleOp module) {
  // Inlining may copy operations that are not lowered yet.
  SmallVector<sdy::ManualComputationOp> ops;
  module.walk<WalkOrder::PreOrder>([&](sdy::ManualComputationOp op) {
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (sdy::ManualComputationOp op : ops)
    if (failed(inlineCalls(op)))
      return failure();
  ops.clear();
  module.walk([&](sdy::ManualComputationOp op) { ops.push_back(op); });
  for (sdy::ManualComputationOp op : ops)
    if (failed(lower(op)))
      return failure();
  return success();
}

LogicalResult
mlir::pathways::lowerManualComputations(ModuleOp module, SymbolTable &symbols,
                                        const Shardings &shardings) {
  return ManualLowering(symbols, shardings).run(module);
}
