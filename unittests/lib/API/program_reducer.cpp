//===- program_reducer.cpp - Reduction of failing programs ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "program_reducer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Lowering/Passes.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// The parts of a program.
struct Parts {
  std::string slice, program;
  MeshAttr mesh;
  OwningOpRef<func::FuncOp> function;
  std::vector<std::string> names; ///< of arguments
  SmallVector<ArrayType> operands, results;

  Parts clone() const {
    return {slice, program,  mesh,   function.get().clone(),
            names, operands, results};
  }
  Operation *getEnd() const { return function.get().front().getTerminator(); }
  std::string print() const;
  void dropUnused();
};

class Reducer {
public:
  Reducer(Parts parts, const reducer::Fails &fails, int maxTries)
      : best(std::move(parts)), fails(fails), triesLeft(maxTries),
        seen({best.print()}) {}

  std::string run();

private:
  /// Applies `change` to a copy of the best program and keeps the result if it
  /// fails too. `change` returns false if it found nothing to do.
  bool attempt(llvm::function_ref<bool(Parts &)> change);
  bool returnEarlier();
  bool dropResults();
  bool dropOperations();
  bool dropAxes();
  bool shrinkMesh();

  Parts best;
  const reducer::Fails &fails;
  int triesLeft;
  std::set<std::string> seen;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

std::string Parts::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto listTypes = [&](ArrayRef<ArrayType> types) {
    os << '(';
    llvm::interleaveComma(types, os);
    os << ')';
  };
  os << "pw.slice @" << slice << " mesh <";
  llvm::interleaveComma(llvm::zip_equal(mesh.getNames(), mesh.getSizes()), os,
                        [&](auto axis) {
                          os << '"' << std::get<0>(axis).getValue()
                             << "\" = " << std::get<1>(axis);
                        });
  os << ">\n";
  function.get()->print(os);
  os << "pw.program @" << program << '(';
  llvm::interleaveComma(
      llvm::zip_equal(names, operands), os, [&](auto operand) {
        os << '%' << std::get<0>(operand) << ": " << std::get<1>(operand);
      });
  os << ") -> ";
  listTypes(results);
  os << " {\n  %r:" << results.size() << " = pw.call @"
     << function.get().getSymName() << '(';
  llvm::interleaveComma(names, os, [&](StringRef name) { os << '%' << name; });
  os << ") : ";
  listTypes(operands);
  os << " -> ";
  listTypes(results);
  os << "\n  pw.return ";
  llvm::interleaveComma(llvm::seq<size_t>(0, results.size()), os,
                        [&](size_t i) { os << "%r#" << i; });
  os << " : ";
  llvm::interleaveComma(results, os);
  os << "\n}\n";
  return text;
}

