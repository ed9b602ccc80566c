//===- PathwaysControl.cpp - Loops and branches of programs ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// (C1), (C2), ... are the numbered constraints of the operations' descriptions.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Pathways.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::pathways;

static StringRef getWords(LoopUse use) {
  return use == LoopUse::Reversed ? "stepped reversed" : stringifyLoopUse(use);
}

/// Parses `carried`, `stepped` or `stepped reversed`.
static ParseResult parseLoopUse(OpAsmParser &parser,
                                SmallVectorImpl<Attribute> &uses) {
  LoopUse use = LoopUse::Carried;
  if (failed(parser.parseOptionalKeyword("carried"))) {
    if (parser.parseKeyword("stepped", " or 'carried'"))
      return failure();
    use = succeeded(parser.parseOptionalKeyword("reversed")) ? LoopUse::Reversed
                                                             : LoopUse::Stepped;
  }
  uses.push_back(LoopUseAttr::get(parser.getContext(), use));
  return success();
}

//===----------------------------------------------------------------------===//
// ForOp
//===----------------------------------------------------------------------===//

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  int64_t trips;
  if (parser.parseInteger(trips))
    return failure();
  result.addAttribute(getTripsAttrName(result.name),
                      builder.getI64IntegerAttr(trips));
  auto parseWord = [&](StringAttr name) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(name)))
      return success();
    std::string word;
    if (parser.parseString(&word))
      return failure();
    result.addAttribute(name, builder.getStringAttr(word));
    return success();
  };
  if (parseWord(getScheduleAttrName(result.name)) ||
      parseWord(getLabelAttrName(result.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("while")))
    result.addAttribute(getIsWhileAttrName(result.name), builder.getUnitAttr());

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> initTypes;
  SmallVector<Attribute> operandUses, resultUses;
  SMLoc loc = parser.getCurrentLocation();
  auto parseOperand = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(inits.emplace_back()) ||
        parseLoopUse(parser, operandUses) ||
        parser.parseColonType(initTypes.emplace_back()))
      return failure();
    argument.type = initTypes.back();
    auto use = cast<LoopUseAttr>(operandUses.back()).getValue();
    return failure(use != LoopUse::Carried &&
                   (parser.parseArrow() || parser.parseType(argument.type)));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen,
                                     parseOperand, " in operands of 'pw.for'"))
    return failure();
  auto parseResult = [&]() -> ParseResult {
    return failure(parser.parseType(result.types.emplace_back()) ||
                   parseLoopUse(parser, resultUses));
  };
  if (succeeded(parser.parseOptionalArrow()) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseResult,
                                     " in results of 'pw.for'"))
    return failure();
  result.addAttribute(getOperandUsesAttrName(result.name),
                      builder.getArrayAttr(operandUses));
  result.addAttribute(getResultUsesAttrName(result.name),
                      builder.getArrayAttr(resultUses));
  return failure(
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(inits, initTypes, loc, result.operands) ||
      parser.parseRegion(*result.addRegion(), arguments));
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getTrips();
  for (StringAttr name : {getScheduleAttrName(), getLabelAttrName()})
    if (Attribute word = (*this)->getAttr(name)) {
      printer << ' ' << name.getValue() << ' ';
      printer.printAttributeWithoutType(word);
    }
  if (getIsWhile())
    printer << " while";
  if (!getInits().empty()) {
    printer << " (";
    llvm::interleaveComma(
        llvm::enumerate(getInits()), printer, [&](const auto &entry) {
          auto [index, init] = entry;
          BlockArgument argument = getBody().getArgument(index);
          LoopUse use = getOperandUse(index);
          printer.printRegionArgument(argument, {}, /*omitType=*/true);
          printer << " = " << init << ' ' << getWords(use) << " : "
                  << init.getType();
          if (use != LoopUse::Carried)
            printer << " -> " << argument.getType();
        });
    printer << ')';
  }
  if (!getOutputs().empty()) {
    printer << " -> (";
    llvm::interleaveComma(
        llvm::enumerate(getOutputs()), printer, [&](const auto &entry) {
          auto [index, output] = entry;
          printer << output.getType() << ' ' << getWords(getResultUse(index));
        });
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getTripsAttrName(), getScheduleAttrName(),
                            getLabelAttrName(), getOperandUsesAttrName(),
                            getResultUsesAttrName(), getIsWhileAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

std::optional<unsigned> ForOp::getCarriedResult(unsigned argument) {
  if (getOperandUse(argument) != LoopUse::Carried)
    return std::nullopt;
  unsigned rank = 0;
  for (unsigned i = 0; i < argument; ++i)
    rank += getOperandUse(i) == LoopUse::Carried;
  for (unsigned i = 0, e = getOutputs().size(); i != e; ++i)
    if (getResultUse(i) == LoopUse::Carried && rank-- == 0)
      return i;
  llvm_unreachable("verified to have a result for each carried operand");
}

mlir::pathways::YieldOp ForOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Verifies that `stacked` has one `element` for each iteration. (C5)
static LogicalResult verifyStepped(ForOp op, const Twine &what, Type stacked,
                                   Type element) {
  auto whole = cast<ArrayType>(stacked);
  auto fail = [&] {
    return op.emitOpError() << "has " << what << " of type " << stacked;
  };
  if (whole.getRank() == 0)
    return fail() << ", which is stepped, but has no dimension";
  if (whole.getShape().front() != static_cast<int64_t>(op.getTrips()))
    return fail() << ", which has " << whole.getShape().front()
                  << " indices, but the loop runs " << op.getTrips()
                  << " times";
  if (!whole.getSharding().getDims().front().empty())
    return fail() << ", whose leading dimension is stepped and must not be cut";
  // The parts in a loop that a plan stores are aligned; lowering checks them.
  if (element != whole.withoutLeadingDim() &&
      !op->hasAttr(PathwaysDialect::kOrdersAttrName))
    return fail() << ", so an iteration has " << whole.withoutLeadingDim()
                  << ", got " << element;
  return success();
}

/// Verifies a loop with `while`. (C7)
static LogicalResult verifyWhile(ForOp op) {
  if (op.getInits().empty() || op.getOperandUse(0) != LoopUse::Carried)
    return op.emitOpError("has 'while', but its first operand is not carried; "
                          "expected the condition");
  auto type = cast<ArrayType>(op.getInits().front().getType());
  if (!mlir::pathways::detail::isCondition(type))
    return op.emitOpError() << "has 'while', but its first operand has type "
                            << type << ", expected one i1 that is not partial";
  for (unsigned i = 0, e = op.getOutputs().size(); i != e; ++i)
    if (op.getResultUse(i) != LoopUse::Carried)
      return op.emitOpError()
             << "has 'while' and stepped result " << i
             << ", of which iterations that do not run would have no part";
  if (op.getSchedule())
    return op.emitOpError() << "has 'while' and schedule '" << *op.getSchedule()
                            << "', but each iteration waits for the condition "
                               "that the one before yields";
  return success();
}

LogicalResult ForOp::verify() {
  int64_t trips = getTrips();
  if (trips < 1 || trips > kMaxTrips) // (C1)
    return emitOpError() << "runs " << trips
                         << " times, expected a number from 1 to " << kMaxTrips;
  if (getLabel() && getLabel()->empty()) // (C6)
    return emitOpError("has an empty label; expected a name");
  if (getSchedule() && getSchedule()->empty()) // (C6)
    return emitOpError(
        "has an empty schedule; expected a name, or @ and a file");
  if (getOutputs().empty()) // (C2)
    return emitOpError("has no result, expected at least one");
  if (getOperandUses().size() != getInits().size() ||
      getResultUses().size() != getOutputs().size())
    return emitOpError() << "has " << getInits().size() << " operands and "
                         << getOutputs().size() << " results, but "
                         << getOperandUses().size() << " and "
                         << getResultUses().size() << " words for their use";
  if (getBody().getNumArguments() != getInits().size()) // (C3)
    return emitOpError() << "has " << getInits().size()
                         << " operands, but its region has "
                         << getBody().getNumArguments() << " arguments";
  SmallVector<unsigned> carried;
  for (unsigned i = 0, e = getOutputs().size(); i != e; ++i)
    if (getResultUse(i) == LoopUse::Carried)
      carried.push_back(i);
  unsigned rank = 0;
  for (auto [index, init, argument] :
       llvm::enumerate(getInits(), getBody().getArguments())) {
    if (getOperandUse(index) != LoopUse::Carried) {
      if (failed(verifyStepped(*this, "operand " + Twine(index), init.getType(),
                               argument.getType())))
        return failure();
      continue;
    }
    if (argument.getType() != init.getType()) // (C4)
      return emitOpError() << "carries operand " << index << " of type "
                           << init.getType() << " into an argument of type "
                           << argument.getType();
    if (rank < carried.size() &&
        getOutputs()[carried[rank]].getType() != init.getType()) // (C4)
      return emitOpError() << "carries operand " << index << " of type "
                           << init.getType() << ", but its result "
                           << carried[rank] << " has type "
                           << getOutputs()[carried[rank]].getType();
    ++rank;
  }
  if (rank != carried.size()) // (C4)
    return emitOpError() << "has " << rank << " carried operands, but "
                         << carried.size() << " carried results";
  return getIsWhile() ? verifyWhile(*this) : success(); // (C7)
}

LogicalResult ForOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield) // (C3)
    return emitOpError("expected its region to end with 'pw.yield'");
  if (yield.getValues().size() != getOutputs().size()) // (C3)
    return emitOpError() << "has " << getOutputs().size()
                         << " results, but its region yields "
                         << yield.getValues().size() << " values";
  for (auto [index, value, output] :
       llvm::enumerate(yield.getValues(), getOutputs())) {
    if (getResultUse(index) != LoopUse::Carried) {
      if (failed(verifyStepped(*this, "result " + Twine(index),
                               output.getType(), value.getType())))
        return failure();
    } else if (value.getType() != output.getType()) { // (C4)
      return emitOpError() << "has carried result " << index << " of type "
                           << output.getType() << ", but its region yields "
                           << value.getType();
    }
  }
  return success();
}

