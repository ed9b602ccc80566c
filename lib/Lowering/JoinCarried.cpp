//===- JoinCarried.cpp - Carried arguments updated in place ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

class CarriedJoiner {
public:
  CarriedJoiner(ActionGraph &graph, uint32_t credits)
      : graph(graph), credits(credits) {}

  /// Returns null if the next value of `argument` is in the memory of the
  /// argument, else the reason why it is not.
  const char *join(uint32_t argument);

private:
  /// Returns true if a feed other than `feed` reads a buffer in the memory that
  /// begins with `first`.
  bool isTakenLate(uint32_t first, uint32_t feed) const;
  /// Returns the last action that uses the memory that begins with `first`.
  uint32_t getEnd(uint32_t first) const;
  bool isSent(uint32_t buffer) const {
    return llvm::any_of(graph.buffers[buffer].readers, [&](uint32_t reader) {
      return graph.actions[reader].kind == ActionGraph::Kind::Send &&
             graph.actions[graph.actions[reader].peer].slice !=
                 graph.actions[reader].slice;
    });
  }

  ActionGraph &graph;
  uint32_t credits;
};

} // namespace

bool CarriedJoiner::isTakenLate(uint32_t first, uint32_t feed) const {
  for (uint32_t b = first; b != ActionGraph::kNone; b = graph.buffers[b].next)
    for (uint32_t reader : graph.buffers[b].readers)
      if (graph.isFeed(reader) && reader != feed)
        return true;
  return false;
}

uint32_t CarriedJoiner::getEnd(uint32_t first) const {
  uint32_t end = 0;
  for (uint32_t b = first; b != ActionGraph::kNone; b = graph.buffers[b].next) {
    end = std::max(end, graph.getEnd(graph.buffers[b].writer));
    for (uint32_t reader : graph.buffers[b].readers)
      end = std::max(end, graph.getEnd(reader));
  }
  return end;
}

const char *CarriedJoiner::join(uint32_t argument) {
  uint32_t feed = graph.arguments[argument].action;
  uint32_t now = graph.actions[feed].results.front();
  uint32_t next = graph.getMemory(graph.actions[feed].operands.front());
  uint32_t entry = graph.getFirst(next);
  uint32_t writer = graph.buffers[entry].writer;
  if (isTakenLate(now, feed) || isTakenLate(entry, feed))
    return "another argument also takes it, or its next value, from the "
           "previous step";
  if (graph.isRing(now))
    return nullptr;
  if (graph.isFeed(writer))
    return "its next value is another argument";
  if (graph.buffers[entry].loop != ActionGraph::kNone)
    return "its next value is made by the iterations of a loop";
  if (!graph.isGang(writer))
    return "its next value is the result of a movement";
  if (credits > 1 && isSent(next))
    return "its next value is sent to another slice, while the next step "
           "begins";
  if (getEnd(now) >= writer)
    return "it is still read when its next value is written";
  graph.addSuccessor(graph.getLast(now), entry);
  return nullptr;
}

std::vector<CarriedCopy> mlir::pathways::joinCarried(ActionGraph &graph,
                                                     uint32_t credits) {
  std::vector<CarriedCopy> copies;
  CarriedJoiner joiner(graph, credits);
  for (auto [number, argument] : llvm::enumerate(graph.arguments)) {
    if (argument.from == ActionGraph::kNone)
      continue;
    if (const char *reason = joiner.join(number))
      copies.push_back({static_cast<uint32_t>(number), reason});
  }
  return copies;
}
