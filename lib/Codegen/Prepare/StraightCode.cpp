//===- StraightCode.cpp - Collectives in straight code --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prepare/StraightCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Pathways/UniformControl.h"

using namespace mlir;
using namespace mlir::pathways;

/// Largest number of operations of a body after inlining: nested calls can
/// multiply without bound.
static constexpr int64_t kMaxInlinedOps = 1 << 18;
/// Largest number of iterations of a loop with collectives: each iteration
/// becomes code.
static constexpr unsigned kMaxUnrolled = 1024;

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

namespace {

class Inliner {
public:
  explicit Inliner(func::FuncOp origin) : origin(origin) {}

  LogicalResult run(func::FuncOp clone) {
    stack.push_back(origin);
    return visit(clone.getBody());
  }

private:
  LogicalResult visit(Region &region);
  LogicalResult inlineCall(func::CallOp call);

  func::FuncOp origin;
  SmallVector<func::FuncOp> stack; ///< functions being inlined, outermost first
  int64_t numOps = 0;
};

} // namespace

LogicalResult Inliner::visit(Region &region) {
  for (Block &block : region) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (++numOps > kMaxInlinedOps)
        return op.emitOpError("expected a body of at most ")
               << kMaxInlinedOps << " operations after inlining";
      for (Region &inner : op.getRegions())
        if (failed(visit(inner)))
          return failure();
      if (auto call = dyn_cast<func::CallOp>(op))
        if (failed(inlineCall(call)))
          return failure();
    }
  }
  return success();
}

LogicalResult Inliner::inlineCall(func::CallOp call) {
  // The clone is outside of any module, so the lookup starts at the original.
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      origin, call.getCalleeAttr());
  if (!callee)
    return call.emitOpError("calls '")
           << call.getCallee() << "', which is not a func.func";
  if (callee.isDeclaration()) {
    InFlightDiagnostic diag = call.emitOpError("calls '")
                              << call.getCallee() << "', which has no body";
    diag.attachNote(callee.getLoc()) << "declared here";
    return diag;
  }
  if (llvm::is_contained(stack, callee)) {
    InFlightDiagnostic diag =
        call.emitOpError("calls '")
        << call.getCallee()
        << "', which is recursive; kernels cannot contain recursion";
    diag.attachNote(callee.getLoc()) << "function is here";
    return diag;
  }
  if (!llvm::hasSingleElement(callee.getBody()))
    return call.emitOpError("calls '")
           << call.getCallee() << "', whose body must have one block, got "
           << callee.getBody().getBlocks().size();
  if (callee.getFunctionType() != call.getCalleeType())
    return call.emitOpError("calls '")
           << call.getCallee() << "' as " << call.getCalleeType()
           << ", but it is " << callee.getFunctionType();
  OwningOpRef<func::FuncOp> clone = callee.clone();
  stack.push_back(callee);
  if (failed(visit(clone->getBody())))
    return failure();
  stack.pop_back();

  Block &body = clone->getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), call.getOperands()))
    argument.replaceAllUsesWith(operand);
  Operation *terminator = body.getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), terminator->getOperands()))
    result.replaceAllUsesWith(value);
  terminator->erase();
  call->getBlock()->getOperations().splice(Block::iterator(call),
                                           body.getOperations());
  call.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow around collectives
//===----------------------------------------------------------------------===//

namespace {

/// Unrolls loops and resolves branches that contain collectives: all shards run
/// them alike, so the result is the same straight code for all.
class Unroller {
public:
  LogicalResult run(Block &block);

private:
  LogicalResult unroll(scf::ForOp loop);
  LogicalResult choose(scf::IfOp branch);

  int64_t numOps = 0;
};

} // namespace

