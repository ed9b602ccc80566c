//===- protocol_state.h - Protocol state of a cluster -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_PROTOCOL_STATE_H_
#define UNITTESTS_RUNTIME_SIMULATE_PROTOCOL_STATE_H_

#include <string>

namespace pathways::simulate {

// Returns the state after a control message was delivered: "loading",
// "staging", "running", "fetching", "releasing", "unloading" or "other"; "idle"
// before the first one.
std::string StateOf(const std::string& control);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_PROTOCOL_STATE_H_
