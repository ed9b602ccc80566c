//===- SdyDialect.cpp - The sdy dialect -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pathways/Support/KeptText.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::sdy;

#include "pathways/Dialect/Shardy/SdyDialect.cpp.inc"
#include "pathways/Dialect/Shardy/SdyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/Shardy/SdyAttrs.cpp.inc"

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pathways/Dialect/Shardy/SdyAttrs.cpp.inc"
      >();
}

void SdyDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/Shardy/SdyOps.cpp.inc"
      >();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser,
                                     Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  return result.has_value() ? attribute : keepAttribute(*this, parser, type);
}

void SdyDialect::printAttribute(Attribute attribute,
                                DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

void mlir::pathways::sdy::registerShardyDialects(DialectRegistry &registry) {
  registry.insert<SdyDialect, mpmd::MpmdDialect>();
}

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size = 0;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseEqual() ||
      parser.parseInteger(size) || parser.parseGreater())
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getName());
  printer << '=' << getSize() << '>';
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> deviceIds;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    int64_t size = 0;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    axes.push_back(MeshAxisAttr::get(parser.getContext(), name, size));
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
         return parser.parseInteger(deviceIds.emplace_back());
       })))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    axes, deviceIds);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer.getStream(), [&](MeshAxisAttr axis) {
    printer.printString(axis.getName());
    printer << '=' << axis.getSize();
  });
  printer << ']';
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer.getStream());
    printer << ']';
  }
  printer << '>';
}

LogicalResult MeshAttr::verify(EmitError emitError, ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> deviceIds) {
  constexpr int64_t kMaxDevices = 1 << 24;
  llvm::SmallSet<StringRef, 4> names;
  int64_t devices = 1;
  for (MeshAxisAttr axis : axes) {
    if (axis.getName().empty()) // (C1)
      return emitError() << "expected a mesh axis to have a name";
    if (!names.insert(axis.getName()).second) // (C1)
      return emitError() << "mesh axis \"" << axis.getName()
                         << "\" is named twice";
    if (axis.getSize() < 1) // (C2)
      return emitError() << "expected a positive size of mesh axis \""
                         << axis.getName() << "\", got " << axis.getSize();
    if (axis.getSize() > kMaxDevices / devices)
      return emitError() << "mesh has more than " << kMaxDevices << " devices";
    devices *= axis.getSize();
  }
  if (deviceIds.empty())
    return success();
  if (static_cast<int64_t>(deviceIds.size()) != devices) // (C3)
    return emitError() << "expected a device number for each of " << devices
                       << " devices, got " << deviceIds.size();
  // A DenseSet could not hold the largest number.
  std::set<int64_t> seen;
  for (int64_t id : deviceIds) {
    if (id < 0 || (!axes.empty() && id >= devices)) // (C3)
      return emitError() << "expected device numbers of at least 0"
                         << (axes.empty() ? ""
                                          : " and less than the number of "
                                            "devices")
                         << ", got " << id;
    if (!seen.insert(id).second) // (C3)
      return emitError() << "device number " << id << " is given twice";
  }
  return success();
}

int64_t MeshAttr::getNumDevices() const {
  if (getAxes().empty())
    return isMaximal() ? 1 : 0;
  int64_t devices = 1;
  for (MeshAxisAttr axis : getAxes())
    devices *= axis.getSize();
  return devices;
}

int64_t MeshAttr::getAxisSize(StringRef name) const {
  for (MeshAxisAttr axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return 0;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// Parses an axis such as `"x"` or `"x":(1)2`.
static FailureOr<AxisRefAttr> parseAxisRef(AsmParser &parser) {
  std::string name;
  int64_t preSize = 0, size = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  if (succeeded(parser.parseOptionalColon()) &&
      (parser.parseLParen() || parser.parseInteger(preSize) ||
       parser.parseRParen() || parser.parseInteger(size)))
    return failure();
  auto axis = AxisRefAttr::getChecked([&] { return parser.emitError(loc); },
                                      parser.getContext(), name, preSize, size);
  if (!axis)
    return failure();
  return axis;
}

static void printAxisRef(AsmPrinter &printer, AxisRefAttr axis) {
  printer.printString(axis.getName());
  if (!axis.isWholeAxis())
    printer << ":(" << axis.getPreSize() << ')' << axis.getSize();
}

/// Parses `{`, axes, and, if `isOpen` is given, an optional `?`, and `}`.
static ParseResult parseAxes(AsmParser &parser,
                             SmallVectorImpl<AxisRefAttr> &axes,
                             bool *isOpen = nullptr) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        if (isOpen && *isOpen)
          return parser.emitError(parser.getCurrentLocation(),
                                  "expected } after ?");
        if (isOpen && succeeded(parser.parseOptionalQuestion())) {
          *isOpen = true;
          return success();
        }
        FailureOr<AxisRefAttr> axis = parseAxisRef(parser);
        if (failed(axis))
          return failure();
        axes.push_back(*axis);
        return success();
      });
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes,
                      bool isOpen = false) {
  printer << '{';
  llvm::interleaveComma(axes, printer.getStream(),
                        [&](AxisRefAttr axis) { printAxisRef(printer, axis); });
  if (isOpen)
    printer << (axes.empty() ? "?" : ", ?");
  printer << '}';
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisRefAttr> axis = parseAxisRef(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxisRef(printer, *this);
  printer << '>';
}

LogicalResult AxisRefAttr::verify(EmitError emitError, StringRef name,
                                  int64_t preSize, int64_t size) {
  if (name.empty()) // (C1)
    return emitError() << "expected an axis to have a name";
  if ((preSize != 0 || size != 0) && (preSize < 1 || size < 2)) // (C2)
    return emitError() << "expected a positive size before a part of an axis, "
                          "and a part of at least 2, got "
                       << preSize << " and " << size;
  return success();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isOpen = false;
  int64_t priority = -1;
  if (parseAxes(parser, axes, &isOpen))
    return {};
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    StringRef number = keyword;
    if (!number.consume_front("p") || number.getAsInteger(10, priority)) {
      parser.emitError(loc, "expected a priority such as p1, got ") << keyword;
      return {};
    }
  }
  return get(parser.getContext(), axes, !isOpen, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printAxes(printer, getAxes(), !getIsClosed());
  if (getPriority() >= 0)
    printer << 'p' << getPriority();
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  Attribute mesh;
  StringAttr name;
  if (succeeded(parser.parseOptionalSymbolName(name)))
    mesh = FlatSymbolRefAttr::get(name);
  else if (parser.parseKeyword("mesh") ||
           !(mesh = MeshAttr::parse(parser, Type())))
    return {};
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  auto parseDim = [&]() -> ParseResult {
    auto dim = dyn_cast_or_null<DimensionShardingAttr>(
        DimensionShardingAttr::parse(parser, Type()));
    if (!dim)
      return failure();
    dims.push_back(dim);
    return success();
  };
  if (parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc keywordLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    if (keyword != "replicated" && keyword != "unreduced") {
      parser.emitError(keywordLoc, "expected replicated or unreduced, got ")
          << keyword;
      return {};
    }
    if (parser.parseEqual() ||
        parseAxes(parser, keyword == "replicated" ? replicated : unreduced))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    mesh, dims, replicated, unreduced);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", [";
  llvm::interleaveComma(getDimShardings(), printer.getStream(),
                        [&](DimensionShardingAttr dim) { dim.print(printer); });
  printer << ']';
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated=";
    printAxes(printer, getReplicatedAxes());
  }
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    printAxes(printer, getUnreducedAxes());
  }
  printer << '>';
}

