//===- strangers.h - Choice of a stranger that gives way --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_STRANGERS_H_
#define RUNTIME_TRANSPORT_STRANGERS_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace pathways {

// A process that has dialed and has not yet proved that it knows the key.
struct Stranger {
  std::string address;     // StrangerAddress; equal for all Unix sockets
  bool has_spoken = true;  // true if anything has arrived from it
};

// Returns "tcp:10.0.0.1" for "tcp:10.0.0.1:4711". Text without a port is
// returned unchanged.
absl::string_view StrangerAddress(absl::string_view who);

// Returns the index of the stranger that gives way to a newcomer when there is
// no room. `strangers` is not empty, oldest first. Strangers that have sent
// nothing give way first; among these, those of the address with the most
// strangers; among these, the oldest. So a process that holds connections
// without a key displaces its own, and one that has the key and proves it at
// once gets in.
size_t WhoGivesWay(absl::Span<const Stranger> strangers);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_STRANGERS_H_
