//===- UnifiedMesh.cpp - A mesh that takes the place of others ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnifyShardings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> mlir::pathways::getRange(sdy::MeshAttr mesh,
                                                     const Grid &grid,
                                                     sdy::AxisRefAttr axis) {
  for (auto [dim, meshAxis] : llvm::enumerate(mesh.getAxes())) {
    if (meshAxis.getName() != axis.getName())
      continue;
    auto [low, high] = grid.getRange(dim);
    if (axis.isWholeAxis())
      return {low, high};
    low *= meshAxis.getSize() / (axis.getPreSize() * axis.getSize());
    return {low, low * axis.getSize()};
  }
  return {1, 1};
}

UnifiedMesh::UnifiedMesh(MLIRContext *context, const MeshRefinement &refinement,
                         sdy::MeshAttr first, const Grid *grid,
                         StringAttr symbol)
    : context(context), refinement(refinement), first(first), symbol(symbol),
      names(refinement.getAxes().size()) {
  llvm::StringSet<> taken;
  if (first)
    for (sdy::MeshAxisAttr axis : first.getAxes())
      taken.insert(axis.getName());
  SmallVector<sdy::MeshAxisAttr> axes, single;
  bool isInOrder = true;
  unsigned next = 0;
  for (auto [dim, axis] : llvm::enumerate(
           first ? first.getAxes() : ArrayRef<sdy::MeshAxisAttr>())) {
    auto [low, high] = grid->getRange(dim);
    SmallVector<unsigned> parts = refinement.getAxes(*grid, low, high);
    for (auto [i, part] : llvm::enumerate(parts)) {
      std::string name = axis.getName().str();
      if (parts.size() > 1) {
        name += "." + std::to_string(i);
        while (!taken.insert(name).second)
          name += "_";
      }
      isInOrder &= part == next++;
      names[part] = name;
      axes.push_back(sdy::MeshAxisAttr::get(context, name,
                                            refinement.getAxes()[part].size));
    }
    // An axis of size 1 cuts nothing, but a run may give it another size.
    if (parts.empty()) {
      axes.push_back(axis);
      single.push_back(axis);
    }
  }
  if (!first || !isInOrder) {
    axes.clear();
    for (auto [i, axis] : llvm::enumerate(refinement.getAxes())) {
      if (!first)
        names[i] = "d" + std::to_string(i);
      axes.push_back(sdy::MeshAxisAttr::get(context, names[i], axis.size));
    }
    axes.append(single);
  }
  mesh = sdy::MeshAttr::get(context, axes, ArrayRef<int64_t>());
}

SmallVector<sdy::AxisRefAttr>
UnifiedMesh::getAxes(const Grid &grid, int64_t low, int64_t high) const {
  SmallVector<sdy::AxisRefAttr> axes;
  if (low < high)
    for (unsigned axis : refinement.getAxes(grid, low, high))
      axes.push_back(sdy::AxisRefAttr::get(context, names[axis], 0, 0));
  return axes;
}

SmallVector<sdy::AxisRefAttr>
UnifiedMesh::getAxes(sdy::MeshAttr old, const Grid &grid,
                     sdy::AxisRefAttr axis) const {
  if (old == first && axis.isWholeAxis() &&
      old.getAxisSize(axis.getName()) == 1)
    return {axis};
  auto [low, high] = getRange(old, grid, axis);
  return getAxes(grid, low, high);
}

sdy::TensorShardingAttr UnifiedMesh::convert(sdy::TensorShardingAttr sharding,
                                             sdy::MeshAttr old,
                                             const Grid *grid) const {
  auto convertAll = [&](ArrayRef<sdy::AxisRefAttr> axes) {
    SmallVector<sdy::AxisRefAttr> converted;
    if (grid)
      for (sdy::AxisRefAttr axis : axes)
        converted.append(getAxes(old, *grid, axis));
    return converted;
  };
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(
        sdy::DimensionShardingAttr::get(context, convertAll(dim.getAxes()),
                                        dim.getIsClosed(), dim.getPriority()));
  return sdy::TensorShardingAttr::get(context, FlatSymbolRefAttr::get(symbol),
                                      dims,
                                      convertAll(sharding.getReplicatedAxes()),
                                      convertAll(sharding.getUnreducedAxes()));
}

