//===- Assembly.cpp - Parsers and printers of operations ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Parses one type for all, or a function type from all but the last to it.
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *each : types)
      *each = type;
    return success();
  }
  if (function.getNumInputs() != types.size() - 1 ||
      function.getNumResults() != 1)
    return parser.emitError(loc, "expected types of ")
           << types.size() - 1 << " operands and 1 result, got "
           << function.getNumInputs() << " and " << function.getNumResults();
  for (auto [each, input] : llvm::zip(types, function.getInputs()))
    *each = input;
  *types.back() = function.getResult(0);
  return success();
}

static void printTypes(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.front();
  else
    printer << FunctionType::get(types.front().getContext(), types.drop_back(),
                                 types.back());
}

namespace mlir::pathways::stablehlo {

template <typename... Types>
static ParseResult parseSameTypes(OpAsmParser &parser, Types &...types) {
  return parseTypes(parser, {&types...});
}

template <typename... Types>
static void printSameTypes(OpAsmPrinter &printer, Operation *, Types... types) {
  printTypes(printer, {types...});
}

static ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred,
                                    Type &onTrue, Type &onFalse, Type &result) {
  if (parseTypes(parser, {&pred, &onTrue, &onFalse, &result}))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseType(onTrue))
    return failure();
  onFalse = result = onTrue;
  return success();
}

static void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred,
                             Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printTypes(printer, {pred, onTrue, onFalse, result});
}

static ParseResult parsePairwiseTypes(OpAsmParser &parser,
                                      SmallVectorImpl<Type> &operands,
                                      SmallVectorImpl<Type> &results) {
  if (parser.parseOptionalColonTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

static void printPairwiseTypes(OpAsmPrinter &printer, Operation *,
                               TypeRange operands, TypeRange) {
  if (!operands.empty())
    printer << ": " << operands;
}

static ParseResult parseTupleTypes(OpAsmParser &parser,
                                   SmallVectorImpl<Type> &operands,
                                   Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(loc, "expected a tuple type, got ") << result;
  operands.assign(tuple.begin(), tuple.end());
  return success();
}

static void printTupleTypes(OpAsmPrinter &printer, Operation *, TypeRange,
                            Type result) {
  printer << result;
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

/// Parses operands that each have a comma behind them.
static ParseResult parseOperandsWithCommas(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult result = parser.parseOptionalOperand(operand);
    if (!result.has_value())
      return success();
    if (failed(*result) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

static void printOperandsWithCommas(OpAsmPrinter &printer, Operation *,
                                    OperandRange operands) {
  if (!operands.empty())
    printer << operands << ',';
}

static ParseResult parseCallTarget(OpAsmParser &parser, StringAttr &name) {
  return parser.parseSymbolName(name);
}

static void printCallTarget(OpAsmPrinter &printer, Operation *,
                            StringAttr name) {
  printer.printSymbolName(name);
}

static ParseResult parseExponentMantissa(OpAsmParser &parser,
                                         IntegerAttr &exponent,
                                         IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  StringRef rest = text;
  int32_t exponentBits = 0, mantissaBits = 0;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) ||
      !rest.consume_front("m") || rest.getAsInteger(10, mantissaBits))
    return parser.emitError(loc, "expected a format such as e5m10, got ")
           << text;
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

static void printExponentMantissa(OpAsmPrinter &printer, Operation *,
                                  IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

static ParseResult parseSliceRanges(OpAsmParser &parser,
                                    DenseI64ArrayAttr &starts,
                                    DenseI64ArrayAttr &limits,
                                    DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    return failed(parser.parseOptionalColon())
               ? success()
               : parser.parseInteger(stride.back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

static void printSliceRanges(OpAsmPrinter &printer, Operation *,
                             DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                             DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(
      llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()),
      printer, [&](auto range) {
        auto [start, limit, stride] = range;
        printer << start << ':' << limit;
        if (stride != 1)
          printer << ':' << stride;
      });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Parses `name = [..] x [..]`, without the name.
static ParseResult parseDimensionPairs(OpAsmParser &parser,
                                       SmallVectorImpl<int64_t> &lhs,
                                       SmallVectorImpl<int64_t> &rhs) {
  return failure(failed(parser.parseEqual()) ||
                 failed(stablehlo::detail::parseIntegers(parser, lhs)) ||
                 failed(parser.parseKeyword("x")) ||
                 failed(stablehlo::detail::parseIntegers(parser, rhs)));
}

static ParseResult parseDotDimensionNumbers(OpAsmParser &parser,
                                            DotDimensionNumbersAttr &dims) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parseDimensionPairs(parser, lhsBatching, rhsBatching) ||
       parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseDimensionPairs(parser, lhsContracting, rhsContracting))
    return failure();
  dims =
      DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching,
                                   rhsBatching, lhsContracting, rhsContracting);
  return success();
}

static void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *,
                                     DotDimensionNumbersAttr dims) {
  auto print = [&](StringRef name, ArrayRef<int64_t> lhs,
                   ArrayRef<int64_t> rhs) {
    printer << name << " = ";
    stablehlo::detail::printIntegers(printer, lhs);
    printer << " x ";
    stablehlo::detail::printIntegers(printer, rhs);
  };
  if (!dims.getLhsBatchingDimensions().empty() ||
      !dims.getRhsBatchingDimensions().empty()) {
    print("batching_dims", dims.getLhsBatchingDimensions(),
          dims.getRhsBatchingDimensions());
    printer << ", ";
  }
  print("contracting_dims", dims.getLhsContractingDimensions(),
        dims.getRhsContractingDimensions());
}

static ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser,
                                              ArrayAttr &precision,
                                              DotAlgorithmAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("algorithm"))) {
      if (parser.parseEqual())
        return failure();
      algorithm = dyn_cast_or_null<DotAlgorithmAttr>(
          DotAlgorithmAttr::parse(parser, Type()));
      if (!algorithm)
        return failure();
      continue;
    }
    SmallVector<Attribute> list;
    auto parsePrecision = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringRef name;
      if (parser.parseKeyword(&name))
        return failure();
      std::optional<Precision> precision = symbolizePrecision(name);
      if (!precision)
        return parser.emitError(loc, "expected DEFAULT, HIGH or HIGHEST, got ")
               << name;
      list.push_back(PrecisionAttr::get(parser.getContext(), *precision));
      return success();
    };
    if (parser.parseKeyword("precision") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parsePrecision))
      return failure();
    precision = parser.getBuilder().getArrayAttr(list);
  }
  return success();
}

