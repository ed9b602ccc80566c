//===- PathwaysOps.cpp - Syntax and folding of pw operations --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Pathways.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Parses `base N strides [...] (span N)?` or `[...]`.
static ParseResult parseDevices(OpAsmParser &parser, IntegerAttr &base,
                                DenseI64ArrayAttr &strides, IntegerAttr &span,
                                DenseI64ArrayAttr &devices) {
  Builder &builder = parser.getBuilder();
  auto parseNumber = [&](IntegerAttr &attribute) -> ParseResult {
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    attribute = builder.getI64IntegerAttr(value);
    return success();
  };
  auto parseList = [&](DenseI64ArrayAttr &attribute) -> ParseResult {
    SmallVector<int64_t> values;
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square,
            [&] { return parser.parseInteger(values.emplace_back()); },
            " in list of numbers"))
      return failure();
    attribute = builder.getDenseI64ArrayAttr(values);
    return success();
  };
  if (failed(parser.parseOptionalKeyword("base")))
    return parseList(devices);
  if (parseNumber(base) || parser.parseKeyword("strides") || parseList(strides))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("span")))
    return parseNumber(span);
  return success();
}

static void printDevices(OpAsmPrinter &printer, Operation *, IntegerAttr base,
                         DenseI64ArrayAttr strides, IntegerAttr span,
                         DenseI64ArrayAttr devices) {
  auto printList = [&](DenseI64ArrayAttr list) {
    printer << '[';
    llvm::interleaveComma(list.asArrayRef(), printer);
    printer << ']';
  };
  if (devices)
    return printList(devices);
  printer << "base " << base.getInt() << " strides ";
  printList(strides);
  if (span)
    printer << " span " << span.getInt();
}

static ParseResult parseShardingBody(OpAsmParser &parser,
                                     ShardingAttr &sharding) {
  FailureOr<ShardingAttr> parsed = ShardingAttr::parseBody(parser);
  if (failed(parsed))
    return failure();
  sharding = *parsed;
  return success();
}

static void printShardingBody(OpAsmPrinter &printer, Operation *,
                              ShardingAttr sharding) {
  sharding.printBody(printer);
}

/// Parses `[SHARDING, ...]`, each sharding as in `pw.constrain`.
static ParseResult parseShardings(OpAsmParser &parser, ArrayAttr &shardings) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    ShardingAttr sharding;
    if (parseShardingBody(parser, sharding))
      return failure();
    list.push_back(sharding);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne,
                                     " in list of shardings"))
    return failure();
  shardings = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printShardings(OpAsmPrinter &printer, Operation *,
                           ArrayAttr shardings) {
  printer << '[';
  llvm::interleaveComma(
      shardings.getAsRange<ShardingAttr>(), printer,
      [&](ShardingAttr sharding) { sharding.printBody(printer); });
  printer << ']';
}

/// Parses `(%a: TYPE, ...) { ... }`.
static ParseResult parseBodyWithArguments(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments,
                                          OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true) ||
                 parser.parseRegion(region, arguments));
}

static void printBodyWithArguments(OpAsmPrinter &printer, Operation *,
                                   Region &region) {
  printer << '(';
  llvm::interleaveComma(
      region.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

/// Parses `shift N` or `pairs [[N, N], ...]`.
static ParseResult parseRoute(OpAsmParser &parser, IntegerAttr &shift,
                              DenseI64ArrayAttr &pairs) {
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("shift"))) {
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    shift = builder.getI64IntegerAttr(value);
    return success();
  }
  SmallVector<int64_t> ranks;
  auto parsePair = [&]() -> ParseResult {
    return failure(
        parser.parseLSquare() || parser.parseInteger(ranks.emplace_back()) ||
        parser.parseComma() || parser.parseInteger(ranks.emplace_back()) ||
        parser.parseRSquare());
  };
  if (parser.parseKeyword("pairs", " or 'shift'") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair,
                                     " in list of pairs"))
    return failure();
  pairs = builder.getDenseI64ArrayAttr(ranks);
  return success();
}

