//===- least_slots.h - Fewest slots that slow no loop -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An array that a slice receives, or sends, is in memory for a time that
// depends on what the others do. The more slots iterations have for it, the
// earlier may they send. Here the firings of a loop are a graph with times, and
// each slot less is an edge more: from the last use of a slot to the action
// that waits for it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_LEAST_SLOTS_H_
#define RUNTIME_PLAN_LEAST_SLOTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// Nanoseconds by action of a plan.
struct LoopTimes {
  // The time that an action takes; for a recv, from the end of its send until
  // the array is there. A gang counts as 1 ns if it takes none.
  std::vector<uint64_t> run;
  // The time that the message takes that a slot is free; 0 unless the action is
  // a recv.
  std::vector<uint64_t> credit;
};

struct SlotBound {
  enum Reason {
    kLast,      // there is one slot
    kDeadlock,  // with one less, iterations wait for each other
    kTime,      // with one less, a slice ends later
  };
  uint32_t slots = 1;
  Reason reason = kLast;
  // For kTime: the slice that ends most later, and by how many nanoseconds.
  uint32_t slice = 0;
  uint64_t later = 0;
};

// Returns, for each of `buffers`, the first ones in places of loop `loop`
// (index plus one), the number of slots, so that the last gang of each slice
// ends as early as with a slot for each iteration, and not if one of the
// numbers were lower. In `plan`, each of `buffers` has a slot for each
// iteration, and no iterations wait for each other. Without `explains`, only
// `slots` are set.
std::vector<SlotBound> FindLeastSlots(const proto::Plan& plan, uint32_t loop,
                                      absl::Span<const uint32_t> buffers,
                                      const LoopTimes& times, bool explains);

}  // namespace pathways

#endif  // RUNTIME_PLAN_LEAST_SLOTS_H_
