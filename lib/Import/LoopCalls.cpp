//===- LoopCalls.cpp - Custom calls that are loops ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopCalls.h"

#include "runtime/base/error_codes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

/// Largest number of operations of all bodies that are copied.
static constexpr size_t kMaxCopied = 1 << 18;

namespace {
/// A custom call `@pw.for`, whose called computation is the body of a loop.
struct LoopCall {
  func::FuncOp body;
  int64_t trips = 0;
  /// The use of each operand; an operand that all iterations read has none.
  SmallVector<std::optional<LoopUse>> operandUses;
  SmallVector<LoopUse> resultUses;
  StringAttr schedule, label; ///< null: there is none

  /// Returns the operand that carried result `result` takes in the first
  /// iteration.
  unsigned getCarriedOperand(unsigned result) const;
};
} // namespace

unsigned LoopCall::getCarriedOperand(unsigned result) const {
  unsigned rank = 0;
  for (unsigned i = 0; i < result; ++i)
    rank += resultUses[i] == LoopUse::Carried;
  for (auto [index, use] : llvm::enumerate(operandUses))
    if (use == LoopUse::Carried && rank-- == 0)
      return index;
  llvm_unreachable("the reader found an operand for each carried result");
}

static std::string quote(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

static std::string toText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

namespace {
class LoopCallReader {
public:
  LoopCallReader(stablehlo::CustomCallOp op, const SymbolTable &symbols)
      : op(op), symbols(symbols) {}

  FailureOr<LoopCall> read();

private:
  LogicalResult fail(const Twine &message) {
    return op.emitOpError() << "of a loop " << message << Tag(ErrorId::kStages);
  }
  LogicalResult readBody();
  LogicalResult readConfiguration();
  LogicalResult readOperands(ArrayAttr words);
  LogicalResult readResults(ArrayAttr words);
  /// Checks that `element` is an index of `stacked` in its leading dimension.
  LogicalResult checkStepped(const Twine &what, Type stacked, Type element);
  LogicalResult checkTypes();

  stablehlo::CustomCallOp op;
  const SymbolTable &symbols;
  LoopCall loop;
};
} // namespace

LogicalResult LoopCallReader::readBody() {
  ArrayAttr called = op.getCalledComputations().value_or(nullptr);
  auto name = called && called.size() == 1
                  ? dyn_cast<FlatSymbolRefAttr>(called[0])
                  : FlatSymbolRefAttr();
  if (!name)
    return fail("expected one called computation, its body");
  loop.body = symbols.lookup<func::FuncOp>(name.getValue());
  if (!loop.body || loop.body.isExternal() ||
      !loop.body.getBody().hasOneBlock())
    return fail("has the body '" + name.getValue() +
                "', which is no function with one block");
  if (loop.body.getNumArguments() != op.getNumOperands() ||
      loop.body.getNumResults() != op.getNumResults())
    return fail("has " + Twine(op.getNumOperands()) + " operands and " +
                Twine(op.getNumResults()) + " results, but its body has " +
                Twine(loop.body.getNumArguments()) + " and " +
                Twine(loop.body.getNumResults()));
  return success();
}

/// Returns the use that `attribute` states; none if it states another one.
static std::optional<LoopUse> parseUse(Attribute attribute) {
  auto word = dyn_cast<StringAttr>(attribute);
  return llvm::StringSwitch<std::optional<LoopUse>>(word ? word.strref() : "")
      .Case("carried", LoopUse::Carried)
      .Case("stepped", LoopUse::Stepped)
      .Case("stepped reversed", LoopUse::Reversed)
      .Default(std::nullopt);
}

LogicalResult LoopCallReader::readOperands(ArrayAttr words) {
  for (Attribute attribute : words) {
    std::optional<LoopUse> use = parseUse(attribute);
    if (!use && attribute != StringAttr::get(op.getContext(), "captured"))
      return fail("takes an operand as " + toText(attribute) +
                  R"(; expected "carried", "stepped", "stepped reversed" or )"
                  R"("captured")");
    loop.operandUses.push_back(use);
  }
  return success();
}

LogicalResult LoopCallReader::readResults(ArrayAttr words) {
  for (Attribute attribute : words) {
    std::optional<LoopUse> use = parseUse(attribute);
    if (!use)
      return fail("makes a result as " + toText(attribute) +
                  R"(; expected "carried", "stepped" or "stepped reversed")");
    loop.resultUses.push_back(*use);
  }
  return success();
}

LogicalResult LoopCallReader::readConfiguration() {
  auto config =
      dyn_cast_or_null<DictionaryAttr>(op.getBackendConfig().value_or(nullptr));
  auto trips = config ? config.getAs<IntegerAttr>("trips") : IntegerAttr();
  auto operands = config ? config.getAs<ArrayAttr>("operands") : ArrayAttr();
  auto results = config ? config.getAs<ArrayAttr>("results") : ArrayAttr();
  if (!trips || !operands || !results)
    return fail("expected 'backend_config' to have the number 'trips' and the "
                "lists 'operands' and 'results'");
  loop.trips = trips.getInt();
  if (loop.trips < 1 || loop.trips > ForOp::kMaxTrips)
    return fail("runs " + Twine(loop.trips) + " times, expected from 1 to " +
                Twine(ForOp::kMaxTrips));
  loop.schedule = config.getAs<StringAttr>("schedule");
  loop.label = config.getAs<StringAttr>("label");
  for (StringAttr word : {loop.schedule, loop.label})
    if (word && word.empty())
      return fail("has an empty schedule or label");
  if (failed(readOperands(operands)) || failed(readResults(results)))
    return failure();
  if (loop.operandUses.size() != op.getNumOperands() ||
      loop.resultUses.size() != op.getNumResults() || loop.resultUses.empty())
    return fail("has " + Twine(op.getNumOperands()) + " operands and " +
                Twine(op.getNumResults()) + " results, but 'backend_config' " +
                "has words for " + Twine(loop.operandUses.size()) + " and " +
                Twine(loop.resultUses.size()) + ", and needs a result");
  auto carried = llvm::count(loop.operandUses, LoopUse::Carried);
  auto yielded = llvm::count(loop.resultUses, LoopUse::Carried);
  if (carried != yielded)
    return fail("has " + Twine(carried) + " carried operands, but " +
                Twine(yielded) + " carried results");
  return success();
}

LogicalResult LoopCallReader::checkStepped(const Twine &what, Type stacked,
                                           Type element) {
  auto whole = dyn_cast<RankedTensorType>(stacked);
  auto part = dyn_cast<RankedTensorType>(element);
  if (whole && part && whole.getRank() == part.getRank() + 1 &&
      whole.getDimSize(0) == loop.trips &&
      whole.getShape().drop_front() == part.getShape() &&
      whole.getElementType() == part.getElementType())
    return success();
  return fail("steps through " + what + " of type " + quote(stacked) + " in " +
              Twine(loop.trips) + " iterations, but one of them has " +
              quote(element));
}

LogicalResult LoopCallReader::checkTypes() {
  TypeRange arguments = loop.body.getArgumentTypes();
  TypeRange yielded = loop.body.getResultTypes();
  for (auto [index, use] : llvm::enumerate(loop.operandUses)) {
    Type type = op.getOperand(index).getType();
    if (use && *use != LoopUse::Carried) {
      if (failed(
              checkStepped("operand " + Twine(index), type, arguments[index])))
        return failure();
    } else if (type != arguments[index]) {
      return fail("has operand " + Twine(index) + " of type " + quote(type) +
                  ", but its body takes " + quote(arguments[index]));
    }
  }
  for (auto [index, use] : llvm::enumerate(loop.resultUses)) {
    Type type = op.getResult(index).getType();
    if (use != LoopUse::Carried) {
      if (failed(checkStepped("result " + Twine(index), type, yielded[index])))
        return failure();
      continue;
    }
    Type begin = op.getOperand(loop.getCarriedOperand(index)).getType();
    if (type != yielded[index] || type != begin)
      return fail("carries result " + Twine(index) + " of type " + quote(type) +
                  " from " + quote(begin) + ", but its body returns " +
                  quote(yielded[index]));
  }
  return success();
}

FailureOr<LoopCall> LoopCallReader::read() {
  if (failed(readBody()) || failed(readConfiguration()) || failed(checkTypes()))
    return failure();
  return loop;
}

/// Replaces `op` by a call of `body`, which is a copy of the body of `loop`,
/// and adds that to `loops`.
static void replaceLoopCall(stablehlo::CustomCallOp op, const LoopCall &loop,
                            func::FuncOp body, ForLoops &loops) {
  ForLoop made{body,          loop.trips, {}, loop.resultUses,
               loop.schedule, loop.label};
  Block &block = body.front();
  unsigned numOld = block.getNumArguments();
  SmallVector<Value> operands;
  // Values that all iterations read come last.
  for (bool isAbove : {false, true})
    for (auto [index, use] : llvm::enumerate(loop.operandUses)) {
      if (isAbove == use.has_value())
        continue;
      if (use)
        made.operandUses.push_back(*use);
      operands.push_back(op.getOperand(index));
      BlockArgument argument = block.getArgument(index);
      argument.replaceAllUsesWith(
          block.addArgument(argument.getType(), argument.getLoc()));
    }
  block.eraseArguments(0, numOld);
  body.removeArgAttrsAttr();
  OpBuilder b(op);
  body.setFunctionType(
      b.getFunctionType(block.getArgumentTypes(), body.getResultTypes()));
  auto call = func::CallOp::create(b, op.getLoc(), body.getSymName(),
                                   op.getResultTypes(), operands);
  op.replaceAllUsesWith(call);
  op.erase();
  cloneSharedConstants(call);
  loops[call] = std::move(made);
}

LogicalResult LoopCallReplacer::replace(stablehlo::CustomCallOp op,
                                        SymbolTable &symbols, Prepare prepare,
                                        ForLoops &loops) {
  FailureOr<LoopCall> loop = LoopCallReader(op, symbols).read();
  if (failed(loop))
    return failure();
  if (llvm::is_contained(outer, loop->body))
    return op.emitOpError("of a loop is in its own body '")
           << loop->body.getSymName() << "'" << Tag(ErrorId::kStages);
  copied.insert(loop->body);
  numOps += loop->body.front().getOperations().size();
  if (numOps > kMaxCopied)
    return op.emitOpError("of a loop is one of too many, whose bodies have ")
           << numOps << " operations; expected at most " << kMaxCopied
           << Tag(ErrorId::kNotCompilable);
  func::FuncOp body = loop->body.clone();
  body.setPrivate();
  symbols.insert(body);
  outer.push_back(loop->body);
  if (failed(prepare(op, body)))
    return failure();
  outer.pop_back();
  replaceLoopCall(op, *loop, body, loops);
  return success();
}

LogicalResult LoopCallReplacer::replaceIn(func::FuncOp function,
                                          SymbolTable &symbols, Prepare prepare,
                                          ForLoops &loops) {
  SmallVector<stablehlo::CustomCallOp> calls;
  for (auto call : function.front().getOps<stablehlo::CustomCallOp>())
    if (call.getCallTargetName() == "pw.for")
      calls.push_back(call);
  for (stablehlo::CustomCallOp call : calls)
    if (failed(replace(call, symbols, prepare, loops)))
      return failure();
  return success();
}

void LoopCallReplacer::eraseBodies(ModuleOp module, SymbolTable &symbols) {
  // The body of an inner loop is used until that of the outer loop is erased.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (Operation *body : copied.takeVector()) {
      if (!SymbolTable::symbolKnownUseEmpty(body, module)) {
        copied.insert(body);
        continue;
      }
      symbols.erase(body);
      isChanged = true;
    }
  }
}
