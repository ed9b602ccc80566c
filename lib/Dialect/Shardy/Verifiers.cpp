//===- Verifiers.cpp - Verifiers of shardings and named regions -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::sdy;

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

LogicalResult sdy::verifySharding(Operation *op, TensorShardingAttr sharding,
                                  Type type) {
  MeshAttr mesh = sharding.getMesh(op);
  if (!mesh)
    return op->emitError("expected a mesh named ") << sharding.getMeshOrRef();
  if (mesh.isMaximal())
    return success();
  SmallVector<AxisRefAttr> axes;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    llvm::append_range(axes, dim.getAxes());
  llvm::append_range(axes, sharding.getReplicatedAxes());
  llvm::append_range(axes, sharding.getUnreducedAxes());
  if (failed(verifyAxes([&] { return op->emitError(); }, axes, mesh)))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getRank() != sharding.getRank())
    return op->emitError("expected a sharding of ")
           << tensor.getRank() << " dimensions for " << type << ", got "
           << sharding;
  return success();
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != kShardingAttrName)
    return success();
  SmallVector<TensorShardingAttr> shardings;
  if (auto list = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue()))
    llvm::append_range(shardings, list.getShardings());
  else if (auto one = dyn_cast<TensorShardingAttr>(attribute.getValue()))
    shardings.push_back(one);
  else
    return op->emitError("expected sdy.sharding to be shardings, got ")
           << attribute.getValue();
  if (shardings.size() != op->getNumResults())
    return op->emitError("expected a sharding for each of ")
           << op->getNumResults() << " results, got " << shardings.size();
  for (auto [sharding, type] : llvm::zip(shardings, op->getResultTypes()))
    if (failed(verifySharding(op, sharding, type)))
      return failure();
  return success();
}

/// Verifies the sharding of one argument or result of a function.
static LogicalResult verifyFunctionSharding(Operation *op,
                                            NamedAttribute attribute,
                                            TypeRange types, unsigned index) {
  if (attribute.getName() != kShardingAttrName)
    return success();
  auto sharding = dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding)
    return op->emitError("expected sdy.sharding to be a sharding, got ")
           << attribute.getValue();
  return index < types.size() ? verifySharding(op, sharding, types[index])
                              : success();
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned index,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyFunctionSharding(
      op, attribute, function ? function.getArgumentTypes() : TypeRange(),
      index);
}

LogicalResult
SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                        NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyFunctionSharding(
      op, attribute, function ? function.getResultTypes() : TypeRange(), index);
}

LogicalResult ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySharding(*this, getSharding(), getResult().getType()); // (C1)
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySharding(*this, getSharding(), getResult().getType()); // (C1)
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Verifies that `region` takes `arguments` and ends with an OpTy that returns
/// `results`.
template <typename OpTy>
static LogicalResult verifyBody(Operation *op, Region &region,
                                TypeRange arguments, TypeRange results) {
  Block &block = region.front();
  if (TypeRange(block.getArgumentTypes()) != arguments)
    return op->emitOpError("expected the region to take (")
           << arguments << "), got (" << block.getArgumentTypes() << ")";
  auto end = block.empty() ? OpTy() : dyn_cast<OpTy>(block.back());
  if (!end)
    return op->emitOpError("expected the region to end with ")
           << OpTy::getOperationName();
  if (TypeRange(end->getOperandTypes()) != results)
    return op->emitOpError("expected the region to return (")
           << results << "), got (" << end->getOperandTypes() << ")";
  return success();
}

LogicalResult ManualComputationOp::verify() {
  if (getInShardings().getShardings().size() != getNumOperands() ||
      getOutShardings().getShardings().size() != getNumResults()) // (C1)
    return emitOpError("expected a sharding for each of ")
           << getNumOperands() << " operands and " << getNumResults()
           << " results, got " << getInShardings().getShardings().size()
           << " and " << getOutShardings().getShardings().size();
  return success();
}