/// Returns true if two axes, or parts of one, overlap.
static bool overlap(AxisRefAttr a, AxisRefAttr b) {
  if (a.getName() != b.getName())
    return false;
  if (a.isWholeAxis() || b.isWholeAxis())
    return true;
  return a.getPreSize() < b.getPreSize() * b.getSize() &&
         b.getPreSize() < a.getPreSize() * a.getSize();
}

LogicalResult TensorShardingAttr::verify(EmitError emitError,
                                         Attribute meshOrRef,
                                         ArrayRef<DimensionShardingAttr> dims,
                                         ArrayRef<AxisRefAttr> replicated,
                                         ArrayRef<AxisRefAttr> unreduced) {
  if (!isa_and_present<FlatSymbolRefAttr, MeshAttr>(meshOrRef))
    return emitError() << "expected the name of a mesh, or a mesh";
  auto mesh = dyn_cast<MeshAttr>(meshOrRef);
  SmallVector<AxisRefAttr> all;
  for (DimensionShardingAttr dim : dims)
    llvm::append_range(all, dim.getAxes());
  llvm::append_range(all, replicated);
  llvm::append_range(all, unreduced);
  for (auto [i, axis] : llvm::enumerate(all))
    for (AxisRefAttr other : ArrayRef(all).take_front(i))
      if (overlap(axis, other)) // (C1)
        return emitError() << "axis \"" << axis.getName()
                           << "\" is used twice in a sharding";
  return mesh ? verifyAxes(emitError, all, mesh) : success(); // (C2)
}

LogicalResult sdy::verifyAxes(EmitError emitError, ArrayRef<AxisRefAttr> axes,
                              MeshAttr mesh) {
  for (AxisRefAttr axis : axes) {
    int64_t size = mesh.getAxisSize(axis.getName());
    if (size == 0)
      return emitError() << "mesh " << mesh << " has no axis \""
                         << axis.getName() << "\"";
    // Each factor is limited by the size, so that their product is small.
    if (!axis.isWholeAxis() &&
        (axis.getPreSize() > size || axis.getSize() > size ||
         size % (axis.getPreSize() * axis.getSize()) != 0))
      return emitError() << "expected part (" << axis.getPreSize() << ")"
                         << axis.getSize() << " to divide axis \""
                         << axis.getName() << "\" of size " << size;
  }
  return success();
}

MeshAttr TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      op, cast<FlatSymbolRefAttr>(getMeshOrRef()));
  return mesh ? mesh.getMesh() : MeshAttr();
}

FailureOr<TensorShardingPerValueAttr> sdy::parseShardings(AsmParser &parser) {
  SmallVector<TensorShardingAttr> shardings;
  auto parseSharding = [&]() -> ParseResult {
    auto sharding = dyn_cast_or_null<TensorShardingAttr>(
        TensorShardingAttr::parse(parser, Type()));
    if (!sharding)
      return failure();
    shardings.push_back(sharding);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseSharding))
    return failure();
  return TensorShardingPerValueAttr::get(parser.getContext(), shardings);
}

void sdy::printShardings(AsmPrinter &printer,
                         TensorShardingPerValueAttr shardings) {
  printer << '[';
  llvm::interleaveComma(
      shardings.getShardings(), printer.getStream(),
      [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << ']';
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<TensorShardingPerValueAttr> shardings = parseShardings(parser);
  if (failed(shardings) || parser.parseGreater())
    return {};
  return *shardings;
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printShardings(printer, *this);
  printer << '>';
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseAxis))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    axes);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer.getStream(), [&](StringAttr axis) {
    printer.printString(axis.getValue());
  });
  printer << '}';
}

LogicalResult ManualAxesAttr::verify(EmitError emitError,
                                     ArrayRef<StringAttr> axes) {
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr axis : axes)
    if (!seen.insert(axis).second) // (C1)
      return emitError() << "manual axis " << axis << " is named twice";
  return success();
}