static void printRoute(OpAsmPrinter &printer, Operation *, IntegerAttr shift,
                       DenseI64ArrayAttr pairs) {
  if (shift) {
    printer << "shift " << shift.getInt();
    return;
  }
  printer << "pairs [";
  ArrayRef<int64_t> ranks = pairs.asArrayRef();
  for (size_t i = 0; i + 1 < ranks.size(); i += 2)
    printer << (i ? ", " : "") << '[' << ranks[i] << ", " << ranks[i + 1]
            << ']';
  printer << ']';
}

/// Parses `if(%guard : TYPE)`, the same with `unless`, or nothing.
static OptionalParseResult
parseGuard(OpAsmParser &parser,
           std::optional<OpAsmParser::UnresolvedOperand> &guard, Type &type,
           UnitAttr &unless) {
  if (failed(parser.parseOptionalKeyword("if"))) {
    if (failed(parser.parseOptionalKeyword("unless")))
      return std::nullopt;
    unless = parser.getBuilder().getUnitAttr();
  }
  return ParseResult(
      failure(parser.parseLParen() || parser.parseOperand(guard.emplace()) ||
              parser.parseColonType(type) || parser.parseRParen()));
}

static void printGuard(OpAsmPrinter &printer, Operation *, Value guard, Type,
                       UnitAttr unless) {
  if (guard)
    printer << (unless ? "unless(" : "if(") << guard << " : " << guard.getType()
            << ')';
}

static ParseResult parseReduction(OpAsmParser &parser,
                                  ReductionKindAttr &kind) {
  FailureOr<ReductionKind> parsed = parseReductionKind(parser);
  if (failed(parsed))
    return failure();
  kind = ReductionKindAttr::get(parser.getContext(), *parsed);
  return success();
}

static void printReduction(OpAsmPrinter &printer, Operation *,
                           ReductionKindAttr kind) {
  printer << stringifyReductionKind(kind.getValue());
}

#include "pathways/Dialect/Pathways/PathwaysInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/Pathways/PathwaysOps.cpp.inc"

//===----------------------------------------------------------------------===//
// BindOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 1> BindOp::getIslands() {
  SmallVector<int64_t, 1> islands = {static_cast<int64_t>(getIsland())};
  llvm::append_range(islands, getMoreIslands().value_or(ArrayRef<int64_t>()));
  return islands;
}

BindOp::Place BindOp::getPlace(MeshAttr mesh, int64_t shard) {
  ArrayRef<int64_t> more = getMoreIslands().value_or(ArrayRef<int64_t>());
  int64_t size = more.size() + 1, run = shard / (mesh.getNumShards() / size);
  int64_t island = run ? more[run - 1] : getIsland();
  if (std::optional<ArrayRef<int64_t>> devices = getDevices())
    return {island, (*devices)[shard]};
  int64_t base = run ? (*getMoreBases())[run - 1] : *getBase(), sum = 0;
  for (auto [axis, stride] :
       llvm::reverse(llvm::zip_equal(mesh.getSizes(), *getStrides()))) {
    sum += shard % axis * stride;
    shard /= axis;
  }
  int64_t span = getSpan().value_or(0);
  return {island, base + (span ? sum % span : sum)};
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      FunctionType type) {
  OpBuilder::InsertionGuard guard(builder);
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  Block *block = builder.createBlock(body);
  for (Type input : type.getInputs())
    block->addArgument(input, state.location);
}

