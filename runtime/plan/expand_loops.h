//===- expand_loops.h - Plans with the iterations of loops ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan stores the actions of a loop once. The plan that hosts run has an
// action for each iteration, and no loops.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_EXPAND_LOOPS_H_
#define RUNTIME_PLAN_EXPAND_LOOPS_H_

#include <cstdint>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways {

// Largest number of iterations of a loop.
inline constexpr uint32_t kMaxTrips = 1 << 20;
// Largest number of actions, buffers and uses of buffers that the iterations of
// a plan's loops may have in all.
inline constexpr uint64_t kMaxExpanded = uint64_t{1} << 25;

// An action of a loop in one iteration.
struct LoopFiring {
  uint32_t action = 0;
  uint32_t iteration = 0;

  bool operator==(const LoopFiring&) const = default;
};

// The iterations of a loop in an order in which each action follows everything
// that it waits for in its step: among those that may come next, the lowest
// iteration first, and in it the first action of the table.
struct LoopSequence {
  std::vector<LoopFiring> order;
  // If some wait for each other, these do, each for the one before it and the
  // first for the last; `order` is then incomplete.
  std::vector<LoopFiring> circle;
};

// Returns the sorted iterations of each loop, up to the first loop that has a
// circle. The plan must obey rules 1 and 11 of docs/plan-format.md.
std::vector<LoopSequence> SequenceLoops(const proto::Plan& plan);

struct ExpandedPlan {
  proto::Plan plan;  // without loops
  // For each action and buffer of `plan`, the one with loops that it is of.
  std::vector<uint32_t> actions;
  std::vector<uint32_t> buffers;
};

// Returns the plan with an action and a buffer for each iteration, named
// "NAME[ITERATION]", and with all edges. The plan must obey rules 1 and 11, and
// `sequences` has the order of each loop.
ExpandedPlan ExpandLoops(const proto::Plan& plan,
                         const std::vector<LoopSequence>& sequences);

// Returns the plan that hosts run: without loops, and with all edges. The plan
// must obey all rules and have loops.
proto::Plan WithoutLoops(const proto::Plan& plan);

}  // namespace pathways

#endif  // RUNTIME_PLAN_EXPAND_LOOPS_H_
