//===- ManualRegions.cpp - Manual computations from calls -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManualRegions.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

namespace {

/// Operations that belong to one manual computation, in the order of the block.
struct Part {
  SmallVector<Operation *> entries, exits, inner;
};

class RegionFormer {
public:
  RegionFormer(Block &block, const Crossings &crossings,
               llvm::function_ref<bool(Operation *)> isLocal)
      : block(block), crossings(crossings), isLocal(isLocal) {}

  LogicalResult run();

private:
  const Crossing *getCrossing(Operation *op) const {
    auto found = crossings.find(op);
    return found == crossings.end() ? nullptr : &found->second;
  }
  /// Calls `use` for each value that `op` or an operation inside reads and that
  /// is defined outside of `op`.
  static void forEachOuterValue(Operation *op,
                                llvm::function_ref<void(Value)> use);
  LogicalResult findParts();
  LogicalResult visit(Operation *op);
  LogicalResult form(Part &part);
  LogicalResult checkAxes(const Part &part);
  LogicalResult copyConstants(Block *body);
  /// Copies the operation that defines `value`, and what it depends on, to the
  /// beginning of a region. Returns null if it depends on an argument or has
  /// effects.
  Value copyConstant(Value value, OpBuilder &b, IRMapping &copies);
  LogicalResult restoreOrder();

  Block &block;
  const Crossings &crossings;
  llvm::function_ref<bool(Operation *)> isLocal;
  /// Operations that work on shards; those of one manual computation are
  /// joined.
  llvm::EquivalenceClasses<Operation *> locals;
  llvm::MapVector<Operation *, Part> parts;
};

} // namespace

void RegionFormer::forEachOuterValue(Operation *op,
                                     llvm::function_ref<void(Value)> use) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *owner = operand.getParentBlock()->getParentOp();
      if (inner == op || !op->isAncestor(owner))
        use(operand);
    }
  });
}

LogicalResult RegionFormer::visit(Operation *op) {
  const Crossing *crossing = getCrossing(op);
  SmallVector<Operation *> sources;
  forEachOuterValue(op, [&](Value value) {
    Operation *def = value.getDefiningOp();
    const Crossing *other = def ? getCrossing(def) : nullptr;
    if (def && locals.contains(def) && (!other || other->isEntry))
      sources.push_back(def);
  });
  if (crossing && crossing->isEntry && !sources.empty())
    return op->emitOpError("makes shards of a value that is a shard already")
           << Tag(ErrorId::kPartitioned);
  if (crossing && !crossing->isEntry && sources.empty())
    return op->emitOpError("makes a whole array of a value that is no shard")
           << Tag(ErrorId::kPartitioned);
  if (!crossing && sources.empty() && !isLocal(op))
    return success();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return op->emitOpError("returns a shard; expected a whole array")
           << Tag(ErrorId::kPartitioned);
  locals.insert(op);
  for (Operation *source : sources)
    locals.unionSets(source, op);
  return success();
}

LogicalResult RegionFormer::findParts() {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  for (Operation &op : block) {
    if (!locals.contains(&op))
      continue;
    Part &part = parts[locals.getLeaderValue(&op)];
    const Crossing *crossing = getCrossing(&op);
    (!crossing           ? part.inner
     : crossing->isEntry ? part.entries
                         : part.exits)
        .push_back(&op);
  }
  return success();
}

LogicalResult RegionFormer::checkAxes(const Part &part) {
  Operation *first = nullptr;
  for (const auto *ops : {&part.entries, &part.exits})
    for (Operation *op : *ops) {
      if (!first)
        first = op;
      if (getCrossing(op)->manualAxes == getCrossing(first)->manualAxes)
        continue;
      InFlightDiagnostic error =
          op->emitOpError("is manual over other axes than a call that makes "
                          "or takes shards of the same computation")
          << Tag(ErrorId::kPartitioned);
      error.attachNote(first->getLoc()) << "the other call is here";
      return error;
    }
  return success();
}

Value RegionFormer::copyConstant(Value value, OpBuilder &b, IRMapping &copies) {
  if (Value copy = copies.lookupOrNull(value))
    return copy;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() != 0 || !isPure(def) || locals.contains(def))
    return {};
  for (Value operand : def->getOperands())
    if (!copyConstant(operand, b, copies))
      return {};
  b.clone(*def, copies);
  return copies.lookup(value);
}

