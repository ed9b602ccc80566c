//===- reduction_tree_test.cc - Order of sums -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/reduction_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

namespace pathways::layout {
namespace {

using ::testing::ElementsAre;

// The rule, word by word, on texts: a reduction of [a, b, c] is "((a b) c)".
std::string Along(const std::vector<std::string>& operands) {
  if (operands.size() == 1) return operands[0];
  size_t power = 1;
  while (2 * power < operands.size()) power *= 2;
  const auto middle = operands.begin() + power;
  return "(" + Along({operands.begin(), middle}) + " " +
         Along({middle, operands.end()}) + ")";
}

std::string ByRule(std::vector<int64_t> axes) {
  std::vector<std::string> values;
  int64_t size = 1;
  for (int64_t axis : axes) size *= axis;
  for (int64_t rank = 0; rank < size; ++rank) {
    values.push_back(std::to_string(rank));
  }
  for (; !axes.empty(); axes.pop_back()) {
    std::vector<std::string> next;
    for (size_t i = 0; i < values.size(); i += axes.back()) {
      next.push_back(
          Along({values.begin() + i, values.begin() + i + axes.back()}));
    }
    values = next;
  }
  return values[0];
}

std::string Apply(const ReductionOrder& order,
                  const std::vector<std::string>& operands) {
  std::vector<std::string> stack;
  size_t deepest = 0;
  for (size_t i = 0; i < order.operands.size(); ++i) {
    stack.push_back(operands[order.operands[i]]);
    deepest = std::max(deepest, stack.size());
    for (uint32_t c = 0; c < order.combines[i]; ++c) {
      const std::string right = stack.back();
      stack.pop_back();
      stack.back() = "(" + stack.back() + " " + right + ")";
    }
  }
  EXPECT_EQ(stack.size(), 1u);
  EXPECT_LT(deepest, size_t{ReductionTree::kMaxDepth});
  return stack[0];
}

std::vector<TreeNode> Leaves(int64_t begin, int64_t end) {
  std::vector<TreeNode> leaves;
  for (int64_t r = begin; r < end; ++r) leaves.push_back({r, r + 1});
  return leaves;
}

std::vector<std::string> Names(int64_t size) {
  std::vector<std::string> names;
  for (int64_t r = 0; r < size; ++r) names.push_back(std::to_string(r));
  return names;
}

TEST(ReductionTreeTest, FollowsTheRule) {
  EXPECT_EQ(ByRule({5}), "(((0 1) (2 3)) 4)");
  EXPECT_EQ(ByRule({3, 2}), "(((0 1) (2 3)) (4 5))");
  EXPECT_EQ(ByRule({2, 3}), "(((0 1) 2) ((3 4) 5))");
  std::vector<std::vector<int64_t>> cases = {
      {},        {1},       {1, 1},    {4, 1, 4},   {3, 3, 3},
      {2, 5, 7}, {7, 5, 2}, {1, 6, 1}, {2, 2, 2, 2}};
  for (int64_t n = 1; n <= 70; ++n) cases.push_back({n});
  for (const std::vector<int64_t>& axes : cases) {
    const ReductionTree tree(axes);
    const std::vector<std::string> names = Names(tree.size());
    EXPECT_EQ(
        Apply(tree.OrderOf({0, tree.size()}, Leaves(0, tree.size())), names),
        ByRule(axes))
        << ::testing::PrintToString(axes);
  }
}

// Whatever ranks are put together first, the rest makes the same tree of it.
TEST(ReductionTreeTest, NodesOfPartsGiveTheSameTree) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    std::vector<int64_t> axes(random() % 4);
    for (int64_t& axis : axes) axis = 1 + random() % 6;
    const ReductionTree tree(axes);
    const int64_t size = tree.size();
    const int64_t owners = 1 + random() % 5;
    std::vector<std::vector<int64_t>> ranks(owners);
    const bool strided = random() % 2;
    for (int64_t r = 0; r < size; ++r) {
      ranks[strided ? r % owners : random() % owners].push_back(r);
    }
    std::vector<TreeNode> parts;
    for (const std::vector<int64_t>& own : ranks) {
      int64_t covered = 0;
      for (const TreeNode& node : tree.MaximalNodes(own)) {
        parts.push_back(node);
        covered += node.size();
      }
      ASSERT_EQ(covered, static_cast<int64_t>(own.size()));
    }
    std::sort(
        parts.begin(), parts.end(),
        [](const TreeNode& a, const TreeNode& b) { return a.begin < b.begin; });
    std::vector<std::string> values;
    for (const TreeNode& part : parts) {
      values.push_back(Apply(tree.OrderOf(part, Leaves(0, size)), Names(size)));
    }
    ASSERT_EQ(Apply(tree.OrderOf({0, size}, parts), values), ByRule(axes));
  }
}

TEST(ReductionTreeTest, MaximalNodes) {
  const ReductionTree eight({8});
  EXPECT_THAT(eight.MaximalNodes({0, 1, 2, 3}), ElementsAre(TreeNode{0, 4}));
  EXPECT_THAT(eight.MaximalNodes({3, 4, 5, 6}),
              ElementsAre(TreeNode{3, 4}, TreeNode{4, 6}, TreeNode{6, 7}));
  EXPECT_THAT(eight.MaximalNodes({}), ElementsAre());
  // Blocks of four are nodes whatever their number; so are whole axes.
  const ReductionTree blocks({24});
  EXPECT_THAT(blocks.MaximalNodes({20, 21, 22, 23}),
              ElementsAre(TreeNode{20, 24}));
  const ReductionTree rows({5, 3});
  EXPECT_THAT(rows.MaximalNodes({3, 4, 5}), ElementsAre(TreeNode{3, 6}));
  EXPECT_THAT(rows.MaximalNodes({0, 3, 6, 9, 12}).size(), 5u);
}

}  // namespace
}  // namespace pathways::layout
