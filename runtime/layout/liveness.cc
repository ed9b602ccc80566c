//===- liveness.cc - Liveness of actions and edges ------------------------===//
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
#include <utility>
#include <vector>

namespace pathways::layout {
namespace {

bool Fits(const TokenEdge& edge, int64_t num_actions) {
  return edge.from >= 0 && edge.from < num_actions && edge.to >= 0 &&
         edge.to < num_actions && edge.tokens >= 0;
}

bool IsBad(const TokenEdge& edge) {
  return edge.tokens == 0 && edge.to <= edge.from;
}

// The edges without tokens, by the action that they leave, in edge order.
class TokenFreeGraph {
 public:
  TokenFreeGraph(int64_t num_actions, const std::vector<TokenEdge>& edges)
      : edges_(edges), first_(num_actions + 1, 0) {
    for (const TokenEdge& edge : edges) {
      if (edge.tokens == 0) ++first_[edge.from + 1];
    }
    for (int64_t i = 0; i < num_actions; ++i) first_[i + 1] += first_[i];
    out_.resize(first_[num_actions]);
    std::vector<int64_t> next(first_.begin(), first_.end() - 1);
    for (size_t e = 0; e < edges.size(); ++e) {
      if (edges[e].tokens == 0) {
        out_[next[edges[e].from]++] = static_cast<int64_t>(e);
      }
    }
  }

  // Returns for each action a number that it shares with exactly those actions
  // which are on a cycle with it. (Tarjan's strongly connected components, with
  // an explicit stack because tables are long.)
  std::vector<int64_t> Components() const {
    const auto n = static_cast<int64_t>(first_.size()) - 1;
    std::vector<int64_t> component(n, -1), low(n, 0), order(n, -1);
    std::vector<int64_t> open;  // visited; component still unknown
    std::vector<std::pair<int64_t, int64_t>> path;  // action, and its next edge
    int64_t visited = 0;
    int64_t components = 0;
    auto enter = [&](int64_t action) {
      order[action] = low[action] = visited++;
      open.push_back(action);
      path.emplace_back(action, first_[action]);
    };
    for (int64_t root = 0; root < n; ++root) {
      if (order[root] >= 0) continue;
      enter(root);
      while (!path.empty()) {
        auto [action, next] = path.back();
        if (next < first_[action + 1]) {
          ++path.back().second;
          int64_t to = edges_[out_[next]].to;
          if (order[to] < 0) {
            enter(to);
          } else if (component[to] < 0) {
            low[action] = std::min(low[action], order[to]);
          }
          continue;
        }
        path.pop_back();
        if (!path.empty()) {
          int64_t parent = path.back().first;
          low[parent] = std::min(low[parent], low[action]);
        }
        if (low[action] != order[action]) continue;
        int64_t member;
        do {
          member = open.back();
          open.pop_back();
          component[member] = components;
        } while (member != action);
        ++components;
      }
    }
    return component;
  }

  // Returns the edges of a shortest path between two actions. A path must
  // exist.
  std::vector<int64_t> ShortestPath(int64_t from, int64_t to) const {
    std::vector<int64_t> arrived_by(first_.size() - 1, -1);
    std::vector<int64_t> queue = {from};
    for (size_t i = 0; from != to && i < queue.size(); ++i) {
      int64_t action = queue[i];
      if (action == to) break;
      for (int64_t o = first_[action]; o < first_[action + 1]; ++o) {
        int64_t target = edges_[out_[o]].to;
        if (target == from || arrived_by[target] >= 0) continue;
        arrived_by[target] = out_[o];
        queue.push_back(target);
      }
    }
    std::vector<int64_t> path;
    for (int64_t at = to; at != from; at = edges_[path.back()].from) {
      path.push_back(arrived_by[at]);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  const std::vector<TokenEdge>& edges_;
  std::vector<int64_t> first_;  // per action, index in out_; and the end
  std::vector<int64_t> out_;    // edge indices
};

}  // namespace

Liveness CheckLiveness(int64_t num_actions,
                       const std::vector<TokenEdge>& edges) {
  Liveness result;
  for (size_t e = 0; e < edges.size(); ++e) {
    if (!Fits(edges[e], num_actions)) {
      return {/*live=*/false, /*bad_edge=*/static_cast<int64_t>(e), {}};
    }
    if (result.live && IsBad(edges[e])) {
      result.live = false;
      result.bad_edge = static_cast<int64_t>(e);
    }
  }
  if (result.live) return result;

  TokenFreeGraph graph(num_actions, edges);
  std::vector<int64_t> component = graph.Components();
  for (size_t e = result.bad_edge; e < edges.size(); ++e) {
    const TokenEdge& edge = edges[e];
    if (!IsBad(edge) || component[edge.from] != component[edge.to]) continue;
    result.bad_edge = static_cast<int64_t>(e);
    result.cycle = graph.ShortestPath(edge.to, edge.from);
    result.cycle.insert(result.cycle.begin(), result.bad_edge);
    break;
  }
  return result;
}

}  // namespace pathways::layout
