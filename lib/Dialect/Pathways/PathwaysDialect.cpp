//===- PathwaysDialect.cpp - Dialect, types and attributes of pw ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Support/ElementTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/tables.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::pathways;
namespace layout = ::pathways::layout;
namespace proto = ::pathways::proto;

#include "pathways/Dialect/Pathways/PathwaysDialect.cpp.inc"
#include "pathways/Dialect/Pathways/PathwaysEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/Pathways/PathwaysAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "pathways/Dialect/Pathways/PathwaysTypes.cpp.inc"

void PathwaysDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/Pathways/PathwaysOps.cpp.inc"
      >();
}

void PathwaysDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pathways/Dialect/Pathways/PathwaysAttrs.cpp.inc"
      >();
}

void PathwaysDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pathways/Dialect/Pathways/PathwaysTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes of functions
//===----------------------------------------------------------------------===//

LogicalResult
PathwaysDialect::verifyOperationAttribute(Operation *op,
                                          NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kOrdersAttrName || name == kGangAttrName) {
    bool isOrder = name == kOrdersAttrName;
    if (isOrder ? isa<ForOp>(op) : isa<CallOp>(op))
      return success();
    return op->emitOpError("has attribute '")
           << name << "', which belongs on a '"
           << (isOrder ? ForOp::getOperationName() : CallOp::getOperationName())
           << "'";
  }
  if (name != kLocalViewAttrName && name != kPointwiseAttrName)
    return op->emitOpError("has attribute '")
           << name << "' that pw does not define; expected '"
           << kLocalViewAttrName << "', '" << kPointwiseAttrName << "', '"
           << kOrdersAttrName << "' or '" << kGangAttrName << "'";
  if (!isa<func::FuncOp>(op))
    return op->emitOpError("has attribute '")
           << name << "', which belongs on a 'func.func'";
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("expected '")
           << name << "' to be a unit attribute, got " << attribute.getValue();
  return success();
}

/// Reports an attribute of an argument or result whose value does not have the
/// form `expected`.
static LogicalResult emitBadValue(Operation *op, NamedAttribute attribute,
                                  StringRef expected) {
  return op->emitOpError("expected '")
         << attribute.getName().strref() << "' to be " << expected << ", got "
         << attribute.getValue();
}

LogicalResult PathwaysDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kAcceptsPartialAttrName) {
    if (!isa<func::FuncOp>(op) || !op->hasAttr(kLocalViewAttrName))
      return op->emitOpError("has '") << name << "' on argument " << argIndex
                                      << ", which belongs on a function with '"
                                      << kLocalViewAttrName << "'";
    return isa<UnitAttr>(value)
               ? success()
               : emitBadValue(op, attribute, "a unit attribute");
  }
  if (name == kConstantAttrName) {
    if (!isa<ElementsAttr>(value))
      return emitBadValue(op, attribute, "the elements of a tensor");
    if (isa<func::FuncOp>(op))
      return success();
  }
  if (name != kNameAttrName && name != kSteppedAttrName &&
      name != kCarriedAttrName && name != kConstantAttrName)
    return op->emitOpError("has attribute '")
           << name << "' on argument " << argIndex
           << " that pw does not define";
  if (!isa<ProgramOp>(op))
    return op->emitOpError("has attribute '")
           << name << "' on argument " << argIndex
           << ", which belongs on a 'pw.program'";
  if (name == kSteppedAttrName && !isa<UnitAttr>(value))
    return emitBadValue(op, attribute, "a unit attribute");
  if (name == kNameAttrName && !isa<StringAttr>(value))
    return emitBadValue(op, attribute, "a string");
  if (name == kCarriedAttrName) {
    auto index = dyn_cast<IntegerAttr>(value);
    if (!index || !index.getType().isSignlessInteger(64))
      return emitBadValue(op, attribute, "a 64-bit integer");
  }
  return success();
}

