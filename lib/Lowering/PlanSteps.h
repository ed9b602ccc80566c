//===- PlanSteps.h - From a graph of actions to a plan ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a graph of actions to a plan, in six steps; each is a pure function of
// what stands before it. In the order in which they run:
//
//   orderActions    one total order of the actions
//   joinCarried     what a step leaves in memory for the next one
//   assignCredits   how many slots each buffer has
//   placeMemory     where the slots lie
//   deriveEdges     who waits for whom, with how many tokens
//   emitPlan        the tables
//
// From orderActions on an action's number is its place in the order.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_PLANSTEPS_H
#define PATHWAYS_LIB_LOWERING_PLANSTEPS_H

#include "ActionGraph.h"
#include "KernelTable.h"
#include "runtime/proto/plan.pb.h"

namespace mlir::pathways {

/// The actions in an order in which each comes after all that it waits for in
/// its own firing: the writers of what it reads, the other readers of what it
/// overwrites in place, the send that it receives from, and what the user
/// named. Of those that may come next it takes the one that was added first, so
/// a graph whose order is legal keeps it. A feed waits for nobody: what it
/// reads was written one firing before.
///
/// Fails, without a diagnostic, when actions wait for each other.
FailureOr<std::vector<uint32_t>> orderActions(const ActionGraph &graph);

/// Gives action `order[i]` the number i.
void renumberActions(ActionGraph &graph, ArrayRef<uint32_t> order);

/// An argument whose next value is written elsewhere, and copied.
struct CarriedCopy {
  uint32_t argument;
  const char *reason; ///< as a sentence without its beginning
};

/// Lets the next value of each carried argument lie where the argument does, if
/// it does not by aliases already: nobody may use the argument any more when
/// that value, or what becomes it by aliases, is written. Then what one step
/// leaves is what the next one takes, without a copy. It is not done where
/// steps overlap (`credits` above 1) and the value is sent: until that is done
/// the next step could not begin. Returns the arguments that are left.
std::vector<CarriedCopy> joinCarried(ActionGraph &graph, uint32_t credits);

/// Slots of each buffer. One for a buffer that only gangs touch: they follow
/// each other on their slice, so it is written again after it was read. The
/// other ends run beside the gangs, and with `credits` slots, one for each step
/// in flight, neither waits for the other. Buffers that share memory get the
/// largest number among them; but one if they hold a carried argument and its
/// next value, or an argument that is carried as it is.
std::vector<uint32_t> assignCredits(const ActionGraph &graph, uint32_t credits);

/// Where buffers lie in the memory that a slice has on each device.
struct MemoryPlan {
  struct Place {
    uint64_t offset = 0; ///< of slot 0
    uint64_t stride = 0; ///< from one slot to the next
  };
  /// `after` takes bytes that `before` had: in the same firing, or, the first
  /// of those there after the last, in a later one.
  struct Turn {
    uint32_t before, after;
    bool isLater = false;

    bool operator==(const Turn &) const = default;
  };
  std::vector<Place> places; // by buffer
  std::vector<Turn> turns;   // in the order of entry; each once
};

/// Buffers with equal credits on a slice form a frame; firing n of all of them
/// uses copy n mod credits of the frame. Buffers take turns in the bytes of a
/// frame. Where a gang writes next, the queue orders it behind readers that are
/// gangs, a step apart too, and what remains is an edge from each send or
/// fetch. Where a recv writes next, its send waits for the last gang, and for
/// each send and fetch, that reads what is there. A buffer that
/// one slice receives from another takes the bytes of an earlier one only if
/// the gangs between their readers take as long as the transfer, so that the
/// transfer can run beside them: two places if one gang takes that long, more
/// if gangs are shorter. What a feed writes has a place of its own, but for the
/// buffers that follow it there.
///
/// Fails, with a diagnostic, when a slice needs more than a plan can say.
FailureOr<MemoryPlan> placeMemory(const ActionGraph &graph,
                                  ArrayRef<uint32_t> credits);

/// Firing n of `from` gives a token to firing n + `tokens` of `to`.
struct PlanEdge {
  uint32_t from, to;
  uint32_t tokens;
  ::pathways::proto::EdgeKind kind;
  ::pathways::proto::Relation relation;

  bool operator==(const PlanEdge &) const = default;
};

/// Data and the credits that run back, buffer by buffer; then the edges by
/// which buffers take turns; then the user's control edges, with a way back
/// that bounds open firings. Each once.
std::vector<PlanEdge> deriveEdges(const ActionGraph &graph,
                                  ArrayRef<uint32_t> credits,
                                  const MemoryPlan &memory,
                                  uint32_t stepsInFlight);

/// The tables. Fails, with a diagnostic, on a collective that plans lack.
FailureOr<::pathways::proto::Plan>
emitPlan(const ActionGraph &graph,
         ArrayRef<std::unique_ptr<PlanKernel>> kernels,
         ArrayRef<uint32_t> credits, const MemoryPlan &memory,
         ArrayRef<PlanEdge> edges, uint32_t stepsInFlight);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_PLANSTEPS_H
