//===- MinimumCut.h - Cheapest cut of a graph -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_MINIMUMCUT_H
#define PATHWAYS_LIB_TRANSFORMS_MINIMUMCUT_H

#include <cstdint>
#include <vector>

namespace mlir::pathways {

/// A directed graph whose nodes are cut into two sides, one with the source
/// and one with the sink, so that the edges from the first side to the second
/// have the least sum of costs. Not thread-safe.
class MinimumCut {
public:
  static constexpr unsigned kSource = 0, kSink = 1;
  /// The cost of an edge that must not be cut. Sums of other costs are less.
  static constexpr int64_t kNever = int64_t{1} << 60;

  MinimumCut() : edgesOf(2) {}

  /// Returns the number of a new node.
  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t cost);
  /// Returns the cost of the cheapest cut; at least kNever if there is none.
  /// Call this once, after all edges have been added.
  int64_t compute();
  /// Returns true if `node` is on the side of the source. Of several cheapest
  /// cuts this is the one with the fewest nodes on that side.
  bool isWithSource(unsigned node) const { return levels[node] >= 0; }

private:
  /// An edge and, at the next odd or even number, its reverse edge.
  struct Edge {
    unsigned to;
    int64_t left; ///< cost that no path uses yet
  };

  /// Sets `levels` to the distances from the source over edges that have some
  /// cost left, -1 for nodes that it does not reach. Returns true if it reaches
  /// the sink.
  bool findLevels();
  /// Uses up a path along increasing levels. Returns the cost that it used, 0
  /// if no path is left.
  int64_t usePath(std::vector<size_t> &next);

  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf;
  std::vector<int64_t> levels;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_MINIMUMCUT_H