/// Removes unused operations and arguments, and axes of one device.
void Parts::dropUnused() {
  func::FuncOp body = function.get();
  SmallVector<Operation *> ops;
  body.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) // visits users and nested ops first
    if (isOpTriviallyDead(op))
      op->erase();
  for (unsigned i = operands.size(); i-- > 0;)
    if (operands.size() > 1 && body.getArgument(i).use_empty() &&
        succeeded(body.eraseArgument(i))) {
      operands.erase(operands.begin() + i);
      names.erase(names.begin() + i);
    }
  auto cuts = [](ShardingAttr sharding, StringAttr axis) {
    return llvm::any_of(sharding.getDims(), [&](ArrayAttr axes) {
      return llvm::is_contained(axes, axis);
    });
  };
  auto isUsed = [&](StringAttr axis) {
    bool found = llvm::any_of(
        llvm::concat<ArrayType>(operands, results),
        [&](ArrayType type) { return cuts(type.getSharding(), axis); });
    body.walk([&](ConstrainOp op) { found |= cuts(op.getSharding(), axis); });
    return found;
  };
  SmallVector<StringAttr> keptNames;
  SmallVector<int64_t> keptSizes;
  for (auto [axis, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    if (size > 1 || isUsed(axis)) {
      keptNames.push_back(axis);
      keptSizes.push_back(size);
    }
  if (!keptNames.empty())
    mesh = MeshAttr::get(mesh.getContext(), keptNames, keptSizes);
}

/// Returns the parts of a module if it has no others.
static std::optional<Parts> split(ModuleOp module) {
  auto slices = llvm::to_vector(module.getOps<SliceOp>());
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  auto programs = llvm::to_vector(module.getOps<ProgramOp>());
  if (slices.size() != 1 || functions.size() != 1 || programs.size() != 1 ||
      functions[0].isDeclaration())
    return std::nullopt;
  Block &block = programs[0].getBody().front();
  auto call = dyn_cast<CallOp>(block.front());
  ReturnOp end = programs[0].getReturn();
  if (!call || call->getNextNode() != end.getOperation() ||
      !llvm::equal(end.getResults(), call.getOutputs()) ||
      !llvm::equal(call.getInputs(), block.getArguments()))
    return std::nullopt;
  Parts parts;
  parts.slice = slices[0].getSymName();
  parts.program = programs[0].getSymName();
  parts.mesh = slices[0].getMesh();
  parts.function = functions[0].clone();
  for (BlockArgument argument : block.getArguments()) {
    parts.names.push_back(programs[0].getArgumentName(argument.getArgNumber()));
    parts.operands.push_back(cast<ArrayType>(argument.getType()));
  }
  for (Value result : call.getOutputs())
    parts.results.push_back(cast<ArrayType>(result.getType()));
  return parts;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

bool Reducer::attempt(llvm::function_ref<bool(Parts &)> change) {
  if (triesLeft == 0)
    return false;
  Parts next = best.clone();
  if (!change(next))
    return false;
  next.dropUnused();
  if (failed(verify(next.function.get())))
    return false;
  std::string text = next.print();
  if (!seen.insert(text).second)
    return false;
  --triesLeft;
  if (!fails(text))
    return false;
  best = std::move(next);
  return true;
}

/// Returns the type of an array on the slice of `like`, whole everywhere, with
/// the shape of `tensor`.
static ArrayType makeWhole(RankedTensorType tensor, ArrayType like) {
  return ArrayType::get(
      tensor.getShape(), tensor.getElementType(), like.getSlice(),
      ShardingAttr::getOpen(like.getContext(), tensor.getRank()).getClosed());
}

static bool canBeArray(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
         isCommunicable(tensor.getElementType());
}

static void setResultTypes(func::FuncOp function) {
  function.setType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
}

/// Returns an operand of a returned value instead of the value.
bool Reducer::returnEarlier() {
  bool hasChanged = false;
  for (unsigned i = 0; i < best.results.size(); ++i)
    for (unsigned k = 0;; ++k) {
      Operation *op = best.getEnd()->getOperand(i).getDefiningOp();
      if (!op || k == op->getNumOperands())
        break;
      bool isKept = attempt([&](Parts &next) {
        Operation *end = next.getEnd();
        Value value = end->getOperand(i).getDefiningOp()->getOperand(k);
        if (!canBeArray(value.getType()))
          return false;
        end->setOperand(i, value);
        next.results[i] =
            makeWhole(cast<RankedTensorType>(value.getType()), next.results[i]);
        setResultTypes(next.function.get());
        return true;
      });
      if (isKept) {
        hasChanged = true;
        k = -1; // restarts at the operands of the new value
      }
    }
  return hasChanged;
}

bool Reducer::dropResults() {
  bool hasChanged = false;
  for (unsigned i = best.results.size(); i-- > 0 && best.results.size() > 1;)
    hasChanged |= attempt([&](Parts &next) {
      next.getEnd()->eraseOperand(i);
      next.results.erase(next.results.begin() + i);
      setResultTypes(next.function.get());
      return true;
    });
  return hasChanged;
}

/// Returns a value of the type of `result` that exists before its operation.
/// `way` selects an operand, another value, or a new argument.
static Value findOther(Parts &parts, OpResult result, unsigned way) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  auto isIt = [&](Value value) { return value.getType() == type; };
  if (way == 0) {
    auto it = llvm::find_if(op->getOperands(), isIt);
    return it == op->operand_end() ? Value() : *it;
  }
  func::FuncOp function = parts.function.get();
  if (way == 1) {
    for (Operation *at = op; at != function; at = at->getParentOp()) {
      for (Operation *before = at->getPrevNode(); before;
           before = before->getPrevNode())
        if (auto it = llvm::find_if(before->getResults(), isIt);
            it != before->result_end())
          return *it;
      auto arguments = at->getBlock()->getArguments();
      if (auto it = llvm::find_if(arguments, isIt); it != arguments.end())
        return *it;
    }
    return {};
  }
  if (op->getNumOperands() == 0 || !canBeArray(type))
    return {};
  unsigned number = function.getNumArguments();
  if (failed(function.insertArgument(number, type, {}, op->getLoc())))
    return {};
  std::string name;
  for (unsigned i = 0; name.empty() || llvm::is_contained(parts.names, name);
       ++i)
    name = "new" + std::to_string(i);
  parts.names.push_back(name);
  parts.operands.push_back(
      makeWhole(cast<RankedTensorType>(type), parts.results.front()));
  return function.getArgument(number);
}

/// Returns operation `number` of a function, in the order of a walk.
static Operation *findOperation(func::FuncOp function, unsigned number) {
  Operation *found = nullptr;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (number-- > 0)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

bool Reducer::dropOperations() {
  bool hasChanged = false;
  unsigned count = 0;
  best.function.get().walk([&](Operation *) { ++count; });
  for (unsigned number = count; number-- > 1;) // the first one is the function
    for (unsigned way = 0; way < 3; ++way) {
      bool isKept = attempt([&](Parts &next) {
        Operation *op = findOperation(next.function.get(), number);
        if (!op || op->hasTrait<OpTrait::IsTerminator>())
          return false;
        for (OpResult result : op->getResults()) {
          if (result.use_empty())
            continue;
          Value other = findOther(next, result, way);
          if (!other)
            return false;
          result.replaceAllUsesWith(other);
        }
        op->erase();
        return true;
      });
      hasChanged |= isKept;
      if (isKept)
        break;
    }
  return hasChanged;
}

/// Returns `sharding` without its axis `number`, or null if it has fewer axes.
static ShardingAttr dropAxis(ShardingAttr sharding, unsigned number) {
  MLIRContext *context = sharding.getContext();
  SmallVector<ArrayAttr> dims;
  bool isFound = false;
  for (ArrayAttr axes : sharding.getDims()) {
    SmallVector<Attribute> kept;
    for (Attribute axis : axes)
      if (number-- == 0)
        isFound = true;
      else
        kept.push_back(axis);
    dims.push_back(ArrayAttr::get(context, kept));
  }
  return isFound
             ? ShardingAttr::get(context, dims, ReductionKindAttr(),
                                 ArrayRef<StringAttr>(), sharding.getOpenDims())
             : ShardingAttr();
}

/// Cuts arrays along fewer axes or not at all. No dimension stays open.
bool Reducer::dropAxes() {
  bool hasChanged = false;
  for (size_t i = 0; i < best.operands.size() + best.results.size(); ++i) {
    auto typeIn = [i](Parts &parts) -> ArrayType & {
      return i < parts.operands.size()
                 ? parts.operands[i]
                 : parts.results[i - parts.operands.size()];
    };
    auto change = [&](auto make) {
      return attempt([&](Parts &next) {
        ArrayType &type = typeIn(next);
        ShardingAttr sharding = make(type.getSharding());
        if (!sharding || sharding == type.getSharding())
          return false;
        type = type.withSharding(sharding);
        return true;
      });
    };
    hasChanged |= change([](ShardingAttr old) {
      return ShardingAttr::getOpen(old.getContext(), old.getDims().size())
          .getClosed();
    });
    hasChanged |= change([](ShardingAttr old) { return old.getClosed(); });
    for (unsigned axis = 0;; ++axis) {
      if (!dropAxis(typeIn(best).getSharding(), axis))
        break;
      bool isKept =
          change([&](ShardingAttr old) { return dropAxis(old, axis); });
      hasChanged |= isKept;
      axis -= isKept;
    }
  }
  return hasChanged;
}

bool Reducer::shrinkMesh() {
  bool hasChanged = false;
  for (unsigned axis = 0; axis < best.mesh.getSizes().size(); ++axis)
    for (int64_t size = 1; axis < best.mesh.getSizes().size() &&
                           size < best.mesh.getSizes()[axis];
         ++size) {
      bool isKept = attempt([&](Parts &next) {
        SmallVector<int64_t> sizes(next.mesh.getSizes());
        sizes[axis] = size;
        next.mesh =
            MeshAttr::get(next.mesh.getContext(), next.mesh.getNames(), sizes);
        return true;
      });
      hasChanged |= isKept;
      if (isKept)
        break;
    }
  return hasChanged;
}

std::string Reducer::run() {
  bool hasChanged = true;
  while (hasChanged && triesLeft > 0) {
    hasChanged = dropResults();
    hasChanged |= returnEarlier();
    hasChanged |= dropOperations();
    hasChanged |= dropAxes();
    hasChanged |= shrinkMesh();
  }
  return best.print();
}

std::string reducer::reduceProgram(const std::string &text, const Fails &fails,
                                   int maxTries) {
  DialectRegistry registry;
  registerPathwaysLoweringDialects(registry);
  MLIRContext context(registry);
  // Errors of changes that break the program are expected.
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  auto module = parseSourceString<ModuleOp>(text, &context);
  std::optional<Parts> parts = module ? split(*module) : std::nullopt;
  return parts ? Reducer(std::move(*parts), fails, maxTries).run() : text;
}
