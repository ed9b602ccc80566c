//===- ImportProgram.cpp - The entry of a module as a pw.program ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManualComputations.h"
#include "Shardings.h"
#include "Stages.h"
#include "StepValues.h"
#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Shardy/Shardy.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "pathways/Support/SourcePlace.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_IMPORTPROGRAM
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

namespace {

/// Name of the entry function, of the slice, and of the axis of its mesh.
constexpr StringLiteral kEntryName = "main";
constexpr StringLiteral kSliceName = "devices";

/// Largest number of operations of the entry after inlining.
constexpr int64_t kMaxOps = 1 << 18;

/// Tolerances of checks that are custom calls, which cannot state them.
constexpr int64_t kMaxUlp = 3;
constexpr double kTolerance = 1e-3;

/// A comparison of a value of the entry with the expected value.
struct Check {
  Operation *op;
  Value got;
  Value want;
  /// Creates the attribute of the result, for the index of the expected result.
  std::function<ExpectAttr(int64_t)> makeExpect;
};

/// Returns true if `op` compares a value with an expected one.
bool isCheck(Operation *op) {
  if (isa<check::ExpectEqOp, check::ExpectEqConstOp, check::ExpectAlmostEqOp,
          check::ExpectAlmostEqConstOp, check::ExpectCloseOp>(op))
    return true;
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName().starts_with("check.");
}

/// Returns true if an attribute of this name means nothing to a program: front
/// ends write it for compilers that are not this one, or it was used.
bool isForeign(StringRef name) {
  for (StringRef dialect : {"mhlo.", "jax.", "tf.", "xla.", "xla_", "sdy."})
    if (name.starts_with(dialect))
      return true;
  return false;
}

DictionaryAttr withoutForeign(DictionaryAttr attributes) {
  NamedAttrList kept;
  for (NamedAttribute attribute : attributes)
    if (!isForeign(attribute.getName().strref()))
      kept.push_back(attribute);
  return kept.getDictionary(attributes.getContext());
}

/// Gives names to the arguments or results of a program. Names are unique and
/// not empty.
class Names {
public:
  explicit Names(StringRef prefix) : prefix(prefix) {}

  /// Returns `wanted`, or else the prefix with `index`, for what has this
  /// index.
  std::string add(StringRef wanted, unsigned index) {
    std::string name = wanted.str();
    if (name.empty() || taken.contains(name))
      name = (prefix + Twine(index)).str();
    while (!taken.insert(name).second)
      name += "_";
    return name;
  }

private:
  StringRef prefix;
  llvm::StringSet<> taken;
};

/// Makes a program of the function @main of a module, whose body becomes a
/// private function.
class ProgramImporter {
public:
  /// `carry`, `stepped`, `assign`, `slices` and `maxOps` are the options of the
  /// pass.
  ProgramImporter(ModuleOp module, StringRef carry, StringRef stepped,
                  StringRef assign, StringRef slices, int64_t maxOps)
      : module(module), symbols(module), b(module.getContext()), carry(carry),
        stepped(stepped), assign(assign), slices(slices),
        stageMarks(module, symbols, getPlace(), maxOps) {}

  LogicalResult run();

private:
  /// Returns the place of the module, or that of its first operation if the
  /// text does not name the module.
  Location getPlace();
  LogicalResult findEntry();
  LogicalResult checkModule();
  LogicalResult checkType(Location loc, Type type, const Twine &what);
  /// Inlines calls of functions with checks, so that all checks are in the
  /// entry.
  LogicalResult inlineChecks();
  FailureOr<bool> containsChecks(func::FuncOp function);
  LogicalResult inlineCall(func::CallOp call, func::FuncOp callee);
  LogicalResult takeChecks();
  FailureOr<Check> getCheck(Operation *op);
  LogicalResult checkTypes();
  /// Finds the calls of a module with stages, and the slices of its results.
  /// Without stages, sets the only slice.
  void findStages(const StepValues &steps, ArrayRef<Value> results);
  LogicalResult makeProgram();
  /// Sets the types of arguments, and those of results as far as the module or
  /// an argument that takes the result determines them.
  LogicalResult findTypes(const StepValues &steps, ArrayRef<Value> results,
                          SmallVectorImpl<Type> &argumentTypes,
                          SmallVectorImpl<Type> &wantedTypes);
  void makeBody(llvm::SetVector<Value> &values,
                SmallVectorImpl<Value> &results);
  void removeForeignAttributes();

