//===- PlanOps.cpp - Operations of the plan dialect -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Irregular parts of the assembly, and checks of single operations.
// PlanVerifier.cpp checks the whole program.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Plan/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::pathways::plan;

#include "pathways/Dialect/Plan/PlanDialect.cpp.inc"
#include "pathways/Dialect/Plan/PlanEnums.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "pathways/Dialect/Plan/PlanOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Assembly: lists of names, axes and operands
//===----------------------------------------------------------------------===//

// Parses [@a, @b].
static ParseResult parseRefs(OpAsmParser &parser, ArrayAttr &refs) {
  SmallVector<Attribute> names;
  auto element = [&]() -> ParseResult {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return failure();
    names.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  refs = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printRefs(OpAsmPrinter &printer, Operation *, ArrayAttr refs) {
  printer << '[';
  if (refs)
    llvm::interleaveComma(
        refs.getAsRange<StringAttr>(), printer,
        [&](StringAttr name) { printer.printSymbolName(name); });
  printer << ']';
}

// Parses {"data", "model"}.
static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto element = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, element))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << '{';
  if (axes)
    llvm::interleaveComma(axes, printer,
                          [&](Attribute name) { printer << name; });
  printer << '}';
}

// Parses [{"data"}, {}].
static ParseResult parseDims(OpAsmParser &parser, ArrayAttr &dims) {
  SmallVector<Attribute> lists;
  auto element = [&]() -> ParseResult {
    ArrayAttr axes;
    if (parseAxes(parser, axes))
      return failure();
    lists.push_back(axes);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  dims = parser.getBuilder().getArrayAttr(lists);
  return success();
}

static void printDims(OpAsmPrinter &printer, Operation *op, ArrayAttr dims) {
  printer << '[';
  llvm::interleaveComma(dims.getAsRange<ArrayAttr>(), printer,
                        [&](ArrayAttr axes) { printAxes(printer, op, axes); });
  printer << ']';
}

// Parses <"data" = 2, "model" = 4>.
static ParseResult parseMesh(OpAsmParser &parser, ArrayAttr &axes,
                             DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> names;
  SmallVector<int64_t> extents;
  auto element = [&]() -> ParseResult {
    std::string name;
    int64_t size = 0;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    extents.push_back(size);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     element))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(extents);
  return success();
}

static void printMesh(OpAsmPrinter &printer, Operation *, ArrayAttr axes,
                      DenseI64ArrayAttr sizes) {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip(axes, sizes.asArrayRef()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = " << std::get<1>(axis);
      });
  printer << '>';
}

// Parses (tensor<4xf32>, out tensor<4xf32>).
static ParseResult parseSignature(OpAsmParser &parser, ArrayAttr &types,
                                  DenseI64ArrayAttr &written) {
  SmallVector<Attribute> operands;
  SmallVector<int64_t> outputs;
  auto element = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("out")))
      outputs.push_back(operands.size());
    Type type;
    if (parser.parseType(type))
      return failure();
    operands.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, element))
    return failure();
  types = parser.getBuilder().getArrayAttr(operands);
  written = parser.getBuilder().getDenseI64ArrayAttr(outputs);
  return success();
}

static void printSignature(OpAsmPrinter &printer, Operation *, ArrayAttr types,
                           DenseI64ArrayAttr written) {
  ArrayRef<int64_t> outputs = written;
  printer << '(';
  for (auto [position, type] : llvm::enumerate(types)) {
    if (position)
      printer << ", ";
    if (!outputs.empty() && outputs.front() == static_cast<int64_t>(position)) {
      printer << "out ";
      outputs = outputs.drop_front();
    }
    printer << type;
  }
  printer << ')';
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  // Checks (C1).
  if (getAxes().size() != getSizes().size())
    return emitOpError("expected one size per axis, got ")
           << getAxes().size() << " axes and " << getSizes().size() << " sizes";
  if (getStrides() && getDevices())
    return emitOpError("expected strides or a list of devices, not both");
  if (!getStrides() && (getBase() || getSpan()))
    return emitOpError("expected strides with 'base' or 'span'");
  if ((getStrides() || getDevices()) && !getIsland())
    return emitOpError("expected an island for the devices");
  ArrayRef<int64_t> islands = getMoreIslands().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> bases = getMoreBases().value_or(ArrayRef<int64_t>());
  if (!islands.empty() && !getStrides() && !getDevices())
    return emitOpError("expected strides or a list of devices with 'also'");
  if (bases.size() != (getStrides() ? islands.size() : 0))
    return emitOpError("expected one base per island after 'also' with "
                       "strides, and none with a list; got ")
           << bases.size() << " for " << islands.size() << " islands";
  return success();
}

//===----------------------------------------------------------------------===//
// KernelOp, SegmentOp, ObjectOp
//===----------------------------------------------------------------------===//

bool KernelOp::hasCode() {
  return !getBody().getOps<ObjectOp>().empty() ||
         getBody().getOps<SegmentOp>().empty();
}

