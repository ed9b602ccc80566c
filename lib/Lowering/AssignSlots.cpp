//===- AssignSlots.cpp - Slots for the iterations of loops ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include "runtime/plan/expand_loops.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

namespace {

/// The uses of the memory of one buffer of a loop, all by gangs.
class SlotCounter {
public:
  SlotCounter(const ActionGraph &graph,
              ArrayRef<std::vector<uint32_t>> positions, uint32_t head)
      : graph(graph), positions(positions), head(head),
        trips(graph.loops[graph.buffers[head].loop].trips) {}

  /// Returns the fewest slots with which no iteration waits for a slot longer
  /// than the order of the gangs makes it wait.
  uint32_t count() const;

private:
  /// Returns the place in the order at which an iteration ends to use the
  /// memory.
  uint32_t getEnd(uint32_t iteration) const;
  /// Calls `visit` with each action that reads `buffer` of an iteration, and
  /// with the iteration in which it does.
  void forEachRead(uint32_t buffer, uint32_t iteration,
                   function_ref<void(uint32_t, uint32_t)> visit) const;

  const ActionGraph &graph;
  ArrayRef<std::vector<uint32_t>> positions; ///< by action and iteration
  const uint32_t head, trips;
};

} // namespace

void SlotCounter::forEachRead(
    uint32_t buffer, uint32_t iteration,
    function_ref<void(uint32_t, uint32_t)> visit) const {
  uint32_t loop = graph.buffers[head].loop;
  // The writer may read what it wrote one iteration before.
  SmallVector<uint32_t, 2> readers = graph.buffers[buffer].readers;
  readers.push_back(graph.buffers[buffer].writer);
  for (uint32_t reader : readers) {
    const ActionGraph::Action &action = graph.actions[reader];
    if (action.loop != loop)
      continue;
    for (uint32_t operand : action.operands) {
      if (operand == buffer)
        visit(reader, iteration);
      else if (graph.buffers[operand].carried == buffer &&
               iteration + 1 < trips)
        visit(reader, iteration + 1);
    }
  }
}

uint32_t SlotCounter::getEnd(uint32_t iteration) const {
  uint32_t end = 0;
  for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next) {
    if (graph.buffers[b].loop != graph.buffers[head].loop)
      break;
    end = std::max(end, positions[graph.buffers[b].writer][iteration]);
    forEachRead(b, iteration, [&](uint32_t reader, uint32_t at) {
      end = std::max(end, positions[reader][at]);
    });
  }
  return end;
}

uint32_t SlotCounter::count() const {
  // Iteration i takes the slot of iteration i - slots, which must have ended.
  uint32_t slots = 1, ended = 0;
  std::vector<uint32_t> ends(trips);
  uint32_t writer = graph.buffers[head].writer;
  for (uint32_t i = 0; i < trips; ++i) {
    ends[i] = getEnd(i);
    if (i > 0)
      ends[i] = std::max(ends[i], ends[i - 1]);
    uint32_t begin = positions[writer][i];
    while (ended < i && ends[ended] < begin)
      ++ended;
    slots = std::max(slots, i + 1 - ended);
  }
  return std::min(slots, trips);
}

/// Returns true if other slices decide when the memory of `head` is in use: it
/// is received or sent.
static bool isShared(const ActionGraph &graph, uint32_t head) {
  for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next)
    if (!graph.isGang(graph.buffers[b].writer) ||
        !llvm::all_of(graph.buffers[b].readers,
                      [&](uint32_t reader) { return graph.isGang(reader); }))
      return true;
  return false;
}

/// Nanoseconds for the work of hosts on a message, on top of those of its link.
static constexpr uint64_t kHostNs = 5000;

/// Returns the times of the actions, as they are estimated or measured. Links
/// count half as much again, so that slots do not get scarce when a message
/// takes a little longer.
static ::pathways::LoopTimes getTimes(const ActionGraph &graph) {
  ::pathways::LoopTimes times;
  for (const ActionGraph::Action &action : graph.actions) {
    bool isRecv = action.kind == ActionGraph::Kind::Recv;
    auto getMessage = [&](uint64_t linkNs) {
      return isRecv ? linkNs + linkNs / 2 + kHostNs : 0;
    };
    times.run.push_back(action.costNs + getMessage(action.messageNs));
    times.credit.push_back(getMessage(action.requestNs));
  }
  return times;
}

LogicalResult
mlir::pathways::assignSlots(ActionGraph &graph,
                            ArrayRef<std::unique_ptr<PlanKernel>> kernels,
                            ArrayRef<uint32_t> credits, uint32_t stepsInFlight,
                            std::vector<SlotReport> *reports) {
  MemoryPlan nowhere;
  nowhere.places.resize(graph.buffers.size());
  FailureOr<proto::Plan> tables =
      emitPlan(graph, kernels, credits, nowhere, stepsInFlight);
  if (failed(tables))
    return failure();
  proto::Plan &plan = *tables;
  constexpr uint32_t kNone = ActionGraph::kNone;
  // The buffers whose slots the order says, and by loop those whose slots
  // depend on times.
  std::vector<uint32_t> heads;
  std::vector<std::vector<uint32_t>> shared(graph.loops.size());
  for (uint32_t b = 0; b < graph.buffers.size(); ++b)
    if (graph.buffers[b].slots == 0 && graph.buffers[b].previous == kNone)
      (isShared(graph, b) ? shared[graph.buffers[b].loop] : heads).push_back(b);
  // Sets the slots of the buffers that take over each other's memory.
  auto set = [&](uint32_t head, uint32_t slots) {
    for (uint32_t b = head; b != kNone; b = graph.buffers[b].next) {
      graph.buffers[b].slots = slots;
      plan.mutable_buffers(b)->set_iteration_slots(slots);
    }
  };
  auto setAll = [&](ArrayRef<uint32_t> heads) {
    for (uint32_t head : heads)
      set(head, graph.loops[graph.buffers[head].loop].trips);
  };
  setAll(heads);
  for (const std::vector<uint32_t> &list : shared)
    setAll(list);
  std::vector<std::vector<uint32_t>> positions(graph.actions.size());
  std::vector<::pathways::LoopSequence> sequences =
      ::pathways::SequenceLoops(plan);
  if (!sequences.back().circle.empty())
    return success(); // the verifier reports the circle
  for (auto [loop, sequence] : llvm::zip_equal(graph.loops, sequences)) {
    for (uint32_t a = loop.firstAction; a <= loop.lastAction; ++a)
      positions[a].resize(loop.trips);
    uint32_t position = 0;
    for (const ::pathways::LoopFiring &firing : sequence.order)
      positions[firing.action][firing.iteration] = ++position;
  }
  auto report = [&](uint32_t head, const ::pathways::SlotBound &bound,
                    bool byOrder) {
    if (reports)
      reports->push_back({head, byOrder, bound});
  };
  for (uint32_t head : heads) {
    set(head, SlotCounter(graph, positions, head).count());
    report(head, {graph.buffers[head].slots}, /*byOrder=*/true);
  }
  ::pathways::LoopTimes times = getTimes(graph);
  for (auto [loop, list] : llvm::enumerate(shared)) {
    std::vector<::pathways::SlotBound> bounds = ::pathways::FindLeastSlots(
        plan, loop + 1, list, times, reports != nullptr);
    for (auto [head, bound] : llvm::zip_equal(list, bounds)) {
      set(head, bound.slots);
      report(head, bound, /*byOrder=*/false);
    }
  }
  return success();
}
