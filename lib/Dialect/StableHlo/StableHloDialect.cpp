//===- StableHloDialect.cpp - Dialects of imported programs ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/StableHlo/StableHlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pathways/Support/KeptText.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;

#include "pathways/Dialect/StableHlo/CheckDialect.cpp.inc"
#include "pathways/Dialect/StableHlo/ChloDialect.cpp.inc"
#include "pathways/Dialect/StableHlo/StableHloDialect.cpp.inc"
#include "pathways/Dialect/StableHlo/StableHloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/StableHlo/StableHloAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "pathways/Dialect/StableHlo/StableHloTypes.cpp.inc"

void StableHloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pathways/Dialect/StableHlo/StableHloAttrs.cpp.inc"
      >();
}

void StableHloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pathways/Dialect/StableHlo/StableHloTypes.cpp.inc"
      >();
}

void StableHloDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/StableHlo/StableHloOps.cpp.inc"
      >();
}

void chlo::ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/StableHlo/ChloOps.cpp.inc"
      >();
}

void check::CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/StableHlo/CheckOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes and types whose names are not known
//===----------------------------------------------------------------------===//

Attribute StableHloDialect::parseAttribute(DialectAsmParser &parser,
                                           Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  return result.has_value() ? attribute : keepAttribute(*this, parser, type);
}

void StableHloDialect::printAttribute(Attribute attribute,
                                      DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

Type StableHloDialect::parseType(DialectAsmParser &parser) const {
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  return result.has_value() ? type : keepType(*this, parser);
}

void StableHloDialect::printType(Type type, DialectAsmPrinter &printer) const {
  (void)generatedTypePrinter(type, printer);
}

//===----------------------------------------------------------------------===//
// Dialects of attributes
//===----------------------------------------------------------------------===//

namespace {

/// A dialect without operations whose attributes and types are kept as text.
class KeptDialect : public Dialect {
public:
  using Dialect::Dialect;
  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override {
    return keepAttribute(*this, parser, type);
  }
  Type parseType(DialectAsmParser &parser) const override {
    return keepType(*this, parser);
  }
};

// Each of these needs an identity of its own.
template <typename ConcreteType> class NamedKeptDialect : public KeptDialect {
public:
  explicit NamedKeptDialect(MLIRContext *context)
      : KeptDialect(ConcreteType::getDialectNamespace(), context,
                    TypeID::get<ConcreteType>()) {}
};

class MhloDialect : public NamedKeptDialect<MhloDialect> {
public:
  using NamedKeptDialect::NamedKeptDialect;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MhloDialect)
  static constexpr StringLiteral getDialectNamespace() { return "mhlo"; }
};

class JaxDialect : public NamedKeptDialect<JaxDialect> {
public:
  using NamedKeptDialect::NamedKeptDialect;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(JaxDialect)
  static constexpr StringLiteral getDialectNamespace() { return "jax"; }
};

class TfDialect : public NamedKeptDialect<TfDialect> {
public:
  using NamedKeptDialect::NamedKeptDialect;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TfDialect)
  static constexpr StringLiteral getDialectNamespace() { return "tf"; }
};

class XlaDialect : public NamedKeptDialect<XlaDialect> {
public:
  using NamedKeptDialect::NamedKeptDialect;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(XlaDialect)
  static constexpr StringLiteral getDialectNamespace() { return "xla"; }
};

} // namespace

void mlir::pathways::stablehlo::registerStableHloDialects(
    DialectRegistry &registry) {
  registry.insert<StableHloDialect, chlo::ChloDialect, check::CheckDialect,
                  MhloDialect, JaxDialect, TfDialect, XlaDialect>();
}