LogicalResult KernelOp::verifyRegions() {
  llvm::StringMap<SegmentOp> segments;
  llvm::StringMap<func::FuncOp> functions;
  bool objects = false;
  for (Operation &op : getBody().front()) {
    if (auto segment = dyn_cast<SegmentOp>(op)) {
      auto [entry, isNew] = segments.try_emplace(segment.getId(), segment);
      if (!isNew) { // (C1)
        InFlightDiagnostic error = segment.emitOpError("named '")
                                   << segment.getId() << "' twice in kernel '"
                                   << getId() << "'";
        error.attachNote(entry->second.getLoc()) << "first one is here";
        return error;
      }
    } else if (auto function = dyn_cast<func::FuncOp>(op)) {
      functions[function.getSymName()] = function;
    } else if (isa<ObjectOp>(op)) {
      objects = true;
    } else {
      return op.emitOpError("does not belong in kernel '")
             << getId() << "'; expected plan.segment, plan.object or func.func";
    }
  }
  for (SegmentOp segment : getBody().getOps<SegmentOp>()) {
    func::FuncOp function = functions.lookup(segment.getId());
    if (objects) { // (C2)
      if (!function)
        continue;
      return function.emitOpError("is still in kernel '")
             << getId() << "' although it has objects";
    }
    if (!function)
      return segment.emitOpError("has neither an object nor a function '")
             << segment.getId() << "' in kernel '" << getId() << "'";
    // Checks (C3).
    SmallVector<Type> inputs, outputs;
    llvm::SmallDenseSet<int64_t> written;
    written.insert(segment.getWritten().begin(), segment.getWritten().end());
    for (auto [position, type] :
         llvm::enumerate(segment.getOperandTypes().getAsValueRange<TypeAttr>()))
      (written.contains(position) ? outputs : inputs).push_back(type);
    auto expected = FunctionType::get(getContext(), inputs, outputs);
    if (function.getFunctionType() != expected) {
      InFlightDiagnostic error = function.emitOpError("expected type ")
                                 << expected << " as its segment says, got "
                                 << function.getFunctionType();
      error.attachNote(segment.getLoc()) << "segment is here";
      return error;
    }
  }
  return success();
}

void SegmentOp::build(OpBuilder &builder, OperationState &state, StringRef id,
                      TypeRange inputs, TypeRange outputs) {
  SmallVector<Type> types(inputs);
  llvm::append_range(types, outputs);
  SmallVector<int64_t> written = llvm::to_vector(
      llvm::seq<int64_t>(inputs.size(), inputs.size() + outputs.size()));
  state.getOrAddProperties<Properties>().id = builder.getStringAttr(id);
  state.getOrAddProperties<Properties>().operand_types =
      builder.getTypeArrayAttr(types);
  state.getOrAddProperties<Properties>().written =
      builder.getDenseI64ArrayAttr(written);
}

LogicalResult SegmentOp::verify() {
  int64_t previous = -1;
  for (int64_t position : getWritten()) { // (C1)
    if (position <= previous ||
        position >= static_cast<int64_t>(getOperandTypes().size()))
      return emitOpError("expected increasing positions of outputs below ")
             << getOperandTypes().size() << ", got " << position;
    previous = position;
  }
  for (auto location : getLocations().getAsRange<ArrayAttr>()) // (C3)
    if (location.size() != 2)
      return emitOpError("expected a place and a message per location, got ")
             << location;
  for (Type type : getOperandTypes().getAsValueRange<TypeAttr>()) {
    auto tensor = dyn_cast<RankedTensorType>(type); // (C2)
    if (!tensor || !tensor.hasStaticShape())
      return emitOpError("expected tensors of static shape as operands, got ")
             << type;
  }
  return success();
}

/// Returns the bytes of an attribute; empty if its resource is missing.
static ArrayRef<char> getBytesOf(ElementsAttr value) {
  if (auto bytes = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = bytes.getRawHandle().getBlob())
      return blob->getData();
  if (auto bytes = dyn_cast<DenseElementsAttr>(value))
    if (!bytes.isSplat() && bytes.getElementType().isInteger(8))
      return bytes.getRawData();
  return {};
}

/// Verifies that `value`, which is the `what` of `op`, has bytes.
static LogicalResult verifyBytes(Operation *op, ElementsAttr value,
                                 StringRef what) {
  auto type = dyn_cast<RankedTensorType>(value.getShapedType());
  if (!type || type.getRank() != 1 || !type.getElementType().isInteger(8))
    return op->emitOpError("expected bytes, tensor<...xi8>, as ")
           << what << ", got " << value.getShapedType();
  ArrayRef<char> bytes = getBytesOf(value);
  // Text that only people read may elide a resource.
  if (!bytes.empty() &&
      static_cast<int64_t>(bytes.size()) != type.getDimSize(0))
    return op->emitOpError("expected ") << type.getDimSize(0) << " bytes of "
                                        << what << ", got " << bytes.size();
  return success();
}

ArrayRef<char> ObjectOp::getBytes() { return getBytesOf(getCode()); }

ArrayRef<char> ArgumentOp::getConstantBytes() {
  return getConstant() ? getBytesOf(*getConstant()) : ArrayRef<char>();
}

LogicalResult ArgumentOp::verify() {
  return getConstant() ? verifyBytes(*this, *getConstant(), "constant")
                       : success();
}

LogicalResult ObjectOp::verify() {
  if (failed(verifyBytes(*this, getCode(), "code")))
    return failure();
  if (!getTriple() && (!getCpu().empty() || !getFeatures().empty()))
    return emitOpError("expected a target with 'cpu' or 'features'");
  return success();
}

ElementsAttr mlir::pathways::plan::getCodeAttr(MLIRContext *context,
                                               StringRef kernel,
                                               unsigned object,
                                               ArrayRef<char> bytes) {
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                    IntegerType::get(context, 8));
  std::string name = (kernel + "." + Twine(object)).str();
  return DenseResourceElementsAttr::get(
      type, name, HeapAsmResourceBlob::allocateAndCopyInferAlign(bytes));
}

#define GET_OP_CLASSES
#include "pathways/Dialect/Plan/PlanOps.cpp.inc"