  /// Returns the type of the array for a tensor of `type`, cut as `sharding`,
  /// which is null if the module does not say. Fails with a diagnostic.
  FailureOr<ArrayType> getArrayType(Location loc, Type type,
                                    sdy::TensorShardingAttr sharding,
                                    StringAttr slice);
  /// Returns the slices of an argument and of a result.
  StringAttr getArgumentSlice(unsigned index) {
    return stages ? stages->getArgumentSlice(index) : onlySlice.name;
  }
  StringAttr getResultSlice(unsigned index) const {
    return stages ? resultSlices[index] : onlySlice.name;
  }
  std::string getArgumentName(unsigned index);
  std::string getResultName(unsigned index);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder b;
  StringRef carry, stepped, assign, slices;
  StageMarks stageMarks;
  std::optional<Stages> stages; ///< none: the program has one slice
  StageMarks::Slice onlySlice;  ///< the one of a program without stages
  SmallVector<StringAttr> resultSlices;
  Shardings shardings;
  func::FuncOp entry;
  SmallVector<Check> checks;
  /// Functions that contain checks, themselves or in what they call.
  DenseMap<Operation *, bool> withChecks;
  DenseSet<Operation *> visiting;
};

} // namespace

//===----------------------------------------------------------------------===//
// Bad input
//===----------------------------------------------------------------------===//

Location ProgramImporter::getPlace() {
  FileLineColRange place = findSourcePlace(module.getLoc());
  bool isNamed = place && place.getStartLine() > 0;
  return isNamed || module.getBody()->empty()
             ? module.getLoc()
             : module.getBody()->front().getLoc();
}

LogicalResult ProgramImporter::findEntry() {
  entry = symbols.lookup<func::FuncOp>(kEntryName);
  if (!entry || entry.isExternal()) {
    std::string names;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        names += (names.empty() ? "@" : ", @") + function.getSymName().str();
    return emitError(getPlace())
           << "expected a function @" << kEntryName
           << " with a body, which becomes the program; "
           << (names.empty() ? "no function is public"
                             : "the public functions are " + names)
           << Tag(ErrorId::kNoEntry);
  }
  if (!entry.getBody().hasOneBlock())
    return entry.emitOpError("expected one block, got ")
           << entry.getBody().getBlocks().size() << Tag(ErrorId::kNoEntry);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function == entry || !function.isPublic())
      continue;
    if (function.isExternal())
      return function.emitOpError("has no body") << Tag(ErrorId::kNoEntry);
    // Texts that were written by hand have public functions that are called.
    if (SymbolTable::symbolKnownUseEmpty(function, module)) {
      InFlightDiagnostic error = function.emitOpError()
                                 << "is public besides @" << kEntryName
                                 << "; expected one public function"
                                 << Tag(ErrorId::kNoEntry);
      error.attachNote(entry.getLoc()) << "the program is here";
      return error;
    }
    function.setPrivate();
  }
  return success();
}

LogicalResult ProgramImporter::checkModule() {
  if (failed(shardings.read(module)))
    return failure();
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp, sdy::MeshOp>(op))
      return op.emitOpError("is not expected in a module of StableHLO");
  return success();
}

LogicalResult ProgramImporter::checkType(Location loc, Type type,
                                         const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitError(loc) << what << " of @" << kEntryName << " has type "
                          << type << "; expected a tensor"
                          << Tag(ErrorId::kTypeNotImported);
  if (!tensor.hasStaticShape())
    return emitError(loc) << what << " of @" << kEntryName << " has type "
                          << type << ", whose sizes are not all static"
                          << Tag(ErrorId::kTypeNotImported);
  return success();
}

