//===- grant_sequencer.cc - Order of grants on a host ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/grant_sequencer.h"

#include <utility>

namespace pathways {

void GrantSequencer::Take(ControlRef control, uint64_t staged, Apply apply) {
  const proto::Grant& grant = control->grant();
  const LinkedSequence::Number position = {
      grant.position(), grant.previous_position(), grant.skip()};
  const bool was_new =
      places_.Take(position, std::move(control), [&](ControlRef next) {
        if (held_.empty() && next->grant().store() <= staged) {
          return apply(next->grant());
        }
        held_.Push() = std::move(next);
      });
  if (was_new || !position.skip) return;
  for (const ControlRef& held : held_) {
    if (held->grant().position() == position.own) {
      held->mutable_grant()->set_skip(true);
    }
  }
}

void GrantSequencer::Release(uint64_t staged, Apply apply) {
  while (!held_.empty() && held_.front()->grant().store() <= staged) {
    const ControlRef control = std::move(held_.front());
    held_.Pop();
    apply(control->grant());
  }
}

}  // namespace pathways
