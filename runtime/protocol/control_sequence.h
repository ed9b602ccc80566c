//===- control_sequence.h - Numbered messages, in their order ---*- C++ -*-===//
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

// Puts messages that one sender numbers from 1 into the order of their numbers,
// each once, in whatever order and however often they come. What comes early is
// kept until those before it have come. One owner calls it.
class ControlSequence {
 public:
  // Calls `handle` for the message, if it is next, and for those that have
  // waited for it. False: a second copy of one that was handled. `handle` must
  // not call back.
  bool Take(uint64_t number, ControlRef message,
            absl::FunctionRef<void(const ControlRef&)> handle);
  // The number of the last one that was handled, or is being handled.
  uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
  std::map<uint64_t, ControlRef> early_;  // by number
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_SEQUENCE_H_
