//===- Attributes.cpp - Parsers and printers of attributes ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;

//===----------------------------------------------------------------------===//
// Lists and fields
//===----------------------------------------------------------------------===//

ParseResult stablehlo::detail::parseIntegers(AsmParser &parser,
                                             SmallVectorImpl<int64_t> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(list.emplace_back());
  });
}

void stablehlo::detail::printIntegers(AsmPrinter &printer,
                                      ArrayRef<int64_t> list) {
  printer << '[';
  llvm::interleaveComma(list, printer.getStream());
  printer << ']';
}

namespace {

using Integers = SmallVector<int64_t>;

/// A field `name = value` whose value is a list of integers or one integer.
struct Field {
  Field(StringRef name, Integers &list) : name(name), list(&list) {}
  Field(StringRef name, int64_t &number) : name(name), number(&number) {}

  StringRef name;
  Integers *list = nullptr;
  int64_t *number = nullptr;
};

/// Parses `<`, fields in any order, and `>`. Fields may be missing.
ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  SmallVector<bool> isSet(fields.size());
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name) || parser.parseEqual())
          return failure();
        const Field *field = llvm::find_if(
            fields, [&](const Field &field) { return field.name == name; });
        if (field == fields.end())
          return parser.emitError(loc, "expected one of ")
                 << llvm::join(
                        llvm::map_range(fields,
                                        [](const Field &f) { return f.name; }),
                        ", ")
                 << ", got " << name;
        if (std::exchange(isSet[field - fields.begin()], true))
          return parser.emitError(loc, "field ") << name << " is given twice";
        return field->list
                   ? stablehlo::detail::parseIntegers(parser, *field->list)
                   : parser.parseInteger(*field->number);
      });
}

/// Prints fields that are not empty.
class FieldPrinter {
public:
  explicit FieldPrinter(AsmPrinter &printer) : printer(printer) {
    printer << '<';
  }
  ~FieldPrinter() { printer << '>'; }

  void operator()(StringRef name, ArrayRef<int64_t> list) {
    if (list.empty())
      return;
    start(name);
    stablehlo::detail::printIntegers(printer, list);
  }
  void operator()(StringRef name, int64_t number) {
    start(name);
    printer << number;
  }

private:
  void start(StringRef name) {
    if (std::exchange(isFirst, false) == false)
      printer << ", ";
    printer << name << " = ";
  }

