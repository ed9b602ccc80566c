//===- ShardyStrings.cpp - Shardy's round trip through strings ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardyStrings.h"
#include "ManualRegions.h"
#include "StageMarks.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

static constexpr StringLiteral kRoundTripStrings = "mhlo.frontend_attributes";

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

/// Returns the string `name` in the frontend attributes among `attributes`;
/// null if there is none.
static StringAttr getFrontendString(DictionaryAttr attributes, StringRef name) {
  auto frontend = attributes
                      ? attributes.getAs<DictionaryAttr>(kRoundTripStrings)
                      : DictionaryAttr();
  return frontend ? frontend.getAs<StringAttr>(name) : StringAttr();
}

static StringAttr getFrontendString(Operation *op, StringRef name) {
  return getFrontendString(op->getDiscardableAttrDictionary(), name);
}

/// Returns the attribute that `text`, the frontend attribute `name`, stands
/// for. Fails with a diagnostic at `loc`.
template <typename AttrT>
static FailureOr<AttrT> parseFrontend(Location loc, StringRef name,
                                      StringAttr text) {
  // Quotes in quotes may have been escaped twice.
  std::string plain;
  StringRef rest = text.getValue();
  while (!rest.empty()) {
    if (rest.starts_with("\\\""))
      rest = rest.drop_front();
    plain += rest.front();
    rest = rest.drop_front();
  }
  std::string message;
  Attribute parsed;
  {
    ScopedDiagnosticHandler handler(text.getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      if (message.empty())
                                        message = diagnostic.str();
                                      return success();
                                    });
    parsed = parseAttribute(plain, text.getContext());
  }
  if (auto attribute = dyn_cast_or_null<AttrT>(parsed))
    return attribute;
  return emitError(loc) << "the frontend attribute '" << name
                        << "' cannot be read: "
                        << (message.empty() ? "it has another kind" : message)
                        << Tag(ErrorId::kPartitioned);
}

/// Returns the name of the custom call without its prefix, or "" if it is not
/// one of Shardy's.
static StringRef getShardyName(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call)
    return "";
  StringRef name = call.getCallTargetName();
  (void)name.consume_front("local_");
  return name.consume_front("xla.sdy.") ? name : "";
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

namespace {

class StringReader {
public:
  explicit StringReader(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  LogicalResult readMeshes();
  LogicalResult readArguments(func::FuncOp function);
  LogicalResult readCalls(func::FuncOp function);
  LogicalResult readConstraint(stablehlo::CustomCallOp call);
  LogicalResult readResultSharding(stablehlo::CustomCallOp call);
  LogicalResult readManualComputations(Block &block);
  FailureOr<Crossing> getCrossing(Operation *op, bool isEntry);

  ModuleOp module;
};

} // namespace

LogicalResult StringReader::readMeshes() {
  StringAttr text = getFrontendString(module, "xla.sdy.meshes");
  if (!text)
    return success();
  auto meshes =
      parseFrontend<DictionaryAttr>(module.getLoc(), "xla.sdy.meshes", text);
  if (failed(meshes))
    return failure();
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  for (NamedAttribute entry : *meshes) {
    auto mesh = dyn_cast<sdy::MeshAttr>(entry.getValue());
    Operation *other = SymbolTable::lookupSymbolIn(module, entry.getName());
    if (!mesh || other)
      return emitError(module.getLoc())
             << "the frontend attribute 'xla.sdy.meshes' has an entry "
             << entry.getName()
             << (mesh ? ", which is the name of something else"
                      : " that is no mesh")
             << Tag(ErrorId::kPartitioned);
    sdy::MeshOp::create(b, module.getLoc(), entry.getName(), StringAttr(),
                        mesh);
  }
  module->removeAttr(kRoundTripStrings);
  return success();
}

LogicalResult StringReader::readArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    StringAttr text =
        getFrontendString(function.getArgAttrDict(index), "xla.sdy.sharding");
    if (!text)
      continue;
    auto sharding = parseFrontend<sdy::TensorShardingAttr>(
        argument.getLoc(), "xla.sdy.sharding", text);
    if (failed(sharding))
      return failure();
    function.setArgAttr(index, sdy::kShardingAttrName, *sharding);
    function.removeArgAttr(index, kRoundTripStrings);
  }
  return success();
}

LogicalResult StringReader::readConstraint(stablehlo::CustomCallOp call) {
  auto shardings = parseFrontend<sdy::TensorShardingPerValueAttr>(
      call.getLoc(), "xla.sdy.sharding",
      getFrontendString(call, "xla.sdy.sharding"));
  if (failed(shardings))
    return failure();
  if (shardings->getShardings().size() != 1 || call.getNumOperands() != 1 ||
      call.getNumResults() != 1 ||
      call.getOperand(0).getType() != call.getResult(0).getType())
    return call.emitOpError("expected one operand and one result of its type, "
                            "with one sharding")
           << Tag(ErrorId::kPartitioned);
  OpBuilder b(call);
  auto constraint = sdy::ShardingConstraintOp::create(
      b, call.getLoc(), call.getOperand(0).getType(), call.getOperand(0),
      shardings->getShardings().front());
  setStageMark(constraint, getStageMark(call));
  call.getResult(0).replaceAllUsesWith(constraint);
  call.erase();
  return success();
}

