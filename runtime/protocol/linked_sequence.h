//===- linked_sequence.h - Messages that name their predecessor -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_LINKED_SEQUENCE_H_
#define RUNTIME_PROTOCOL_LINKED_SEQUENCE_H_

#include <cstdint>
#include <map>

#include "absl/functional/function_ref.h"
#include "runtime/protocol/control_message.h"

namespace pathways {

// Delivers messages whose numbers ascend with gaps in the order of their
// numbers. Each message names the previous number, or 0 if it is the first.
// Invariants: (1) each number is handled once, after its predecessor, in
// whatever order and however often messages arrive; (2) among early copies of a
// number, one that skips it is kept. One owner calls it; messages that still
// wait for a predecessor are dropped with the sequence.
class LinkedSequence {
 public:
  struct Number {
    uint64_t own = 0, previous = 0;
    // The sender gives the number up; its successors wait for it all the same.
    bool skip = false;
  };

  // Calls `handle` for the message if it is the next one, and then for the kept
  // messages that follow it. Returns false if the number was handled before.
  // `handle` must not call back.
  bool Take(const Number& number, ControlRef message,
            absl::FunctionRef<void(ControlRef)> handle);

 private:
  struct Early {
    Number number;
    ControlRef message;
  };

  uint64_t last_ = 0;                // last number handled
  std::map<uint64_t, Early> early_;  // by previous number
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_LINKED_SEQUENCE_H_
