//===- Layouts.cpp - Layout arithmetic for pw types -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Support/ElementTypes.h"

using namespace mlir;
using namespace mlir::pathways;
namespace layout = ::pathways::layout;

layout::Reduction mlir::pathways::toReduction(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Add:
    return layout::Reduction::kAdd;
  case ReductionKind::Mul:
    return layout::Reduction::kMul;
  case ReductionKind::Max:
    return layout::Reduction::kMax;
  case ReductionKind::Min:
    return layout::Reduction::kMin;
  case ReductionKind::Umax:
    return layout::Reduction::kUMax;
  case ReductionKind::Umin:
    return layout::Reduction::kUMin;
  case ReductionKind::And:
    return layout::Reduction::kAnd;
  case ReductionKind::Or:
    return layout::Reduction::kOr;
  case ReductionKind::Xor:
    return layout::Reduction::kXor;
  }
  llvm_unreachable("unknown reduction");
}

layout::Mesh mlir::pathways::toMesh(MeshAttr mesh) {
  layout::Mesh result;
  result.reserve(mesh.getNames().size());
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    result.push_back({name.str(), size});
  return result;
}

layout::Layout mlir::pathways::toLayout(ArrayType type) {
  layout::Layout result;
  result.shape.assign(type.getShape().begin(), type.getShape().end());
  for (ArrayAttr axes : type.getSharding().getDims()) {
    std::vector<std::string> &names = result.dims.emplace_back();
    for (auto axis : axes.getAsRange<StringAttr>())
      names.push_back(axis.str());
  }
  for (StringAttr axis : type.getSharding().getPartialAxes())
    result.partial.push_back(axis.str());
  if (ReductionKindAttr kind = type.getSharding().getPartialKind())
    result.reduction = toReduction(kind.getValue());
  return result;
}

LogicalResult
mlir::pathways::verifyLayout(function_ref<InFlightDiagnostic()> emitError,
                             ArrayType type, SliceOp slice) {
  auto check = [&](StringAttr axis) -> LogicalResult {
    if (slice.getMesh().getAxisIndex(axis) >= 0)
      return success();
    InFlightDiagnostic diagnostic = emitError();
    diagnostic << "type " << type << " names axis " << axis << ", but slice '"
               << slice.getSymName() << "' has mesh " << slice.getMesh();
    diagnostic.attachNote(slice.getLoc())
        << "slice '" << slice.getSymName() << "' is declared here";
    return diagnostic;
  };
  for (ArrayAttr axes : type.getSharding().getDims())
    for (auto axis : axes.getAsRange<StringAttr>())
      if (failed(check(axis)))
        return failure();
  for (StringAttr axis : type.getSharding().getPartialAxes())
    if (failed(check(axis)))
      return failure();
  return success();
}

SmallVector<int64_t> mlir::pathways::getShardShape(ArrayType type,
                                                   MeshAttr mesh) {
  std::vector<int64_t> shape = layout::ShardShape(toLayout(type), toMesh(mesh));
  return SmallVector<int64_t>(shape.begin(), shape.end());
}

RankedTensorType mlir::pathways::getShardTensorType(ArrayType type,
                                                    MeshAttr mesh) {
  return RankedTensorType::get(getShardShape(type, mesh),
                               getTensorElementType(type.getElementType()));
}

bool mlir::pathways::isEven(ArrayType type, MeshAttr mesh) {
  return layout::IsEven(toLayout(type), toMesh(mesh));
}

int64_t mlir::pathways::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

SliceOp mlir::pathways::lookupSlice(SymbolTableCollection &symbols,
                                    Operation *from, FlatSymbolRefAttr slice) {
  return symbols.lookupNearestSymbolFrom<SliceOp>(from, slice);
}