LogicalResult PathwaysDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!isa<ProgramOp>(op) ||
      (name != kNameAttrName && name != kSteppedAttrName &&
       name != kExpectAttrName))
    return op->emitOpError("has attribute '")
           << name << "' on result " << resultIndex
           << "; results of a 'pw.program' may have '" << kNameAttrName
           << "', '" << kSteppedAttrName << "' and '" << kExpectAttrName << "'";
  if (name == kExpectAttrName && !isa<ExpectAttr>(attribute.getValue()))
    return emitBadValue(op, attribute, "a '#pw.expect'");
  if (name == kSteppedAttrName && !isa<UnitAttr>(attribute.getValue()))
    return emitBadValue(op, attribute, "a unit attribute");
  if (name == kNameAttrName && !isa<StringAttr>(attribute.getValue()))
    return emitBadValue(op, attribute, "a string");
  return success();
}

//===----------------------------------------------------------------------===//
// ExpectAttr
//===----------------------------------------------------------------------===//

ExpectAttr ExpectAttr::getEq(MLIRContext *context, int64_t result) {
  return get(context, ExpectKind::Eq, result, 0, 0, nullptr);
}

ExpectAttr ExpectAttr::getClose(MLIRContext *context, int64_t result,
                                int64_t minUlp, int64_t maxUlp) {
  return get(context, ExpectKind::Close, result, minUlp, maxUlp, nullptr);
}

ExpectAttr ExpectAttr::getAlmostEq(MLIRContext *context, int64_t result,
                                   double tolerance) {
  return get(context, ExpectKind::AlmostEq, result, 0, 0,
             Builder(context).getF64FloatAttr(tolerance));
}

Attribute ExpectAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  int64_t result = 0, minUlp = 0, maxUlp = 0;
  FloatAttr tolerance;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<ExpectKind> kind = symbolizeExpectKind(keyword);
  if (!kind) {
    parser.emitError(loc, "expected a check (eq, close, almost_eq), got '")
        << keyword << "'";
    return {};
  }
  if (parser.parseComma() || parser.parseKeyword("result") ||
      parser.parseInteger(result))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("min_ulp"))) {
      if (parser.parseInteger(minUlp))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("max_ulp"))) {
      if (parser.parseInteger(maxUlp))
        return {};
    } else {
      double value;
      if (parser.parseKeyword("tolerance") || parser.parseFloat(value))
        return {};
      tolerance = parser.getBuilder().getF64FloatAttr(value);
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ExpectAttr>(loc, parser.getContext(), *kind, result,
                                       minUlp, maxUlp, tolerance);
}

void ExpectAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyExpectKind(getKind()) << ", result "
          << getResult();
  if (getMinUlp())
    printer << ", min_ulp " << getMinUlp();
  if (getMaxUlp())
    printer << ", max_ulp " << getMaxUlp();
  if (FloatAttr tolerance = getTolerance()) {
    printer << ", tolerance ";
    printer.printAttributeWithoutType(tolerance);
  }
  printer << '>';
}

