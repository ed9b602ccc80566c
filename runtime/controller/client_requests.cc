//===- client_requests.cc - What a client asks, in its order --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_requests.h"

#include <utility>

namespace pathways {

void ClientRequests::Take(proto::Control control,
                          absl::FunctionRef<void(proto::Control*)> handle) {
  const uint64_t sequence = control.sequence();
  if (sequence <= taken_) return;  // a second copy
  if (sequence != taken_ + 1) {
    early_.emplace(sequence, std::move(control));
    return;
  }
  ++taken_;
  handle(&control);
  while (!early_.empty() && early_.begin()->first == taken_ + 1) {
    ++taken_;
    handle(&early_.begin()->second);
    early_.erase(early_.begin());
  }
}

}  // namespace pathways
