//===- LowerToPlan.cpp - Plans for placed programs ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildGraph.h"
#include "PlanSteps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "pathways/Dialect/Plan/PlanTables.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Transforms/Profiles.h"
#include "runtime/plan/verify.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "pathways/Lowering/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

/// Returns the elements of `value` as bytes, row-major and little endian.
static ElementsAttr getBytes(ElementsAttr value, StringRef name) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return plan::getCodeAttr(value.getContext(), name, 0,
                             resource.getRawHandle().getBlob()->getData());
  auto dense = cast<DenseElementsAttr>(value);
  SmallVector<char> bytes;
  if (value.getElementType().isInteger(1)) {
    for (bool bit : dense.getValues<bool>())
      bytes.push_back(bit);
  } else {
    ArrayRef<char> data = dense.getRawData();
    for (int64_t i = 0, e = dense.isSplat() ? dense.getNumElements() : 1;
         i != e; ++i)
      bytes.append(data.begin(), data.end());
  }
  return plan::getCodeAttr(value.getContext(), name, 0, bytes);
}

/// Inserts the plan as operations before `program`.
static LogicalResult emitProgram(ProgramOp program, const ActionGraph &graph,
                                 ArrayRef<std::unique_ptr<PlanKernel>> kernels,
                                 const proto::Plan &plan) {
  OpBuilder b(program);
  FailureOr<plan::ProgramOp> result =
      plan::importTables(b, program.getLoc(), plan, {});
  if (failed(result))
    return failure();
  Block &body = result->getBody().front();
  for (auto [entry, kernel] :
       llvm::zip(body.getOps<plan::KernelOp>(), kernels)) {
    Block &code = entry.getBody().front();
    code.getOperations().splice(code.end(),
                                kernel->holder->getBody()->getOperations());
  }
  for (auto [entry, argument] :
       llvm::zip(body.getOps<plan::ArgumentOp>(), graph.arguments))
    if (argument.constant)
      entry.setConstantAttr(getBytes(argument.constant, argument.name));
  // Diagnostics of later stages point into the program.
  uint32_t action = 0, slice = 0;
  for (Operation &op : body) {
    if (plan::getTable(&op) == plan::Table::Action)
      op.setLoc(graph.actions[action++].loc);
    else if (plan::getTable(&op) == plan::Table::Slice)
      op.setLoc(SliceOp(graph.slices[slice++].slice).getLoc());
  }
  return success();
}

/// Reports, as a remark, how many kernels `profile` does not know.
static void explain(ProgramOp program, StringRef profile,
                    ArrayRef<std::unique_ptr<PlanKernel>> kernels) {
  size_t estimated = llvm::count_if(
      kernels, [](const auto &kernel) { return !kernel->isMeasured; });
  if (profile.empty() || estimated == 0)
    return;
  auto first = llvm::find_if(
      kernels, [](const auto &kernel) { return !kernel->isMeasured; });
  program.emitRemark() << "profile '" << profile << "' has no cost for "
                       << estimated << " of " << kernels.size()
                       << " computations, the first '" << (*first)->name
                       << "'; they are estimated";
}

/// Reports, as a remark, why steps copy a carried value.
static void explain(const ActionGraph &graph, const CarriedCopy &copy) {
  const ActionGraph::Argument &argument = graph.arguments[copy.argument];
  const ActionGraph::Action &feed = graph.actions[argument.action];
  mlir::emitRemark(feed.loc)
      << "argument '" << argument.name << "' is copied from step to step, "
      << graph.buffers[feed.results.front()].bytes
      << " bytes on each shard: " << copy.reason;
}

namespace {

struct LowerToPlan
    : public ::mlir::pathways::impl::LowerToPlanBase<LowerToPlan> {
  using LowerToPlanBase::LowerToPlanBase;

  LogicalResult lower(ProgramOp program, PlacedModule &module,
                      const CostModel &costs, LabelCosts &byLabel) {
    KernelTable kernels(costs);
    uint32_t most =
        credits ? std::min<unsigned>(credits, stepsInFlight) : stepsInFlight;
    FailureOr<ActionGraph> graph =
        buildGraph(program, module, costs, byLabel, kernels, most);
    if (failed(graph))
      return failure();
    explain(program, profile, kernels.getKernels());
    // The order of a text with loops stays, since loops follow it.
    if (graph->loops.empty()) {
      FailureOr<std::vector<uint32_t>> order = orderActions(*graph);
      if (failed(order))
        return program.emitOpError(
            "has a cycle of actions that wait for each other");
      renumberActions(*graph, *order);
    }
    for (const CarriedCopy &copy : joinCarried(*graph, most))
      explain(*graph, copy);
    std::vector<uint32_t> slots = assignCredits(*graph, most);
    if (!graph->loops.empty() &&
        failed(assignSlots(*graph, kernels.getKernels(), slots, stepsInFlight)))
      return failure();
    FailureOr<MemoryPlan> memory = placeMemory(*graph, slots);
    if (failed(memory))
      return failure();
    FailureOr<proto::Plan> plan =
        emitPlan(*graph, kernels.getKernels(), slots, *memory, stepsInFlight);
    if (failed(plan))
      return failure();
    return emitProgram(program, *graph, kernels.getKernels(), *plan);
  }

  void runOnOperation() override {
    ModuleOp root = getOperation();
    if (stepsInFlight < 1 || stepsInFlight > ::pathways::kMaxStepsInFlight) {
      root.emitError("expected between 1 and ")
          << ::pathways::kMaxStepsInFlight << " steps in flight, got "
          << stepsInFlight.getValue();
      return signalPassFailure();
    }
    SmallVector<ProgramOp> programs(root.getOps<ProgramOp>());
    if (programs.empty())
      return;
    FailureOr<const ::pathways::Profile *> measured =
        getAnalysis<Profiles>().read(profile);
    if (failed(measured))
      return signalPassFailure();
    const CostModel costs(*measured);
    Location loc = programs.front().getLoc();
    auto emitError = [&] { return mlir::emitError(loc); };
    FailureOr<LabelCosts> byLabel = LabelCosts::parse(labelCosts, emitError);
    if (failed(byLabel))
      return signalPassFailure();
    PlacedModule module(root);
    SetVector<Operation *> dead;
    for (ProgramOp program : programs) {
      program.walk([&](CallOp call) {
        if (Operation *callee =
                module.symbols.lookup(call.getCalleeAttr().getAttr()))
          dead.insert(callee);
      });
      if (failed(lower(program, module, costs, *byLabel)))
        return signalPassFailure();
      program.erase();
    }
    if (failed(byLabel->checkUse(emitError)))
      return signalPassFailure();
    // Functions that programs run, directly or indirectly, live on in kernels.
    // Functions that others call, too, stay.
    auto calls = [&](Operation *function, auto use) {
      function->walk([&](func::CallOp call) {
        if (Operation *callee =
                module.symbols.lookup(call.getCalleeAttr().getAttr()))
          use(callee);
      });
    };
    for (unsigned i = 0; i < dead.size(); ++i)
      calls(dead[i], [&](Operation *callee) { dead.insert(callee); });
    SetVector<Operation *> alive;
    for (auto function : root.getOps<func::FuncOp>())
      if (!dead.contains(function))
        alive.insert(function);
    for (unsigned i = 0; i < alive.size(); ++i)
      calls(alive[i], [&](Operation *callee) { alive.insert(callee); });
    for (Operation &op : llvm::make_early_inc_range(*root.getBody()))
      if (isa<SliceOp, BindOp>(op) ||
          (dead.contains(&op) && !alive.contains(&op)))
        op.erase();
  }
};

} // namespace