  AsmPrinter &printer;
  bool isFirst = true;
};

} // namespace

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Integers window, inserted, inputBatching, indicesBatching, dims;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {{"update_window_dims", window},
                           {"inserted_window_dims", inserted},
                           {"input_batching_dims", inputBatching},
                           {"scatter_indices_batching_dims", indicesBatching},
                           {"scatter_dims_to_operand_dims", dims},
                           {"index_vector_dim", indexVectorDim}}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatching,
             indicesBatching, dims, indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter print(printer);
  print("update_window_dims", getUpdateWindowDims());
  print("inserted_window_dims", getInsertedWindowDims());
  print("input_batching_dims", getInputBatchingDims());
  print("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  print("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  if (getIndexVectorDim() != 0)
    print("index_vector_dim", getIndexVectorDim());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Integers offset, collapsed, operandBatching, indicesBatching, indexMap;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {{"offset_dims", offset},
                           {"collapsed_slice_dims", collapsed},
                           {"operand_batching_dims", operandBatching},
                           {"start_indices_batching_dims", indicesBatching},
                           {"start_index_map", indexMap},
                           {"index_vector_dim", indexVectorDim}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching,
             indicesBatching, indexMap, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter print(printer);
  print("offset_dims", getOffsetDims());
  print("collapsed_slice_dims", getCollapsedSliceDims());
  print("operand_batching_dims", getOperandBatchingDims());
  print("start_indices_batching_dims", getStartIndicesBatchingDims());
  print("start_index_map", getStartIndexMap());
  if (getIndexVectorDim() != 0)
    print("index_vector_dim", getIndexVectorDim());
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Integers lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parseFields(parser, {{"lhs_batching_dimensions", lhsBatching},
                           {"rhs_batching_dimensions", rhsBatching},
                           {"lhs_contracting_dimensions", lhsContracting},
                           {"rhs_contracting_dimensions", rhsContracting}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting,
             rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter print(printer);
  print("lhs_batching_dimensions", getLhsBatchingDimensions());
  print("rhs_batching_dimensions", getRhsBatchingDimensions());
  print("lhs_contracting_dimensions", getLhsContractingDimensions());
  print("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute ChannelHandleAttr::parse(AsmParser &parser, Type) {
  int64_t handle = 0, type = 0;
  if (parseFields(parser, {{"handle", handle}, {"type", type}}))
    return {};
  return get(parser.getContext(), handle, type);
}

void ChannelHandleAttr::print(AsmPrinter &printer) const {
  FieldPrinter print(printer);
  print("handle", getHandle());
  print("type", getType());
}

//===----------------------------------------------------------------------===//
// Algorithms of products
//===----------------------------------------------------------------------===//

Attribute DotAlgorithmAttr::parse(AsmParser &parser, Type) {
  Type lhsType, rhsType, accumulationType;
  int64_t lhsCount = 0, rhsCount = 0, operations = 0;
  std::string isImprecise;
  auto parseTo = [&](StringRef name, auto parseValue) {
    return failed(parser.parseKeyword(name)) || failed(parser.parseEqual()) ||
           failed(parseValue());
  };
  auto parseType = [&](StringRef name, Type &type) {
    return parseTo(name, [&] { return parser.parseType(type); }) ||
           failed(parser.parseComma());
  };
  auto parseInteger = [&](StringRef name, int64_t &number) {
    return parseTo(name, [&] { return parser.parseInteger(number); }) ||
           failed(parser.parseComma());
  };
  if (parser.parseLess() || parseType("lhs_precision_type", lhsType) ||
      parseType("rhs_precision_type", rhsType) ||
      parseType("accumulation_type", accumulationType) ||
      parseInteger("lhs_component_count", lhsCount) ||
      parseInteger("rhs_component_count", rhsCount) ||
      parseInteger("num_primitive_operations", operations) ||
      parseTo("allow_imprecise_accumulation",
              [&] { return parser.parseKeywordOrString(&isImprecise); }) ||
      parser.parseGreater())
    return {};
  if (isImprecise != "true" && isImprecise != "false") {
    parser.emitError(parser.getNameLoc(),
                     "expected allow_imprecise_"
                     "accumulation to be true or false, got ")
        << isImprecise;
    return {};
  }
  return get(parser.getContext(), lhsType, rhsType, accumulationType, lhsCount,
             rhsCount, operations, isImprecise == "true");
}

void DotAlgorithmAttr::print(AsmPrinter &printer) const {
  printer << "<lhs_precision_type = " << getLhsPrecisionType()
          << ", rhs_precision_type = " << getRhsPrecisionType()
          << ", accumulation_type = " << getAccumulationType()
          << ", lhs_component_count = " << getLhsComponentCount()
          << ", rhs_component_count = " << getRhsComponentCount()
          << ", num_primitive_operations = " << getNumPrimitiveOperations()
          << ", allow_imprecise_accumulation = "
          << (getAllowImpreciseAccumulation() ? "true" : "false") << '>';
}

//===----------------------------------------------------------------------===//
// Dimensions of convolutions
//===----------------------------------------------------------------------===//

namespace {

/// Dimensions of one operand of a convolution: the dimensions that two letters
/// stand for, and the dimension of each spatial number.
struct ConvOperand {
  int64_t first = -1, second = -1;
  Integers spatial;
};

} // namespace

/// Parses a list such as `[b, 0, 1, f]`.
static ParseResult parseConvOperand(AsmParser &parser, StringRef firstName,
                                    StringRef secondName,
                                    ConvOperand &operand) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t dim = 0;
  SmallVector<std::pair<int64_t, int64_t>> spatial; // number and dimension
  auto parseDim = [&]() -> ParseResult {
    SMLoc dimLoc = parser.getCurrentLocation();
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      spatial.push_back({number, dim++});
      return *isNumber;
    }
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (name != firstName && name != secondName)
      return parser.emitError(dimLoc, "expected a number, ")
             << firstName << " or " << secondName << ", got " << name;
    int64_t &place = name == firstName ? operand.first : operand.second;
    if (place >= 0)
      return parser.emitError(dimLoc) << name << " is given twice";
    place = dim++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return failure();
  if (operand.first < 0 || operand.second < 0)
    return parser.emitError(loc, "expected ")
           << firstName << " and " << secondName << " in the list";
  operand.spatial.assign(spatial.size(), -1);
  for (auto [number, place] : spatial) {
    if (number < 0 || number >= static_cast<int64_t>(spatial.size()) ||
        operand.spatial[number] >= 0)
      return parser.emitError(loc, "expected each spatial number from 0 to ")
             << spatial.size() - 1 << " once, got " << number;
    operand.spatial[number] = place;
  }
  return success();
}

static void printConvOperand(AsmPrinter &printer, StringRef firstName,
                             StringRef secondName, int64_t first,
                             int64_t second, ArrayRef<int64_t> spatial) {
  // Dimensions that nothing names can only be in attributes made by programs.
  int64_t rank = spatial.size() + 2;
  SmallVector<std::string> names(rank, "?");
  auto name = [&](int64_t dim, std::string text) {
    if (dim >= 0 && dim < rank)
      names[dim] = std::move(text);
  };
  for (auto [number, dim] : llvm::enumerate(spatial))
    name(dim, std::to_string(number));
  name(first, firstName.str());
  name(second, secondName.str());
  printer << '[' << llvm::join(names, ", ") << ']';
}

FailureOr<ConvDimensionNumbersAttr>
stablehlo::detail::parseConvDimensions(AsmParser &parser) {
  ConvOperand input, kernel, output;
  if (parseConvOperand(parser, "b", "f", input) || parser.parseKeyword("x") ||
      parseConvOperand(parser, "i", "o", kernel) || parser.parseArrow() ||
      parseConvOperand(parser, "b", "f", output))
    return failure();
  return ConvDimensionNumbersAttr::get(
      parser.getContext(), input.first, input.second, input.spatial,
      kernel.first, kernel.second, kernel.spatial, output.first, output.second,
      output.spatial);
}

void stablehlo::detail::printConvDimensions(AsmPrinter &printer,
                                            ConvDimensionNumbersAttr dims) {
  printConvOperand(printer, "b", "f", dims.getInputBatchDimension(),
                   dims.getInputFeatureDimension(),
                   dims.getInputSpatialDimensions());
  printer << 'x';
  printConvOperand(printer, "i", "o", dims.getKernelInputFeatureDimension(),
                   dims.getKernelOutputFeatureDimension(),
                   dims.getKernelSpatialDimensions());
  printer << "->";
  printConvOperand(printer, "b", "f", dims.getOutputBatchDimension(),
                   dims.getOutputFeatureDimension(),
                   dims.getOutputSpatialDimensions());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ConvDimensionNumbersAttr> dims =
      stablehlo::detail::parseConvDimensions(parser);
  if (failed(dims) || parser.parseGreater())
    return {};
  return *dims;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  stablehlo::detail::printConvDimensions(printer, *this);
  printer << '>';
}