LogicalResult ExpectAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ExpectKind kind, int64_t result,
                                 int64_t minUlp, int64_t maxUlp,
                                 FloatAttr tolerance) {
  if (result < 0) // (C1)
    return emitError() << "expected the index of a result, got " << result;
  if (kind != ExpectKind::Close && (minUlp || maxUlp)) // (C2)
    return emitError() << "only 'close' has 'min_ulp' and 'max_ulp'";
  if (minUlp < 0 || maxUlp < minUlp) // (C2)
    return emitError() << "expected 0 <= min_ulp <= max_ulp, got " << minUlp
                       << " and " << maxUlp;
  if ((kind == ExpectKind::AlmostEq) != !!tolerance) // (C3)
    return emitError() << "expected 'almost_eq', and no other check, to have a "
                          "tolerance";
  if (!tolerance)
    return success();
  double value = tolerance.getValueAsDouble();
  if (!std::isfinite(value) || value < 0) // (C3)
    return emitError() << "expected a finite tolerance that is not negative, "
                          "got "
                       << value;
  return success();
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis, " in mesh"))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), names, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip_equal(getNames(), getSizes()), printer,
                        [&](auto axis) {
                          printer.printString(std::get<0>(axis).getValue());
                          printer << " = " << std::get<1>(axis);
                        });
  printer << '>';
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes) {
  if (names.size() != sizes.size())
    return emitError() << "mesh has " << names.size() << " axis names and "
                       << sizes.size() << " sizes";
  llvm::SmallDenseSet<StringAttr> seen;
  int64_t shards = 1;
  for (auto [name, size] : llvm::zip_equal(names, sizes)) {
    if (name.empty()) // (C1)
      return emitError() << "mesh has an axis without a name";
    if (!seen.insert(name).second) // (C1)
      return emitError() << "mesh has axis " << name << " twice";
    if (size < 1) // (C2)
      return emitError() << "expected mesh axis " << name
                         << " to have a positive size, got " << size;
    if (size > layout::kMaxShards / shards) // (C3)
      return emitError() << "mesh has more than " << layout::kMaxShards
                         << " shards";
    shards *= size;
  }
  return success();
}

MeshAttr
MeshAttr::withSize(unsigned index, int64_t size,
                   function_ref<InFlightDiagnostic()> emitError) const {
  SmallVector<int64_t> sizes(getSizes());
  sizes[index] = size;
  return getChecked(emitError, getContext(), getNames(), sizes);
}

int64_t MeshAttr::getNumShards() const {
  int64_t shards = 1;
  for (int64_t size : getSizes())
    shards *= size;
  return shards;
}

int64_t MeshAttr::getAxisIndex(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getNames()))
    if (axis.getValue() == name)
      return index;
  return -1;
}

FailureOr<int64_t> MeshAttr::getGroupSize(ArrayAttr axes) const {
  int64_t size = 1;
  SmallVector<int64_t> seen;
  for (Attribute axis : axes) {
    auto name = dyn_cast<StringAttr>(axis);
    int64_t index = name ? getAxisIndex(name) : -1;
    if (index < 0 || llvm::is_contained(seen, index))
      return failure();
    seen.push_back(index);
    size *= getSizes()[index];
  }
  return size;
}

//===----------------------------------------------------------------------===//
// ShardingAttr
//===----------------------------------------------------------------------===//

/// Parses axes in braces. If `isOpen` is given, a `?` may be last.
static ParseResult parseAxes(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &axes,
                             bool *isOpen = nullptr) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces,
      [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        if (isOpen && *isOpen)
          return parser.emitError(loc, "expected '?' behind the axes");
        if (isOpen && succeeded(parser.parseOptionalQuestion())) {
          *isOpen = true;
          return success();
        }
        std::string name;
        if (parser.parseString(&name))
          return failure();
        axes.push_back(StringAttr::get(parser.getContext(), name));
        return success();
      },
      " in axes");
}

FailureOr<ReductionKind> mlir::pathways::parseReductionKind(AsmParser &parser) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<ReductionKind> kind = symbolizeReductionKind(keyword))
    return *kind;
  InFlightDiagnostic error = parser.emitError(loc, "expected a reduction (");
  for (uint32_t kind = 1; kind <= getMaxEnumValForReductionKind(); ++kind)
    error << (kind > 1 ? ", " : "")
          << stringifyReductionKind(static_cast<ReductionKind>(kind));
  return error << "), got '" << keyword << "'";
}

std::string mlir::pathways::whyNotReduced(ReductionKind kind,
                                          Type elementType) {
  if (elementType.isInteger(1) &&
      (kind == ReductionKind::Add || kind == ReductionKind::Mul))
    return "expected i1 to be combined by max, min, umax, umin, and, or or "
           "xor, got " +
           stringifyReductionKind(kind).str();
  return ::pathways::WhyNotReduced(static_cast<proto::ReductionKind>(kind),
                                   getElementType(elementType));
}

