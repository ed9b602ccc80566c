//===- note.h - Notes of a cluster's process --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_NODE_NOTE_H_
#define TOOLS_PW_NODE_NOTE_H_

#include <cstdio>
#include <string>

namespace pathways::pw_node {

// Prints a line on standard error.
inline void Note(const std::string& line) {
  std::fprintf(stderr, "pw-node: %s\n", line.c_str());
}

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_NOTE_H_
