//===- BodyPartitionerManual.cpp - Partitioning of manual computations ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region of a `pw.manual` is written for one shard along the manual axes.
// It is inlined, and cut over the other axes: to it, the mesh has only these.
// So no change of layout inside moves anything along a manual axis, where each
// shard has values of its own.
//
// Shards communicate in such a region because the text says so. So a loop or
// branch around it cannot be computed whole by all devices, as others can.
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "pathways/Dialect/Pathways/UniformControl.h"
#include "runtime/base/error_codes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pathways;

void BodyPartitioner::refuse(Operation *op, Operation *inner,
                             const Twine &why) {
  if (std::exchange(hasFailed, true))
    return;
  InFlightDiagnostic error =
      op->emitOpError("contains operations by which shards communicate, ")
      << why << ::pathways::Tag(::pathways::ErrorId::kCommunicatesInLoop);
  error.attachNote(inner->getLoc()) << "it contains this";
}

void BodyPartitioner::refuse(Operation *op, Operation *collective) {
  auto function = collective->getParentOfType<func::FuncOp>();
  if (std::optional<Uncertain> around = findUncertain(collective, function))
    return refuse(around->op, collective,
                  "and is a loop or branch " + (around->reason.empty()
                                                    ? "that depends on data"
                                                    : around->reason));
  refuse(op, collective,
         "and runs more than " + Twine(kMaxManualTrips) +
             " times, with the loops around it");
}

/// Returns `mesh` without the axes that `op` makes manual.
static MeshAttr withoutManual(MeshAttr mesh, ManualOp op) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes())) {
    if (op.isManual(name))
      continue;
    names.push_back(name);
    sizes.push_back(size);
  }
  return MeshAttr::get(mesh.getContext(), names, sizes);
}

LocalReshard BodyPartitioner::takeLayouts(MeshAttr ofMesh) {
  auto known = otherLayouts.find(ofMesh);
  if (known == otherLayouts.end())
    return LocalReshard(ofMesh, explanations);
  LocalReshard taken = std::move(known->second);
  otherLayouts.erase(known);
  return taken;
}

void BodyPartitioner::partitionManual(ManualOp op) {
  Block &block = op.getBody().front();
  SmallVector<Value> inputs;
  SmallVector<ShardingAttr> inside, outside;
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    ShardingAttr given = op.getInSharding(index);
    auto getOutside = [&](ShardingAttr sharding) {
      return layouts.normalize(getOutsideSharding(op, given, sharding));
    };
    // Operations in the region may have asked for blocks that are not equal.
    inside.push_back(
        getInsideSharding(op, layouts.getMesh(), typeOf(argument),
                          getOutside(shardings->get(argument).getClosed())));
    inputs.push_back(get(op.getInputs()[index], getOutside(inside.back())));
  }
  MeshAttr others = withoutManual(layouts.getMesh(), op);
  // Routes that were found in an earlier region over the same axes are reused.
  LocalReshard around = takeLayouts(others);
  std::swap(around, layouts);
  for (auto [argument, input, sharding] :
       llvm::zip_equal(block.getArguments(), inputs, inside))
    define(argument, input, sharding);
  for (Operation &inner : block.without_terminator())
    partition(&inner);
  builder.setLoc(op.getYield().getLoc());
  SmallVector<Value> results;
  for (auto [index, value] : llvm::enumerate(op.getYield().getValues())) {
    ShardingAttr given = op.getOutSharding(index);
    ShardingAttr sharding = layouts.normalize(
        getInsideSharding(op, others, typeOf(value),
                          shardings->get(op.getOutputs()[index]).getClosed()));
    outside.push_back(getOutsideSharding(op, given, sharding));
    Value local = get(value, sharding);
    results.push_back(given.isPartial() ? widen(local) : local);
  }
  std::swap(around, layouts);
  otherLayouts.try_emplace(others, std::move(around));
  for (auto [result, local, sharding] :
       llvm::zip_equal(op.getOutputs(), results, outside))
    define(result, local, layouts.normalize(sharding));
}

/// Replaces a collective in groups of one shard. Returns false if `op` is no
/// such collective.
bool BodyPartitioner::skipCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  // A permute without a sender makes zeros.
  if (isa<PermuteOp>(op) || *mesh.getGroupSize(collective.getAxes()) != 1)
    return false;
  Value source = collective.getSource();
  Local local = locals.lookup(source);
  if (local.isFree()) {
    local.sharding = layouts.getWhole(typeOf(source).getRank());
    local.value = get(source, local.sharding);
  }
  define(collective.getResult(), local.value, local.sharding);
  return true;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Cuts the regions of `op` one after the other, at the insertion point.
