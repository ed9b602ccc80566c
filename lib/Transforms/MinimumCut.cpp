//===- MinimumCut.cpp - Cheapest cut of a graph ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is Dinic's algorithm: the cheapest cut costs as much as the largest flow
// from the source to the sink.
//
//===----------------------------------------------------------------------===//

#include "MinimumCut.h"

#include <algorithm>

using namespace mlir::pathways;

unsigned MinimumCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinimumCut::addEdge(unsigned from, unsigned to, int64_t cost) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, cost});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool MinimumCut::findLevels() {
  levels.assign(edgesOf.size(), -1);
  levels[kSource] = 0;
  std::vector<unsigned> reached = {kSource};
  for (size_t i = 0; i < reached.size(); ++i)
    for (unsigned number : edgesOf[reached[i]]) {
      const Edge &edge = edges[number];
      if (edge.left == 0 || levels[edge.to] >= 0)
        continue;
      levels[edge.to] = levels[reached[i]] + 1;
      reached.push_back(edge.to);
    }
  return levels[kSink] >= 0;
}

int64_t MinimumCut::usePath(std::vector<size_t> &next) {
  // An explicit stack, because chains of operations may be long.
  std::vector<unsigned> path;
  unsigned at = kSource;
  while (at != kSink) {
    if (next[at] < edgesOf[at].size()) {
      unsigned number = edgesOf[at][next[at]];
      const Edge &edge = edges[number];
      if (edge.left > 0 && levels[edge.to] == levels[at] + 1) {
        path.push_back(number);
        at = edge.to;
      } else {
        ++next[at];
      }
      continue;
    }
    if (path.empty())
      return 0;
    at = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[at];
  }
  int64_t used = kNever;
  for (unsigned number : path)
    used = std::min(used, edges[number].left);
  for (unsigned number : path) {
    edges[number].left -= used;
    edges[number ^ 1].left += used;
  }
  return used;
}

int64_t MinimumCut::compute() {
  int64_t cost = 0;
  while (findLevels()) {
    std::vector<size_t> next(edgesOf.size());
    while (int64_t used = usePath(next)) {
      cost += used;
      // Then no cut is possible, and more paths might exceed 2^63.
      if (cost >= kNever)
        return cost;
    }
  }
  return cost;
}
