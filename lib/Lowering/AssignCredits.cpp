//===- AssignCredits.cpp - Number of slots of each buffer -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns true if the value carried in the memory of `head` stays in the slot
/// where the next step reads it. Such steps follow each other anyway; with a
/// slot each, every step would copy the value. Another late reader needs a slot
/// that is not overwritten.
static bool staysInPlace(const ActionGraph &graph, uint32_t head) {
  if (!graph.isRing(head))
    return false;
  for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next)
    for (uint32_t reader : graph.buffers[b].readers)
      if (graph.isFeed(reader) && reader != graph.buffers[head].writer)
        return false;
  return true;
}

std::vector<uint32_t> mlir::pathways::assignCredits(const ActionGraph &graph,
                                                    uint32_t credits) {
  std::vector<uint32_t> result(graph.buffers.size());
  for (auto [number, buffer] : llvm::enumerate(graph.buffers)) {
    if (buffer.isName())
      continue;
    bool onlyGangs = graph.isGang(buffer.writer) &&
                     llvm::all_of(buffer.readers, [&](uint32_t reader) {
                       return graph.isGang(reader);
                     });
    result[number] = onlyGangs ? 1 : credits;
  }
  // Buffers that share bytes change slots together.
  for (uint32_t head = 0; head < graph.buffers.size(); ++head) {
    if (graph.buffers[head].previous != ActionGraph::kNone ||
        graph.buffers[head].isName())
      continue;
    uint32_t most = 0;
    for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next)
      most = std::max(most, result[b]);
    if (staysInPlace(graph, head))
      most = 1;
    for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next)
      result[b] = most;
  }
  for (uint32_t b = 0; b < graph.buffers.size(); ++b)
    result[b] = result[graph.getMemory(b)];
  return result;
}
