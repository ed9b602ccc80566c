//===- PathwaysVerifiers.cpp - Verifiers of pw operations -----------------===//
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

#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Pathways/UniformControl.h"
#include "runtime/base/error_codes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

LogicalResult mlir::pathways::detail::verifyArrays(
    Operation *op, SymbolTableCollection &symbols, TypeRange types) {
  for (Type type : types) {
    auto array = dyn_cast<ArrayType>(type);
    if (!array)
      continue;
    SliceOp slice = lookupSlice(symbols, op, array.getSlice());
    if (!slice)
      return op->emitOpError("type ")
             << type << " names slice " << array.getSlice()
             << ", which is not declared by a 'pw.slice'"
             << ::pathways::Tag(::pathways::ErrorId::kSliceNotDeclared);
    if (failed(verifyLayout([&] { return op->emitOpError(); }, array, slice)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Verifies the check of result `index`, if there is one. (C9)
static LogicalResult verifyExpectation(ProgramOp program, unsigned index) {
  ExpectAttr expect = program.getExpectation(index);
  if (!expect)
    return success();
  auto fail = [&] {
    return program.emitOpError() << "result '" << program.getResultName(index)
                                 << "' expects result " << expect.getResult();
  };
  int64_t numResults = program.getResultTypes().size();
  if (expect.getResult() >= numResults)
    return fail() << ", but there are " << numResults << " results";
  if (program.getExpectation(expect.getResult()))
    return fail() << ", which is checked itself";
  auto type = cast<ArrayType>(program.getResultTypes()[index]);
  auto expected =
      dyn_cast<ArrayType>(program.getResultTypes()[expect.getResult()]);
  if (!expected || type.getShape() != expected.getShape() ||
      type.getElementType() != expected.getElementType())
    return fail() << ", which has another shape or element type";
  if (program.isResultStepped(index) !=
      program.isResultStepped(expect.getResult()))
    return fail() << ", but only one of the two is stepped";
  if (expect.getKind() != ExpectKind::Eq &&
      !isa<FloatType>(type.getElementType()))
    return fail() << " by '" << stringifyExpectKind(expect.getKind())
                  << "', which is for floats";
  return success();
}

/// Verifies the constant value of argument `index`, if there is one. (C10)
static LogicalResult verifyConstant(ProgramOp op, unsigned index) {
  ElementsAttr value = op.getConstant(index);
  if (!value)
    return success();
  auto type = cast<ArrayType>(op.getArgumentTypes()[index]);
  ShapedType got = value.getShapedType();
  auto emit = [&] {
    return op.emitOpError() << "argument '" << op.getArgumentName(index)
                            << "' has a constant value";
  };
  if (got.getShape() != type.getShape() ||
      got.getElementType() != type.getElementType())
    return emit() << " of type " << got << ", expected the elements of "
                  << type;
  if (type.getSharding().isPartial())
    return emit() << ", but is partial";
  if (op.getCarriedResult(index) || op.isArgumentStepped(index))
    return emit() << ", but is "
                  << (op.isArgumentStepped(index) ? "stepped" : "carried");
  return success();
}

LogicalResult ProgramOp::verify() {
  if (getBody().empty()) // (C6)
    return emitOpError() << "'" << getSymName() << "' has no body";
  for (auto [index, type] : llvm::enumerate(getArgumentTypes()))
    if (!isa<ArrayType>(type)) // (C1)
      return emitOpError() << "expected argument " << index
                           << " to be a '!pw.array', got " << type;
  for (auto [index, type] : llvm::enumerate(getResultTypes()))
    if (!isa<ArrayType>(type)) // (C1)
      return emitOpError() << "expected result " << index
                           << " to be a '!pw.array', got " << type;

  llvm::SmallDenseMap<int64_t, unsigned> carriedInto;
  llvm::StringMap<unsigned> names;
  for (unsigned i = 0, e = getArgumentTypes().size(); i != e; ++i) {
    std::string name = getArgumentName(i);
    if (name.empty()) // (C5)
      return emitOpError() << "argument " << i << " has an empty name";
    auto [it, inserted] = names.try_emplace(name, i);
    if (!inserted) // (C5)
      return emitOpError() << "arguments " << it->second << " and " << i
                           << " are both named '" << name << "'";
    if (failed(verifyConstant(*this, i))) // (C10)
      return failure();
    auto carried =
        getArgAttrOfType<IntegerAttr>(i, PathwaysDialect::kCarriedAttrName);
    if (!carried)
      continue;
    int64_t from = carried.getInt();
    int64_t numResults = getResultTypes().size();
    if (from < 0 || from >= numResults) // (C2)
      return emitOpError() << "argument '" << name
                           << "' is carried from result " << from
                           << ", but there are " << numResults << " results";
    if (getResultTypes()[from] != getArgumentTypes()[i]) { // (C2)
      InFlightDiagnostic error =
          emitOpError() << "argument '" << name << "' of type "
                        << getArgumentTypes()[i] << " is carried from result "
                        << from << " of type " << getResultTypes()[from];
      // The body is verified later, and may be arbitrary.
      if (i < getBody().getNumArguments())
        error.attachNote(getBody().getArgument(i).getLoc())
            << "the argument is here";
      if (!getBody().empty() && !getBody().front().empty())
        error.attachNote(getBody().front().back().getLoc())
            << "the result is returned here";
      return error;
    }
    if (isArgumentStepped(i)) // (C3)
      return emitOpError() << "argument '" << name
                           << "' is both carried and stepped";
    auto [other, isFirst] = carriedInto.try_emplace(from, i);
    if (!isFirst) // (C4)
      return emitOpError() << "result " << from << " is carried into both '"
                           << getArgumentName(other->second) << "' and '"
                           << name << "'";
  }
  names.clear();
  for (unsigned i = 0, e = getResultTypes().size(); i != e; ++i) {
    std::string name = getResultName(i);
    if (name.empty()) // (C5)
      return emitOpError() << "result " << i << " has an empty name";
    auto [it, inserted] = names.try_emplace(name, i);
    if (!inserted) // (C5)
      return emitOpError() << "results " << it->second << " and " << i
                           << " are both named '" << name << "'";
    if (failed(verifyExpectation(*this, i)))
      return failure();
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  WalkResult result = getBody().walk([&](Operation *op) -> WalkResult {
    if (isa<NodeOpInterface, YieldOp>(op)) // (C8)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        op->emitOpError("is not allowed in the body of 'pw.program'; compute "
                        "in a function and call it with 'pw.call'")
        << ::pathways::Tag(::pathways::ErrorId::kOnlyPwInPrograms);
    diagnostic.attachNote(getLoc())
        << "program '" << getSymName() << "' is defined here";
    return diagnostic;
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::pathways::detail::verifyNode(Operation *op) {
  if (isa_and_present<ProgramOp, NodeOpInterface>(op->getParentOp()))
    return success();
  return op->emitOpError("must be directly in a 'pw.program'");
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(detail::verifyArrays(*this, symbols, getArgumentTypes()))) // (C7)
    return failure();
  return detail::verifyArrays(*this, symbols, getResultTypes());
}

LogicalResult ReturnOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  ArrayRef<Type> expected = program.getResultTypes();
  auto noteProgram = [&](InFlightDiagnostic diagnostic) -> LogicalResult {
    diagnostic.attachNote(program.getLoc())
        << "program '" << program.getSymName() << "' is defined here";
    return diagnostic;
  };
  if (getResults().size() != expected.size()) // (C1)
    return noteProgram(emitOpError()
                       << "expected " << expected.size() << " results, got "
                       << getResults().size());
  for (auto [index, value] : llvm::enumerate(getResults()))
    if (value.getType() != expected[index]) // (C1)
      return noteProgram(emitOpError()
                         << "expected result " << index << " of type "
                         << expected[index] << ", got " << value.getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verify() {
  if (getOutputs().empty()) // (C2)
    return emitOpError() << "of '" << getCallee()
                         << "' has no result, expected at least one, by which "
                            "other operations can wait for the call";
  FlatSymbolRefAttr slice = getSlice();
  auto checkSlice = [&](Value value, StringRef kind,
                        unsigned index) -> LogicalResult {
    FlatSymbolRefAttr found = cast<ArrayType>(value.getType()).getSlice();
    if (found == slice) // (C3)
      return success();
    InFlightDiagnostic diagnostic =
        emitOpError() << "of '" << getCallee() << "' has result 0 on slice "
                      << slice << ", but " << kind << ' ' << index
                      << " on slice " << found
                      << "; bring it there with 'pw.reshard'";
    if (kind == "operand")
      diagnostic.attachNote(value.getLoc()) << "the operand is defined here";
    return diagnostic;
  };
  for (auto [index, value] : llvm::enumerate(getInputs()))
    if (failed(checkSlice(value, "operand", index)))
      return failure();
  for (auto [index, value] : llvm::enumerate(getOutputs()))
    if (failed(checkSlice(value, "result", index)))
      return failure();
  int64_t previous = -1, numInputs = getInputs().size();
  for (int64_t index : getDonated()) { // (C8)
    if (index <= previous || index >= numInputs)
      return emitOpError() << "expected donated operands in increasing order, "
                              "each from 0 to "
                           << numInputs - 1 << ", got "
                           << (*this)->getAttr(getDonatedAttrName());
    previous = index;
  }
  if (std::optional<StringRef> label = getLabel(); label && label->empty())
    return emitOpError() << "of '" << getCallee() // (C12)
                         << "' has an empty label; expected a name";
  if (std::optional<StringRef> cell = getCell(); cell && cell->empty())
    return emitOpError() << "of '" << getCallee() // (C12)
                         << "' has an empty cell; expected a label";
  if (getRecompute() && !getLabel()) // (C13)
    return emitOpError() << "of '" << getCallee()
                         << "' has 'recompute', but no label by which other "
                            "calls could differ from it";
  if (getRecompute() && !isa_and_nonnull<ForOp>((*this)->getParentOp()))
    return emitOpError() << "of '" << getCallee() // (C13)
                         << "' with label '" << *getLabel()
                         << "' has 'recompute', but is not in a 'pw.for'";
  return verifyGuard();
}

LogicalResult CallOp::verifyGuard() {
  if (!getGuard()) {
    if (getUnless() || !getInto().empty() || !getIntoResults().empty())
      return emitOpError() << "of '" << getCallee() // (C16)
                           << "' has '" << (getUnless() ? "unless" : "into")
                           << "', but no guard";
    return success();
  }
  auto type = cast<ArrayType>(getGuard().getType());
  if (!detail::isCondition(type)) // (C14)
    return emitOpError() << "of '" << getCallee() << "' has a guard of type "
                         << type << ", expected one i1 that is not partial";
  if (type.getSlice() != getSlice()) // (C14)
    return emitOpError() << "of '" << getCallee() << "' is on slice "
                         << getSlice() << ", but its guard is on slice "
                         << type.getSlice();
  if (getInto().size() != getIntoResults().size()) // (C15)
    return emitOpError() << "of '" << getCallee() << "' writes "
                         << getIntoResults().size() << " results into "
                         << getInto().size() << " arrays";
  int64_t previous = -1, numOutputs = getOutputs().size();
  for (auto [index, target] : llvm::zip_equal(getIntoResults(), getInto())) {
    if (index <= previous || index >= numOutputs) // (C15)
      return emitOpError() << "expected results after 'into' in increasing "
                              "order, each from 0 to "
                           << numOutputs - 1 << ", got "
                           << (*this)->getAttr(getIntoResultsAttrName());
    if (target.getType() != getOutputs()[index].getType()) // (C15)
      return emitOpError() << "writes result " << index << " of type "
                           << getOutputs()[index].getType()
                           << " into an array of type " << target.getType();
    previous = index;
  }
  return success();
}

namespace {
/// Checks a call against its callee, and the collectives of the callee against
/// the mesh of the call.
class CalleeVerifier {
public:
  CalleeVerifier(CallOp call, func::FuncOp callee, SliceOp slice,
                 SymbolTableCollection &symbols)
      : call(call), callee(callee), slice(slice), symbols(symbols),
        isLocalView(callee->hasAttr(PathwaysDialect::kLocalViewAttrName)) {}

  LogicalResult verify() {
    FunctionType type = callee.getFunctionType();
    if (type.getNumInputs() != call.getInputs().size()) // (C2)
      return note(call.emitOpError()
                  << "of '" << call.getCallee() << "' has "
                  << call.getInputs().size() << " operands, but the function "
                  << "has " << type.getNumInputs() << " arguments");
    if (type.getNumResults() != call.getOutputs().size()) // (C2)
      return note(call.emitOpError()
                  << "of '" << call.getCallee() << "' has "
                  << call.getOutputs().size() << " results, but the function "
                  << "has " << type.getNumResults());
    for (unsigned i = 0, e = type.getNumInputs(); i != e; ++i)
      if (failed(verifyOperand(i, type.getInput(i))))
        return failure();
    for (unsigned i = 0, e = type.getNumResults(); i != e; ++i) {
      auto array = cast<ArrayType>(call.getOutputs()[i].getType());
      if (failed(verifyTensor(array, type.getResult(i), "result", i)))
        return failure();
    }
    return verifyBodies();
  }

private:
  LogicalResult note(InFlightDiagnostic diagnostic) {
    diagnostic.attachNote(callee.getLoc())
        << "function '" << callee.getSymName() << "' is defined here";
    return diagnostic;
  }

  LogicalResult verifyTensor(ArrayType array, Type tensor, StringRef kind,
                             unsigned index) {
    if (isLocalView && array.getSharding().hasOpenDims()) // (C9)
      return note(call.emitOpError()
                  << "of '" << call.getCallee() << "' has " << kind << ' '
                  << index << " of type " << array
                  << " with an open dimension, but the function is written for "
                     "one shard, so its size must be known");
    RankedTensorType expected = isLocalView
                                    ? getShardTensorType(array, slice.getMesh())
                                    : array.getGlobalTensorType();
    if (tensor == expected) // (C4)
      return success();
    return note(call.emitOpError()
                << "of '" << call.getCallee() << "' has " << kind << ' '
                << index << " of type " << array << ", whose "
                << (isLocalView ? "shards are " : "global view is ") << expected
                << ", but the function has " << tensor);
  }

  LogicalResult verifyOperand(unsigned index, Type tensor) {
    auto array = cast<ArrayType>(call.getInputs()[index].getType());
    if (failed(verifyTensor(array, tensor, "operand", index)))
      return failure();
    if (isLocalView && array.getSharding().isPartial() &&
        !callee.getArgAttr(index,
                           PathwaysDialect::kAcceptsPartialAttrName)) // (C6)
      return note(call.emitOpError()
                  << "of '" << call.getCallee() << "' has partial operand "
                  << index << ", but the function does not mark the argument '"
                  << PathwaysDialect::kAcceptsPartialAttrName << "'");
    if (!isLocalView || callee->hasAttr(PathwaysDialect::kPointwiseAttrName) ||
        isEven(array, slice.getMesh()))
      return success();
    for (Operation *user : callee.getArgument(index).getUsers())
      if (isa<ValidExtentOp>(user))
        return success();
    return note(call.emitOpError()
                << "of '" << call.getCallee() << "' has operand " << index
                << " of type " << array
                << ", some shards of which have padding; the function must use "
                   "'pw.valid_extent' of that argument or be marked '"
                << PathwaysDialect::kPointwiseAttrName << "'"); // (C5)
  }

  LogicalResult emitInBody(Operation *op, const Twine &message) {
    InFlightDiagnostic diagnostic =
        call.emitOpError() << "of '" << call.getCallee() << "' on slice '"
                           << slice.getSymName() << "' " << message;
    diagnostic.attachNote(op->getLoc()) << "it is here";
    diagnostic.attachNote(slice.getLoc())
        << "slice '" << slice.getSymName() << "' is declared here";
    return diagnostic;
  }

  /// Checks (C7) for the callee and everything it calls. Iterative, because
  /// chains of calls may be long. Cycles end here; pw-check-program reports
  /// them.
  LogicalResult verifyBodies() {
    // A function, and a call on the path to it that shards may run differently.
    using Entry = std::pair<Operation *, Operation *>;
    // For each function, whether all shards run it alike.
    llvm::DenseSet<std::pair<Operation *, unsigned>> visited;
    SmallVector<Entry> worklist;
    auto push = [&](func::FuncOp function, Operation *uncertain) {
      if (visited.insert({function, uncertain == nullptr}).second)
        worklist.push_back({function, uncertain});
    };
    push(callee, /*uncertain=*/nullptr);
    while (!worklist.empty()) {
      auto [op, outer] = worklist.pop_back_val();
      auto function = cast<func::FuncOp>(op);
      Operation *onTheWay = outer;
      WalkResult result = function.getBody().walk([&](Operation *op) {
        if (auto nested = dyn_cast<func::CallOp>(op)) {
          if (auto next = symbols.lookupNearestSymbolFrom<func::FuncOp>(
                  op, nested.getCalleeAttr()))
            push(next, onTheWay || !findUncertain(op, function)
                           ? onTheWay
                           : nested.getOperation());
          return WalkResult::advance();
        }
        return failed(verifyOp(op, function, onTheWay))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return failure();
    }
    return success();
  }

  /// Checks (C10).
  LogicalResult verifyConstrain(ConstrainOp op) {
    if (StringAttr axis = findLacking(op.getSharding()))
      return emitInBody(op, "constrains a value over axis \"" +
                                axis.getValue() + "\", which the mesh lacks");
    return success();
  }

  /// Checks (C10) and (C11).
  LogicalResult verifyManual(ManualOp op) {
    if (isLocalView)
      return emitInBody(op, "is in local view, but reaches 'pw.manual'");
    SmallVector<StringAttr> lacking;
    for (auto axis : op.getAxes().getAsRange<StringAttr>())
      if (slice.getMesh().getAxisIndex(axis) < 0)
        lacking.push_back(axis);
    for (ArrayAttr shardings : {op.getInShardings(), op.getOutShardings()})
      for (auto sharding : shardings.getAsRange<ShardingAttr>())
        if (StringAttr axis = findLacking(sharding))
          lacking.push_back(axis);
    if (!lacking.empty())
      return emitInBody(op, "has a 'pw.manual' that names axis \"" +
                                lacking.front().getValue() +
                                "\", which the mesh lacks");
    std::string wrong =
        mlir::pathways::detail::findWrongShape(op, slice.getMesh());
    return wrong.empty() ? success() : emitInBody(op, wrong);
  }

  /// Returns an axis of `sharding` that the mesh lacks, or null.
  StringAttr findLacking(ShardingAttr sharding) {
    for (ArrayAttr axes : sharding.getDims())
      for (auto axis : axes.getAsRange<StringAttr>())
        if (slice.getMesh().getAxisIndex(axis) < 0)
          return axis;
    return {};
  }

  LogicalResult emitUncertain(Operation *op, Operation *onTheWay) {
    InFlightDiagnostic diagnostic =
        call.emitOpError() << "of '" << call.getCallee() << "' on slice '"
                           << slice.getSymName() << "' reaches '"
                           << op->getName()
                           << "' under control flow, where shards that do not "
                              "reach it would block the other shards";
    diagnostic.attachNote(op->getLoc()) << "it is here";
    std::optional<Uncertain> around =
        findUncertain(onTheWay, onTheWay->getParentOfType<func::FuncOp>());
    diagnostic.attachNote(around->op->getLoc())
        << "its call is inside this" << (around->reason.empty() ? "" : ", ")
        << around->reason;
    return diagnostic;
  }

  /// `onTheWay` is a call on the path to `op` that shards may run differently,
  /// or null.
  LogicalResult verifyOp(Operation *op, func::FuncOp function,
                         Operation *onTheWay) {
    if (auto constrain = dyn_cast<ConstrainOp>(op))
      return verifyConstrain(constrain);
    if (auto manual = dyn_cast<ManualOp>(op))
      return verifyManual(manual);
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    auto shardIndex = dyn_cast<ShardIndexOp>(op);
    if (!collective && !shardIndex && !isa<ValidExtentOp>(op))
      return success();
    StringRef name = op->getName().getStringRef();
    if (!isLocalView && !op->getParentOfType<ManualOp>())
      return emitInBody(op, "is in global view, but reaches '" + name + "'");
    if (isa<ValidExtentOp>(op)) {
      if (function == callee)
        return success();
      return emitInBody(op, "reaches 'pw.valid_extent' in function '" +
                                function.getSymName() +
                                "', whose arguments are not operands of the "
                                "call");
    }
    MeshAttr mesh = slice.getMesh();
    if (shardIndex) {
      if (mesh.getAxisIndex(shardIndex.getAxis()) >= 0)
        return success();
      return emitInBody(op, "asks the index on axis \"" + shardIndex.getAxis() +
                                "\", which the mesh lacks");
    }
    // pw-partition decides what control flow may be around a `pw.manual`.
    if (isLocalView && onTheWay)
      return emitUncertain(op, onTheWay);
    for (auto axis : collective.getAxes().getAsRange<StringAttr>())
      if (mesh.getAxisIndex(axis) < 0)
        return emitInBody(op, "communicates over axis \"" + axis.getValue() +
                                  "\", which the mesh lacks");
    FailureOr<int64_t> groupSize = mesh.getGroupSize(collective.getAxes());
    if (failed(groupSize))
      return emitInBody(op, "communicates over an axis twice");
    bool reported = false;
    FailureOr<SmallVector<int64_t>> shape =
        collective.getResultShape(*groupSize, [&] {
          reported = true;
          InFlightDiagnostic diagnostic =
              call.emitOpError() << "of '" << call.getCallee() << "' on slice '"
                                 << slice.getSymName() << "': ";
          diagnostic.attachNote(op->getLoc()) << "it is here";
          return diagnostic;
        });
    if (failed(shape))
      return reported ? failure()
                      : emitInBody(op, "communicates a shape that cannot be "
                                       "divided into equal blocks");
    auto resultType = collective.getResult().getType();
    if (resultType.getShape() == ArrayRef<int64_t>(*shape))
      return success();
    std::string found, expected;
    llvm::raw_string_ostream(found) << resultType;
    llvm::raw_string_ostream(expected)
        << RankedTensorType::get(*shape, resultType.getElementType());
    return emitInBody(op, "communicates in groups of " + Twine(*groupSize) +
                              ", for which '" + name + "' gives '" + expected +
                              "', not '" + found + "'");
  }

  CallOp call;
  func::FuncOp callee;
  SliceOp slice;
  SymbolTableCollection &symbols;
  bool isLocalView;
};
} // namespace

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(detail::verifyArrays(*this, symbols, getOutputs().getTypes())) ||
      failed(detail::verifyArrays(*this, symbols, getOperandTypes())))
    return failure();
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (!symbol) // (C1)
    return emitOpError() << "calls '" << getCallee()
                         << "', which is not defined";
  auto callee = dyn_cast<func::FuncOp>(symbol);
  auto noteSymbol = [&](InFlightDiagnostic diagnostic) -> LogicalResult {
    diagnostic.attachNote(symbol->getLoc())
        << "'" << getCallee() << "' is defined here";
    return diagnostic;
  };
  if (!callee) // (C1)
    return noteSymbol(emitOpError()
                      << "calls '" << getCallee() << "', which is a '"
                      << symbol->getName() << "', not a 'func.func'");
  if (callee.isExternal()) // (C1)
    return noteSymbol(emitOpError()
                      << "calls '" << getCallee() << "', which has no body");
  if (!callee.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(callee.getBody().front().getTerminator())) // (C1)
    return noteSymbol(emitOpError()
                      << "calls '" << getCallee()
                      << "', whose body is not one block ending in "
                         "'func.return'; use 'scf' for control flow");
  return CalleeVerifier(*this, callee, lookupSlice(symbols, *this, getSlice()),
                        symbols)
      .verify();
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static LogicalResult verifySameArray(Operation *op, ArrayType source,
                                     ArrayType result) {
  if (source.getShape() == result.getShape() &&
      source.getElementType() == result.getElementType())
    return success();
  return op->emitOpError("expected source and result to have the same global "
                         "shape and element type, got ")
         << source << " and " << result;
}

LogicalResult ReshardOp::verify() {
  return verifySameArray(*this, getSource().getType(), getType()); // (C1)
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return detail::verifyArrays(*this, symbols,
                              {getSource().getType(), getType()});
}

LogicalResult TransferOp::verify() {
  if (failed(verifySameArray(*this, getSource().getType(), getType()))) // (C1)
    return failure();
  for (ArrayType type : {getSource().getType(), getType()})
    if (type.getSharding().isPartial()) // (C2)
      return emitOpError("moves contributions unreduced: ")
             << type << " is partial; reduce it first";
  if (!getGuard()) {
    if (getUnless()) // (C3)
      return emitOpError("has 'unless', but no guard");
    return success();
  }
  ArrayType guard = getGuard().getType();
  if (!mlir::pathways::detail::isCondition(guard)) // (C3)
    return emitOpError() << "has a guard of type " << guard
                         << ", expected one i1 that is not partial";
  if (guard.getSlice() != getSource().getType().getSlice()) // (C3)
    return emitOpError() << "moves an array of slice "
                         << getSource().getType().getSlice()
                         << ", but its guard is on slice " << guard.getSlice();
  return success();
}

LogicalResult TransferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(detail::verifyArrays(*this, symbols, getType())))
    return failure();
  return detail::verifyArrays(*this, symbols, getOperandTypes());
}

LogicalResult CopyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return detail::verifyArrays(*this, symbols, getType());
}
