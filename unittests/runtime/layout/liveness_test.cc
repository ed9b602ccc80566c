//===- liveness_test.cc - Liveness of token graphs ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/liveness.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pathways::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool Forward(const std::vector<TokenEdge>& edges,
             const std::vector<int64_t>& position) {
  return std::all_of(edges.begin(), edges.end(), [&](const TokenEdge& edge) {
    return edge.tokens > 0 || position[edge.from] < position[edge.to];
  });
}

// Returns true if some order of all actions works, by trying every order.
bool SomeOrderWorks(int64_t num_actions, const std::vector<TokenEdge>& edges) {
  std::vector<int64_t> position(num_actions);
  std::iota(position.begin(), position.end(), 0);
  do {
    if (Forward(edges, position)) return true;
  } while (std::next_permutation(position.begin(), position.end()));
  return false;
}

// Length in edges of the shortest way without tokens, by relaxing all edges
// again and again; a large number if there is none.
int64_t Distance(int64_t num_actions, const std::vector<TokenEdge>& edges,
                 int64_t from, int64_t to) {
  std::vector<int64_t> distance(num_actions, 1000);
  distance[from] = 0;
  for (int64_t round = 0; round < num_actions; ++round) {
    for (const TokenEdge& edge : edges) {
      if (edge.tokens > 0) continue;
      distance[edge.to] = std::min(distance[edge.to], distance[edge.from] + 1);
    }
  }
  return distance[to];
}

void CheckAgainstModel(int64_t num_actions,
                       const std::vector<TokenEdge>& edges) {
  Liveness result = CheckLiveness(num_actions, edges);
  std::vector<int64_t> table(num_actions);
  std::iota(table.begin(), table.end(), 0);
  ASSERT_EQ(result.live, Forward(edges, table));
  if (result.live) {
    ASSERT_EQ(result.bad_edge, -1);
    ASSERT_THAT(result.cycle, IsEmpty());
    return;
  }
  auto is_bad = [&](size_t e) {
    return edges[e].tokens == 0 && edges[e].to <= edges[e].from;
  };
  auto on_cycle = [&](size_t e) {
    return Distance(num_actions, edges, edges[e].to, edges[e].from) < 1000;
  };
  bool cyclic = !SomeOrderWorks(num_actions, edges);
  size_t expected = 0;
  while (!is_bad(expected) || (cyclic && !on_cycle(expected))) ++expected;
  ASSERT_EQ(result.bad_edge, static_cast<int64_t>(expected));
  ASSERT_EQ(result.cycle.empty(), !cyclic);
  if (!cyclic) return;
  ASSERT_EQ(result.cycle.front(), result.bad_edge);
  for (size_t i = 0; i < result.cycle.size(); ++i) {
    const TokenEdge& edge = edges[result.cycle[i]];
    const TokenEdge& next = edges[result.cycle[(i + 1) % result.cycle.size()]];
    ASSERT_EQ(edge.tokens, 0);
    ASSERT_EQ(edge.to, next.from);
  }
  ASSERT_EQ(static_cast<int64_t>(result.cycle.size()),
            1 + Distance(num_actions, edges, edges[expected].to,
                         edges[expected].from));
}

TEST(LivenessTest, RandomGraphsAgainstAllOrders) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  int live = 0, cyclic = 0, misordered = 0;
  for (int i = 0; i < 20000 && !HasFatalFailure(); ++i) {
    auto num_actions = static_cast<int64_t>(1 + random() % 6);
    std::vector<TokenEdge> edges(random() % 9);
    for (TokenEdge& edge : edges) {
      edge.from = static_cast<int64_t>(random() % num_actions);
      edge.to = static_cast<int64_t>(random() % num_actions);
      // Mostly forward, so that all three outcomes are frequent.
      if (random() % 2 == 0 && edge.from > edge.to) {
        std::swap(edge.from, edge.to);
      }
      edge.tokens = static_cast<int64_t>(random() % 3);
    }
    CheckAgainstModel(num_actions, edges);
    Liveness result = CheckLiveness(num_actions, edges);
    (result.live ? live : result.cycle.empty() ? misordered : cyclic) += 1;
  }
  EXPECT_GT(live, 1000);
  EXPECT_GT(cyclic, 1000);
  EXPECT_GT(misordered, 1000);
}

TEST(LivenessTest, AllGraphsOfThreeActionsWithThreeEdges) {
  std::vector<TokenEdge> all;
  for (int64_t from = 0; from < 3; ++from) {
    for (int64_t to = 0; to < 3; ++to) {
      all.push_back({from, to, 0});
      all.push_back({from, to, 1});
    }
  }
  for (const TokenEdge& a : all) {
    for (const TokenEdge& b : all) {
      for (const TokenEdge& c : all) {
        ASSERT_NO_FATAL_FAILURE(CheckAgainstModel(3, {a, b, c}));
      }
    }
  }
}

TEST(LivenessTest, PrefersAnEdgeThatNoOrderHelps) {
  // 3 -> 2 only needs another order; 1 -> 0 -> 1 is a cycle.
  Liveness result = CheckLiveness(4, {{3, 2, 0}, {0, 1, 0}, {1, 0, 0}});
  EXPECT_FALSE(result.live);
  EXPECT_EQ(result.bad_edge, 2);
  EXPECT_THAT(result.cycle, ElementsAre(2, 1));
}

TEST(LivenessTest, EmptyAndSelf) {
  EXPECT_TRUE(CheckLiveness(0, {}).live);
  EXPECT_TRUE(CheckLiveness(1, {{0, 0, 1}}).live);
  EXPECT_THAT(CheckLiveness(1, {{0, 0, 0}}).cycle, ElementsAre(0));
}

TEST(LivenessTest, EdgesThatDoNotFitAreBad) {
  for (TokenEdge edge : std::vector<TokenEdge>{
           {0, 2, 1}, {2, 0, 1}, {-1, 0, 1}, {0, -1, 1}, {0, 1, -1}}) {
    Liveness result = CheckLiveness(2, {{0, 1, 0}, edge});
    EXPECT_FALSE(result.live);
    EXPECT_EQ(result.bad_edge, 1);
    EXPECT_THAT(result.cycle, IsEmpty());
  }
}

// Deep enough to end a recursive search, and long enough to end a quadratic
// one.
TEST(LivenessTest, LongChain) {
  const int64_t n = 1'000'000;
  std::vector<TokenEdge> edges;
  for (int64_t i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1, 0});
  EXPECT_TRUE(CheckLiveness(n, edges).live);
  edges.push_back({n - 1, 0, 0});
  Liveness result = CheckLiveness(n, edges);
  EXPECT_EQ(result.bad_edge, n - 1);
  EXPECT_EQ(result.cycle.size(), static_cast<size_t>(n));
}

}  // namespace
}  // namespace pathways::layout
