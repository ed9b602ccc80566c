//===- protocol_state.h - What a cluster is at ------------------*- C++ -*-===//
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

// By the control message that was delivered last: "loading", "staging",
// "running", "fetching", "releasing", "unloading", "other"; "idle" of none.
std::string StateOf(const std::string& control);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_PROTOCOL_STATE_H_
