//===- loop_graph.cc - Graph of the iterations of a loop ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/loop_graph.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/plan/tables.h"

namespace pathways {

LoopPlace PlaceInLoop(const proto::Plan& plan, const LoopTables& tables,
                      uint32_t buffer) {
  LoopPlace place;
  place.buffer = buffer;
  place.entry = EntryOf(plan, tables.WriterOf(buffer));
  for (uint32_t member : tables.ChainOf(buffer)) {
    place.uses.push_back({tables.WriterOf(member), 0});
    for (const LoopTables::Read& read : tables.ReadsOf(member))
      if (tables.IsInside(read.action)) place.uses.push_back(read);
  }
  return place;
}

Neighbours::Neighbours(size_t size, const Edges& edges)
    : first_(size + 1), ends_(edges.size()) {
  for (const auto& [node, end] : edges) ++first_[node + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<size_t> at(first_.begin(), first_.end() - 1);
  for (const auto& [node, end] : edges) ends_[at[node]++] = end;
}

IterationGraph::IterationGraph(const proto::Plan& plan,
                               const LoopTables& tables, uint32_t loop)
    : plan_(plan),
      tables_(tables),
      loop_(plan.loops(static_cast<int>(loop) - 1)),
      number_(loop),
      first_(tables.FirstAction(loop)),
      width_(tables.NumActions(loop)),
      waits_(size_t{width_} * loop_.trips()) {
  Neighbours::Edges edges;
  AddData(&edges);
  AddTurns(&edges);
  AddOrder(&edges);
  next_ = Neighbours(waits_.size(), edges);
}

void IterationGraph::Wait(uint32_t before, uint32_t after, int64_t lag,
                          Neighbours::Edges* edges) {
  const int64_t trips = loop_.trips();
  for (int64_t i = std::max<int64_t>(lag, 0); i < std::min(trips, trips + lag);
       ++i)
    WaitOnce(Node(before, static_cast<uint32_t>(i - lag)),
             Node(after, static_cast<uint32_t>(i)), edges);
}

void IterationGraph::AddData(Neighbours::Edges* edges) {
  for (uint32_t a = first_; a < first_ + width_; ++a) {
    const proto::Action& action = plan_.actions(static_cast<int>(a));
    for (uint32_t b : action.operands()) {
      const LoopTables::Content content = tables_.ContentOf(b);
      if (content.loop == number_ && tables_.IsInside(content.writer))
        Wait(content.writer, a, content.lag, edges);
    }
    if (action.kind() == proto::RECV) Wait(action.peer(), a, 0, edges);
  }
}

// Adds what waits until the users of a place have left it.
void IterationGraph::AddTurns(Neighbours::Edges* edges) {
  for (uint32_t number : tables_.BuffersOf(number_)) {
    const proto::Buffer& buffer = plan_.buffers(static_cast<int>(number));
    if (!tables_.IsInside(tables_.WriterOf(number))) continue;
    // An action that takes the memory of an operand waits for the other readers
    // of the operand.
    const LoopTables::Alias* alias = tables_.AliasOf(number);
    if (alias != nullptr) {
      const LoopTables::Content content = tables_.ContentOf(alias->operand);
      const uint32_t writer = tables_.WriterOf(number);
      if (content.loop != number_) continue;
      for (const LoopTables::Read& read : tables_.ReadsOf(content.buffer))
        if (tables_.IsInside(read.action) && read.action != writer)
          Wait(read.action, writer, int64_t{content.lag} - read.lag, edges);
      continue;
    }
    if (buffer.iteration_slots() >= loop_.trips()) continue;
    const LoopPlace place = PlaceInLoop(plan_, tables_, number);
    for (const LoopTables::Read& use : place.uses)
      Wait(use.action, place.entry, int64_t{buffer.iteration_slots()} - use.lag,
           edges);
  }
}

void IterationGraph::AddOrder(Neighbours::Edges* edges) {
  std::map<uint32_t, uint32_t> last;  // node, by slice
  ForEachCell(loop_, [&](uint32_t slice, uint32_t gang, uint64_t iteration) {
    const uint32_t node = Node(gang, static_cast<uint32_t>(iteration));
    auto [it, is_first] = last.try_emplace(slice, node);
    if (!is_first) WaitOnce(std::exchange(it->second, node), node, edges);
    return true;
  });
}

}  // namespace pathways
