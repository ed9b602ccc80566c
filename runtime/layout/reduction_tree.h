//===- reduction_tree.h - Order of sums in a reduction ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction combines the contributions of a group's ranks in one order, which
// depends on the group's axes alone. So the bits of its result depend on
// nothing else. Ranks are row-major over the axes as named. The order goes axis
// by axis, the last named first; along an axis, [lo, hi) is combined from [lo,
// m), the left operand, and [m, hi), where m is lo + the largest power of two
// below hi - lo.
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

// Order in which operands are combined into one: each operand is pushed on a
// stack, and after operand i the two topmost values are combined combines[i]
// times, the lower one being the left operand.
struct ReductionOrder {
  std::vector<uint32_t> operands;  // indices, by rank
  std::vector<uint32_t> combines;
};

class ReductionTree {
 public:
  // Larger than any stack of an order over at most kMaxShards ranks.
  static constexpr int kMaxDepth = 64;

  // The tree of a group with one rank.
  ReductionTree() = default;
  // `axes` has the sizes of the group's axes, as named.
  explicit ReductionTree(const std::vector<int64_t>& axes);

  int64_t size() const { return extents_.empty() ? 1 : extents_.back(); }
  // Returns the number of ranks in the left operand of a node of `size` ranks.
  // `size` is at least 2.
  int64_t LeftSize(int64_t size) const;

  // Returns the largest nodes of which `ranks`, which ascend, contain every
  // rank.
  std::vector<TreeNode> MaximalNodes(const std::vector<int64_t>& ranks) const;
  // Returns the order in which `whole` is combined from the nodes in `parts`,
  // which ascend, are disjoint and cover it.
  ReductionOrder OrderOf(TreeNode whole,
                         const std::vector<TreeNode>& parts) const;

 private:
  // Number of ranks along the last axis, the last two axes, ..., without axes
  // of size 1.
  std::vector<int64_t> extents_;
};

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_REDUCTION_TREE_H_
