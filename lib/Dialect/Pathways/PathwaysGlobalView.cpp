//===- PathwaysGlobalView.cpp - Verifiers of the global view --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the operations that only functions in global view have. (C1), (C2),
// ... are the numbered constraints of the operations' descriptions. CallOp
// verifies what depends on the call.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Pathways.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

LogicalResult ConstrainOp::verify() {
  auto function = (*this)->getParentOfType<func::FuncOp>();
  if (function && function->hasAttr(PathwaysDialect::kLocalViewAttrName)) {
    InFlightDiagnostic diagnostic = // (C1)
        emitOpError("is only allowed in functions in global view; in local "
                    "view each value is already a shard");
    diagnostic.attachNote(function.getLoc())
        << "function '" << function.getSymName() << "' has '"
        << PathwaysDialect::kLocalViewAttrName << "'";
    return diagnostic;
  }
  ShardingAttr sharding = getSharding();
  for (ArrayAttr axes : sharding.getDims())
    for (Attribute axis : axes)
      if (ManualOp::isManualAt(*this, axis)) // (C7) of ManualOp
        return emitOpError("names axis ")
               << axis
               << ", which is manual here; each shard along it has a value of "
                  "its own";
  if (static_cast<int64_t>(sharding.getDims().size()) != // (C2)
      getType().getRank())
    return emitOpError("has axes for ")
           << sharding.getDims().size() << " dimensions, but " << getType()
           << " has " << getType().getRank();
  if (sharding.isPartial()) // (C3)
    return emitOpError(
        "has a partial sharding, which a constraint may not have; the "
        "partitioner decides where to keep contributions");
  for (Operation *user : getSource().getUsers()) {
    auto other = dyn_cast<ConstrainOp>(user);
    if (!other || other == *this || other->getBlock() != (*this)->getBlock() ||
        !other->isBeforeInBlock(*this) ||
        other.getSharding().getDims().size() != sharding.getDims().size())
      continue;
    for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
      if (axes == other.getSharding().getDims()[dim] || sharding.isOpen(dim) ||
          other.getSharding().isOpen(dim))
        continue;
      InFlightDiagnostic diagnostic = // (C4)
          emitOpError("cuts dimension ")
          << dim << " over " << axes << ", but the same value is cut over "
          << other.getSharding().getDims()[dim]
          << " by an earlier constraint; constrain the result of that "
             "constraint instead";
      diagnostic.attachNote(other.getLoc()) << "it is constrained here";
      return diagnostic;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Manual computations
//===----------------------------------------------------------------------===//

mlir::pathways::YieldOp ManualOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

bool ManualOp::isManualAt(Operation *op, Attribute axis) {
  for (auto around = op->getParentOfType<ManualOp>(); around;
       around = around->getParentOfType<ManualOp>())
    if (around.isManual(axis))
      return true;
  return false;
}

/// Checks (C3) to (C5) for one sharding, of `what`, a tensor of `type`.
static LogicalResult verifySharding(ManualOp op, ShardingAttr sharding,
                                    bool isResult, const Twine &what,
                                    RankedTensorType type) {
  if (static_cast<int64_t>(sharding.getDims().size()) != type.getRank()) // (C3)
    return op.emitOpError("has axes for ")
           << sharding.getDims().size() << " dimensions of " << what << ", but "
           << type << " has " << type.getRank();
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    bool isBehind = false; // true behind an axis that is not manual
    for (Attribute axis : axes) {
      if (ManualOp::isManualAt(op, axis)) // (C4)
        return op.emitOpError("names axis ")
               << axis << " in the sharding of " << what
               << ", which is manual in a 'pw.manual' around it";
      if (isBehind && op.isManual(axis)) // (C4)
        return op.emitOpError(
                   "expected manual axes before others in dimension ")
               << dim << " of " << what << ", got " << axes;
      isBehind |= !op.isManual(axis);
    }
  }
  if (sharding.isPartial() && !isResult) // (C5)
    return op.emitOpError("has a partial sharding of ")
           << what << "; its region takes the sum";
  for (StringAttr axis : sharding.getPartialAxes())
    if (!op.isManual(axis)) // (C5)
      return op.emitOpError("has contributions over axis ")
             << axis << " as " << what << "; expected manual axes, "
             << op.getAxes();
  return success();
}

LogicalResult ManualOp::verify() {
  auto function = (*this)->getParentOfType<func::FuncOp>();
  if (!function || function->hasAttr(PathwaysDialect::kLocalViewAttrName)) {
    InFlightDiagnostic diagnostic = // (C1)
        emitOpError("is only allowed in functions in global view");
    if (function)
      diagnostic.attachNote(function.getLoc())
          << "function '" << function.getSymName() << "' has '"
          << PathwaysDialect::kLocalViewAttrName << "'";
    return diagnostic;
  }
  if (getAxes().empty()) // (C2)
    return emitOpError("names no manual axis");
  llvm::StringSet<> seen;
  for (auto axis : getAxes().getAsRange<StringAttr>()) {
    if (axis.empty()) // (C2)
      return emitOpError("names an axis without a name");
    if (!seen.insert(axis).second) // (C2)
      return emitOpError("names axis ") << axis << " twice";
    if (isManualAt(*this, axis)) // (C2)
      return emitOpError("names axis ")
             << axis << ", which is manual in a 'pw.manual' around it";
  }
  if (getInShardings().size() != getInputs().size() ||
      getOutShardings().size() != getOutputs().size()) // (C3)
    return emitOpError("expected a sharding for each of ")
           << getInputs().size() << " operands and " << getOutputs().size()
           << " results, got " << getInShardings().size() << " and "
           << getOutShardings().size();
  for (auto [index, value] : llvm::enumerate(getInputs()))
    if (failed(verifySharding(*this, getInSharding(index), /*isResult=*/false,
                              "operand " + Twine(index),
                              cast<RankedTensorType>(value.getType()))))
      return failure();
  for (auto [index, value] : llvm::enumerate(getOutputs()))
    if (failed(verifySharding(*this, getOutSharding(index), /*isResult=*/true,
                              "result " + Twine(index),
                              cast<RankedTensorType>(value.getType()))))
      return failure();
  return success();
}

/// Checks (C6) for one tensor: `local` is in the region, and is outside `type`.
static LogicalResult verifyLocal(ManualOp op, ShardingAttr sharding,
                                 const Twine &what, Type type, Type local) {
  auto whole = cast<RankedTensorType>(type);
  auto part = dyn_cast<RankedTensorType>(local);
  if (!part || part.getRank() != whole.getRank() ||
      part.getElementType() != whole.getElementType())
    return op.emitOpError("has ")
           << what << " of type " << type << ", but " << local
           << " in the region; expected the same element type and rank";
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    int64_t size = whole.getDimSize(dim), rest = part.getDimSize(dim);
    bool isCut = !axes.empty() && op.isManual(axes[0]);
    if (isCut ? size == rest || (rest > 0 && size % rest == 0) : size == rest)
      continue;
    return op.emitOpError("has ")
           << what << " of type " << type << ", but " << local
           << " in the region: "
           << (isCut ? "equal blocks do not make up dimension "
                     : "no manual axis cuts dimension ")
           << dim;
  }
  return success();
}