static void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *,
                                       ArrayAttr precision,
                                       DotAlgorithmAttr algorithm) {
  if (precision) {
    printer << ", precision = [";
    llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                          [&](PrecisionAttr each) {
                            printer << stringifyPrecision(each.getValue());
                          });
    printer << ']';
  }
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}

static ParseResult parseConvDimensions(OpAsmParser &parser,
                                       ConvDimensionNumbersAttr &dims) {
  FailureOr<ConvDimensionNumbersAttr> parsed =
      stablehlo::detail::parseConvDimensions(parser);
  if (failed(parsed))
    return failure();
  dims = *parsed;
  return success();
}

static void printConvDimensions(OpAsmPrinter &printer, Operation *,
                                ConvDimensionNumbersAttr dims) {
  stablehlo::detail::printConvDimensions(printer, dims);
}

/// Parses a list of pairs such as `[[0, 1], [1, 0]]`.
static ParseResult parsePadding(OpAsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SmallVector<int64_t> all;
  auto parsePair = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> pair;
    if (stablehlo::detail::parseIntegers(parser, pair))
      return failure();
    if (pair.size() != 2)
      return parser.emitError(loc, "expected a low and a high padding, got ")
             << pair.size() << " numbers";
    llvm::append_range(all, pair);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  auto type = RankedTensorType::get({static_cast<int64_t>(all.size() / 2), 2},
                                    parser.getBuilder().getIntegerType(64));
  padding = DenseIntElementsAttr::get(type, all);
  return success();
}

static ParseResult parseReversal(OpAsmParser &parser,
                                 DenseBoolArrayAttr &reversal) {
  SmallVector<bool> list;
  auto parseBool = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      list.push_back(number != 0);
      return *isNumber;
    }
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (name != "true" && name != "false")
      return parser.emitError(loc, "expected true or false, got ") << name;
    list.push_back(name == "true");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBool))
    return failure();
  reversal = parser.getBuilder().getDenseBoolArrayAttr(list);
  return success();
}

static ParseResult parseWindow(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                               DenseIntElementsAttr &padding,
                               DenseI64ArrayAttr &lhsDilation,
                               DenseI64ArrayAttr &rhsDilation,
                               DenseBoolArrayAttr &reversal) {
  auto parseList = [&](DenseI64ArrayAttr &attribute) -> ParseResult {
    SmallVector<int64_t> list;
    if (stablehlo::detail::parseIntegers(parser, list))
      return failure();
    attribute = parser.getBuilder().getDenseI64ArrayAttr(list);
    return success();
  };
  bool isFirst = true;
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(
            &name, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}))) {
      if (isFirst)
        return success();
      return parser.emitError(
          loc, "expected stride, pad, lhs_dilate, rhs_dilate or reverse");
    }
    isFirst = false;
    bool isGiven = name == "stride"       ? strides != nullptr
                   : name == "pad"        ? padding != nullptr
                   : name == "lhs_dilate" ? lhsDilation != nullptr
                   : name == "rhs_dilate" ? rhsDilation != nullptr
                                          : reversal != nullptr;
    if (isGiven)
      return parser.emitError(loc) << name << " is given twice";
    if (parser.parseEqual())
      return failure();
    ParseResult result = name == "stride"       ? parseList(strides)
                         : name == "pad"        ? parsePadding(parser, padding)
                         : name == "lhs_dilate" ? parseList(lhsDilation)
                         : name == "rhs_dilate"
                             ? parseList(rhsDilation)
                             : parseReversal(parser, reversal);
    if (result || failed(parser.parseOptionalComma()))
      return result;
  }
}