static bool hasCollective(Operation *op) {
  return op->walk([](CollectiveOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Returns the iterations of `loop`. Fails, with a diagnostic, if their number
/// is not constant.
static FailureOr<int64_t> getTripCount(scf::ForOp loop, llvm::APInt &begin,
                                       llvm::APInt &step) {
  std::optional<llvm::APInt> lower = evaluate(loop.getLowerBound()),
                             upper = evaluate(loop.getUpperBound()),
                             by = evaluate(loop.getStep());
  if (!lower || !upper || !by)
    return loop.emitOpError("has collectives inside and bounds that are not "
                            "constant");
  // One more bit is needed: bounds may be far apart, and an unsigned bound may
  // be large.
  unsigned width = lower->getBitWidth() + 1;
  auto widen = [&](const llvm::APInt &value) {
    return loop.getUnsignedCmp() ? value.zext(width) : value.sext(width);
  };
  llvm::APInt distance = widen(*upper) - widen(*lower);
  if (!by->isStrictlyPositive())
    return loop.emitOpError("has a step of ")
           << by->getSExtValue() << ", expected at least 1";
  begin = *lower;
  step = *by;
  if (!distance.isStrictlyPositive())
    return 0;
  llvm::APInt trips = (distance - 1).udiv(by->zext(width)) + 1;
  if (trips.ugt(kMaxUnrolled))
    return loop.emitOpError("has collectives inside and runs ")
           << toString(trips, 10, /*Signed=*/false)
           << " times, expected at most " << kMaxUnrolled;
  return static_cast<int64_t>(trips.getZExtValue());
}

LogicalResult Unroller::unroll(scf::ForOp loop) {
  llvm::APInt number, step;
  FailureOr<int64_t> trips = getTripCount(loop, number, step);
  if (failed(trips))
    return failure();
  OpBuilder b(loop);
  SmallVector<Value> carried(loop.getInits());
  for (int64_t trip = 0; trip < *trips; ++trip, number += step) {
    IRMapping map;
    Type type = loop.getInductionVar().getType();
    map.map(loop.getInductionVar(),
            arith::ConstantOp::create(b, loop.getLoc(), type,
                                      b.getIntegerAttr(type, number)));
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator()) {
      op.walk([&](Operation *) { ++numOps; });
      if (numOps > kMaxInlinedOps)
        return loop.emitOpError("with collectives inside runs ")
               << *trips << " times, which makes a body of more than "
               << kMaxInlinedOps << " operations";
      b.clone(op, map);
    }
    carried.clear();
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      carried.push_back(map.lookupOrDefault(value));
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
  return success();
}

LogicalResult Unroller::choose(scf::IfOp branch) {
  std::optional<llvm::APInt> condition = evaluate(branch.getCondition());
  if (!condition)
    return branch.emitOpError("has collectives inside and a condition that is "
                              "not constant");
  Region &region =
      condition->isZero() ? branch.getElseRegion() : branch.getThenRegion();
  if (!region.empty()) {
    Block &block = region.front();
    Operation *end = block.getTerminator();
    branch.replaceAllUsesWith(end->getOperands());
    end->erase();
    branch->getBlock()->getOperations().splice(Block::iterator(branch),
                                               block.getOperations());
  }
  branch.erase();
  return success();
}

LogicalResult Unroller::run(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it;
    if (!isa<scf::ForOp, scf::IfOp>(op) || !hasCollective(op)) {
      ++it;
      continue;
    }
    // The replacement may contain loops and branches again.
    Operation *before = op->getPrevNode();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (failed(loop ? unroll(loop) : choose(cast<scf::IfOp>(op))))
      return failure();
    it = before ? std::next(before->getIterator()) : block.begin();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Valid extents
//===----------------------------------------------------------------------===//

static LogicalResult expandValidExtents(func::FuncOp body, MeshAttr mesh,
                                        ArrayRef<ArrayType> operandTypes) {
  SmallVector<ValidExtentOp> ops;
  body.walk([&](ValidExtentOp op) { ops.push_back(op); });
  for (ValidExtentOp op : ops) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    if (!argument || argument.getOwner() != &body.getBody().front() ||
        argument.getArgNumber() >= operandTypes.size())
      return op.emitOpError("expected an argument of the function as operand");
    ArrayType type = operandTypes[argument.getArgNumber()];
    int64_t dim = op.getDim();
    if (dim < 0 || dim >= type.getRank())
      return op.emitOpError("has dimension ")
             << dim << ", but the operand has rank " << type.getRank();
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    // Rank of this shard among the blocks of the dimension, major axis first.
    Value rank = constant(0);
    int64_t numBlocks = 1;
    for (Attribute name : type.getSharding().getDims()[dim]) {
      auto axis = cast<StringAttr>(name);
      int64_t position = mesh ? mesh.getAxisIndex(axis) : -1;
      if (position < 0)
        return op.emitOpError("depends on axis '")
               << axis.getValue() << "', which the mesh lacks";
      int64_t size = mesh.getSizes()[position];
      numBlocks *= size;
      rank = arith::MulIOp::create(b, loc, rank, constant(size));
      rank = arith::AddIOp::create(
          b, loc, rank, ShardIndexOp::create(b, loc, b.getIndexType(), axis));
    }
    int64_t size = type.getShape()[dim];
    int64_t block = size / numBlocks + (size % numBlocks != 0);
    Value begin = arith::MulIOp::create(b, loc, rank, constant(block));
    Value left = arith::SubIOp::create(b, loc, constant(size), begin);
    left = arith::MinSIOp::create(b, loc, left, constant(block));
    left = arith::MaxSIOp::create(b, loc, left, constant(0));
    op.replaceAllUsesWith(left);
    op.erase();
  }
  return success();
}

LogicalResult kernel::makeStraight(func::FuncOp clone, func::FuncOp body,
                                   MeshAttr mesh,
                                   ArrayRef<ArrayType> operandTypes) {
  return failure(failed(Inliner(body).run(clone)) ||
                 failed(Unroller().run(clone.getBody().front())) ||
                 failed(expandValidExtents(clone, mesh, operandTypes)));
}
