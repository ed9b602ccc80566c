//===- linked_sequence.cc - Messages that name their predecessor ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/linked_sequence.h"

#include <utility>

namespace pathways {

bool LinkedSequence::Take(const Number& number, ControlRef message,
                          absl::FunctionRef<void(ControlRef)> handle) {
  if (number.own <= last_) return false;
  if (number.previous != last_) {
    Early& early = early_[number.previous];
    if (!early.message || number.skip) early = {number, std::move(message)};
    return true;
  }
  last_ = number.own;
  handle(std::move(message));
  for (auto early = early_.find(last_); early != early_.end();
       early = early_.find(last_)) {
    last_ = early->second.number.own;
    handle(std::move(early->second.message));
    early_.erase(early);
  }
  return true;
}

}  // namespace pathways