LogicalResult ForOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(detail::verifyArrays(*this, symbols, getInits().getTypes())) ||
      failed(
          detail::verifyArrays(*this, symbols, getBody().getArgumentTypes())))
    return failure();
  return detail::verifyArrays(*this, symbols, getOutputs().getTypes());
}

//===----------------------------------------------------------------------===//
// IfOp
//===----------------------------------------------------------------------===//

bool mlir::pathways::detail::isCondition(ArrayType type) {
  return type.getRank() == 0 && type.getElementType().isInteger(1) &&
         !type.getSharding().isPartial();
}

mlir::pathways::YieldOp IfOp::getThenYield() {
  return cast<YieldOp>(getThenBody().front().getTerminator());
}

mlir::pathways::YieldOp IfOp::getElseYield() {
  return cast<YieldOp>(getElseBody().front().getTerminator());
}

LogicalResult IfOp::verify() {
  if (!detail::isCondition(getCondition().getType())) // (C1)
    return emitOpError() << "has a condition of type "
                         << getCondition().getType()
                         << ", expected one i1 that is not partial";
  if (getOutputs().empty()) // (C2)
    return emitOpError("has no result, expected at least one");
  return success();
}

LogicalResult IfOp::verifyRegions() {
  for (auto [region, name] :
       {std::pair(&getThenBody(), "then"), std::pair(&getElseBody(), "else")}) {
    if (region->getNumArguments() != 0) // (C3)
      return emitOpError() << "has a region '" << name << "' with "
                           << region->getNumArguments()
                           << " arguments, expected none";
    auto yield = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!yield) // (C3)
      return emitOpError() << "expected its region '" << name
                           << "' to end with 'pw.yield'";
    if (yield.getValues().size() != getOutputs().size()) // (C3)
      return emitOpError() << "has " << getOutputs().size()
                           << " results, but its region '" << name
                           << "' yields " << yield.getValues().size()
                           << " values";
    for (auto [index, value, output] :
         llvm::enumerate(yield.getValues(), getOutputs()))
      if (value.getType() != output.getType()) // (C3)
        return emitOpError() << "has result " << index << " of type "
                             << output.getType() << ", but its region '" << name
                             << "' yields " << value.getType();
  }
  return success();
}

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(detail::verifyArrays(*this, symbols, getCondition().getType())))
    return failure();
  return detail::verifyArrays(*this, symbols, getOutputs().getTypes());
}

//===----------------------------------------------------------------------===//
// IterationIndexOp
//===----------------------------------------------------------------------===//

LogicalResult IterationIndexOp::verify() {
  if ((*this)->getParentOfType<func::FuncOp>()) // (C1)
    return success();
  return emitOpError("is only allowed in a 'func.func'");
}
