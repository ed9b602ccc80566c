//===- control_sequence.h - Numbered messages in order ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_CONTROL_SEQUENCE_H_
#define RUNTIME_PROTOCOL_CONTROL_SEQUENCE_H_

#include <cstdint>
#include <map>

#include "absl/functional/function_ref.h"
#include "runtime/protocol/control_message.h"

namespace pathways {

// Delivers the messages that one sender numbers from 1 in the order of their
// numbers, each once, however they arrive. Messages that arrive early are kept
// until their predecessors have arrived. One owner calls it.
class ControlSequence {
 public:
  // Calls `handle` for the message if it is the next one, and then for the kept
  // messages that follow it. Returns false if the number was handled before.
  // `handle` must not call back.
  bool Take(uint64_t number, ControlRef message,
            absl::FunctionRef<void(const ControlRef&)> handle);
  // Returns the number of the last message that was or is being handled.
  uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
  std::map<uint64_t, ControlRef> early_;  // by number
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_SEQUENCE_H_
