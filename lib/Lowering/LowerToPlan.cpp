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
#include "pathways/Transforms/Machines.h"
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

static StringRef getSliceName(const ActionGraph &graph, uint32_t slice) {
  SliceOp op = graph.slices[slice].slice;
  return op.getSymName();
}

/// Returns the name of a gang without that of its slice: its label, or its
/// function.
static StringRef getCellName(const ActionGraph &graph, uint32_t gang) {
  StringRef name = graph.actions[gang].name;
  StringRef slice = getSliceName(graph, graph.actions[gang].slice);
  if (name.starts_with(slice) && name.drop_front(slice.size()).starts_with("."))
    return name.drop_front(slice.size() + 1);
  return name;
}

/// Returns the gang that makes what `buffer` has, which may be received.
static uint32_t getMaker(const ActionGraph &graph, uint32_t buffer) {
  uint32_t writer = graph.buffers[buffer].writer;
  while (graph.actions[writer].kind == ActionGraph::Kind::Recv) {
    buffer = graph.actions[graph.actions[writer].peer].operands.front();
    writer = graph.buffers[graph.getMemory(buffer)].writer;
  }
  return writer;
}

/// Reports, as a remark, the slots for iterations of a buffer.
static void explain(const ActionGraph &graph, const SlotReport &report) {
  uint32_t last = graph.buffers[report.head].writer;
  for (uint32_t b = report.head; b != ActionGraph::kNone;
       b = graph.buffers[b].next)
    for (uint32_t reader : graph.buffers[b].readers)
      last = std::max(last, reader);
  // A send counts as the first call that reads what arrives.
  while (graph.actions[last].kind == ActionGraph::Kind::Send) {
    uint32_t recv = graph.actions[last].peer;
    uint32_t arrived = graph.actions[recv].results.front();
    if (graph.buffers[arrived].readers.empty())
      break;
    last = graph.buffers[arrived].readers.front();
  }
  const ActionGraph::Buffer &buffer = graph.buffers[report.head];
  InFlightDiagnostic remark =
      mlir::emitRemark(graph.actions[buffer.writer].loc);
  remark << "slots " << getSliceName(graph, buffer.slice) << ' '
         << getCellName(graph, getMaker(graph, report.head)) << ' '
         << getCellName(graph, last) << ' ' << report.bound.slots << ": ";
  if (report.bound.slots == 1)
    remark << "one is the least";
  else if (report.isByOrder)
    remark << "as many are in use at a time";
  else if (report.bound.reason == ::pathways::SlotBound::kDeadlock)
    remark << "with one less, iterations wait for each other";
  else
    remark << "with one less, slice '"
           << getSliceName(graph, report.bound.slice) << "' ends "
           << report.bound.later << " ns later";
}

namespace {

struct LowerToPlan
    : public ::mlir::pathways::impl::LowerToPlanBase<LowerToPlan> {
  using LowerToPlanBase::LowerToPlanBase;
  LowerToPlan(LowerToPlanOptions options, LabelCostReport *report)
      : LowerToPlanBase(std::move(options)), report(report) {}

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
    std::vector<SlotReport> bounds;
    if (!graph->loops.empty() &&
        failed(assignSlots(*graph, kernels.getKernels(), slots, stepsInFlight,
                           explainCredits ? &bounds : nullptr)))
      return failure();
    for (const SlotReport &bound : bounds)
      explain(*graph, bound);
    FailureOr<MemoryPlan> memory = placeMemory(*graph, slots);
    if (failed(memory))
      return failure();
    FailureOr<proto::Plan> plan =
        emitPlan(*graph, kernels.getKernels(), slots, *memory, stepsInFlight);
    if (failed(plan))
      return failure();
    return emitProgram(program, *graph, kernels.getKernels(), *plan);
  }

  /// Sets the costs of the links of the machines.
  LogicalResult setLinks(CostModel &costs) {
    const ::pathways::Topology *machines =
        getAnalysis<Machines>().read(topology);
    if (!machines)
      return failure();
    std::vector<LinkCost> ici;
    for (const ::pathways::proto::Island &island :
         machines->cluster().islands())
      ici.push_back(toLinkCost(island.ici(), kDefaultIci));
    costs.setLinks(std::move(ici),
                   toLinkCost(machines->cluster().dcn(), kDefaultDcn));
    return success();
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
    CostModel costs(*measured);
    if (!topology.empty() && failed(setLinks(costs)))
      return signalPassFailure();
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
    if (report)
      *report = {byLabel->getUnused(), byLabel->getEstimated().vec()};
    else if (failed(byLabel->checkUse(emitError)))
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

  LabelCostReport *report = nullptr;
};

} // namespace

std::unique_ptr<Pass>
mlir::pathways::createLowerToPlan(LowerToPlanOptions options,
                                  LabelCostReport *report) {
  return std::make_unique<LowerToPlan>(std::move(options), report);
}