/// Gives the results of the function that are those of `call` its sharding.
LogicalResult StringReader::readResultSharding(stablehlo::CustomCallOp call) {
  StringAttr text = getFrontendString(call, "xla.sdy.sharding");
  if (!text || call.getNumOperands() != 1 || call.getNumResults() != 1)
    return call.emitOpError("expected one operand and one result, with a "
                            "sharding")
           << Tag(ErrorId::kPartitioned);
  auto shardings = parseFrontend<sdy::TensorShardingPerValueAttr>(
      call.getLoc(), "xla.sdy.sharding", text);
  if (failed(shardings))
    return failure();
  auto function = call->getParentOfType<func::FuncOp>();
  for (OpOperand &use : call.getResult(0).getUses())
    if (isa<func::ReturnOp>(use.getOwner()) &&
        shardings->getShardings().size() == 1)
      function.setResultAttr(use.getOperandNumber(), sdy::kShardingAttrName,
                             shardings->getShardings().front());
  call.getResult(0).replaceAllUsesWith(call.getOperand(0));
  call.erase();
  return success();
}

LogicalResult StringReader::readCalls(func::FuncOp function) {
  SmallVector<stablehlo::CustomCallOp> calls;
  function.walk([&](stablehlo::CustomCallOp call) { calls.push_back(call); });
  for (stablehlo::CustomCallOp call : calls) {
    StringRef name = getShardyName(call);
    if (call.getCallTargetName() == "Sharding" &&
        getFrontendString(call, "xla.sdy.sharding")) {
      if (failed(readConstraint(call)))
        return failure();
    } else if (name == "FuncResultSharding") {
      if (failed(readResultSharding(call)))
        return failure();
    } else if (name == "ShardingGroup" && call.getNumResults() == 0) {
      call.erase();
    } else if (name == "PropagationBarrier" &&
               call->getOperandTypes() == call->getResultTypes()) {
      call->replaceAllUsesWith(call->getOperands());
      call.erase();
    }
  }
  return success();
}

/// Returns what `op` does. The shardings are on `op`, or on the call between
/// the operations that make shards and those that take them.
FailureOr<Crossing> StringReader::getCrossing(Operation *op, bool isEntry) {
  StringRef name = isEntry ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings";
  Operation *holder = op;
  if (!getFrontendString(op, name)) {
    if (isEntry && !op->use_empty())
      holder = *op->getUsers().begin();
    else if (!isEntry && op->getNumOperands() > 0)
      holder = op->getOperand(0).getDefiningOp();
  }
  StringAttr text = holder ? getFrontendString(holder, name) : StringAttr();
  StringAttr axes =
      holder ? getFrontendString(holder, "xla.sdy.manual_axes") : StringAttr();
  if (!text || !axes)
    return op->emitOpError("expected the frontend attributes '")
           << name << "' and 'xla.sdy.manual_axes'"
           << Tag(ErrorId::kPartitioned);
  auto shardings =
      parseFrontend<sdy::TensorShardingPerValueAttr>(op->getLoc(), name, text);
  auto manualAxes = parseFrontend<sdy::ManualAxesAttr>(
      op->getLoc(), "xla.sdy.manual_axes", axes);
  if (failed(shardings) || failed(manualAxes))
    return failure();
  size_t number = isEntry ? op->getNumOperands() : op->getNumResults();
  if (op->getNumOperands() != op->getNumResults() ||
      shardings->getShardings().size() != number)
    return op->emitOpError("expected as many operands as results, and a "
                           "sharding for each, got ")
           << op->getNumOperands() << ", " << op->getNumResults() << " and "
           << shardings->getShardings().size() << Tag(ErrorId::kPartitioned);
  return Crossing{
      isEntry, SmallVector<sdy::TensorShardingAttr>(shardings->getShardings()),
      *manualAxes};
}

LogicalResult StringReader::readManualComputations(Block &block) {
  Crossings crossings;
  for (Operation &op : block) {
    StringRef name = getShardyName(&op);
    bool isEntry = name == "GlobalToLocalShape";
    if (!isEntry && name != "LocalToGlobalShape")
      continue;
    FailureOr<Crossing> crossing = getCrossing(&op, isEntry);
    if (failed(crossing))
      return failure();
    crossings[&op] = *crossing;
  }
  if (crossings.empty())
    return success();
  return formManualComputations(block, crossings, [](Operation *op) {
    // A computation without operands has only a call.
    return getFrontendString(op, "xla.sdy.manual_axes") &&
           isa<func::CallOp>(op);
  });
}

LogicalResult StringReader::run() {
  if (failed(readMeshes()))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(readArguments(function)) || failed(readCalls(function)))
      return failure();
    // Operations move into regions that are formed, so blocks come first.
    llvm::SetVector<Block *> blocks;
    function.walk([&](Operation *op) {
      if (!getShardyName(op).empty())
        blocks.insert(op->getBlock());
    });
    for (Block *block : blocks)
      if (failed(readManualComputations(*block)))
        return failure();
  }
  return success();
}

LogicalResult mlir::pathways::readShardyStrings(ModuleOp module) {
  return StringReader(module).run();
}
