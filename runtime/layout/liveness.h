//===- liveness.h - Liveness of actions and edges ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An edge with t tokens connects firing n of its source to firing n + t of its
// target. If every edge without tokens goes forward in the table, (firing,
// position) is a schedule, and no binding of actions to in-order queues can
// deadlock. The check takes time linear in actions and edges.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_LIVENESS_H_
#define RUNTIME_LAYOUT_LIVENESS_H_

#include <cstdint>
#include <vector>

namespace pathways::layout {

struct TokenEdge {
  int64_t from = 0;
  int64_t to = 0;
  int64_t tokens = 0;
};

struct Liveness {
  bool live = true;
  // If not live: index of the first edge that has no tokens and does not go
  // forward. If such edges lie on cycles without tokens, only those count.
  int64_t bad_edge = -1;
  // Edges of a shortest cycle without tokens through bad_edge, in order,
  // starting with bad_edge. Empty if another order of the actions would be
  // live.
  std::vector<int64_t> cycle;
};

// Every edge must join two of `num_actions` actions and have 0 or more tokens.
// The first edge that does not is returned as a bad edge without a cycle.
Liveness CheckLiveness(int64_t num_actions,
                       const std::vector<TokenEdge>& edges);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_LIVENESS_H_
