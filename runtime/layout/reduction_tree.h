//===- reduction_tree.h - Which sums come first -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction combines what the ranks of a group contribute in one order, which
// the group's axes alone fix, so that its bits depend on nothing else. Ranks
// are row-major over the axes as named. It goes axis by axis, the last named
// first; along an axis, [lo, hi) is [lo, m) then [m, hi) with m = lo + the
// largest power of two below hi - lo, left operand first.
//
// That is one binary tree over [0, size), whose nodes are intervals of ranks.
// Whoever has all ranks of a node can combine them on its own.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_REDUCTION_TREE_H_
#define RUNTIME_LAYOUT_REDUCTION_TREE_H_

#include <cstdint>
#include <vector>

namespace pathways::layout {

// Ranks [begin, end) of a group.
struct TreeNode {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const TreeNode&) const = default;
};

// How some operands become one: taken in order, each is put on a stack, and
// after operand i the two on top become one combines[i] times, the lower one
// being the left.
struct ReductionOrder {
  std::vector<uint32_t> operands;  // indices, by rank
  std::vector<uint32_t> combines;
};

class ReductionTree {
 public:
  // More than any stack of an order over at most kMaxShards ranks holds.
  static constexpr int kMaxDepth = 64;

  // Of a group of one.
  ReductionTree() = default;
  // Sizes of the group's axes, as named.
  explicit ReductionTree(const std::vector<int64_t>& axes);

  int64_t size() const { return extents_.empty() ? 1 : extents_.back(); }
  // How many ranks of a node of `size` ranks, at least two, are its left
  // operand's.
  int64_t LeftSize(int64_t size) const;

  // The largest nodes of which all ranks are in `ranks`; those ascend.
  std::vector<TreeNode> MaximalNodes(const std::vector<int64_t>& ranks) const;
  // How `whole` comes of the nodes in `parts`, which ascend, lie apart and
  // cover it.
  ReductionOrder OrderOf(TreeNode whole,
                         const std::vector<TreeNode>& parts) const;

 private:
  // Ranks of the last axis, of the last two, ..., without axes of one.
  std::vector<int64_t> extents_;
};

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_REDUCTION_TREE_H_
