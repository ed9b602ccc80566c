//===- grant_sequencer.h - When a host applies its grants -------*- C++ -*-===//
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
// of their positions, each once, and behind what was staged for their launches.
// Invariants: (1) a grant is applied after all that have smaller positions on
// the host, in whatever order and however often they come; (2) it is applied
// when `staged`, the number of the last message that changed the host's store,
// has reached the grant's, and holds up those behind it until then; (3) one
// that is given up before it was applied is applied as a skip; (4) grants that
// come in order take no memory in a steady state. One owner calls it; what is
// still held goes with it.
class GrantSequencer {
 public:
  // Must not call back.
  using Apply = absl::FunctionRef<void(const proto::Grant&)>;

  // A grant has come: applies what it lets pass, perhaps nothing.
  void Take(ControlRef control, uint64_t staged, Apply apply);
  // The store has come to `staged`: applies what waited for that.
  void Release(uint64_t staged, Apply apply);

 private:
  LinkedSequence places_;
  Ring<ControlRef> held_;  // for the store, by position
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_GRANT_SEQUENCER_H_
