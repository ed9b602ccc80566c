//===- MpmdDialect.cpp - The mpmd dialect ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Shardy/Shardy.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pathways/Support/KeptText.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::mpmd;

#include "pathways/Dialect/Shardy/MpmdDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/Shardy/MpmdAttrs.cpp.inc"

void MpmdDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pathways/Dialect/Shardy/MpmdAttrs.cpp.inc"
      >();
}

void MpmdDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/Shardy/MpmdOps.cpp.inc"
      >();
}

Attribute MpmdDialect::parseAttribute(DialectAsmParser &parser,
                                      Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  return result.has_value() ? attribute : keepAttribute(*this, parser, type);
}

void MpmdDialect::printAttribute(Attribute attribute,
                                 DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute NamedMeshAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseColon())
    return {};
  auto mesh =
      dyn_cast_or_null<sdy::MeshAttr>(sdy::MeshAttr::parse(parser, Type()));
  if (!mesh || parser.parseGreater())
    return {};
  return get(parser.getContext(), name, mesh);
}

void NamedMeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getName());
  printer << ": ";
  getMesh().print(printer);
  printer << '>';
}

Attribute TopologyAttr::parse(AsmParser &parser, Type) {
  SmallVector<NamedMeshAttr> meshes;
  SMLoc loc = parser.getCurrentLocation();
  auto parseMesh = [&]() -> ParseResult {
    auto mesh =
        dyn_cast_or_null<NamedMeshAttr>(NamedMeshAttr::parse(parser, Type()));
    if (!mesh)
      return failure();
    meshes.push_back(mesh);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseMesh))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    meshes);
}

void TopologyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getMeshes(), printer.getStream(),
                        [&](NamedMeshAttr mesh) { mesh.print(printer); });
  printer << '>';
}

LogicalResult TopologyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<NamedMeshAttr> meshes) {
  if (meshes.empty()) // (C1)
    return emitError() << "expected a topology to have at least one mesh";
  llvm::SmallSet<StringRef, 4> names;
  for (NamedMeshAttr mesh : meshes)
    if (!names.insert(mesh.getName()).second) // (C2)
      return emitError() << "mesh \"" << mesh.getName()
                         << "\" is in the topology twice";
  return success();
}

Attribute UserOriginAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t count = 0;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalLParen()) &&
      (parser.parseInteger(count) || parser.parseRParen()))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), name, count);
}

void UserOriginAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getName());
  if (getTransposeCount() != 0)
    printer << '(' << getTransposeCount() << ')';
  printer << '>';
}
