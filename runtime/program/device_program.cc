//===- device_program.cc - Tables and counters of one device --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/device_program.h"

namespace pathways {

uint32_t DeviceProgram::TokensOf(uint32_t in_edge, uint64_t firing) const {
  const InEdge& in = in_edges[in_edge];
  const uint32_t tokens = plan->edges()[in.edge].tokens;
  if (firing < tokens) return in.expected;
  // Earlier firings of the slot had all their tokens. The first may have waited
  // for none.
  const uint64_t slot = firing % window;
  uint64_t earlier = firing / window;
  if (earlier > 0 && slot < tokens) --earlier;
  return arrived[InEdgeAt(in_edge, firing)] -
         static_cast<uint32_t>(earlier * in.expected);
}

}  // namespace pathways