/// Returns the name of a program argument that has none.
static std::string getDefaultArgumentName(unsigned index) {
  return "arg" + std::to_string(index);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  (void)mlir::impl::parseOptionalVisibilityKeyword(parser, result.attributes);

  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes,
          resultAttrs))
    return failure();

  SmallVector<Type> argumentTypes;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    argumentTypes.push_back(argument.type);
    // The SSA name of an argument is its name, unless it is a number.
    StringRef ssaName =
        argument.ssaName.name.drop_while([](char c) { return c == '%'; });
    if (ssaName.empty() || llvm::isDigit(ssaName.front()) ||
        ssaName == getDefaultArgumentName(index) ||
        (argument.attrs &&
         argument.attrs.contains(PathwaysDialect::kNameAttrName)))
      continue;
    NamedAttrList attributes(argument.attrs);
    attributes.set(PathwaysDialect::kNameAttrName,
                   builder.getStringAttr(ssaName));
    argument.attrs = attributes.getDictionary(parser.getContext());
  }
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes)));

  NamedAttrList attributes;
  if (parser.parseOptionalAttrDictWithKeyword(attributes))
    return failure();
  result.attributes.append(attributes);
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
      getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (std::optional<StringRef> visibility = getSymVisibility())
    printer << *visibility << ' ';
  printer.printSymbolName(getSymName());

  // A name is printed unless parsing would find the same one again. SSA names
  // are made unique while printing, so the printer knows them only then.
  SmallVector<Attribute> argAttrs;
  for (unsigned i = 0, e = getArgumentTypes().size(); i != e; ++i) {
    std::string argumentName = getArgumentName(i), printed;
    llvm::raw_string_ostream os(printed);
    if (!getBody().empty() && i < getBody().front().getNumArguments())
      printer.printOperand(getBody().front().getArgument(i), os);
    NamedAttrList attributes(function_interface_impl::getArgAttrDict(*this, i));
    StringAttr nameAttr = StringAttr::get(getContext(), argumentName);
    if (StringRef(printed).drop_front(printed.empty() ? 0 : 1) == argumentName)
      attributes.erase(PathwaysDialect::kNameAttrName);
    else
      attributes.set(PathwaysDialect::kNameAttrName, nameAttr);
    argAttrs.push_back(attributes.getDictionary(getContext()));
  }
  call_interface_impl::printFunctionSignature(
      printer, getArgumentTypes(), ArrayAttr::get(getContext(), argAttrs),
      /*isVariadic=*/false, getResultTypes(), getResAttrsAttr(), &getBody(),
      /*printEmptyResult=*/false);
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getSymVisibilityAttrName(),
                            getFunctionTypeAttrName(), getArgAttrsAttrName(),
                            getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void ProgramOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  for (BlockArgument argument : region.front().getArguments())
    setName(argument, getArgumentName(argument.getArgNumber()));
}

std::string ProgramOp::getArgumentName(unsigned index) {
  if (auto name =
          getArgAttrOfType<StringAttr>(index, PathwaysDialect::kNameAttrName))
    return name.str();
  return getDefaultArgumentName(index);
}

std::string ProgramOp::getResultName(unsigned index) {
  if (auto name = getResultAttrOfType<StringAttr>(
          index, PathwaysDialect::kNameAttrName))
    return name.str();
  return "result" + std::to_string(index);
}

bool ProgramOp::isArgumentStepped(unsigned index) {
  return !!getArgAttr(index, PathwaysDialect::kSteppedAttrName);
}

bool ProgramOp::isResultStepped(unsigned index) {
  return !!getResultAttr(index, PathwaysDialect::kSteppedAttrName);
}

ExpectAttr ProgramOp::getExpectation(unsigned index) {
  return getResultAttrOfType<ExpectAttr>(index,
                                         PathwaysDialect::kExpectAttrName);
}

std::optional<unsigned> ProgramOp::getCarriedResult(unsigned index) {
  if (auto carried = getArgAttrOfType<IntegerAttr>(
          index, PathwaysDialect::kCarriedAttrName))
    return carried.getInt();
  return std::nullopt;
}

ElementsAttr ProgramOp::getConstant(unsigned index) {
  return getArgAttrOfType<ElementsAttr>(index,
                                        PathwaysDialect::kConstantAttrName);
}

mlir::pathways::ReturnOp ProgramOp::getReturn() {
  return cast<ReturnOp>(getBody().front().getTerminator());
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

void CallOp::build(OpBuilder &builder, OperationState &state, TypeRange outputs,
                   StringRef callee, ValueRange inputs) {
  build(builder, state, outputs,
        FlatSymbolRefAttr::get(builder.getContext(), callee), inputs,
        /*after=*/ValueRange(), /*guard=*/Value(), /*into=*/ValueRange(),
        /*unless=*/UnitAttr(), /*into_results=*/DenseI64ArrayAttr(),
        /*label=*/StringAttr(), /*cell=*/StringAttr(),
        /*recompute=*/UnitAttr());
}

/// Returns the operands themselves, so that the caller can change them.
static SmallVector<OpOperand *> getOperandsOf(MutableOperandRange range) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : range)
    operands.push_back(&operand);
  return operands;
}

