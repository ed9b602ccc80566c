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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/error_codes.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

LogicalResult Shardings::read(ModuleOp module, Location place) {
  MLIRContext *context = module.getContext();
  sdy::MeshOp first;
  for (auto op : module.getOps<sdy::MeshOp>()) {
    // A mesh of one device says where a value is, and the program has one
    // place.
    if (op.getMesh().getAxes().empty())
      continue;
    if (!first) {
      first = op;
      continue;
    }
    if (op.getMesh().getAxes() == first.getMesh().getAxes())
      continue;
    InFlightDiagnostic error = op.emitOpError("has other axes than mesh '")
                               << first.getSymName()
                               << "'; expected one mesh in a module"
                               << Tag(ErrorId::kPartitioned);
    error.attachNote(first.getLoc()) << "the other mesh is here";
    return error;
  }
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  int64_t devices = 1;
  if (first) {
    for (sdy::MeshAxisAttr axis : first.getMesh().getAxes()) {
      names.push_back(StringAttr::get(context, axis.getName()));
      sizes.push_back(axis.getSize());
    }
    devices = first.getMesh().getNumDevices();
  }
  mesh = MeshAttr::get(context, names, sizes);
  for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"}) {
    auto count = module->getAttrOfType<IntegerAttr>(name);
    int64_t expected = name == "mhlo.num_partitions" ? devices : 1;
    if (count && count.getInt() > 1 && count.getInt() != expected)
      return emitError(place)
             << "the module is partitioned: '" << name << "' is "
             << count.getInt() << ", expected " << expected
             << (first ? ", the devices of its mesh" : "")
             << Tag(ErrorId::kPartitioned);
  }
  return success();
}

FailureOr<ArrayAttr> Shardings::getAxes(Location loc,
                                        ArrayRef<sdy::AxisRefAttr> axes) const {
  SmallVector<Attribute> names;
  for (sdy::AxisRefAttr axis : axes) {
    auto name = StringAttr::get(mesh.getContext(), axis.getName());
    if (mesh.getAxisIndex(axis.getName()) < 0)
      return emitError(loc)
             << "a sharding names axis '" << axis.getName()
             << "', which the mesh does not have" << Tag(ErrorId::kPartitioned);
    if (!axis.isWholeAxis())
      return emitError(loc)
             << "a sharding names a part of axis '" << axis.getName()
             << "'; expected whole axes" << Tag(ErrorId::kPartitioned);
    names.push_back(name);
  }
  return ArrayAttr::get(mesh.getContext(), names);
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
  if (!sharding.getUnreducedAxes().empty())
    return emitError(loc) << "a sharding is unreduced; expected the sum"
                          << Tag(ErrorId::kPartitioned);
  if (sharding.getRank() != rank)
    return emitError(loc) << "a sharding has " << sharding.getRank()
                          << " dimensions, but its tensor has " << rank
                          << Tag(ErrorId::kPartitioned);
  // Open dimensions must not take axes that are to hold copies.
  bool mayOpen = sharding.getReplicatedAxes().empty();
  SmallVector<ArrayAttr> dims;
  SmallVector<bool> open;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    FailureOr<ArrayAttr> axes = getAxes(loc, dim.getAxes());
    if (failed(axes))
      return failure();
    dims.push_back(*axes);
    open.push_back(mayOpen && !dim.getIsClosed());
  }
  if (!llvm::is_contained(open, true))
    open.clear();
  return ShardingAttr::get(context, dims, ReductionKindAttr(),
                           ArrayRef<StringAttr>(), open);
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
    // ProgramSegments takes what stands directly in a function.
    auto manual = dyn_cast<sdy::ManualComputationOp>(op);
    if (isa<sdy::MeshOp>(op) || isa<sdy::ReturnOp>(op) ||
        (manual && isa<func::FuncOp>(op->getParentOp())))
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
