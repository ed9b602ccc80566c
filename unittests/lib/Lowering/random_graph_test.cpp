//===- random_graph_test.cpp - Plans of random graphs ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random graphs go through all steps. The verifier accepts the results, and the
// token machine, which shares none of its rules, executes them in random
// orders, which reveals values that are overwritten too early.
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

#include "runtime/plan/verify.h"
#include "unittests/runtime/plan/token_machine.h"
#include <random>

namespace mlir::pathways {
namespace {

namespace proto = ::pathways::proto;

struct RandomGraphTest : public GraphTest {
  struct Value {
    uint32_t buffer;
    uint32_t slice;
    int64_t elements;
    bool isLate = false; ///< some feed reads it one step later
    /// another buffer takes its memory after its last reader
    bool isTaken = false;
  };

  uint64_t below(uint64_t bound) { return random() % bound; }
  bool oneIn(uint64_t n) { return below(n) == 0; }

  uint32_t feed(uint32_t slice, bool isStepped) {
    uint32_t action = add(Kind::Feed, slice);
    graph.actions[action].interface = graph.arguments.size();
    graph.arguments.push_back(
        {"a" + std::to_string(graph.arguments.size()), action, isStepped});
    values.push_back({write(action, 64), slice, 64});
    return action;
  }

  /// Adds a result that fetches `buffer`. Returns its number.
  uint32_t result(uint32_t buffer) {
    uint32_t action = add(Kind::Fetch, graph.buffers[buffer].slice);
    graph.addRead(action, buffer);
    graph.actions[action].interface = graph.results.size();
    graph.results.push_back({"r" + std::to_string(graph.results.size()), action,
                             /*isStepped=*/oneIn(2)});
    return graph.results.size() - 1;
  }

  /// Returns a value on `slice` that may be read again.
  Value *pick(uint32_t slice) {
    std::vector<Value *> found;
    for (Value &value : values)
      if (value.slice == slice && !value.isTaken)
        found.push_back(&value);
    return found.empty() ? nullptr : found[below(found.size())];
  }

  void addGang() {
    uint32_t slice = below(2), action = add(Kind::Gang, slice);
    for (uint64_t n = below(4); n-- > 0;)
      if (Value *value = pick(slice))
        graph.addRead(action, value->buffer);
    for (uint64_t n = 1 + below(2); n-- > 0;) {
      int64_t elements = oneIn(3) ? 256 : 64;
      values.push_back({write(action, elements), slice, elements});
    }
  }

  void addInPlace() {
    uint32_t slice = below(2);
    Value *value = pick(slice);
    if (!value || value->isLate)
      return;
    uint32_t operand = value->buffer, action = add(Kind::Gang, slice);
    value->isTaken = true;
    graph.addRead(action, operand);
    int64_t elements = value->elements;
    uint32_t made = write(action, elements);
    graph.addAlias(action, operand, made);
    values.push_back({made, slice, elements});
  }

  void addMove() {
    uint32_t slice = below(2);
    Value *value = pick(slice);
    if (!value)
      return;
    int64_t elements = value->elements;
    uint32_t target = oneIn(4) ? slice : 1 - slice;
    uint32_t send = add(Kind::Send, slice), recv = add(Kind::Recv, target);
    graph.actions[send].peer = recv;
    graph.actions[recv].peer = send;
    graph.addRead(send, value->buffer);
    values.push_back({write(recv, elements), target, elements});
  }

  /// Gives a carried argument its next value: the value that has its memory, or
  /// any.
  void carry(uint32_t feed, uint32_t credits) {
    uint32_t now = graph.actions[feed].results.front();
    uint32_t slice = graph.actions[feed].slice;
    uint32_t next = graph.getLast(now);
    bool isFree = next != now || oneIn(4);
    for (unsigned tries = 0; !isFree && tries < 8; ++tries) {
      Value *value = pick(slice);
      uint32_t buffer = value ? value->buffer : now;
      const ActionGraph::Buffer &entry = graph.buffers[buffer];
      // With one slot a feed may not read a value that a feed writes in the
      // same firing.
      if (entry.layout != graph.buffers[now].layout ||
          entry.previous != ActionGraph::kNone ||
          (graph.isFeed(entry.writer) && entry.writer != feed && credits == 1))
        continue;
      next = buffer;
      isFree = true;
    }
    for (Value &value : values)
      if (value.buffer == next)
        value.isLate = true;
    graph.arguments[graph.actions[feed].interface].from = result(next);
    carries.emplace_back(feed, next);
  }

  proto::Plan make(uint64_t seed) {
    random.seed(seed);
    ActionGraph empty("program", graph.loc);
    empty.slices = graph.slices;
    graph = std::move(empty);
    values.clear();
    carries.clear();
    uint32_t window = 1 + below(4), credits = 1 + below(window);
    std::vector<uint32_t> feeds;
    for (uint32_t slice : {0, 1})
      for (uint64_t n = 1 + below(3); n-- > 0;) {
        bool isStepped = oneIn(4);
        uint32_t action = feed(slice, isStepped);
        if (!isStepped && oneIn(2))
          feeds.push_back(action);
      }
    for (uint64_t n = 4 + below(16); n-- > 0;) {
      uint64_t what = below(8);
      what < 3 ? addGang() : what < 6 ? addInPlace() : addMove();
    }
    for (uint32_t feed : feeds)
      carry(feed, credits);
    for (uint64_t n = 1 + below(2); n-- > 0;)
      if (Value *value = pick(below(2)))
        result(value->buffer);
    for (auto [feed, next] : carries)
      graph.addRead(feed, next);

    renumberActions(graph, *orderActions(graph));
    joinCarried(graph, credits);
    for (uint32_t b = 0; b < graph.buffers.size(); ++b)
      rings += graph.buffers[b].next != ActionGraph::kNone && graph.isRing(b);
    proto::Plan plan = emit(credits, window);
    for (const ::pathways::MemoryTurn &turn : ::pathways::FindTurns(plan))
      receivedInTurn += !turn.is_later && graph.isMoved(turn.after);
    return plan;
  }

  std::mt19937_64 random;
  std::vector<Value> values;
  std::vector<std::pair<uint32_t, uint32_t>> carries;
  int rings = 0;
  int receivedInTurn = 0; ///< buffers received into the place of another one
};

TEST_F(RandomGraphTest, PlansVerifyAndPlay) {
  for (uint64_t i = 0; i < 2000; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << i);
    proto::Plan plan = make(i);
    for (const ::pathways::PlanIssue &issue :
         ::pathways::VerifyPlan(plan, /*blob_bytes=*/0))
      ADD_FAILURE() << issue.message;
    EXPECT_EQ(::pathways::testing::PlayPlan(plan, /*steps=*/8, i), "");
    if (HasFailure())
      break;
  }
  EXPECT_GT(rings, 200);
  EXPECT_GT(receivedInTurn, 200);
}

} // namespace
} // namespace mlir::pathways