LogicalResult ProgramImporter::checkTypes() {
  for (BlockArgument argument : entry.getArguments())
    if (failed(checkType(argument.getLoc(), argument.getType(),
                         "argument " + Twine(argument.getArgNumber()))))
      return failure();
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes()))
    if (failed(checkType(entry.getLoc(), type, "result " + Twine(index))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

FailureOr<bool> ProgramImporter::containsChecks(func::FuncOp function) {
  auto [known, isNew] = withChecks.try_emplace(function, false);
  if (!isNew) {
    if (visiting.contains(function))
      return function.emitOpError("calls itself")
             << Tag(ErrorId::kNotCompilable);
    return known->second;
  }
  visiting.insert(function);
  bool found = false;
  WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
    found |= isCheck(op);
    auto call = dyn_cast<func::CallOp>(op);
    auto callee =
        call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (!callee)
      return WalkResult::advance();
    FailureOr<bool> inner = containsChecks(callee);
    if (failed(inner))
      return WalkResult::interrupt();
    found |= *inner;
    return WalkResult::advance();
  });
  visiting.erase(function);
  if (walked.wasInterrupted())
    return failure();
  withChecks[function] = found;
  return found;
}

LogicalResult ProgramImporter::inlineCall(func::CallOp call,
                                          func::FuncOp callee) {
  if (callee.isExternal() || !callee.getBody().hasOneBlock())
    return call.emitOpError("calls '")
           << call.getCallee() << "', which has no body of one block"
           << Tag(ErrorId::kNotCompilable);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : callee.front().without_terminator())
    builder.clone(op, mapping);
  for (auto [result, value] : llvm::zip_equal(
           call.getResults(), callee.front().getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookup(value));
  call.erase();
  return success();
}

LogicalResult ProgramImporter::inlineChecks() {
  if (failed(containsChecks(entry)))
    return failure();
  // Inlined operations may contain further calls.
  while (true) {
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    for (auto call : entry.front().getOps<func::CallOp>()) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && withChecks.lookup(callee))
        calls.emplace_back(call, callee);
    }
    if (calls.empty())
      return success();
    for (auto [call, callee] : calls)
      if (failed(inlineCall(call, callee)))
        return failure();
    if (static_cast<int64_t>(entry.front().getOperations().size()) > kMaxOps)
      return entry.emitOpError("has more than ")
             << kMaxOps << " operations after inlining functions with checks"
             << Tag(ErrorId::kNotCompilable);
  }
}

FailureOr<Check> ProgramImporter::getCheck(Operation *op) {
  MLIRContext *context = b.getContext();
  b.setInsertionPoint(op);
  auto constant = [&](ElementsAttr value) -> Value {
    return stablehlo::ConstantOp::create(b, op->getLoc(), value.getType(),
                                         value);
  };
  auto eq = [context](int64_t result) {
    return ExpectAttr::getEq(context, result);
  };
  auto almostEq = [context](double tolerance) {
    return [=](int64_t result) {
      return ExpectAttr::getAlmostEq(context, result, tolerance);
    };
  };
  auto close = [context](int64_t min, int64_t max) {
    return [=](int64_t result) {
      return ExpectAttr::getClose(context, result, min, max);
    };
  };
  if (auto check = dyn_cast<check::ExpectEqOp>(op))
    return Check{op, check.getLhs(), check.getRhs(), eq};
  if (auto check = dyn_cast<check::ExpectEqConstOp>(op))
    return Check{op, check.getLhs(), constant(check.getValue()), eq};
  if (auto check = dyn_cast<check::ExpectAlmostEqOp>(op))
    return Check{op, check.getLhs(), check.getRhs(),
                 almostEq(check.getTolerance().convertToDouble())};
  if (auto check = dyn_cast<check::ExpectAlmostEqConstOp>(op))
    return Check{op, check.getLhs(), constant(check.getValue()),
                 almostEq(check.getTolerance().convertToDouble())};
  if (auto check = dyn_cast<check::ExpectCloseOp>(op))
    return Check{
        op, check.getActual(), check.getExpected(),
        close(check.getMinUlpDifference(), check.getMaxUlpDifference())};
  auto call = cast<stablehlo::CustomCallOp>(op);
  StringRef target = call.getCallTargetName();
  if (call.getNumOperands() != 2 || call.getNumResults() != 0 ||
      call.getOperand(0).getType() != call.getOperand(1).getType())
    return call.emitOpError("expected '")
           << target << "' to take two tensors of one type";
  Value got = call.getOperand(0), want = call.getOperand(1);
  if (target == "check.expect_eq")
    return Check{op, got, want, eq};
  if (target == "check.expect_close")
    return Check{op, got, want, close(0, kMaxUlp)};
  if (target == "check.expect_almost_eq")
    return Check{op, got, want, almostEq(kTolerance)};
  return call.emitOpError("calls '")
         << target
         << "', which is not known; expected check.expect_eq, "
            "check.expect_close or check.expect_almost_eq";
}

