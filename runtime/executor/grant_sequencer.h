//===- grant_sequencer.h - Order of grants on a host ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_GRANT_SEQUENCER_H_
#define RUNTIME_EXECUTOR_GRANT_SEQUENCER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "runtime/base/ring.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/linked_sequence.h"

namespace pathways {

// Puts the grants that an island's scheduler sends to one host into the order
// of their positions, each once, and after the staging of their launches.
// Invariants: (1) a grant is applied after all grants with smaller positions on
// the host, even if grants arrive out of order or repeatedly; (2) a grant is
// applied once `staged`, the number of the last message that changed the host's
// store, has reached the grant's number; until then it blocks the grants after
// it; (3) a grant that is given up before it was applied is applied as a skip;
// (4) grants that arrive in order allocate no memory in a steady state. Not
// thread-safe; destroying it drops the grants that it still holds.
class GrantSequencer {
 public:
  // Must not call back.
  using Apply = absl::FunctionRef<void(const proto::Grant&)>;

  // Takes a grant, and applies every grant that may now be applied, perhaps
  // none.
  void Take(ControlRef control, uint64_t staged, Apply apply);
  // Applies the grants that waited for the store to reach `staged`.
  void Release(uint64_t staged, Apply apply);

 private:
  LinkedSequence places_;
  Ring<ControlRef> held_;  // grants that wait for the store, by position
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_GRANT_SEQUENCER_H_
