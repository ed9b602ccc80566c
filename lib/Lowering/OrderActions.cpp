//===- OrderActions.cpp - Total order of the actions ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include <queue>

using namespace mlir;
using namespace mlir::pathways;

FailureOr<std::vector<uint32_t>>
mlir::pathways::orderActions(const ActionGraph &graph) {
  size_t size = graph.actions.size();
  std::vector<SmallVector<uint32_t, 2>> next(size);
  std::vector<uint32_t> waits(size);
  auto wait = [&](uint32_t before, uint32_t after) {
    next[before].push_back(after);
    ++waits[after];
  };
  for (const ActionGraph::Buffer &buffer : graph.buffers) {
    uint32_t heir = buffer.next == ActionGraph::kNone
                        ? ActionGraph::kNone
                        : graph.buffers[buffer.next].writer;
    for (uint32_t reader : buffer.readers) {
      if (graph.isFeed(reader))
        continue;
      wait(buffer.writer, reader);
      if (heir != ActionGraph::kNone && heir != reader)
        wait(reader, heir);
    }
  }
  for (auto [number, action] : llvm::enumerate(graph.actions))
    if (action.kind == ActionGraph::Kind::Recv)
      wait(action.peer, number);
  for (auto [from, to] : graph.controls)
    wait(from, to);

  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t action = 0; action < size; ++action)
    if (!waits[action])
      ready.push(action);
  std::vector<uint32_t> order;
  order.reserve(size);
  while (!ready.empty()) {
    uint32_t action = ready.top();
    ready.pop();
    order.push_back(action);
    for (uint32_t after : next[action])
      if (!--waits[after])
        ready.push(after);
  }
  if (order.size() != size)
    return failure();
  return order;
}

void mlir::pathways::renumberActions(ActionGraph &graph,
                                     ArrayRef<uint32_t> order) {
  std::vector<uint32_t> place(order.size());
  std::vector<ActionGraph::Action> actions;
  actions.reserve(order.size());
  for (auto [position, action] : llvm::enumerate(order)) {
    place[action] = position;
    actions.push_back(std::move(graph.actions[action]));
  }
  for (ActionGraph::Action &action : actions)
    if (action.peer != ActionGraph::kNone)
      action.peer = place[action.peer];
  graph.actions = std::move(actions);
  for (ActionGraph::Buffer &buffer : graph.buffers) {
    buffer.writer = place[buffer.writer];
    for (uint32_t &reader : buffer.readers)
      reader = place[reader];
    llvm::sort(buffer.readers);
  }
  for (auto &[from, to] : graph.controls) {
    from = place[from];
    to = place[to];
  }
  for (ActionGraph::Argument &argument : graph.arguments)
    argument.action = place[argument.action];
  for (ActionGraph::Result &result : graph.results)
    result.action = place[result.action];
}