LogicalResult ManualOp::verifyRegions() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield) // (C6)
    return emitOpError("expected a region that ends with 'pw.yield'");
  if (block.getNumArguments() != getInputs().size() ||
      yield.getValues().size() != getOutputs().size()) // (C6)
    return emitOpError("has ")
           << getInputs().size() << " operands and " << getOutputs().size()
           << " results, but its region takes " << block.getNumArguments()
           << " and returns " << yield.getValues().size();
  for (auto [index, value] : llvm::enumerate(getInputs()))
    if (failed(verifyLocal(*this, getInSharding(index),
                           "operand " + Twine(index), value.getType(),
                           block.getArgument(index).getType())))
      return failure();
  for (auto [index, value] : llvm::enumerate(getOutputs()))
    if (failed(verifyLocal(*this, getOutSharding(index),
                           "result " + Twine(index), value.getType(),
                           yield.getValues()[index].getType())))
      return failure();
  return success();
}

std::string mlir::pathways::detail::findWrongShape(ManualOp op, MeshAttr mesh) {
  std::string wrong;
  auto check = [&](StringRef kind, unsigned index, ShardingAttr sharding,
                   Type type, Type local) {
    for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
      int64_t blocks = 1;
      for (auto axis : axes.getAsRange<StringAttr>())
        if (op.isManual(axis))
          blocks *= mesh.getSizes()[mesh.getAxisIndex(axis)];
      int64_t size = cast<RankedTensorType>(type).getDimSize(dim);
      int64_t rest = cast<RankedTensorType>(local).getDimSize(dim);
      if (size % blocks == 0 && size / blocks == rest)
        continue;
      llvm::raw_string_ostream(wrong)
          << "has a 'pw.manual' with " << kind << ' ' << index << " of type '"
          << type << "', but '" << local << "' in its region: " << blocks
          << " shards along its axes cut dimension " << dim << " of " << size
          << (size % blocks == 0
                  ? " elements into blocks of " + std::to_string(size / blocks)
                  : std::string(" elements, which they do not divide"));
      return false;
    }
    return true;
  };
  for (auto [index, value] : llvm::enumerate(op.getInputs()))
    if (!check("operand", index, op.getInSharding(index), value.getType(),
               op.getBody().getArgument(index).getType()))
      return wrong;
  for (auto [index, value] : llvm::enumerate(op.getOutputs()))
    if (!check("result", index, op.getOutSharding(index), value.getType(),
               op.getYield().getValues()[index].getType()))
      return wrong;
  return wrong;
}
