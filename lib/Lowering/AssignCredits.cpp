//===- AssignCredits.cpp - How many slots each buffer has -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

using namespace mlir;
using namespace mlir::pathways;

std::vector<uint32_t> mlir::pathways::assignCredits(const ActionGraph &graph,
                                                    uint32_t credits) {
  std::vector<uint32_t> result(graph.buffers.size());
  for (auto [number, buffer] : llvm::enumerate(graph.buffers)) {
    bool onlyGangs = graph.isGang(buffer.writer) &&
                     llvm::all_of(buffer.readers, [&](uint32_t reader) {
                       return graph.isGang(reader);
                     });
    result[number] = onlyGangs ? 1 : credits;
  }
  // Buffers that share bytes turn with the same step.
  for (uint32_t head = 0; head < graph.buffers.size(); ++head) {
    if (graph.buffers[head].operand != ActionGraph::kNone ||
        graph.buffers[head].result == ActionGraph::kNone)
      continue;
    uint32_t most = 0;
    for (uint32_t b = head; b != ActionGraph::kNone;
         b = graph.buffers[b].result)
      most = std::max(most, result[b]);
    for (uint32_t b = head; b != ActionGraph::kNone;
         b = graph.buffers[b].result)
      result[b] = most;
  }
  return result;
}
