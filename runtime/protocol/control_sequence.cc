//===- control_sequence.cc - Numbered messages in order -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_sequence.h"

#include <utility>

namespace pathways {

bool ControlSequence::Take(uint64_t number, ControlRef message,
                           absl::FunctionRef<void(const ControlRef&)> handle) {
  if (number <= last_) return false;
  if (number != last_ + 1) {
    early_.emplace(number, std::move(message));
    return true;
  }
  ++last_;
  handle(message);
  while (!early_.empty() && early_.begin()->first == last_ + 1) {
    ++last_;
    handle(early_.begin()->second);
    early_.erase(early_.begin());
  }
  return true;
}

}  // namespace pathways
