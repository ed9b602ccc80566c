//===- linked_sequence.h - Messages that name the one before ----*- C++ -*-===//
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

// Puts messages whose numbers grow, but with gaps, into the order of their
// numbers: each names the number before its own, 0 if there is none.
// Invariants: (1) each number is handled once, when the one before it has been,
// in whatever order and however often messages come; (2) of copies that come
// early, one that gives the number up stays. One owner calls it; what waits for
// a message that never comes goes with it.
class LinkedSequence {
 public:
  struct Number {
    uint64_t own = 0, previous = 0;
    bool skip = false;  // it is given up; others wait for it all the same
  };

  // Calls `handle` for the message, if it is next, and for those that have
  // waited for it. False: its number was handled before. `handle` must not call
  // back.
  bool Take(const Number& number, ControlRef message,
            absl::FunctionRef<void(ControlRef)> handle);

 private:
  struct Early {
    Number number;
    ControlRef message;
  };

  uint64_t last_ = 0;                // that was handled
  std::map<uint64_t, Early> early_;  // by previous number
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_LINKED_SEQUENCE_H_