/// Returns the type of one shard along `manual` axes. A caller has verified
/// that the sharding fits the mesh and `type`.
static FailureOr<Type> getLocalType(Operation *op, Type type,
                                    TensorShardingAttr sharding, MeshAttr mesh,
                                    ArrayRef<StringAttr> manual) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || mesh.isMaximal())
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [i, dim] : llvm::enumerate(sharding.getDimShardings())) {
    bool isManual = true;
    for (AxisRefAttr axis : dim.getAxes()) {
      bool isAxisManual = llvm::any_of(manual, [&](StringAttr name) {
        return name.getValue() == axis.getName();
      });
      if (isAxisManual && !isManual) { // (C3)
        op->emitOpError("expected manual axes before others in a dimension, "
                        "got ")
            << sharding;
        return failure();
      }
      isManual = isAxisManual;
      if (!isManual)
        continue;
      int64_t size = axis.isWholeAxis() ? mesh.getAxisSize(axis.getName())
                                        : axis.getSize();
      if (shape[i] % size != 0) { // (C4)
        op->emitOpError("expected axis \"")
            << axis.getName() << "\" of size " << size
            << " to divide dimension " << i << " of " << type;
        return failure();
      }
      shape[i] /= size;
    }
  }
  return Type(tensor.clone(shape));
}

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &) {
  Attribute meshName;
  ArrayRef<StringAttr> manual = getManualAxes().getAxes();
  auto getTypes = [&](TensorShardingPerValueAttr shardings, TypeRange types,
                      SmallVectorImpl<Type> &local) -> LogicalResult {
    for (auto [sharding, type] : llvm::zip(shardings.getShardings(), types)) {
      if (failed(verifySharding(*this, sharding, type))) // (C1)
        return failure();
      MeshAttr mesh = sharding.getMesh(*this);
      if (meshName && meshName != sharding.getMeshOrRef()) // (C2)
        return emitOpError("expected the same mesh in all shardings, got ")
               << meshName << " and " << sharding.getMeshOrRef();
      meshName = sharding.getMeshOrRef();
      for (StringAttr axis : manual)
        if (mesh.getAxisSize(axis) == 0) // (C2)
          return emitOpError("expected manual axis ")
                 << axis << " to be an axis of " << mesh;
      FailureOr<Type> localType =
          getLocalType(*this, type, sharding, mesh, manual);
      if (failed(localType))
        return failure();
      local.push_back(*localType);
    }
    return success();
  };
  SmallVector<Type> arguments, results;
  if (failed(getTypes(getInShardings(), getOperandTypes(), arguments)) ||
      failed(getTypes(getOutShardings(), getResultTypes(), results)))
    return failure();
  return verifyBody<sdy::ReturnOp>(*this, getBody(), arguments,
                                   results); // (C4)
}

LogicalResult sdy::NamedComputationOp::verify() {
  if ((getInShardings() &&
       getInShardings()->getShardings().size() != getNumOperands()) ||
      (getOutShardings() &&
       getOutShardings()->getShardings().size() != getNumResults())) // (C2)
    return emitOpError("expected a sharding for each operand and result");
  return verifyBody<sdy::ReturnOp>(*this, getBody(), getOperandTypes(),
                                   getResultTypes()); // (C1)
}

LogicalResult mpmd::NamedComputationOp::verify() {
  return verifyBody<mpmd::ReturnOp>(*this, getRegion(), getOperandTypes(),
                                    getResultTypes()); // (C1)
}

LogicalResult mpmd::CallOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *callee = tables.lookupNearestSymbolFrom(*this, getCalleeAttr());
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (!function) // (C1)
    return emitOpError("expected a function named ") << getCallee();
  if (TypeRange(function.getArgumentTypes()) != TypeRange(getOperandTypes()) ||
      TypeRange(function.getResultTypes()) != TypeRange(getResultTypes())) {
    InFlightDiagnostic error = emitOpError(
        "expected the callee to have the types of operands and results");
    error.attachNote(callee->getLoc()) << getCallee() << " is defined here";
    return error;
  }
  return success();
}
