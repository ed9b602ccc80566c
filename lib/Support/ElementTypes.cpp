//===- ElementTypes.cpp - Element types in plans and in MLIR --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/ElementTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

Type mlir::pathways::getElementType(proto::ElementType element,
                                    MLIRContext *context) {
  Builder builder(context);
  switch (element) {
  case proto::F16:
    return builder.getF16Type();
  case proto::BF16:
    return builder.getBF16Type();
  case proto::F32:
    return builder.getF32Type();
  case proto::F64:
    return builder.getF64Type();
  case proto::I1:
    return builder.getI1Type();
  case proto::I8:
    return builder.getI8Type();
  case proto::I16:
    return builder.getIntegerType(16);
  case proto::I32:
    return builder.getI32Type();
  case proto::I64:
    return builder.getI64Type();
  case proto::UI8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case proto::UI16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case proto::UI32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case proto::UI64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  default:
    return {};
  }
}

proto::ElementType mlir::pathways::getElementType(Type type) {
  for (int element = proto::ElementType_MIN; element <= proto::ElementType_MAX;
       ++element)
    if (getElementType(static_cast<proto::ElementType>(element),
                       type.getContext()) == type)
      return static_cast<proto::ElementType>(element);
  return proto::ELEMENT_TYPE_UNSPECIFIED;
}

Type mlir::pathways::getTensorElementType(Type type) {
  if (!type.isUnsignedInteger())
    return type;
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
}

bool mlir::pathways::isTensorElementType(Type type) {
  return getElementType(type) != proto::ELEMENT_TYPE_UNSPECIFIED &&
         getTensorElementType(type) == type;
}
