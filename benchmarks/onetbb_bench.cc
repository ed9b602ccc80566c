//===- onetbb_bench.cc - The chain of gangs as a flow graph -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// onetbb_bench [NODES STEPS] runs the work of dispatch_bench gang8 in oneTBB: 8
// lanes of NODES empty nodes, on two threads. It measures one graph for all
// steps; the "lightweight" policy, where a node may run inside the previous one
// and is no task; and a graph built for each step.
//
//===----------------------------------------------------------------------===//

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <string>

#include "benchmarks/bench.h"

namespace pathways::bench {
namespace {

namespace flow = oneapi::tbb::flow;
constexpr int kLanes = 8;

// Nodes are called through a pointer that the compiler cannot see through, like
// a kernel.
void Nothing() {}
void (*volatile kernel)() = Nothing;

using TaskNode = flow::continue_node<flow::continue_msg>;
using LightNode = flow::continue_node<flow::continue_msg, flow::lightweight>;

template <typename Node>
struct Graph {
  flow::graph graph;
  std::deque<Node> nodes;  // lane by lane
  int length;

  explicit Graph(int length) : length(length) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < length; ++i) {
        nodes.emplace_back(graph, [](const flow::continue_msg&) noexcept {
          kernel();
          return flow::continue_msg();
        });
        if (i > 0) flow::make_edge(nodes[nodes.size() - 2], nodes.back());
      }
    }
  }
  void Step() {
    for (int lane = 0; lane < kLanes; ++lane) {
      nodes[lane * length].try_put(flow::continue_msg());
    }
    graph.wait_for_all();
  }
};

template <typename Node>
void Reused(const std::string& name, int length, int steps) {
  Graph<Node> graph(length);
  for (int i = 0; i < steps / 10 + 1; ++i) graph.Step();
  const double start = Seconds();
  const std::clock_t cpu = std::clock();
  for (int i = 0; i < steps; ++i) graph.Step();
  const double gangs = double(length) * steps;
  Figure(name + ".us", (Seconds() - start) * 1e6 / gangs, "us");
  Figure(name + ".cpu_us",
         double(std::clock() - cpu) / CLOCKS_PER_SEC * 1e6 / gangs, "us");
}

int Main(int argc, char** argv) {
  const int length = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  const int steps = argc > 2 ? std::max(1, std::atoi(argv[2])) : 300;
  oneapi::tbb::global_control threads(
      oneapi::tbb::global_control::max_allowed_parallelism, 2);
  oneapi::tbb::task_arena arena(2);
  arena.execute([&] {
    Reused<TaskNode>("dispatch.gang8.onetbb", length, steps);
    Reused<LightNode>("dispatch.gang8.onetbb_lightweight", length, steps);
    const int built = steps / 10 + 1;
    const double start = Seconds();
    for (int i = 0; i < built; ++i) {
      Graph<TaskNode> graph(length);
      graph.Step();
    }
    Figure("dispatch.gang8.onetbb_built.us",
           (Seconds() - start) * 1e6 / (double(length) * built), "us");
  });
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
