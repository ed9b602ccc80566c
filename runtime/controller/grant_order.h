//===- grant_order.h - The one order of all grants --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_GRANT_ORDER_H_
#define RUNTIME_CONTROLLER_GRANT_ORDER_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/controller/record_pool.h"

namespace pathways {

// Firings [first, end) of a program, to be run for a launch.
struct Grant {
  uint32_t program = 0;
  uint64_t ticket = 0;
  uint64_t first = 0, end = 0;
  // Islands that take part, each with the ticket before this one there; 0:
  // none.
  std::vector<std::pair<int32_t, uint64_t>> previous;

  void Reset();
};

// Gives tickets. Invariants: (1) tickets are one order over all islands, from
// 1 on; (2) an island can tell from a grant whether it misses an earlier one;
// (3) grants of a program are adjacent ranges of its firings, in the order of
// their tickets. One owner calls it; it sends nothing.
class GrantOrder {
 public:
  // Grants the next `steps` firings to a launch that has none yet.
  const Grant& Give(uint64_t launch, uint32_t program, uint64_t steps,
                    absl::Span<const int32_t> islands);
  // Null: it has none.
  const Grant* Find(uint64_t launch) const { return grants_.Find(launch); }
  // The launch has ended.
  void Forget(uint64_t launch) { grants_.Erase(launch); }
  // The program was loaded: its firings begin at 0.
  void Restart(uint32_t program) { next_firing_[program] = 0; }
  // The first firing of the program that was not granted.
  uint64_t next_firing(uint32_t program) const;

 private:
  uint64_t last_ticket_ = 0;
  std::map<int32_t, uint64_t> ticket_of_;     // last one, by island
  std::map<uint32_t, uint64_t> next_firing_;  // by program
  RecordPool<Grant> grants_;                  // by launch
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_GRANT_ORDER_H_
