//===- GspmdShardings.cpp - Modules with shardings of XLA -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GspmdShardings.h"
#include "StageMarks.h"

#include "mlir/IR/Builders.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

static constexpr StringLiteral kShardingText = "mhlo.sharding";
static constexpr StringLiteral kConstraintCall = "Sharding";
static constexpr StringLiteral kEntryCall = "SPMDFullToShardShape";
static constexpr StringLiteral kExitCall = "SPMDShardToFullShape";

/// Returns the call of `name` that `op` is, or null.
static stablehlo::CustomCallOp getXlaCall(Operation *op, StringRef name) {
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == name ? call
                                                  : stablehlo::CustomCallOp();
}

static StringAttr getShardingText(Operation *op) {
  return op->getAttrOfType<StringAttr>(kShardingText);
}

/// Returns the dimensions that the backend_config of `call` leaves open.
static FailureOr<SmallVector<int64_t>>
getCallOpenDims(stablehlo::CustomCallOp call) {
  SmallVector<int64_t> dims;
  auto config = dyn_cast_or_null<StringAttr>(call.getBackendConfigAttr());
  if (config && failed(addOpenDims(config.getValue(), dims)))
    return call.emitOpError("expected backend_config to be empty or "
                            "unspecified_dims=[..], got ")
           << config << Tag(ErrorId::kPartitioned);
  return dims;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

func::FuncOp GspmdShardings::getEntryFunction() {
  return module.lookupSymbol<func::FuncOp>("main");
}

FailureOr<GspmdShardings::Tiling *> GspmdShardings::getTiling(StringAttr text,
                                                              Location loc) {
  auto known = tilings.find(text.getValue());
  if (known != tilings.end())
    return &known->second;
  FailureOr<GspmdSharding> sharding =
      parseGspmdSharding(text.getValue(), [&] { return emitError(loc); });
  if (failed(sharding))
    return failure();
  Grid grid{sharding->tiles, sharding->order,
            /*cuts=*/{}, ("the sharding \"" + text.getValue() + "\"").str(),
            loc};
  auto [entry, isNew] = tilings.try_emplace(
      text.getValue(), Tiling{std::move(*sharding), std::move(grid)});
  order.push_back(entry->first());
  return &entry->second;
}

LogicalResult GspmdShardings::read() {
  auto readText = [&](Attribute text, Location loc) -> LogicalResult {
    auto string = dyn_cast_or_null<StringAttr>(text);
    return success(!string || succeeded(getTiling(string, loc)));
  };
  if (func::FuncOp entry = getEntryFunction()) {
    for (BlockArgument argument : entry.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (!entry.getArgAttr(index, sdy::kShardingAttrName) &&
          failed(readText(entry.getArgAttr(index, kShardingText),
                          argument.getLoc())))
        return failure();
    }
    for (unsigned i = 0, e = entry.getNumResults(); i != e; ++i)
      if (!entry.getResultAttr(i, sdy::kShardingAttrName) &&
          failed(
              readText(entry.getResultAttr(i, kShardingText), entry.getLoc())))
        return failure();
  }
  WalkResult walked = module.walk([&](stablehlo::CustomCallOp call) {
    StringRef name = call.getCallTargetName();
    if (name != kConstraintCall && name != kEntryCall && name != kExitCall)
      return WalkResult::advance();
    if (call.getNumOperands() != 1 || call.getNumResults() != 1 ||
        !getShardingText(call)) {
      call.emitOpError("calls @")
          << name << " with " << call.getNumOperands() << " operands and "
          << call.getNumResults() << " results"
          << (getShardingText(call) ? "" : ", without 'mhlo.sharding'")
          << "; expected one each, and a sharding"
          << Tag(ErrorId::kPartitioned);
      return WalkResult::interrupt();
    }
    return failed(readText(getShardingText(call), call.getLoc()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

SmallVector<const Grid *> GspmdShardings::getGrids() const {
  SmallVector<const Grid *> grids;
  for (StringRef text : order) {
    const Tiling &tiling = tilings.find(text)->second;
    // A grid of one device cuts nothing.
    if (tiling.sharding.kind == GspmdSharding::Kind::Tiled &&
        tiling.grid.getNumPartitions() > 1)
      grids.push_back(&tiling.grid);
  }
  return grids;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

FailureOr<sdy::TensorShardingAttr>
GspmdShardings::convert(const UnifiedMesh &mesh, StringAttr text, Location loc,
                        Type type, ArrayRef<int64_t> openDims) {
  FailureOr<Tiling *> tiling = getTiling(text, loc);
  if (failed(tiling))
    return failure();
  const GspmdSharding &sharding = (*tiling)->sharding;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || sharding.kind == GspmdSharding::Kind::Free)
    return sdy::TensorShardingAttr();
  int64_t rank = tensor.getRank();
  bool isTiled = sharding.kind == GspmdSharding::Kind::Tiled;
  if (isTiled && sharding.getRank() != rank)
    return emitError(loc) << (*tiling)->grid.what << " has tile sizes for "
                          << sharding.getRank() << " dimensions, but " << type
                          << " has " << rank << Tag(ErrorId::kPartitioned);
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<sdy::AxisRefAttr> axes;
    if (isTiled && sharding.tiles[dim] > 1) {
      auto [low, high] = (*tiling)->grid.getRange(dim);
      axes = mesh.getAxes((*tiling)->grid, low, high);
    }
    bool isOpen = llvm::is_contained(sharding.openDims, dim) ||
                  llvm::is_contained(openDims, dim);
    dims.push_back(sdy::DimensionShardingAttr::get(module.getContext(), axes,
                                                   !isOpen, -1));
  }
  return mesh.getSharding(dims);
}

LogicalResult GspmdShardings::rewriteFunction(const UnifiedMesh &mesh) {
  func::FuncOp entry = getEntryFunction();
  if (!entry)
    return success();
  for (BlockArgument argument : entry.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto text = entry.getArgAttrOfType<StringAttr>(index, kShardingText);
    if (!text || entry.getArgAttr(index, sdy::kShardingAttrName))
      continue;
    FailureOr<sdy::TensorShardingAttr> sharding =
        convert(mesh, text, argument.getLoc(), argument.getType());
    if (failed(sharding))
      return failure();
    if (*sharding)
      entry.setArgAttr(index, sdy::kShardingAttrName, *sharding);
  }
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes())) {
    auto text = entry.getResultAttrOfType<StringAttr>(index, kShardingText);
    if (!text || entry.getResultAttr(index, sdy::kShardingAttrName))
      continue;
    FailureOr<sdy::TensorShardingAttr> sharding =
        convert(mesh, text, entry.getLoc(), type);
    if (failed(sharding))
      return failure();
    if (*sharding)
      entry.setResultAttr(index, sdy::kShardingAttrName, *sharding);
  }
  return success();
}

FailureOr<sdy::ManualAxesAttr>
GspmdShardings::getManualAxes(const UnifiedMesh &mesh, StringAttr text,
                              Location loc) {
  FailureOr<Tiling *> tiling = getTiling(text, loc);
  if (failed(tiling))
    return failure();
  const GspmdSharding &sharding = (*tiling)->sharding;
  SmallVector<StringAttr> names;
  auto add = [&](StringRef name) {
    names.push_back(StringAttr::get(module.getContext(), name));
  };
  if (sharding.kind != GspmdSharding::Kind::Tiled) {
    for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes())
      add(axis.getName());
  } else {
    for (auto [i, isManual] : llvm::enumerate(sharding.isManual)) {
      if (!isManual)
        continue;
      auto [low, high] = (*tiling)->grid.getRange(sharding.getRank() + i);
      for (sdy::AxisRefAttr axis : mesh.getAxes((*tiling)->grid, low, high))
        add(axis.getName());
    }
    if (names.empty())
      return emitError(loc) << (*tiling)->grid.what
                            << " has no manual part; expected one of a shard"
                            << Tag(ErrorId::kPartitioned);
  }
  return sdy::ManualAxesAttr::get(module.getContext(), names);
}

/// Returns the layout that `call`, which makes shards, takes its operand in:
/// that of the constraint before it.
FailureOr<Crossing> GspmdShardings::getEntry(const UnifiedMesh &mesh,
                                             stablehlo::CustomCallOp call) {
  Location loc = call.getLoc();
  Value operand = call.getOperand(0);
  StringAttr text;
  SmallVector<int64_t> openDims;
  if (auto constraint = getXlaCall(operand.getDefiningOp(), kConstraintCall)) {
    text = getShardingText(constraint);
    FailureOr<SmallVector<int64_t>> dims = getCallOpenDims(constraint);
    if (failed(dims))
      return failure();
    openDims = std::move(*dims);
  } else if (auto argument = dyn_cast<BlockArgument>(operand)) {
    func::FuncOp entry = getEntryFunction();
    if (entry && argument.getOwner() == &entry.front())
      text = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                kShardingText);
  }
  if (!text)
    text = StringAttr::get(module.getContext(), "{replicated}");
  FailureOr<sdy::TensorShardingAttr> sharding =
      convert(mesh, text, loc, operand.getType(), openDims);
  FailureOr<sdy::ManualAxesAttr> axes =
      getManualAxes(mesh, getShardingText(call), loc);
  if (failed(sharding) || failed(axes))
    return failure();
  if (!*sharding)
    return call.emitOpError("makes shards, but the sharding before it is ")
           << text << Tag(ErrorId::kPartitioned);
  return Crossing{/*isEntry=*/true, {*sharding}, *axes};
}

FailureOr<Crossing> GspmdShardings::getExit(const UnifiedMesh &mesh,
                                            stablehlo::CustomCallOp call) {
  Location loc = call.getLoc();
  FailureOr<SmallVector<int64_t>> openDims = getCallOpenDims(call);
  if (failed(openDims))
    return failure();
  FailureOr<sdy::TensorShardingAttr> sharding = convert(
      mesh, getShardingText(call), loc, call.getResult(0).getType(), *openDims);
  // The constraint before the call says which axes are manual.
  auto constraint =
      getXlaCall(call.getOperand(0).getDefiningOp(), kConstraintCall);
  FailureOr<sdy::ManualAxesAttr> axes = getManualAxes(
      mesh,
      constraint ? getShardingText(constraint)
                 : StringAttr::get(module.getContext(), "{manual}"),
      loc);
  if (failed(sharding) || failed(axes))
    return failure();
  if (!*sharding)
    return call.emitOpError("makes a whole array of shards, but its sharding "
                            "is ")
           << getShardingText(call) << Tag(ErrorId::kPartitioned);
  return Crossing{/*isEntry=*/false, {*sharding}, *axes};
}

LogicalResult GspmdShardings::formManualComputations(const UnifiedMesh &mesh,
                                                     Block &block) {
  Crossings crossings;
  for (Operation &op : block) {
    auto entry = getXlaCall(&op, kEntryCall), exit = getXlaCall(&op, kExitCall);
    if (!entry && !exit)
      continue;
    FailureOr<Crossing> crossing =
        entry ? getEntry(mesh, entry) : getExit(mesh, exit);
    if (failed(crossing))
      return failure();
    crossings[&op] = *crossing;
  }
  if (crossings.empty())
    return success();
  return mlir::pathways::formManualComputations(
      block, crossings, llvm::IsaPred<stablehlo::PartitionIdOp>);
}

/// Replaces a call of @Sharding by a constraint, or by its operand if it says
/// nothing about whole arrays.
LogicalResult GspmdShardings::rewriteConstraint(const UnifiedMesh &mesh,
                                                stablehlo::CustomCallOp call) {
  Value operand = call.getOperand(0);
  Type type = call.getResult(0).getType();
  if (operand.getType() != type)
    return call.emitOpError("expected a result of the type of the operand")
           << Tag(ErrorId::kPartitioned);
  FailureOr<Tiling *> tiling = getTiling(getShardingText(call), call.getLoc());
  FailureOr<SmallVector<int64_t>> openDims = getCallOpenDims(call);
  if (failed(tiling) || failed(openDims))
    return failure();
  const GspmdSharding &sharding = (*tiling)->sharding;
  bool isManual = sharding.kind == GspmdSharding::Kind::Manual ||
                  llvm::is_contained(sharding.isManual, true);
  // A manual computation has the shardings of its operands itself.
  bool isRead = llvm::any_of(call->getUsers(), [](Operation *user) {
    return !isa<sdy::ManualComputationOp>(user);
  });
  if (isRead && !isManual) {
    FailureOr<sdy::TensorShardingAttr> converted =
        convert(mesh, getShardingText(call), call.getLoc(), type, *openDims);
    if (failed(converted))
      return failure();
    if (*converted) {
      OpBuilder b(call);
      auto constraint = sdy::ShardingConstraintOp::create(
          b, call.getLoc(), type, operand, *converted);
      setStageMark(constraint, getStageMark(call));
      operand = constraint;
    }
  }
  call.getResult(0).replaceAllUsesWith(operand);
  call.erase();
  return success();
}

LogicalResult GspmdShardings::rewrite(const UnifiedMesh &mesh) {
  llvm::SetVector<Block *> blocks;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (getXlaCall(call, kEntryCall) || getXlaCall(call, kExitCall))
      blocks.insert(call->getBlock());
  });
  for (Block *block : blocks)
    if (failed(formManualComputations(mesh, *block)))
      return failure();
  SmallVector<stablehlo::CustomCallOp> constraints;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (getXlaCall(call, kConstraintCall))
      constraints.push_back(call);
  });
  for (stablehlo::CustomCallOp call : constraints)
    if (failed(rewriteConstraint(mesh, call)))
      return failure();
  return rewriteFunction(mesh);
}