FailureOr<ShardingAttr> ShardingAttr::parseBody(AsmParser &parser) {
  SmallVector<ArrayAttr> dims;
  SmallVector<bool> openDims;
  SMLoc loc = parser.getCurrentLocation();
  auto parseDim = [&]() -> ParseResult {
    SmallVector<StringAttr> axes;
    bool isOpen = false;
    if (parseAxes(parser, axes, &isOpen))
      return failure();
    openDims.push_back(isOpen);
    dims.push_back(ArrayAttr::get(
        parser.getContext(), SmallVector<Attribute>(axes.begin(), axes.end())));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim,
                                     " in sharding"))
    return failure();
  ReductionKindAttr kind;
  SmallVector<StringAttr> partialAxes;
  if (succeeded(parser.parseOptionalKeyword("partial"))) {
    FailureOr<ReductionKind> parsed = parseReductionKind(parser);
    if (failed(parsed))
      return failure();
    kind = ReductionKindAttr::get(parser.getContext(), *parsed);
    if (parseAxes(parser, partialAxes))
      return failure();
  }
  if (!llvm::is_contained(openDims, true))
    openDims.clear();
  auto sharding = parser.getChecked<ShardingAttr>(
      loc, parser.getContext(), dims, kind, partialAxes, openDims);
  if (!sharding)
    return failure();
  return sharding;
}

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes,
                      bool isOpen = false) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](StringAttr axis) {
    printer.printString(axis.getValue());
  });
  if (isOpen)
    printer << (axes.empty() ? "?" : ", ?");
  printer << '}';
}

void ShardingAttr::printBody(AsmPrinter &printer) const {
  printer << '[';
  llvm::interleaveComma(llvm::enumerate(getDims()), printer, [&](auto dim) {
    printAxes(printer,
              llvm::to_vector(dim.value().template getAsRange<StringAttr>()),
              isOpen(dim.index()));
  });
  printer << ']';
  if (ReductionKindAttr kind = getPartialKind()) {
    printer << " partial " << stringifyReductionKind(kind.getValue()) << ' ';
    printAxes(printer, getPartialAxes());
  }
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ShardingAttr> sharding = parseBody(parser);
  if (failed(sharding) || parser.parseGreater())
    return {};
  return *sharding;
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBody(printer);
  printer << '>';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ArrayAttr> dims,
                                   ReductionKindAttr partialKind,
                                   ArrayRef<StringAttr> partialAxes,
                                   ArrayRef<bool> openDims) {
  llvm::SmallDenseSet<StringAttr> seen;
  auto check = [&](Attribute attribute) -> LogicalResult {
    auto axis = dyn_cast<StringAttr>(attribute);
    if (!axis)
      return emitError() << "expected sharding axes to be strings, got "
                         << attribute;
    if (axis.empty())
      return emitError() << "sharding names an axis without a name";
    if (!seen.insert(axis).second) // (C1)
      return emitError() << "sharding names axis " << axis << " twice";
    return success();
  };
  for (ArrayAttr axes : dims) {
    if (!axes)
      return emitError() << "sharding lacks the axes of a dimension";
    for (Attribute axis : axes)
      if (failed(check(axis)))
        return failure();
  }
  for (StringAttr axis : partialAxes)
    if (failed(check(axis)))
      return failure();
  if (partialKind && partialAxes.empty()) // (C2)
    return emitError() << "sharding has a reduction, but no partial axes";
  if (!partialKind && !partialAxes.empty()) // (C2)
    return emitError() << "sharding has partial axes, but no reduction";
  if (!openDims.empty() &&
      (openDims.size() != dims.size() || !llvm::is_contained(openDims, true)))
    return emitError() << "expected openDims to have one value for each of the "
                       << dims.size()
                       << " dimensions, and at least one true value, got "
                       << openDims.size() << " values";
  if (partialKind && !openDims.empty()) // (C3)
    return emitError() << "sharding is partial and has an open dimension; all "
                          "axes of a partial sharding must be known";
  return success();
}

