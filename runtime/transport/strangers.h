//===- strangers.h - Who of those not known yet gives way -------*- C++ -*-===//
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

// Somebody who has dialed and has not proved yet that it knows the key.
struct Stranger {
  std::string address;     // StrangerAddress; of a Unix socket the same for all
  bool has_spoken = true;  // something has come from it
};

// "tcp:10.0.0.1" of "tcp:10.0.0.1:4711"; what has no port is returned as it is.
absl::string_view StrangerAddress(absl::string_view who);

// Returns which of `strangers`, of whom there is one at least and the oldest
// comes first, gives way to a newcomer when there is no room. Those who have
// said nothing give way before those who have; of these, those of the address
// that has most; of these, the oldest. So whoever holds connections without a
// key displaces its own, and one who has the key and says so at once gets in.
size_t WhoGivesWay(absl::Span<const Stranger> strangers);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_STRANGERS_H_
