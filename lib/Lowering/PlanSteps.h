//===- PlanSteps.h - Steps from an action graph to a plan -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a plan of a graph of actions, in six steps. Each is a pure function of
// its inputs. They run in this order:
//
//   orderActions    one total order of the actions
//   joinCarried     in-place updates of carried arguments
//   assignCredits   number of slots of each buffer
//   assignSlots     number of slots for the iterations of loops
//   placeMemory     offsets of the slots
//   emitPlan        tables, with the edges that follow from the buffers
//
// After orderActions the number of an action is its position in the order.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_PLANSTEPS_H
#define PATHWAYS_LIB_LOWERING_PLANSTEPS_H

#include "ActionGraph.h"
#include "KernelTable.h"
#include "runtime/plan/least_slots.h"
#include "runtime/proto/plan.pb.h"

namespace mlir::pathways {

/// Returns the actions in an order in which each follows everything that it
/// waits for in its own firing: the writers of the buffers that it reads, the
/// other readers of buffers that it overwrites in place, the send of its recv,
/// and the user's control edges. Among the actions that may come next it takes
/// the one that was added first, so a graph in a legal order keeps it. A feed
/// waits for nothing: its operands were written one firing before.
///
/// Fails, without a diagnostic, if the actions have a cyclic dependence.
FailureOr<std::vector<uint32_t>> orderActions(const ActionGraph &graph);

/// Gives action `order[i]` the number i.
void renumberActions(ActionGraph &graph, ArrayRef<uint32_t> order);

/// An argument whose next value is written to other memory and copied.
struct CarriedCopy {
  uint32_t argument;
  const char *reason; ///< a sentence without its beginning
};

/// Places the next value of each carried argument in the memory of the
/// argument, unless aliases already do: then the next step takes the value
/// without a copy. This requires that nothing uses the argument any more when
/// that value, or the buffer that becomes it by aliases, is written. It is not
/// done if steps overlap (`credits` above 1) and the value is sent, since the
/// next step would have to wait for the send. Returns the arguments that are
/// copied.
std::vector<CarriedCopy> joinCarried(ActionGraph &graph, uint32_t credits);

/// Returns the number of slots of each buffer. A buffer that only gangs touch
/// has one: gangs follow each other on their slice, so it is overwritten after
/// it was read. Other actions run concurrently with the gangs, and with
/// `credits` slots, one for each step in flight, neither waits for the other.
/// Buffers that share memory get the largest number among them; but one slot if
/// they hold a carried argument and its next value, or an argument that is
/// carried unchanged.
std::vector<uint32_t> assignCredits(const ActionGraph &graph, uint32_t credits);

/// The slots for iterations of the buffers in the memory of `head`.
struct SlotReport {
  uint32_t head;
  /// The order of the gangs of one slice says the number; else `bound` has the
  /// reason.
  bool isByOrder;
  ::pathways::SlotBound bound;
};

/// Gives each buffer of a loop as many slots for iterations as the orders of
/// the slices need: what gangs of one slice write and read has as many as are
/// in use at a time in that order. What is received or sent has the fewest with
/// which, by the costs of the actions, no slice ends later than with a slot for
/// each iteration. Appends them to `reports` unless that is null. Requires that
/// the graph has loops. Fails as emitPlan does.
LogicalResult assignSlots(ActionGraph &graph,
                          ArrayRef<std::unique_ptr<PlanKernel>> kernels,
                          ArrayRef<uint32_t> credits, uint32_t stepsInFlight,
                          std::vector<SlotReport> *reports);

/// Offsets of buffers in the memory of a slice on each device.
struct MemoryPlan {
  struct Place {
    uint64_t offset = 0; ///< offset of slot 0
    uint64_t stride = 0; ///< distance from one slot to the next
  };
  std::vector<Place> places; // by buffer
};

/// Buffers of a slice with equal credits form a frame; firing n of all of them
/// uses copy n mod credits of the frame. Buffers take turns in the bytes of a
/// frame. If a gang writes next, queue order puts it after readers that are
/// gangs, even one step apart, and only each send or fetch needs an edge. If a
/// recv writes next, its send waits for the last gang, each send and each fetch
/// that reads the old buffer. A buffer received from another slice takes the
/// bytes of an earlier one only if the gangs between their readers take as long
/// as the transfer, so that the transfer can overlap with them: two places if
/// one gang takes that long, more if gangs are shorter. A buffer that a feed
/// writes has a place of its own, shared only with the buffers that take it
/// over.
///
/// Fails, with a diagnostic, if a slice needs more memory than a plan can
/// express.
FailureOr<MemoryPlan> placeMemory(const ActionGraph &graph,
                                  ArrayRef<uint32_t> credits);

/// Returns the tables. Their edges are those that follow from the buffers
/// (runtime/plan/derive_edges.h), and then the user's control edges, each with
/// an edge back that bounds the open firings. Fails, with a diagnostic, on a
/// collective that plans do not support.
FailureOr<::pathways::proto::Plan>
emitPlan(const ActionGraph &graph,
         ArrayRef<std::unique_ptr<PlanKernel>> kernels,
         ArrayRef<uint32_t> credits, const MemoryPlan &memory,
         uint32_t stepsInFlight);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_PLANSTEPS_H
