//===- DeriveEdges.cpp - Who waits for whom -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

namespace {

class EdgeDeriver {
public:
  EdgeDeriver(const ActionGraph &graph, ArrayRef<uint32_t> credits)
      : graph(graph), credits(credits) {}

  void addData(uint32_t buffer);
  void orderTurn(const MemoryPlan::Turn &turn);
  void addControl(uint32_t from, uint32_t to, uint32_t stepsInFlight);
  std::vector<PlanEdge> take() { return std::move(edges); }

private:
  void closeTurns(uint32_t last, uint32_t head);
  void add(const PlanEdge &edge);
  /// How whatever enters a buffer anew is bound to its shards.
  proto::Relation getEntryRelation(uint32_t buffer) const {
    return graph.isMoved(buffer) ? proto::PIECES : proto::SAME;
  }

  const ActionGraph &graph;
  ArrayRef<uint32_t> credits;
  std::vector<PlanEdge> edges;
  llvm::DenseSet<std::pair<uint64_t, uint64_t>> known; // ends; all the rest
};

} // namespace

void EdgeDeriver::add(const PlanEdge &edge) {
  uint64_t ends = uint64_t{edge.from} << 32 | edge.to;
  uint64_t what = uint64_t{edge.tokens} << 8 | uint64_t(edge.kind) << 4 |
                  uint64_t(edge.relation);
  if (known.insert({ends, what}).second)
    edges.push_back(edge);
}

void EdgeDeriver::addData(uint32_t buffer) {
  const ActionGraph::Buffer &use = graph.buffers[buffer];
  uint32_t entry = graph.getEntry(buffer);
  proto::Relation back = getEntryRelation(buffer);
  if (graph.isMoved(buffer)) {
    add({entry, use.writer, 0, proto::DATA, proto::PIECES});
    if (use.readers.empty())
      add({use.writer, entry, credits[buffer], proto::CREDIT, back});
  }
  for (uint32_t reader : use.readers) {
    // A feed reads what was written one firing before its own.
    uint32_t lag = graph.isFeed(reader);
    add({use.writer, reader, lag, proto::DATA, proto::SAME});
    add({reader, entry, credits[buffer] - lag, proto::CREDIT, back});
  }
  // Carried as it is: poison goes on to the next firing of its feed.
  if (graph.isFeed(use.writer) &&
      llvm::is_contained(graph.actions[use.writer].operands, buffer))
    add({use.writer, use.writer, 1, proto::DATA, proto::SAME});
}

/// `turn.after` waits for who uses `turn.before`.
void EdgeDeriver::orderTurn(const MemoryPlan::Turn &turn) {
  const ActionGraph::Buffer &buffer = graph.buffers[turn.before];
  if (turn.isLater)
    return closeTurns(turn.before, turn.after);
  // A gang: the others take no bytes but those that nobody had in their firing.
  uint32_t writer = graph.buffers[turn.after].writer;
  for (uint32_t reader : buffer.readers) {
    if (graph.isGang(reader))
      continue;
    add({reader, writer, 0, proto::REUSE, proto::SAME});
    // The way back, which queue order gives when a gang wrote the buffer.
    if (!graph.isGang(buffer.writer))
      add({writer, reader, credits[turn.before], proto::REUSE, proto::SAME});
  }
  // What nobody reads is there until its writer is done.
  if (buffer.readers.empty() && !graph.isGang(buffer.writer))
    add({buffer.writer, writer, 0, proto::REUSE, proto::SAME});
}

/// `last` is the last one of a firing somewhere, `head` the first one there.
void EdgeDeriver::closeTurns(uint32_t last, uint32_t head) {
  uint32_t copies = credits[head];
  bool gangs = graph.isGang(graph.buffers[head].writer);
  // The feed of a ring reads the last buffer where it writes the first, and has
  // its edges from that. Its credit leads back to all gangs behind the writer.
  bool isRing = graph.isRing(head);
  uint32_t entry = graph.getEntry(head);
  proto::Relation relation = getEntryRelation(head);
  uint32_t lastGang = graph.buffers[last].writer;
  for (uint32_t reader : graph.buffers[last].readers) {
    if (graph.isGang(reader)) {
      lastGang = reader;
      continue;
    }
    if (isRing && reader == entry)
      continue;
    add({reader, entry, copies, proto::REUSE, relation});
    if (!gangs && !isRing)
      add({graph.buffers[head].writer, reader, 0, proto::REUSE, proto::SAME});
  }
  // A gang that reads the head has the right edge already, as a credit, and the
  // one that writes what a ring's feed reads has it as data.
  bool isKnown = llvm::is_contained(graph.buffers[head].readers, lastGang) ||
                 (isRing && lastGang == graph.buffers[last].writer);
  if (!gangs && !isKnown)
    add({lastGang, entry, copies, proto::REUSE, relation});
}

void EdgeDeriver::addControl(uint32_t from, uint32_t to,
                             uint32_t stepsInFlight) {
  add({from, to, 0, proto::CONTROL, proto::ALL});
  // The way back keeps the number of open firings bounded; unlike a control
  // edge it carries no poison.
  add({to, from, stepsInFlight, proto::CREDIT, proto::ALL});
}

std::vector<PlanEdge> mlir::pathways::deriveEdges(const ActionGraph &graph,
                                                  ArrayRef<uint32_t> credits,
                                                  const MemoryPlan &memory,
                                                  uint32_t stepsInFlight) {
  EdgeDeriver deriver(graph, credits);
  for (uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer)
    deriver.addData(buffer);
  for (const MemoryPlan::Turn &turn : memory.turns)
    deriver.orderTurn(turn);
  for (auto [from, to] : graph.controls)
    deriver.addControl(from, to, stepsInFlight);
  return deriver.take();
}
