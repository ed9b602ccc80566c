//===- KeptText.h - Attributes kept as text ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes and types of imported programs whose names no dialect knows.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_KEPTTEXT_H
#define PATHWAYS_SUPPORT_KEPTTEXT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace mlir::pathways {

/// Returns an attribute of `dialect` that keeps the text being parsed.
inline Attribute keepAttribute(const Dialect &dialect, DialectAsmParser &parser,
                               Type type) {
  MLIRContext *context = parser.getContext();
  return OpaqueAttr::get(StringAttr::get(context, dialect.getNamespace()),
                         parser.getFullSymbolSpec(),
                         type ? type : NoneType::get(context));
}

/// Returns a type of `dialect` that keeps the text being parsed.
inline Type keepType(const Dialect &dialect, DialectAsmParser &parser) {
  return OpaqueType::get(
      StringAttr::get(parser.getContext(), dialect.getNamespace()),
      parser.getFullSymbolSpec());
}

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_KEPTTEXT_H
