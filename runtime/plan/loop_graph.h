//===- loop_graph.h - Graph of the iterations of a loop ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_LOOP_GRAPH_H_
#define RUNTIME_PLAN_LOOP_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/loop_tables.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// The memory of a buffer of a loop and of those that take it over. Iteration
// i + slots enters when all uses of iteration i have ended.
struct LoopPlace {
  uint32_t buffer = 0;  // the first one in this memory
  uint32_t entry = 0;   // action that waits until the memory is free
  // Actions that use the memory of iteration i, in iteration i + lag.
  std::vector<LoopTables::Read> uses;
};

// Returns the place of `buffer`, a buffer of a loop that is no name and takes
// over no memory in it.
LoopPlace PlaceInLoop(const proto::Plan& plan, const LoopTables& tables,
                      uint32_t buffer);

// The neighbours of each node of a graph, in the order of the edges.
class Neighbours {
 public:
  // Node and neighbour of each edge; nodes are below `size`.
  using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

  Neighbours() = default;
  Neighbours(size_t size, const Edges& edges);

  absl::Span<const uint32_t> operator[](uint32_t node) const {
    return absl::MakeConstSpan(ends_).subspan(first_[node],
                                              first_[node + 1] - first_[node]);
  }

 private:
  std::vector<size_t> first_;   // by node
  std::vector<uint32_t> ends_;  // by node and edge
};

// A graph of the firings of a loop. A node is an action of the loop in one
// iteration, and waits for data, for the gang before it in the order of its
// slice, and for memory: what an alias takes over, and a slot. The plan must
// obey rules 1 and 11 of docs/plan-format.md.
class IterationGraph {
 public:
  // `loop` is the index of the loop in the table plus one.
  IterationGraph(const proto::Plan& plan, const LoopTables& tables,
                 uint32_t loop);

  uint32_t size() const { return static_cast<uint32_t>(waits_.size()); }
  uint32_t trips() const { return loop_.trips(); }
  uint32_t Node(uint32_t action, uint32_t iteration) const {
    return iteration * width_ + (action - first_);
  }
  uint32_t ActionOf(uint32_t node) const { return first_ + node % width_; }
  uint32_t IterationOf(uint32_t node) const { return node / width_; }
  // Returns for each node the number of those that it waits for; a node that it
  // waits for in several ways counts as often.
  const std::vector<uint32_t>& waits() const { return waits_; }
  // Returns the nodes that wait for `node`.
  absl::Span<const uint32_t> Next(uint32_t node) const { return next_[node]; }

 private:
  // Makes `after` wait, in each iteration, for `before` of `lag` iterations
  // earlier, or later if that is negative.
  void Wait(uint32_t before, uint32_t after, int64_t lag,
            Neighbours::Edges* edges);
  void WaitOnce(uint32_t before, uint32_t after, Neighbours::Edges* edges) {
    edges->emplace_back(before, after);
    ++waits_[after];
  }
  void AddData(Neighbours::Edges* edges);
  void AddTurns(Neighbours::Edges* edges);
  void AddOrder(Neighbours::Edges* edges);

  const proto::Plan& plan_;
  const LoopTables& tables_;
  const proto::Loop& loop_;
  const uint32_t number_;
  const uint32_t first_;
  const uint32_t width_;
  std::vector<uint32_t> waits_;  // by node
  Neighbours next_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_LOOP_GRAPH_H_