ShardingAttr ShardingAttr::getOpen(MLIRContext *context, int64_t rank) {
  SmallVector<ArrayAttr> dims(rank, ArrayAttr::get(context, {}));
  return get(context, dims, ReductionKindAttr(), ArrayRef<StringAttr>(),
             SmallVector<bool>(rank, true));
}

ShardingAttr ShardingAttr::getClosed() const {
  return hasOpenDims() ? get(getContext(), getDims()) : *this;
}

ShardingAttr ShardingAttr::withoutPartial() const {
  return isPartial() ? get(getContext(), getDims()) : *this;
}

//===----------------------------------------------------------------------===//
// ArrayType
//===----------------------------------------------------------------------===//

Type ArrayType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringAttr slice;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseSymbolName(slice))
    return {};
  FailureOr<ShardingAttr> sharding =
      ShardingAttr::getOpen(parser.getContext(), shape.size());
  if (succeeded(parser.parseOptionalComma()))
    sharding = ShardingAttr::parseBody(parser);
  if (failed(sharding) || parser.parseGreater())
    return {};
  return parser.getChecked<ArrayType>(loc, parser.getContext(), shape,
                                      elementType,
                                      FlatSymbolRefAttr::get(slice), *sharding);
}

void ArrayType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape())
    printer << size << 'x';
  printer << getElementType() << ", " << getSlice();
  if (getRank() == 0 ||
      getSharding() != ShardingAttr::getOpen(getContext(), getRank())) {
    printer << ", ";
    getSharding().printBody(printer);
  }
  printer << '>';
}

LogicalResult ArrayType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, Type elementType,
                                FlatSymbolRefAttr slice,
                                ShardingAttr sharding) {
  if (!elementType || !slice || !sharding)
    return emitError()
           << "expected an array type to have an element type, a slice and a "
              "sharding";
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size)) // (C1)
      return emitError() << "array has a dynamic size '?'; shapes are static, "
                            "known before inputs exist";
    if (size < 0) // (C1)
      return emitError() << "expected array sizes of at least 0, got " << size;
    // Zero sizes do not hide the other sizes: layouts multiply those, too.
    if (size > 0 && size > layout::kMaxElements / elements) // (C1)
      return emitError() << "array has more than " << layout::kMaxElements
                         << " elements";
    elements *= std::max<int64_t>(size, 1);
  }
  if (pathways::getElementType(elementType) == proto::ELEMENT_TYPE_UNSPECIFIED)
    return emitError() << "expected element type " << kArrayElementNames
                       << ", got " << elementType; // (C2)
  if (sharding.getDims().size() != shape.size())   // (C3)
    return emitError() << "array has " << shape.size()
                       << " dimensions, but its sharding has "
                       << sharding.getDims().size();
  if (!sharding.isPartial())
    return success();
  std::string wrong = whyNotReduced(sharding.getPartialKind().getValue(),
                                    elementType); // (C4)
  if (!wrong.empty())
    return emitError() << "array is partial: " << wrong;
  return success();
}

RankedTensorType ArrayType::getGlobalTensorType() const {
  return RankedTensorType::get(getShape(),
                               getTensorElementType(getElementType()));
}

ArrayType ArrayType::withSharding(ShardingAttr sharding) const {
  return get(getShape(), getElementType(), getSlice(), sharding);
}

ArrayType ArrayType::withoutLeadingDim() const {
  ShardingAttr sharding = getSharding();
  ArrayRef<bool> open = sharding.getOpenDims();
  if (!open.empty())
    open = open.drop_front();
  if (!llvm::is_contained(open, true))
    open = {};
  return get(getShape().drop_front(), getElementType(), getSlice(),
             ShardingAttr::get(getContext(), sharding.getDims().drop_front(),
                               sharding.getPartialKind(),
                               sharding.getPartialAxes(), open));
}

ArrayType ArrayType::withSlice(FlatSymbolRefAttr slice) const {
  return get(getShape(), getElementType(), slice, getSharding());
}
