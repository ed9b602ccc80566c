//===- loop_tables.cc - Uses of buffers in the loops of a plan ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/loop_tables.h"

namespace pathways {

LoopTables::LoopTables(const proto::Plan& plan)
    : plan_(plan),
      buffers_(plan.loops_size()),
      first_(plan.loops_size(), kNone),
      count_(plan.loops_size(), 0),
      writers_(plan.buffers_size(), kNone),
      reads_(plan.buffers_size()),
      aliases_(plan.buffers_size()),
      heirs_(plan.buffers_size(), kNone) {
  for (int b = 0; b < plan.buffers_size(); ++b)
    if (plan.buffers(b).loop() != 0 && !IsName(plan.buffers(b)))
      buffers_[plan.buffers(b).loop() - 1].push_back(static_cast<uint32_t>(b));
  for (int a = 0; a < plan.actions_size(); ++a) {
    const proto::Action& action = plan.actions(a);
    const uint32_t number = static_cast<uint32_t>(a);
    for (uint32_t b : action.results()) writers_[b] = number;
    if (action.loop() == 0) continue;
    uint32_t& first = first_[action.loop() - 1];
    if (first == kNone) first = number;
    ++count_[action.loop() - 1];
    for (const proto::Alias& alias : action.aliases()) {
      aliases_[alias.result()] = {alias.operand(), alias.result()};
      heirs_[alias.operand()] = alias.result();
    }
  }
  for (int a = 0; a < plan.actions_size(); ++a) {
    if (plan.actions(a).loop() == 0) continue;
    for (uint32_t b : plan.actions(a).operands()) {
      const Content content = ContentOf(b);
      if (content.loop != 0)
        reads_[content.buffer].push_back(
            {static_cast<uint32_t>(a), content.lag});
    }
  }
}

LoopTables::Content LoopTables::ContentOf(uint32_t buffer) const {
  uint32_t lag = 0;
  const proto::Buffer* at = &plan_.buffers(static_cast<int>(buffer));
  if (at->initial() != 0) {
    buffer = at->next() - 1;
    at = &plan_.buffers(static_cast<int>(buffer));
    lag = 1;
  }
  // A loop ahead of this one has ended, so its value does not change.
  if (IsName(*at)) return {};
  return {buffer, at->loop(), writers_[buffer], lag};
}

std::vector<uint32_t> LoopTables::ChainOf(uint32_t buffer) const {
  std::vector<uint32_t> chain;
  for (; buffer != kNone; buffer = heirs_[buffer]) chain.push_back(buffer);
  return chain;
}

}  // namespace pathways
