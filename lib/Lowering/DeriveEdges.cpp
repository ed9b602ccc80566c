//===- DeriveEdges.cpp - Edges between actions ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include "llvm/ADT/DenseSet.h"
#include <optional>

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
  void orderSend(uint32_t before, uint32_t after);
  void closeTurns(uint32_t last, uint32_t head);
  std::optional<uint32_t> findLastGang(uint32_t buffer) const;
  bool isReadByGang(uint32_t buffer) const;
  void add(const PlanEdge &edge);
  /// Returns the relation between the shards of a buffer and those of the
  /// action that writes it.
  proto::Relation getEntryRelation(uint32_t buffer) const {
    return graph.isMoved(buffer) ? proto::PIECES : proto::SAME;
  }

  const ActionGraph &graph;
  ArrayRef<uint32_t> credits;
  std::vector<PlanEdge> edges;
  llvm::DenseSet<std::pair<uint64_t, uint64_t>>
      known; // ends and all other fields
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
    // A feed reads the value of the previous firing.
    uint32_t lag = graph.isFeed(reader);
    add({use.writer, reader, lag, proto::DATA, proto::SAME});
    add({reader, entry, credits[buffer] - lag, proto::CREDIT, back});
  }
  // The value is carried unchanged: poison propagates to the next firing of its
  // feed.
  if (graph.isFeed(use.writer) &&
      llvm::is_contained(graph.actions[use.writer].operands, buffer))
    add({use.writer, use.writer, 1, proto::DATA, proto::SAME});
}

/// Makes `turn.after` wait for the users of `turn.before`.
void EdgeDeriver::orderTurn(const MemoryPlan::Turn &turn) {
  if (turn.isLater)
    return closeTurns(turn.before, turn.after);
  if (graph.isMoved(turn.after))
    return orderSend(turn.before, turn.after);
  // A gang writes `after`: a feed takes only bytes that no buffer had in the
  // same firing.
  const ActionGraph::Buffer &buffer = graph.buffers[turn.before];
  uint32_t writer = graph.buffers[turn.after].writer;
  for (uint32_t reader : buffer.readers) {
    if (graph.isGang(reader))
      continue;
    add({reader, writer, 0, proto::REUSE, proto::SAME});
    // The edge back. Queue order implies it if a gang wrote the buffer.
    if (!graph.isGang(buffer.writer))
      add({writer, reader, credits[turn.before], proto::REUSE, proto::SAME});
  }
  // A buffer without readers occupies its bytes until its writer is done.
  if (buffer.readers.empty() && !graph.isGang(buffer.writer)) {
    add({buffer.writer, writer, 0, proto::REUSE, proto::SAME});
    if (graph.isMoved(turn.before))
      add({writer, buffer.writer, credits[turn.before], proto::REUSE,
           proto::SAME});
  }
}

/// Returns the last gang that accesses `buffer`, unless another access follows
/// that gang's. Queue order puts all other gangs before it.
std::optional<uint32_t> EdgeDeriver::findLastGang(uint32_t buffer) const {
  const ActionGraph::Buffer &use = graph.buffers[buffer];
  for (uint32_t reader : llvm::reverse(use.readers))
    if (graph.isGang(reader))
      return reader;
  if (use.readers.empty() && graph.isGang(use.writer))
    return use.writer;
  return std::nullopt;
}

/// Makes the send to `after` wait for the users of `before`, which has its
/// bytes. Queue order leads back to a gang from the gangs that read the
/// received value. If there are none, and for other actions, an edge leads
/// back.
void EdgeDeriver::orderSend(uint32_t before, uint32_t after) {
  const ActionGraph::Buffer &old = graph.buffers[before];
  uint32_t send = graph.getEntry(after), recv = graph.buffers[after].writer;
  auto wait = [&](uint32_t user, bool hasWayBack) {
    add({user, send, 0, proto::REUSE, proto::PIECES});
    if (!hasWayBack)
      add({recv, user, credits[after], proto::REUSE, proto::SAME});
  };
  for (uint32_t reader : old.readers)
    if (!graph.isGang(reader))
      wait(reader, /*hasWayBack=*/false);
  if (old.readers.empty() && !graph.isGang(old.writer))
    wait(old.writer, /*hasWayBack=*/false);
  if (std::optional<uint32_t> gang = findLastGang(before))
    wait(*gang, isReadByGang(after));
}

bool EdgeDeriver::isReadByGang(uint32_t buffer) const {
  return llvm::any_of(graph.buffers[buffer].readers,
                      [&](uint32_t reader) { return graph.isGang(reader); });
}

/// Closes the cycle of buffers in some bytes: `last` is the last buffer of a
/// firing there, `head` the first one.
void EdgeDeriver::closeTurns(uint32_t last, uint32_t head) {
  const ActionGraph::Buffer &old = graph.buffers[last];
  uint32_t copies = credits[head], writer = graph.buffers[head].writer;
  bool gangs = graph.isGang(writer);
  // The feed of a ring reads the last buffer and writes the first, and has its
  // edges from that. Its credit leads back to all gangs after the writer.
  bool isRing = graph.isRing(head);
  uint32_t entry = graph.getEntry(head);
  proto::Relation relation = getEntryRelation(head);
  auto wait = [&](uint32_t user) {
    add({user, entry, copies, proto::REUSE, relation});
    // The edge back. Queue order implies it from a gang to a gang, or to an
    // action that reads the gang's buffer.
    if ((!gangs || !graph.isGang(old.writer)) && !isRing)
      add({writer, user, 0, proto::REUSE, proto::SAME});
  };
  for (uint32_t reader : old.readers)
    if (!graph.isGang(reader) && !(isRing && reader == entry))
      wait(reader);
  // A buffer without readers occupies its bytes until its writer is done.
  if (old.readers.empty() && graph.isMoved(last))
    wait(old.writer);
  if (gangs)
    return;
  // The entry follows the gang that wrote the buffer, if no gang reads it. A
  // received buffer counts only once its recv is done.
  std::optional<uint32_t> lastGang = findLastGang(last);
  if (!lastGang && !graph.isMoved(last))
    lastGang = old.writer;
  // A gang that reads the head already has this edge as a credit, and the gang
  // that writes the buffer of a ring's feed has it as data.
  if (!lastGang || llvm::is_contained(graph.buffers[head].readers, *lastGang) ||
      (isRing && *lastGang == old.writer))
    return;
  add({*lastGang, entry, copies, proto::REUSE, relation});
  if (graph.isMoved(head) && !isReadByGang(head))
    add({writer, *lastGang, 0, proto::REUSE, proto::SAME});
}

void EdgeDeriver::addControl(uint32_t from, uint32_t to,
                             uint32_t stepsInFlight) {
  add({from, to, 0, proto::CONTROL, proto::ALL});
  // The edge back bounds the number of open firings; unlike a control edge it
  // carries no poison.
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