/// Returns what each of them returns, laid out as `carried`.
SmallVector<SmallVector<Value>>
BodyPartitioner::partitionInPlace(Operation *op,
                                  ArrayRef<ShardingAttr> carried) {
  SmallVector<SmallVector<Value>> values;
  for (Region &region : op->getRegions()) {
    SmallVector<Value> &ofRegion = values.emplace_back();
    if (region.empty())
      continue;
    Block &block = region.front();
    for (Operation &inner : block.without_terminator())
      partition(&inner);
    builder.setLoc(block.getTerminator()->getLoc());
    for (auto [value, sharding] :
         llvm::zip_equal(block.getTerminator()->getOperands(), carried))
      ofRegion.push_back(getAs(value, sharding));
  }
  return values;
}

/// Computes all regions of `op`, a branch in which shards communicate, and
/// chooses between the results: the shards run the same communication whatever
/// the condition is. Always returns true.
bool BodyPartitioner::partitionAllBranches(Operation *op) {
  SmallVector<ShardingAttr> carried;
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    ShardingAttr sharding = shardings->get(result);
    if (isa<scf::IndexSwitchOp>(op) && sharding)
      sharding = layouts.getWhole(type.getRank());
    carried.push_back(sharding ? sharding.getClosed() : sharding);
  }
  op->walk([&](cf::AssertOp assertion) {
    refuse(op, assertion,
           "so all of its branches are computed; expected no assertion");
  });
  op->emitRemark() << "all branches of '" << op->getName()
                   << "' are computed: shards communicate inside it";
  Value selector = getWhole(op->getOperand(0));
  SmallVector<SmallVector<Value>> values = partitionInPlace(op, carried);
  builder.setLoc(op->getLoc());
  // The last branch that is tried is the one that needs no condition: `else`,
  // or the default of a switch, which is its first region.
  auto choice = dyn_cast<scf::IndexSwitchOp>(op);
  SmallVector<Value> chosen = choice ? values.front() : values.back();
  for (unsigned region = choice ? 1 : 0,
                end = choice ? values.size() : values.size() - 1;
       region < end; ++region) {
    Value isTaken = selector;
    if (choice)
      isTaken =
          arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, selector,
                                arith::ConstantIndexOp::create(
                                    builder, choice.getCases()[region - 1]));
    for (auto [value, other] : llvm::zip_equal(chosen, values[region]))
      value = arith::SelectOp::create(builder, isTaken, other, value);
  }
  for (auto [result, value, sharding] :
       llvm::zip_equal(op->getResults(), chosen, carried))
    defineAs(result, value, sharding);
  return true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Cuts the operations in a loop that runs an unknown number of times. What it
/// carries stays whole. Fails if shards communicate in it.
void BodyPartitioner::partitionWhile(scf::WhileOp loop) {
  auto defineWhole = [&](ValueRange values, ValueRange made) {
    for (auto [value, local] : llvm::zip_equal(values, made)) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      defineAs(value, local,
               type && type.hasStaticShape() ? layouts.getWhole(type.getRank())
                                             : ShardingAttr());
    }
  };
  auto getAllWhole = [&](ValueRange values) {
    SmallVector<Value> whole;
    for (Value value : values)
      whole.push_back(getWhole(value));
    return whole;
  };
  auto copy = scf::WhileOp::create(builder, loop.getResultTypes(),
                                   getAllWhole(loop.getInits()));
  {
    OpBuilder::InsertionGuard guard(builder);
    for (auto [from, to] :
         llvm::zip_equal(loop->getRegions(), copy->getRegions())) {
      Block &block = from.front();
      Block *target = builder.createBlock(
          &to, {}, block.getArgumentTypes(),
          SmallVector<Location>(block.getNumArguments(), loop.getLoc()));
      defineWhole(block.getArguments(), target->getArguments());
      partitionInto(block, *target, loop, copy);
      SmallVector<Value> values =
          getAllWhole(block.getTerminator()->getOperands());
      if (isa<scf::ConditionOp>(block.getTerminator()))
        scf::ConditionOp::create(builder, values.front(),
                                 ArrayRef(values).drop_front());
      else
        scf::YieldOp::create(builder, values);
      nest.pop_back();
    }
  }
  copy->walk([&](CollectiveOpInterface collective) {
    refuse(loop, collective);
    return WalkResult::interrupt();
  });
  defineWhole(loop.getResults(), copy.getResults());
}