LogicalResult ProgramImporter::takeChecks() {
  WalkResult walked = entry.walk([&](Operation *op) -> WalkResult {
    auto call = dyn_cast<func::CallOp>(op);
    bool callsCheck =
        call && withChecks.lookup(symbols.lookup(call.getCallee()));
    if (!callsCheck && !isCheck(op))
      return WalkResult::advance();
    if (op->getParentOp() != entry)
      return op->emitOpError("checks a value inside of a region; expected "
                             "checks in functions only");
    FailureOr<Check> check = getCheck(op);
    if (failed(check))
      return WalkResult::interrupt();
    checks.push_back(std::move(*check));
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

FailureOr<ArrayType>
ProgramImporter::getArrayType(Location loc, Type type,
                              sdy::TensorShardingAttr sharding,
                              StringAttr slice) {
  auto tensor = cast<RankedTensorType>(type);
  FailureOr<ShardingAttr> converted =
      shardings.convert(loc, sharding, tensor.getRank());
  if (failed(converted))
    return failure();
  ArrayType array = ArrayType::getChecked(
      [&] { return mlir::emitError(loc); }, tensor.getShape(),
      tensor.getElementType(), FlatSymbolRefAttr::get(slice), *converted);
  if (!array)
    return failure();
  return array;
}

std::string ProgramImporter::getArgumentName(unsigned index) {
  if (auto name = dyn_cast<NameLoc>(entry.getArgument(index).getLoc()))
    return name.getName().str();
  return "";
}

std::string ProgramImporter::getResultName(unsigned index) {
  if (auto name =
          entry.getResultAttrOfType<StringAttr>(index, "jax.result_info"))
    return name.str();
  return "";
}

/// Returns `type` as bodies have it: integers have no sign.
static Type getBodyType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto integer = dyn_cast<IntegerType>(tensor.getElementType());
  if (!integer)
    return type;
  return tensor.clone(IntegerType::get(type.getContext(), integer.getWidth()));
}

/// Makes the entry a body that returns `values`, on tensors without signs. The
/// casts vanish when the operations between them are lowered. An argument in
/// `values` and `results` is replaced by its cast.
void ProgramImporter::makeBody(llvm::SetVector<Value> &values,
                               SmallVectorImpl<Value> &results) {
  Operation *ret = entry.front().getTerminator();
  SmallVector<Type> bodyInputs, bodyOutputs;
  b.setInsertionPointToStart(&entry.front());
  for (BlockArgument argument : entry.getArguments()) {
    Type type = argument.getType(), bodyType = getBodyType(type);
    bodyInputs.push_back(bodyType);
    if (type == bodyType)
      continue;
    argument.setType(bodyType);
    auto cast = UnrealizedConversionCastOp::create(b, argument.getLoc(), type,
                                                   argument);
    argument.replaceAllUsesExcept(cast.getResult(0), cast);
    if (values.contains(argument)) {
      SmallVector<Value> order(values.begin(), values.end());
      llvm::replace(order, Value(argument), cast.getResult(0));
      llvm::replace(results, Value(argument), cast.getResult(0));
      values = llvm::SetVector<Value>(order.begin(), order.end());
    }
  }
  b.setInsertionPoint(ret);
  SmallVector<Value> returned;
  for (Value value : values) {
    Type type = value.getType(), bodyType = getBodyType(type);
    bodyOutputs.push_back(bodyType);
    returned.push_back(type == bodyType ? value
                                        : UnrealizedConversionCastOp::create(
                                              b, ret->getLoc(), bodyType, value)
                                              .getResult(0));
  }
  ret->setOperands(returned);
  entry.setFunctionType(b.getFunctionType(bodyInputs, bodyOutputs));
  for (unsigned i = 0, e = bodyInputs.size(); i != e; ++i)
    entry.setArgAttrs(i, b.getDictionaryAttr({}));
  entry.removeResAttrsAttr();
}

LogicalResult ProgramImporter::findTypes(const StepValues &steps,
                                         ArrayRef<Value> results,
                                         SmallVectorImpl<Type> &argumentTypes,
                                         SmallVectorImpl<Type> &wantedTypes) {
  auto getWanted = [&](Location loc, Type type, Attribute sharding,
                       StringAttr slice) {
    return sharding
               ? getArrayType(loc, type,
                              cast<sdy::TensorShardingAttr>(sharding), slice)
               : FailureOr<ArrayType>(ArrayType());
  };
  for (BlockArgument argument : entry.getArguments()) {
    FailureOr<ArrayType> type =
        getWanted(argument.getLoc(), argument.getType(),
                  entry.getArgAttrOfType<sdy::TensorShardingAttr>(
                      argument.getArgNumber(), sdy::kShardingAttrName),
                  getArgumentSlice(argument.getArgNumber()));
    if (failed(type))
      return failure();
    argumentTypes.push_back(*type);
  }
  // A result without a sharding of its own is returned as it was computed.
  for (auto [index, result] : llvm::enumerate(results)) {
    sdy::TensorShardingAttr sharding;
    if (index < entry.getNumResults())
      sharding = entry.getResultAttrOfType<sdy::TensorShardingAttr>(
          index, sdy::kShardingAttrName);
    FailureOr<ArrayType> type = getWanted(entry.getLoc(), result.getType(),
                                          sharding, getResultSlice(index));
    if (failed(type))
      return failure();
    wantedTypes.push_back(*type);
  }
  if (failed(steps.unifyTypes(getPlace(), entry.getArgumentTypes(),
                              entry.getResultTypes(), argumentTypes,
                              wantedTypes)))
    return failure();
  for (BlockArgument argument : entry.getArguments()) {
    Type &type = argumentTypes[argument.getArgNumber()];
    if (type)
      continue;
    FailureOr<ArrayType> open =
        getArrayType(argument.getLoc(), argument.getType(), nullptr,
                     getArgumentSlice(argument.getArgNumber()));
    if (failed(open))
      return failure();
    type = *open;
    if (auto result = steps.getCarriedResult(argument.getArgNumber()))
      wantedTypes[*result] = type;
  }
  return success();
}

void ProgramImporter::findStages(const StepValues &steps,
                                 ArrayRef<Value> results) {
  if (!stageMarks.getLoops().empty())
    stageMarks.addDefault(b.getStringAttr(kSliceName));
  if (stageMarks.isEmpty()) {
    onlySlice = stageMarks.getOnlySlice(b.getStringAttr(kSliceName));
    return;
  }
  stages.emplace(entry, symbols, stageMarks, results);
  stages->findCalls();
  for (unsigned i = 0, e = results.size(); i != e; ++i)
    resultSlices.push_back(stages->getResultSlice(i));
  // The next value of an argument is where the argument is.
  for (unsigned i = 0, e = entry.getNumArguments(); i != e; ++i) {
    std::optional<unsigned> result = steps.getCarriedResult(i);
    auto alias = entry.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
    if (!result && alias && alias.getValue().ult(entry.getNumResults()))
      result = alias.getValue().getZExtValue();
    if (result)
      resultSlices[*result] = stages->getArgumentSlice(i);
  }
}

LogicalResult ProgramImporter::makeProgram() {
  Operation *ret = entry.front().getTerminator();
  Location loc = entry.getLoc();

  // The body returns each value once, however often it is a result.
  llvm::SetVector<Value> values;
  SmallVector<Value> results(ret->getOperands());
  SmallVector<NamedAttrList> resultAttrs;
  Names names("result"), argumentNames("arg");
  std::vector<std::string> namesOfResults, namesOfArguments;
  for (unsigned i = 0, e = entry.getNumArguments(); i != e; ++i)
    namesOfArguments.push_back(argumentNames.add(getArgumentName(i), i));
  for (unsigned i = 0, e = results.size(); i != e; ++i)
    namesOfResults.push_back(names.add(getResultName(i), i));
  // Callers do not know the constants, which are behind the other arguments.
  ArrayRef<std::string> passed = namesOfArguments;
  while (
      !passed.empty() &&
      entry.getArgAttr(passed.size() - 1, PathwaysDialect::kConstantAttrName))
    passed = passed.drop_back();
  StepValues steps(passed, namesOfResults);
  if (failed(steps.read(getPlace(), carry, stepped)))
    return failure();
  for (auto [index, name] : llvm::enumerate(namesOfResults)) {
    NamedAttrList &attributes = resultAttrs.emplace_back();
    attributes.set(PathwaysDialect::kNameAttrName, b.getStringAttr(name));
    steps.addResultAttrs(b, index, attributes);
  }
  for (auto [index, check] : llvm::enumerate(checks)) {
    std::string name = "check" + std::to_string(index);
    NamedAttrList got, want;
    got.set(PathwaysDialect::kNameAttrName,
            b.getStringAttr(names.add(name, results.size())));
    got.set(PathwaysDialect::kExpectAttrName,
            check.makeExpect(results.size() + 1));
    want.set(
        PathwaysDialect::kNameAttrName,
        b.getStringAttr(names.add(name + ".expected", results.size() + 1)));
    resultAttrs.push_back(got);
    resultAttrs.push_back(want);
    results.push_back(check.got);
    results.push_back(check.want);
  }
  for (Check &check : checks)
    check.op->erase();
  values.insert(results.begin(), results.end());

  findStages(steps, results);
  SmallVector<Type> argumentTypes, wantedTypes, resultTypes;
  if (failed(findTypes(steps, results, argumentTypes, wantedTypes)))
    return failure();
  SmallVector<int64_t> donated;
  SmallVector<Attribute> argumentAttrs;
  for (auto [index, name] : llvm::enumerate(namesOfArguments)) {
    NamedAttrList attributes;
    attributes.set(PathwaysDialect::kNameAttrName, b.getStringAttr(name));
    steps.addArgumentAttrs(b, index, attributes);
    if (Attribute value =
            entry.getArgAttr(index, PathwaysDialect::kConstantAttrName))
      attributes.set(PathwaysDialect::kConstantAttrName, value);
    argumentAttrs.push_back(attributes.getDictionary(b.getContext()));
    if (entry.getArgAttr(index, "tf.aliasing_output") ||
        entry.getArgAttr(index, "jax.buffer_donor"))
      donated.push_back(index);
  }
  DenseMap<Value, Type> callTypeOf;
  if (stages) {
    auto getOpenType = [&](Location loc, Type type, StringAttr slice) {
      return getArrayType(loc, type, nullptr, slice);
    };
    if (failed(stages->findTypes(argumentTypes, wantedTypes, getOpenType)))
      return failure();
  }
  for (auto [result, wanted] : llvm::zip_equal(results, wantedTypes)) {
    if (wanted)
      callTypeOf.try_emplace(result, wanted);
  }
  for (auto [index, result, wanted] : llvm::enumerate(results, wantedTypes)) {
    Type type = wanted;
    if (!type && stages)
      type = cast<ArrayType>(stages->getType(result))
                 .withSlice(FlatSymbolRefAttr::get(resultSlices[index]));
    if (!type)
      type = callTypeOf.lookup(result);
    if (!type) {
      FailureOr<ArrayType> array =
          getArrayType(loc, result.getType(), nullptr, onlySlice.name);
      if (failed(array))
        return failure();
      type = *array;
      callTypeOf[result] = type;
    }
    resultTypes.push_back(type);
  }
  SmallVector<Type> callTypes;
  for (Value value : values)
    callTypes.push_back(callTypeOf.lookup(value));

  SymbolTable::setSymbolVisibility(entry, SymbolTable::Visibility::Private);
  if (failed(symbols.rename(entry, b.getStringAttr(kEntryName + ".body"))))
    return failure();
  if (!stages)
    makeBody(values, results);
  b.setInsertionPointToStart(module.getBody());
  if (stages)
    stages->emitSlices(b, loc, shardings.getMesh());
  else
    SliceOp::create(b, loc, onlySlice.name, /*sym_visibility=*/nullptr,
                    shardings.getMesh(), onlySlice.getSpans(), /*kind=*/nullptr,
                    /*apart_from=*/nullptr,
                    /*with=*/nullptr);
  auto program = ProgramOp::create(
      b, loc, kEntryName, b.getFunctionType(argumentTypes, resultTypes));
  program.setArgAttrsAttr(b.getArrayAttr(argumentAttrs));
  SmallVector<Attribute> resultDictionaries;
  for (NamedAttrList &attributes : resultAttrs)
    resultDictionaries.push_back(attributes.getDictionary(b.getContext()));
  program.setResAttrsAttr(b.getArrayAttr(resultDictionaries));
  Block &block = program.getBody().front();
  b.setInsertionPointToStart(&block);
  SmallVector<Value> outputs;
  if (stages) {
    outputs = stages->emit(b, block.getArguments(), donated, resultTypes);
  } else if (!values.empty()) {
    auto call = CallOp::create(b, loc, callTypes, entry.getSymName(),
                               block.getArguments());
    call.setDonated(donated);
    DenseMap<Value, Value> outputOf;
    for (auto [value, output] : llvm::zip_equal(values, call.getOutputs()))
      outputOf[value] = output;
    for (auto [result, type] : llvm::zip_equal(results, resultTypes)) {
      Value output = outputOf.lookup(result);
      if (output.getType() != type)
        output = ReshardOp::create(b, loc, type, output);
      outputs.push_back(output);
    }
  }
  mlir::pathways::ReturnOp::create(b, loc, outputs);
  if (stages || values.empty())
    entry.erase();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  return success();
}

void ProgramImporter::removeForeignAttributes() {
  module.walk([](Operation *op) {
    // The attributes of a call of @mhlo.topk say what it computes.
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isForeign(attribute.getName().strref()) &&
          attribute.getName() != "mhlo.attributes")
        op->removeDiscardableAttr(attribute.getName());
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
      function.setArgAttrs(
          i, withoutForeign(function.getArgAttrDict(i)
                                ? function.getArgAttrDict(i)
                                : DictionaryAttr::get(function.getContext())));
    for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
      function.setResultAttrs(
          i, withoutForeign(function.getResultAttrDict(i)
                                ? function.getResultAttrDict(i)
                                : DictionaryAttr::get(function.getContext())));
  });
}

LogicalResult ProgramImporter::run() {
  if (failed(findEntry()) || failed(checkModule()) || failed(checkTypes()) ||
      failed(stageMarks.read(assign, slices)) ||
      failed(lowerManualComputations(module, symbols, shardings)) ||
      failed(shardings.lowerConstraints(module)) || failed(inlineChecks()) ||
      failed(stageMarks.flatten(entry)) || failed(takeChecks()) ||
      failed(makeProgram()))
    return failure();
  removeForeignAttributes();
  return success();
}

namespace {
struct ImportProgramPass
    : mlir::pathways::impl::ImportProgramBase<ImportProgramPass> {
  using ImportProgramBase::ImportProgramBase;
  void runOnOperation() override {
    if (failed(ProgramImporter(getOperation(), carry, stepped, assign, slices,
                               maxOps)
                   .run()))
      signalPassFailure();
  }
};
} // namespace