static void printWindow(OpAsmPrinter &printer, Operation *,
                        DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                        DenseI64ArrayAttr lhsDilation,
                        DenseI64ArrayAttr rhsDilation,
                        DenseBoolArrayAttr reversal) {
  StringRef separator;
  auto start = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  auto print = [&](StringRef name, DenseI64ArrayAttr list) {
    if (!list)
      return;
    start(name);
    stablehlo::detail::printIntegers(printer, list);
  };
  print("stride", strides);
  if (padding) {
    start("pad");
    printer << '[';
    auto numbers = llvm::to_vector(padding.getValues<int64_t>());
    for (size_t i = 0; i + 1 < numbers.size(); i += 2)
      printer << (i == 0 ? "[" : ", [") << numbers[i] << ", " << numbers[i + 1]
              << ']';
    printer << ']';
  }
  print("lhs_dilate", lhsDilation);
  print("rhs_dilate", rhsDilation);
  if (reversal) {
    start("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool each) {
      printer << (each ? "true" : "false");
    });
    printer << ']';
  }
}

} // namespace mlir::pathways::stablehlo

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// Returns the operation that `applies` stands for in text: the only one of the
/// region, on both arguments in order, with nothing but a name.
static Operation *getAppliedOp(ReduceOp reduce) {
  Region &body = reduce.getBody();
  if (reduce.getInputs().size() != 1 || reduce->getNumResults() != 1 ||
      !body.hasOneBlock())
    return nullptr;
  Block &block = body.front();
  if (block.getNumArguments() != 2 ||
      !llvm::hasNItems(block.getOperations(), 2))
    return nullptr;
  Operation &op = block.front(), &end = block.back();
  auto resultType = dyn_cast<ShapedType>(reduce.getResult(0).getType());
  if (!resultType || !isa<ReturnOp>(end) || end.getNumOperands() != 1 ||
      !end.getAttrs().empty() || !op.getAttrs().empty() ||
      op.getNumRegions() != 0 || op.getNumSuccessors() != 0 ||
      op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      end.getOperand(0) != op.getResult(0) ||
      op.getOperand(0) != block.getArgument(0) ||
      op.getOperand(1) != block.getArgument(1) || !op.isRegistered())
    return nullptr;
  Type type = RankedTensorType::get({}, resultType.getElementType());
  bool isUniform = block.getArgument(0).getType() == type &&
                   block.getArgument(1).getType() == type &&
                   op.getResult(0).getType() == type;
  return isUniform ? &op : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  size_t count = getInputs().size();
  printer << '(';
  for (size_t i = 0; i < count; ++i)
    printer << (i == 0 ? "" : ", (") << getInputs()[i]
            << " init: " << getInitValues()[i] << ')';
  Operation *applied = getAppliedOp(*this);
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = ";
  stablehlo::detail::printIntegers(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(getOperation());
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  // Text has a pair of arguments per input; the region has all first ones, then
  // all second ones.
  for (size_t i = 0; i < count; ++i) {
    printer << (i == 0 ? "(" : " (");
    printer.printRegionArgument(getBody().getArgument(i));
    printer << ", ";
    printer.printRegionArgument(getBody().getArgument(i + count));
    printer << ')';
  }
  printer << "  ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  SMLoc operandLoc = parser.getCurrentLocation();
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));

  std::optional<OperationName> applied;
  SMLoc appliedLoc;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    appliedLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    if (inputs.size() != 1)
      return parser.emitError(appliedLoc,
                              "expected one input with applies, got ")
             << inputs.size();
    if (!name->isRegistered())
      return parser.emitError(appliedLoc, "operation ")
             << *name << " is not known";
    applied = *name;
  }

  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() ||
      stablehlo::detail::parseIntegers(parser, dimensions) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(type))
    return failure();
  result.getOrAddProperties<Properties>().setDimensions(
      parser.getBuilder().getDenseI64ArrayAttr(dimensions));
  SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  llvm::append_range(operands, inits);
  if (parser.resolveOperands(operands, type.getInputs(), operandLoc,
                             result.operands))
    return failure();
  result.addTypes(type.getResults());

  Region *body = result.addRegion();
  if (applied) {
    auto resultType = type.getNumResults() == 1
                          ? dyn_cast<ShapedType>(type.getResult(0))
                          : ShapedType();
    if (!resultType)
      return parser.emitError(appliedLoc,
                              "expected the result to be a tensor, got ")
             << type.getResults();
    Type scalar = RankedTensorType::get({}, resultType.getElementType());
    Block &block = body->emplaceBlock();
    block.addArguments({scalar, scalar}, {result.location, result.location});
    // The region has no operation yet that a builder could take a context from.
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToEnd(&block);
    OperationState state(result.location, *applied, block.getArguments(),
                         {scalar}, {});
    Operation *op = builder.create(state);
    ReturnOp::create(builder, result.location, op->getResults());
    return success();
  }

  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> first, second;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (parser.parseLParen() ||
        parser.parseArgument(first.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(second.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  llvm::append_range(first, second);
  return parser.parseRegion(*body, first);
}

//===----------------------------------------------------------------------===//
// While
//===----------------------------------------------------------------------===//

void WhileOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

void WhileOp::print(OpAsmPrinter &printer) {
  // The printer numbers both regions alike, so that names of the first one hold
  // in the second one.
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperands()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ')';
  if (!getOperands().empty())
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  auto parseCarried = [&]() -> ParseResult {
    return failure(failed(parser.parseArgument(arguments.emplace_back())) ||
                   failed(parser.parseEqual()) ||
                   failed(parser.parseOperand(operands.emplace_back())));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseCarried) ||
      parser.parseOptionalColonTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, result.types, loc, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, result.types)) {
    argument.type = type;
    argument.sourceLoc = result.location;
  }
  Region *cond = result.addRegion(), *body = result.addRegion();
  return failure(failed(parser.parseKeyword("cond")) ||
                 failed(parser.parseRegion(*cond, arguments)) ||
                 failed(parser.parseKeyword("do")) ||
                 failed(parser.parseRegion(*body, arguments)));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getOutput(), isa<IntegerType>(getOutput().getType().getElementType())
                           ? "c"
                           : "cst");
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace mlir::pathways::check {

static ParseResult parseOneOrMoreTypes(OpAsmParser &parser, Type &lhs,
                                       Type &rhs) {
  if (parser.parseType(lhs))
    return failure();
  rhs = lhs;
  return failed(parser.parseOptionalComma()) ? success()
                                             : parser.parseType(rhs);
}

static void printOneOrMoreTypes(OpAsmPrinter &printer, Operation *, Type lhs,
                                Type rhs) {
  printer << lhs;
  if (lhs != rhs)
    printer << ", " << rhs;
}

/// Parses `dense<..>[, tolerance = X] : T`. A tolerance stands before the type
/// of the elements, which no parser of MLIR expects, so the literal is skipped
/// and parsed again with its type.
static ParseResult parseExpectedValue(OpAsmParser &parser, ElementsAttr &value,
                                      FloatAttr &tolerance) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("dense") || parser.parseLess())
    return failure();
  if (failed(parser.parseOptionalGreater())) {
    Attribute skipped;
    if (parser.parseAttribute(skipped) || parser.parseGreater())
      return failure();
  }
  // The literal ends at the last `>` before what comes next.
  StringRef literal(loc.getPointer(), parser.getCurrentLocation().getPointer() -
                                          loc.getPointer());
  literal = literal.take_front(literal.rfind('>') + 1);
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("tolerance") || parser.parseEqual() ||
       parser.parseAttribute(tolerance, parser.getBuilder().getF64Type())))
    return failure();
  Type type;
  if (parser.parseColon() || parser.parseType(type))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return parser.emitError(loc, "expected a ranked tensor type, got ") << type;
  std::string text;
  llvm::raw_string_ostream(text) << literal << " : " << type;
  // Places in `text` are none of the file.
  std::string reason;
  {
    ScopedDiagnosticHandler handler(
        parser.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            reason = diagnostic.str();
          return success();
        });
    value = dyn_cast_or_null<ElementsAttr>(
        parseAttribute(text, parser.getContext()));
  }
  if (!value)
    return parser.emitError(loc, "expected elements of type ")
           << type << (reason.empty() ? "" : ": ") << reason;
  return success();
}

static void printExpectedValue(OpAsmPrinter &printer, Operation *,
                               ElementsAttr value, FloatAttr tolerance) {
  if (!tolerance) {
    printer << value;
    return;
  }
  printer.printAttributeWithoutType(value);
  printer << ", tolerance = ";
  printer.printAttributeWithoutType(tolerance);
  printer << " : " << value.getType();
}

} // namespace mlir::pathways::check

#define GET_OP_CLASSES
#include "pathways/Dialect/StableHlo/StableHloOps.cpp.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/StableHlo/ChloOps.cpp.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/StableHlo/CheckOps.cpp.inc"
