//===- Constants.cpp - Constants that are stored in resources -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of a constant may name a resource instead of its elements. Folders
// and later stages read elements, and not all of them support resources.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns the elements of `type` in `data`, whose size fits.
static DenseElementsAttr readElements(ShapedType type, ArrayRef<char> data) {
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, data);
  // A resource stores an i1 as a byte; the attribute stores it as a bit.
  auto bits =
      llvm::map_to_vector(data, [](char byte) -> bool { return byte != 0; });
  return DenseElementsAttr::get(type, bits);
}

LogicalResult kernel::readResources(func::FuncOp func) {
  WalkResult walk = func.walk([](arith::ConstantOp op) -> WalkResult {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!resource)
      return WalkResult::advance();
    ShapedType type = resource.getType();
    Type element = type.getElementType();
    StringRef name = resource.getRawHandle().getKey();
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return op.emitOpError("resource '") << name << "' does not exist";
    ArrayRef<char> data = blob->getData();
    uint64_t width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    uint64_t wanted = type.getNumElements() * llvm::divideCeil(width, 8);
    if (data.size() != wanted)
      return op.emitOpError("expected ")
             << wanted << " bytes of " << type << " in resource '" << name
             << "', got " << data.size();
    op.setValueAttr(readElements(type, data));
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