SmallVector<OpOperand *> CallOp::getReads() {
  SmallVector<OpOperand *> reads = getOperandsOf(getInputsMutable());
  llvm::append_range(reads, getOperandsOf(getGuardMutable()));
  llvm::append_range(reads, getOperandsOf(getIntoMutable()));
  return reads;
}

void CallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Results of guarded calls are written again in place, so each call has its
  // own.
  if (getGuard())
    for (OpResult result : (*this)->getResults())
      effects.emplace_back(MemoryEffects::Allocate::get(), result);
}

void CallOp::setGuard(Value value, bool isUnless) {
  getGuardMutable().assign(value);
  setUnless(isUnless);
}

void CallOp::addInto(unsigned result, Value target) {
  SmallVector<int64_t> results(getIntoResults());
  SmallVector<Value> targets(getInto());
  int64_t *place = llvm::lower_bound(results, int64_t{result});
  targets.insert(targets.begin() + (place - results.begin()), target);
  results.insert(place, result);
  getIntoMutable().assign(targets);
  setIntoResults(results);
}

SmallVector<OpOperand *> CallOp::getWaits() {
  return getOperandsOf(getAfterMutable());
}

SmallVector<OpOperand *> CallOp::getDonations() {
  SmallVector<OpOperand *> operands;
  for (int64_t index : getDonated())
    operands.push_back(&getInputsMutable()[index]);
  return operands;
}

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr callee;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, after, donated, into;
  std::optional<OpAsmParser::UnresolvedOperand> guard;
  Type guardType;
  UnitAttr unless;
  SmallVector<Type> afterTypes;
  SMLoc inputsLoc;
  if (parser.parseSymbolName(callee) || parser.getCurrentLocation(&inputsLoc) ||
      parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren))
    return failure();
  result.addAttribute(getCalleeAttrName(result.name),
                      FlatSymbolRefAttr::get(callee));

  SMLoc afterLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("after")) &&
      (parser.parseLParen() || parser.parseOperandList(after) ||
       parser.parseColonTypeList(afterTypes) || parser.parseRParen()))
    return failure();

  SmallVector<int64_t> intoResults;
  OptionalParseResult guarded = parseGuard(parser, guard, guardType, unless);
  if (guarded.has_value() && failed(*guarded))
    return failure();
  if (unless)
    result.addAttribute(getUnlessAttrName(result.name), unless);
  auto parseInto = [&]() -> ParseResult {
    return failure(parser.parseInteger(intoResults.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(into.emplace_back()));
  };
  SMLoc intoLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("into"))) {
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInto,
                                       " in 'into' of 'pw.call'"))
      return failure();
    result.addAttribute(getIntoResultsAttrName(result.name),
                        builder.getDenseI64ArrayAttr(intoResults));
  }

  if (succeeded(parser.parseOptionalKeyword("donate"))) {
    if (parser.parseOperandList(donated, OpAsmParser::Delimiter::Paren))
      return failure();
    llvm::DenseMap<std::pair<StringRef, unsigned>, int64_t> positions;
    for (auto [index, input] : llvm::enumerate(inputs))
      positions.try_emplace({input.name, input.number}, index);
    SmallVector<int64_t> indices;
    llvm::DenseSet<int64_t> seen;
    for (const OpAsmParser::UnresolvedOperand &operand : donated) {
      auto input = positions.find({operand.name, operand.number});
      if (input == positions.end())
        return parser.emitError(operand.location, "'")
               << operand.name << "' is donated, but is not an operand";
      if (!seen.insert(input->second).second)
        return parser.emitError(operand.location, "'")
               << operand.name << "' is donated twice";
      indices.push_back(input->second);
    }
    llvm::sort(indices);
    result.addAttribute(getDonatedAttrName(result.name),
                        builder.getDenseI64ArrayAttr(indices));
  }

  for (auto [keyword, attribute] :
       {std::pair("label", getLabelAttrName(result.name)),
        std::pair("cell", getCellAttrName(result.name))}) {
    if (failed(parser.parseOptionalKeyword(keyword)))
      continue;
    std::string label;
    if (parser.parseString(&label))
      return failure();
    result.addAttribute(attribute, builder.getStringAttr(label));
  }
  if (succeeded(parser.parseOptionalKeyword("recompute")))
    result.addAttribute(getRecomputeAttrName(result.name),
                        builder.getUnitAttr());

  FunctionType type;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), inputsLoc,
                             result.operands) ||
      parser.resolveOperands(after, afterTypes, afterLoc, result.operands) ||
      (guard && parser.resolveOperand(*guard, guardType, result.operands)))
    return failure();
  SmallVector<Type> intoTypes;
  for (int64_t index : intoResults) {
    if (index < 0 || index >= static_cast<int64_t>(type.getNumResults()))
      return parser.emitError(intoLoc, "expected the index of a result, which "
                                       "is below ")
             << type.getNumResults() << ", got " << index;
    intoTypes.push_back(type.getResult(index));
  }
  if (parser.resolveOperands(into, intoTypes, intoLoc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      static_cast<int32_t>(inputs.size()), static_cast<int32_t>(after.size()),
      guard.has_value(), static_cast<int32_t>(into.size())};
  return success();
}

void CallOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getCallee());
  printer << '(' << getInputs() << ')';
  if (!getAfter().empty())
    printer << " after(" << getAfter() << " : " << getAfter().getTypes() << ')';
  if (Value guard = getGuard()) {
    printer << ' ';
    printGuard(printer, *this, guard, guard.getType(), getUnlessAttr());
  }
  if (!getInto().empty()) {
    printer << " into(";
    llvm::interleaveComma(llvm::zip_first(getInto(), getIntoResults()), printer,
                          [&](const auto &entry) {
                            auto [target, index] = entry;
                            printer << index << " = " << target;
                          });
    printer << ')';
  }
  // Equal operands, which CSE makes, are donated together.
  llvm::SmallSetVector<Value, 4> donated;
  for (int64_t index : getDonated())
    if (index >= 0 && index < static_cast<int64_t>(getInputs().size()))
      donated.insert(getInputs()[index]);
  if (!donated.empty()) {
    printer << " donate(";
    llvm::interleaveComma(donated, printer);
    printer << ')';
  }
  if (StringAttr label = getLabelAttr()) {
    printer << " label ";
    printer.printAttributeWithoutType(label);
  }
  if (StringAttr cell = getCellAttr()) {
    printer << " cell ";
    printer.printAttributeWithoutType(cell);
  }
  if (getRecompute())
    printer << " recompute";
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getCalleeAttrName(), getDonatedAttrName(), getUnlessAttrName(),
       getIntoResultsAttrName(), getLabelAttrName(), getCellAttrName(),
       getRecomputeAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : ";
  printer.printFunctionalType(getInputs().getTypes(), getOutputs().getTypes());
}

//===----------------------------------------------------------------------===//
// TransferOp
//===----------------------------------------------------------------------===//

void TransferOp::build(OpBuilder &builder, OperationState &state, Type result,
                       Value source) {
  build(builder, state, result, source, /*guard=*/Value(),
        /*unless=*/UnitAttr());
}

void TransferOp::setGuard(Value value, bool isUnless) {
  getGuardMutable().assign(value);
  setUnless(isUnless);
}

//===----------------------------------------------------------------------===//
// ReshardOp
//===----------------------------------------------------------------------===//

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  auto inner = getSource().getDefiningOp<ReshardOp>();
  if (!inner)
    return {};
  ArrayType first = inner.getSource().getType(), second = inner.getType();
  // The two reshards cancel out. A partial array between them is left alone:
  // adding the identity changes the sign of a zero, and reducing loses
  // contributions.
  if (first == getType() && !first.getSharding().isPartial() &&
      !second.getSharding().isPartial())
    return inner.getSource();
  // Within a slice a detour costs time; between slices it may save bytes on the
  // slower network. If the intermediate array has other uses it is needed
  // anyway. A partial source is reduced once either way, with the same bits.
  if (first.getSlice() == second.getSlice() &&
      second.getSlice() == getType().getSlice() &&
      !second.getSharding().isPartial() &&
      !getType().getSharding().isPartial() && inner->hasOneUse()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}
