//===- grant_order.cc - The one order of all grants -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/grant_order.h"

namespace pathways {

void Grant::Reset() {
  program = 0;
  ticket = first = end = 0;
  previous.clear();
}

const Grant& GrantOrder::Give(uint64_t launch, uint32_t program, uint64_t steps,
                              absl::Span<const int32_t> islands) {
  Grant& grant = grants_.Insert(launch);
  grant.program = program;
  grant.ticket = ++last_ticket_;
  uint64_t& next = next_firing_[program];
  grant.first = next;
  grant.end = next += steps;
  for (int32_t island : islands) {
    uint64_t& last = ticket_of_[island];
    grant.previous.emplace_back(island, last);
    last = grant.ticket;
  }
  return grant;
}

uint64_t GrantOrder::next_firing(uint32_t program) const {
  auto found = next_firing_.find(program);
  return found == next_firing_.end() ? 0 : found->second;
}

}  // namespace pathways
