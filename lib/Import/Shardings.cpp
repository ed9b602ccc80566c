//===- Shardings.cpp - Meshes and shardings of modules --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shardings.h"
#include "StageMarks.h"
#include "Types.h"
#include "UnifyShardings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/error_codes.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

LogicalResult Shardings::read(ModuleOp module) {
  if (failed(unifyShardings(module)))
    return failure();
  MLIRContext *context = module.getContext();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto op : module.getOps<sdy::MeshOp>())
    for (sdy::MeshAxisAttr axis : op.getMesh().getAxes()) {
      names.push_back(StringAttr::get(context, axis.getName()));
      sizes.push_back(axis.getSize());
    }
  mesh = MeshAttr::get(context, names, sizes);
  return success();
}

FailureOr<SmallVector<StringAttr>>
Shardings::getNames(Location loc, ArrayRef<sdy::AxisRefAttr> axes) const {
  SmallVector<StringAttr> names;
  for (sdy::AxisRefAttr axis : axes) {
    if (mesh.getAxisIndex(axis.getName()) < 0 || !axis.isWholeAxis())
      return emitError(loc)
             << "a sharding names axis '" << axis.getName()
             << "', which the mesh does not have" << Tag(ErrorId::kPartitioned);
    names.push_back(StringAttr::get(mesh.getContext(), axis.getName()));
  }
  return names;
}

FailureOr<ShardingAttr> Shardings::convert(Location loc,
                                           sdy::TensorShardingAttr sharding,
                                           int64_t rank) const {
  MLIRContext *context = mesh.getContext();
  if (mesh.getNames().empty())
    return ShardingAttr::get(
        context, SmallVector<ArrayAttr>(rank, ArrayAttr::get(context, {})));
  if (!sharding)
    return ShardingAttr::getOpen(context, rank);
  if (sharding.getRank() != rank)
    return emitError(loc) << "a sharding has " << sharding.getRank()
                          << " dimensions, but its tensor has " << rank
                          << Tag(ErrorId::kPartitioned);
  FailureOr<SmallVector<StringAttr>> partial =
      getNames(loc, sharding.getUnreducedAxes());
  if (failed(partial))
    return failure();
  // Open dimensions must not take axes that are to hold copies or
  // contributions.
  bool mayOpen = sharding.getReplicatedAxes().empty() && partial->empty();
  SmallVector<ArrayAttr> dims;
  SmallVector<bool> open;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    FailureOr<SmallVector<StringAttr>> names = getNames(loc, dim.getAxes());
    if (failed(names))
      return failure();
    dims.push_back(ArrayAttr::get(
        context, SmallVector<Attribute>(names->begin(), names->end())));
    open.push_back(mayOpen && !dim.getIsClosed());
  }
  if (!llvm::is_contained(open, true))
    open.clear();
  auto kind = partial->empty()
                  ? ReductionKindAttr()
                  : ReductionKindAttr::get(context, ReductionKind::Add);
  return ShardingAttr::get(context, dims, kind, *partial, open);
}

LogicalResult Shardings::lowerConstraint(sdy::ShardingConstraintOp op) const {
  Value input = op.getInput();
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type)
    return op.emitOpError("expected a tensor, got ")
           << input.getType() << Tag(ErrorId::kNotCompilable);
  FailureOr<ShardingAttr> sharding =
      convert(op.getLoc(), op.getSharding(), type.getRank());
  if (failed(sharding))
    return failure();
  // The compiler decides where contributions are added up. Where all axes are
  // manual, a value is a shard already.
  auto manual = op->getParentOfType<ManualOp>();
  if (sharding->isPartial() ||
      (manual && manual.getAxes().size() == mesh.getNames().size())) {
    op.replaceAllUsesWith(input);
    op.erase();
    return success();
  }
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto signless = cast<RankedTensorType>(
      withElements(type, removeSign(type.getElementType())));
  bool hasSign = signless != type;
  // The casts vanish when the operations around them are lowered.
  if (hasSign)
    input = UnrealizedConversionCastOp::create(b, loc, signless, input)
                .getResult(0);
  Value constrained = ConstrainOp::create(b, loc, input, *sharding);
  setStageMark(constrained.getDefiningOp(), getStageMark(op));
  if (hasSign)
    constrained = UnrealizedConversionCastOp::create(b, loc, type, constrained)
                      .getResult(0);
  op.replaceAllUsesWith(constrained);
  op.erase();
  return success();
}

LogicalResult Shardings::lowerConstraints(ModuleOp module) const {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_present<sdy::SdyDialect>(op->getDialect()))
      ops.push_back(op);
  });
  bool hasDevices = !mesh.getNames().empty();
  for (Operation *op : ops) {
    if (isa<sdy::MeshOp>(op))
      continue;
    auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op);
    if (constraint && hasDevices) {
      if (failed(lowerConstraint(constraint)))
        return failure();
    } else if (constraint || isa<sdy::PropagationBarrierOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    } else if (isa<sdy::ShardingGroupOp>(op)) {
      op->erase();
    } else {
      return op->emitOpError("cannot be compiled")
             << Tag(ErrorId::kNotCompilable);
    }
  }
  return success();
}
