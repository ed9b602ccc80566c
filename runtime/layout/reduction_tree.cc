//===- reduction_tree.cc - Order of sums in a reduction -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/reduction_tree.h"

#include <algorithm>
#include <bit>

namespace pathways::layout {

ReductionTree::ReductionTree(const std::vector<int64_t>& axes) {
  int64_t extent = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i] == 1) continue;
    extents_.push_back(extent *= axes[i]);
  }
}

int64_t ReductionTree::LeftSize(int64_t size) const {
  // The node is cut along this axis, of which it has whole indices.
  int64_t stride = 1;
  for (int64_t extent : extents_) {
    if (size <= extent) break;
    stride = extent;
  }
  const auto indices = static_cast<uint64_t>(size / stride);
  return static_cast<int64_t>(std::bit_floor(indices - 1)) * stride;
}

std::vector<TreeNode> ReductionTree::MaximalNodes(
    const std::vector<int64_t>& ranks) const {
  std::vector<TreeNode> nodes;
  // Depth first, without recursion, left before right.
  std::vector<TreeNode> open = {{0, size()}};
  while (!open.empty()) {
    const TreeNode node = open.back();
    open.pop_back();
    const auto begin = std::lower_bound(ranks.begin(), ranks.end(), node.begin);
    const auto end = std::lower_bound(begin, ranks.end(), node.end);
    if (begin == end) continue;
    if (end - begin == node.size()) {
      nodes.push_back(node);
      continue;
    }
    const int64_t middle = node.begin + LeftSize(node.size());
    open.push_back({middle, node.end});
    open.push_back({node.begin, middle});
  }
  return nodes;
}

ReductionOrder ReductionTree::OrderOf(
    TreeNode whole, const std::vector<TreeNode>& parts) const {
  ReductionOrder order;
  // A node, and the number of nodes that end with it and began before it.
  struct Open {
    TreeNode node;
    uint32_t closes;
  };
  std::vector<Open> open = {{whole, 0}};
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    const auto part = std::lower_bound(
        parts.begin(), parts.end(), next.node.begin,
        [](const TreeNode& node, int64_t rank) { return node.begin < rank; });
    if (*part == next.node) {
      order.operands.push_back(static_cast<uint32_t>(part - parts.begin()));
      order.combines.push_back(next.closes);
      continue;
    }
    const int64_t middle = next.node.begin + LeftSize(next.node.size());
    open.push_back({{middle, next.node.end}, next.closes + 1});
    open.push_back({{next.node.begin, middle}, 0});
  }
  return order;
}

}  // namespace pathways::layout
