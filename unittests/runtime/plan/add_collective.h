//===- add_collective.h - Collectives of plans by hand ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PLAN_ADD_COLLECTIVE_H_
#define UNITTESTS_RUNTIME_PLAN_ADD_COLLECTIVE_H_

#include <string>

#include "runtime/plan/plan_builder.h"

namespace pathways::testing {

// Adds a step to `gang`: of its first operand, to its first result, over
// `axis`; reductions add.
inline proto::Collective* AddCollective(PlanBuilder& b, uint32_t gang,
                                        proto::CollectiveKind kind,
                                        const std::string& axis) {
  proto::Action* action = b.plan().mutable_actions(gang);
  proto::Collective* c = action->add_steps()->mutable_collective();
  c->set_kind(kind);
  if (kind == proto::ALL_REDUCE || kind == proto::REDUCE_SCATTER) {
    c->set_reduction(proto::ADD);
  }
  c->add_axes(axis);
  c->set_source(action->operands(0));
  c->set_result(action->results(0));
  return c;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PLAN_ADD_COLLECTIVE_H_
