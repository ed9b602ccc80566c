//===- WriteOutLoops.cpp - Loops that communicate -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageMarks.h"
#include "WriteOut.h"
#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Dialect/Shardy/Shardy.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_WRITEOUTLOOPS
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

/// Largest number of iterations of a loop with constraints that stays a loop
/// until it is cut.
static constexpr int64_t kMaxConstrained = 64;

namespace {

/// Properties of operations, with those in their regions and those that they
/// call.
struct Summary {
  int64_t numOps = 0;
  bool communicates = false;
  bool constrains = false;
  /// Slices with which operations are marked.
  llvm::SetVector<Attribute> slices;

  void add(const Summary &other) {
    if (llvm::AddOverflow(numOps, other.numOps, numOps))
      numOps = INT64_MAX;
    communicates |= other.communicates;
    constrains |= other.constrains;
    slices.insert_range(other.slices);
  }
};

class LoopWriter {
public:
  LoopWriter(ModuleOp module, int64_t maxOps)
      : symbols(module), maxOps(maxOps) {}

  LogicalResult run(func::FuncOp function);

private:
  Summary summarize(Region &region);
  const Summary &summarize(func::FuncOp function);
  /// Writes out `loop` if it communicates, and adds the new operations to
  /// `rest`.
  LogicalResult visit(stablehlo::WhileOp loop,
                      SmallVectorImpl<Operation *> &rest);

  SymbolTable symbols;
  int64_t maxOps;
  /// Summaries of functions before their loops are written out.
  DenseMap<Operation *, Summary> known;
};

} // namespace

const Summary &LoopWriter::summarize(func::FuncOp function) {
  // A function that calls itself is refused later.
  if (known.try_emplace(function).second) {
    Summary summary = summarize(function.getBody());
    known[function] = summary;
  }
  return known.find(function)->second;
}

Summary LoopWriter::summarize(Region &region) {
  Summary summary;
  region.walk([&](Operation *op) {
    Attribute slice = getStageMark(op).slice;
    if (slice)
      summary.slices.insert(slice);
    summary.add({/*numOps=*/1,
                 isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
                     stablehlo::AllToAllOp, stablehlo::CollectiveBroadcastOp,
                     stablehlo::CollectivePermuteOp, stablehlo::ReduceScatterOp,
                     sdy::ManualComputationOp>(op),
                 isa<sdy::ShardingConstraintOp>(op),
                 /*slices=*/{}});
    auto call = dyn_cast<func::CallOp>(op);
    auto callee =
        call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (callee)
      summary.add(summarize(callee));
  });
  return summary;
}

LogicalResult LoopWriter::visit(stablehlo::WhileOp loop,
                                SmallVectorImpl<Operation *> &rest) {
  Summary body = summarize(loop.getBody());
  bool communicates =
      body.communicates || summarize(loop.getCond()).communicates;
  if (!communicates && !body.constrains)
    return success();
  std::optional<int64_t> trips = getTripCount(loop);
  // A loop over several slices becomes a pw.for.
  if (trips && body.slices.size() > 1)
    return success();
  if (communicates && !trips)
    return loop.emitOpError("communicates in its body, but the number of its "
                            "iterations is not a constant; expected a counter "
                            "that grows by 1 to a constant")
           << Tag(ErrorId::kNotCompilable);
  if (!communicates && (!trips || *trips <= kMaxConstrained))
    return success();
  int64_t size = 0;
  bool isTooLarge =
      llvm::MulOverflow(body.numOps, *trips, size) || size > maxOps;
  if (isTooLarge && !communicates)
    return success();
  if (isTooLarge)
    return loop.emitOpError("communicates in each of its ")
           << *trips << " iterations of " << body.numOps
           << " operations; expected at most " << maxOps
           << " operations in all (max-ops)" << Tag(ErrorId::kNotCompilable);
  llvm::append_range(rest, llvm::reverse(writeOut(loop, *trips)));
  return success();
}

LogicalResult LoopWriter::run(func::FuncOp function) {
  // The next operation is the last one.
  SmallVector<Operation *> rest;
  for (Block &block : function)
    for (Operation &op : block)
      rest.push_back(&op);
  std::reverse(rest.begin(), rest.end());
  while (!rest.empty())
    if (auto loop = dyn_cast<stablehlo::WhileOp>(rest.pop_back_val()))
      if (failed(visit(loop, rest)))
        return failure();
  return success();
}

namespace {
struct WriteOutLoopsPass
    : mlir::pathways::impl::WriteOutLoopsBase<WriteOutLoopsPass> {
  using WriteOutLoopsBase::WriteOutLoopsBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // On one device there is nothing to communicate.
    auto isLarge = [](sdy::MeshOp op) {
      return op.getMesh().getNumDevices() > 1;
    };
    if (llvm::none_of(module.getOps<sdy::MeshOp>(), isLarge))
      return;
    LoopWriter writer(module, maxOps);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(writer.run(function)))
        return signalPassFailure();
  }
};
} // namespace
