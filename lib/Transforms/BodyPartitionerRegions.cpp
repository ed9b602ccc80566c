//===- BodyPartitionerRegions.cpp - Partitioning of loops and branches ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "pathways/Dialect/Pathways/UniformControl.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pathways;

FailureOr<SmallVector<ShardingAttr>>
BodyPartitioner::getCarried(Operation *op) {
  SmallVector<ShardingAttr> carried;
  for (Value result : op->getResults()) {
    ShardingAttr sharding = shardings->get(result);
    if (isa<ShapedType>(result.getType()) &&
        (!sharding || !isCommunicable(typeOf(result).getElementType()) ||
         typeOf(result).getEncoding())) {
      if (!containsManual(op))
        return failure();
      // The operation cannot be computed whole, but this value can.
      carried.push_back(sharding ? layouts.getWhole(typeOf(result).getRank())
                                 : sharding);
      continue;
    }
    carried.push_back(sharding ? sharding.getClosed() : sharding);
  }
  return carried;
}

/// Cuts the operations in `from`, a block of `op`, into `to`, a block of
/// `copy`. Leaves the terminator to the caller, at the insertion point.
void BodyPartitioner::partitionInto(Block &from, Block &to, Operation *op,
                                    Operation *copy) {
  builder.setInsertionPointToStart(&to);
  nest.emplace_back(op, copy);
  for (Operation &inner : from.without_terminator())
    partition(&inner);
  builder.setLoc(from.getTerminator()->getLoc());
}

/// Does partitionInto, and returns values laid out as `carried`.
void BodyPartitioner::partitionRegion(Block &from, Block &to, Operation *op,
                                      Operation *copy,
                                      ArrayRef<ShardingAttr> carried) {
  OpBuilder::InsertionGuard guard(builder);
  partitionInto(from, to, op, copy);
  SmallVector<Value> values;
  for (auto [value, sharding] :
       llvm::zip_equal(from.getTerminator()->getOperands(), carried))
    values.push_back(getAs(value, sharding));
  scf::YieldOp::create(builder, values);
  nest.pop_back();
}

bool mlir::pathways::mayStandWhereItIs(Operation *collective,
                                       uint64_t mostTrips) {
  auto function = collective->getParentOfType<func::FuncOp>();
  if (findUncertain(collective, function))
    return false;
  uint64_t times = 1;
  for (auto loop = collective->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<llvm::APInt> trips = loop.getStaticTripCount();
    if (!trips || trips->ugt(mostTrips))
      return false;
    times *= std::max<uint64_t>(trips->getZExtValue(), 1);
    if (times > mostTrips)
      return false;
  }
  return true;
}

/// Keeps `copy` as the replacement of `op` if shards do not wait for each other
/// inside it, or do so a known number of times. Otherwise erases it, with a
/// remark, and returns false; or fails, if `op` cannot be computed whole.
bool BodyPartitioner::keepOrUndo(Operation *op, Operation *copy) {
  bool isManual = containsManual(op);
  Operation *collective = nullptr;
  copy->walk([&](CollectiveOpInterface found) {
    if (mayStandWhereItIs(found, isManual ? kMaxManualTrips : kMaxWrittenOut))
      return WalkResult::advance();
    collective = found;
    return WalkResult::interrupt();
  });
  if (!collective)
    return true;
  if (isManual) {
    refuse(op, collective);
    return true;
  }
  InFlightDiagnostic remark =
      op->emitRemark()
      << "'" << op->getName()
      << "' is not cut: shards would have to communicate inside it";
  remark.attachNote(collective->getLoc())
      << "this operation needs the communication";
  copy->erase();
  return false;
}

bool BodyPartitioner::partitionLoop(scf::ForOp loop) {
  FailureOr<SmallVector<ShardingAttr>> carried = getCarried(loop);
  if (failed(carried))
    return false;
  SmallVector<Value> inits;
  for (auto [init, sharding] : llvm::zip_equal(loop.getInits(), *carried))
    inits.push_back(getAs(init, sharding));
  auto copy = scf::ForOp::create(builder, getWhole(loop.getLowerBound()),
                                 getWhole(loop.getUpperBound()),
                                 getWhole(loop.getStep()), inits);
  copy.setUnsignedCmp(loop.getUnsignedCmp());
  Block *body = copy.getBody();
  if (inits.empty()) // otherwise it has no terminator yet
    body->getTerminator()->erase();
  scalars[loop.getInductionVar()] = copy.getInductionVar();
  for (auto [argument, local, sharding] : llvm::zip_equal(
           loop.getRegionIterArgs(), copy.getRegionIterArgs(), *carried))
    defineAs(argument, local, sharding);
  partitionRegion(*loop.getBody(), *body, loop, copy, *carried);
  if (!keepOrUndo(loop, copy))
    return false;
  for (auto [result, local, sharding] :
       llvm::zip_equal(loop.getResults(), copy.getResults(), *carried))
    defineAs(result, local, sharding);
  return true;
}

bool BodyPartitioner::partitionBranch(scf::IfOp branch) {
  if (containsManual(branch) &&
      findUncertain(branch.thenBlock()->getTerminator(), branch->getParentOp()))
    return partitionAllBranches(branch);
  FailureOr<SmallVector<ShardingAttr>> carried = getCarried(branch);
  if (failed(carried))
    return false;
  SmallVector<Type> types;
  for (auto [result, sharding] : llvm::zip_equal(branch.getResults(), *carried))
    types.push_back(sharding ? layouts.getShardType(typeOf(result), sharding)
                             : result.getType());
  auto copy = scf::IfOp::create(builder, types, getWhole(branch.getCondition()),
                                /*addThenBlock=*/true,
                                /*addElseBlock=*/branch.elseBlock() != nullptr);
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    if (!to.front()
             .empty()) // a branch without results already has a terminator
      to.front().back().erase();
    partitionRegion(from.front(), to.front(), branch, copy, *carried);
  }
  if (!keepOrUndo(branch, copy))
    return false;
  for (auto [result, local, sharding] :
       llvm::zip_equal(branch.getResults(), copy.getResults(), *carried))
    defineAs(result, local, sharding);
  return true;
}