LogicalResult RegionFormer::copyConstants(Block *body) {
  OpBuilder b = OpBuilder::atBlockBegin(body);
  IRMapping copies;
  SmallVector<OpOperand *> uses;
  for (Operation &op : *body)
    op.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (!body->getParent()->isAncestor(operand.get().getParentRegion()))
          uses.push_back(&operand);
    });
  for (OpOperand *use : uses) {
    Value copy = copyConstant(use->get(), b, copies);
    if (!copy) {
      InFlightDiagnostic error =
          use->getOwner()->emitOpError("works on shards, but operand ")
          << use->getOperandNumber() << " is a whole array"
          << Tag(ErrorId::kPartitioned);
      error.attachNote(use->get().getLoc()) << "the operand is here";
      return error;
    }
    use->set(copy);
  }
  return success();
}

LogicalResult RegionFormer::form(Part &part) {
  if (failed(checkAxes(part)))
    return failure();
  if (part.entries.empty() && part.exits.empty())
    return part.inner.front()->emitOpError(
               "needs the number of a partition outside of a manual "
               "computation")
           << Tag(ErrorId::kPartitioned);
  SmallVector<Value> operands, returned;
  SmallVector<Type> shardTypes, types;
  SmallVector<sdy::TensorShardingAttr> in, out;
  sdy::ManualAxesAttr axes;
  for (Operation *op : part.entries) {
    const Crossing *crossing = getCrossing(op);
    llvm::append_range(operands, op->getOperands());
    llvm::append_range(shardTypes, op->getResultTypes());
    llvm::append_range(in, crossing->shardings);
    axes = crossing->manualAxes;
  }
  for (Operation *op : part.exits) {
    const Crossing *crossing = getCrossing(op);
    llvm::append_range(returned, op->getOperands());
    llvm::append_range(types, op->getResultTypes());
    llvm::append_range(out, crossing->shardings);
    axes = crossing->manualAxes;
  }
  MLIRContext *context = axes.getContext();
  Operation *place = !part.entries.empty() ? part.entries.back()
                     : !part.inner.empty() ? part.inner.front()
                                           : part.exits.front();
  OpBuilder b(place);
  auto manual = sdy::ManualComputationOp::create(
      b, place->getLoc(), types, operands,
      sdy::TensorShardingPerValueAttr::get(context, in),
      sdy::TensorShardingPerValueAttr::get(context, out), axes);
  Block *body = b.createBlock(
      &manual.getBody(), {}, shardTypes,
      llvm::map_to_vector(operands, [](Value v) { return v.getLoc(); }));
  auto end = sdy::ReturnOp::create(b, place->getLoc(), returned);
  for (Operation *op : part.inner)
    op->moveBefore(end);
  unsigned argument = 0;
  for (Operation *op : part.entries)
    for (Value result : op->getResults())
      result.replaceAllUsesWith(body->getArgument(argument++));
  unsigned number = 0;
  for (Operation *op : part.exits) {
    for (Value result : op->getResults())
      result.replaceAllUsesWith(manual.getResult(number++));
    op->erase();
  }
  for (Operation *op : part.entries)
    op->erase();
  if (failed(copyConstants(body)))
    return failure();
  SymbolTableCollection tables;
  return success(succeeded(manual.verify()) &&
                 succeeded(manual.verifySymbolUses(tables)));
}

/// Sorts the block if a manual computation stands behind a reader of its
/// results.
LogicalResult RegionFormer::restoreOrder() {
  bool isSorted = true;
  for (Operation &op : block)
    forEachOuterValue(&op, [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block && !def->isBeforeInBlock(&op))
        isSorted = false;
    });
  if (isSorted || sortTopologically(&block))
    return success();
  return block.getParentOp()->emitError(
             "has operations on whole arrays between operations on shards of "
             "one manual computation that depend on each other")
         << Tag(ErrorId::kPartitioned);
}

LogicalResult RegionFormer::run() {
  if (failed(findParts()))
    return failure();
  for (auto &[leader, part] : parts)
    if (failed(form(part)))
      return failure();
  return restoreOrder();
}

LogicalResult mlir::pathways::formManualComputations(
    Block &block, const Crossings &crossings,
    llvm::function_ref<bool(Operation *)> isLocal) {
  return RegionFormer(block, crossings, isLocal).run();
}
