//===- liveness.h - Is a table of actions and edges live? -------*- C++ -*-===//
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
// deadlock. Linear in actions and edges.
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
  // When not live: index of the first edge, in edge order, that has no tokens
  // and does not go forward - of those on a cycle without tokens if there is
  // one, else of all.
  int64_t bad_edge = -1;
  // Edges of a shortest cycle without tokens through bad_edge, in order and
  // starting with it; empty when another order of the actions would do.
  std::vector<int64_t> cycle;
};

// Every edge should join two of `num_actions` actions and have 0 tokens or
// more; the first that does not is a bad edge without a cycle.
Liveness CheckLiveness(int64_t num_actions,
                       const std::vector<TokenEdge>& edges);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_LIVENESS_H_