sdy::TensorShardingAttr
UnifiedMesh::getSharding(ArrayRef<sdy::DimensionShardingAttr> dims) const {
  return sdy::TensorShardingAttr::get(context, FlatSymbolRefAttr::get(symbol),
                                      dims, ArrayRef<sdy::AxisRefAttr>(),
                                      ArrayRef<sdy::AxisRefAttr>());
}

//===----------------------------------------------------------------------===//
// Shardings of a module
//===----------------------------------------------------------------------===//

/// Calls `visit` for the sharding of each argument and result of `function`.
static LogicalResult rewriteFunction(func::FuncOp function,
                                     ShardingVisitor visit) {
  const auto name =
      StringAttr::get(function.getContext(), sdy::kShardingAttrName);
  auto rewrite = [&](Type type, Attribute attribute, auto set,
                     auto remove) -> LogicalResult {
    auto sharding = dyn_cast_or_null<sdy::TensorShardingAttr>(attribute);
    if (!sharding)
      return success();
    FailureOr<sdy::TensorShardingAttr> other = visit(function, type, sharding);
    if (failed(other))
      return failure();
    if (*other)
      set(*other);
    else
      remove();
    return success();
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(rewrite(
            type, function.getArgAttr(index, name),
            [&, i = index](Attribute other) {
              function.setArgAttr(i, name, other);
            },
            [&, i = index] { function.removeArgAttr(i, name); })))
      return failure();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(rewrite(
            type, function.getResultAttr(index, name),
            [&, i = index](Attribute other) {
              function.setResultAttr(i, name, other);
            },
            [&, i = index] { function.removeResultAttr(i, name); })))
      return failure();
  return success();
}

static LogicalResult rewriteManual(sdy::ManualComputationOp op,
                                   ShardingVisitor visit) {
  auto rewriteAll =
      [&](sdy::TensorShardingPerValueAttr shardings,
          TypeRange types) -> FailureOr<sdy::TensorShardingPerValueAttr> {
    SmallVector<sdy::TensorShardingAttr> others;
    for (auto [sharding, type] :
         llvm::zip_equal(shardings.getShardings(), types)) {
      FailureOr<sdy::TensorShardingAttr> other = visit(op, type, sharding);
      if (failed(other))
        return failure();
      others.push_back(*other ? *other : sharding);
    }
    return sdy::TensorShardingPerValueAttr::get(op.getContext(), others);
  };
  auto in = rewriteAll(op.getInShardings(), op.getOperandTypes());
  auto out = rewriteAll(op.getOutShardings(), op.getResultTypes());
  if (failed(in) || failed(out))
    return failure();
  op.setInShardingsAttr(*in);
  op.setOutShardingsAttr(*out);
  return success();
}

LogicalResult mlir::pathways::rewriteShardings(ModuleOp module,
                                               ShardingVisitor visit) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<func::FuncOp, sdy::ShardingConstraintOp, sdy::ManualComputationOp>(
            op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      if (failed(rewriteFunction(function, visit)))
        return failure();
    } else if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) {
      if (failed(rewriteManual(manual, visit)))
        return failure();
    } else {
      auto constraint = cast<sdy::ShardingConstraintOp>(op);
      FailureOr<sdy::TensorShardingAttr> other =
          visit(op, constraint.getResult().getType(), constraint.getSharding());
      if (failed(other))
        return failure();
      if (*other) {
        constraint.setShardingAttr(*other);
        continue;
      }
      constraint.replaceAllUsesWith(constraint.getInput());
      constraint.erase();
    }
  }
  return success();
}
