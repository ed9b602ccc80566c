//===- join_carried_test.cpp - Values carried from step to step -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

namespace mlir::pathways {
namespace {

namespace proto = ::pathways::proto;
using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

struct JoinCarriedTest : public GraphTest {
  /// Adds a carried argument. Returns its buffer.
  uint32_t carried() {
    uint32_t feed = add(Kind::Feed);
    graph.arguments.push_back({"x", feed, /*isStepped=*/false, /*from=*/0});
    return write(feed);
  }
  /// Makes the feed of the argument in `buffer` read `next` one step later.
  void carry(uint32_t buffer, uint32_t next) {
    graph.addRead(graph.buffers[buffer].writer, next);
  }
  /// Returns why the only copied argument is copied, or "none".
  std::string copies(uint32_t credits = 2) {
    std::vector<CarriedCopy> copies = joinCarried(graph, credits);
    return copies.empty() ? "none" : copies.front().reason;
  }
};

TEST_F(JoinCarriedTest, WhatComesLaterLiesWhereTheArgumentDid) {
  uint32_t x = carried(), between = write(gang({x})),
           y = write(gang({between}));
  carry(x, y);
  EXPECT_EQ(copies(), "none");
  EXPECT_EQ(graph.buffers[x].next, y);
  EXPECT_TRUE(graph.isRing(x));
  std::vector<uint32_t> credits = assignCredits(graph, 4);
  EXPECT_EQ(credits, Numbers({1, 1, 1}));
  MemoryPlan memory = *placeMemory(graph, credits);
  EXPECT_EQ(memory.places[x].offset, memory.places[y].offset);
  EXPECT_NE(memory.places[x].offset, memory.places[between].offset);
}

TEST_F(JoinCarriedTest, AnAliasIsEnough) {
  uint32_t x = carried(), inPlace = gang({x}), y = write(inPlace);
  graph.addAlias(inPlace, x, y);
  carry(x, y);
  EXPECT_EQ(copies(), "none");
  EXPECT_EQ(assignCredits(graph, 4), Numbers({1, 1}));
}

TEST_F(JoinCarriedTest, TheNextStepWaitsForWhoReadsTheValue) {
  uint32_t x = carried(), feed = graph.buffers[x].writer;
  uint32_t inPlace = gang({x}), y = write(inPlace);
  graph.addAlias(inPlace, x, y);
  uint32_t reader = gang({y}), taken = fetch(y);
  carry(x, y);
  joinCarried(graph, 2);
  std::vector<PlanEdge> edges = derive();
  EXPECT_THAT(edges,
              Contains(PlanEdge{taken, feed, 1, proto::REUSE, proto::SAME}));
  EXPECT_THAT(edges,
              Contains(PlanEdge{reader, feed, 1, proto::REUSE, proto::SAME}));
  // The feed reads where it writes, so nothing overwrites its input.
  EXPECT_THAT(
      edges, Not(Contains(PlanEdge{feed, feed, 1, proto::REUSE, proto::SAME})));
}

TEST_F(JoinCarriedTest, WhatIsCarriedAsItIsStays) {
  uint32_t x = carried(), feed = graph.buffers[x].writer;
  gang({x});
  carry(x, x);
  EXPECT_EQ(copies(), "none");
  EXPECT_EQ(assignCredits(graph, 4), Numbers({1}));
  EXPECT_THAT(derive(),
              Contains(PlanEdge{feed, feed, 1, proto::DATA, proto::SAME}));
}

TEST_F(JoinCarriedTest, ButNotWhenAnotherArgumentTakesIt) {
  uint32_t x = carried(), y = carried();
  carry(x, x);
  carry(y, x);
  EXPECT_THAT(copies(), StartsWith("another argument also takes it"));
  EXPECT_EQ(assignCredits(graph, 4), Numbers({4, 4}));
}

TEST_F(JoinCarriedTest, AnArgumentThatIsReadUntilThenIsCopied) {
  uint32_t x = carried(), y = write(gang({x}));
  carry(x, y);
  EXPECT_THAT(copies(), StartsWith("it is still read"));
  EXPECT_FALSE(graph.isRing(x));
}

TEST_F(JoinCarriedTest, WhatIsSentIsCopiedWhileStepsOverlap) {
  uint32_t x = carried(), between = write(gang({x})),
           y = write(gang({between}));
  write(move(y).second);
  carry(x, y);
  EXPECT_THAT(copies(2), StartsWith("its next value is sent"));
  EXPECT_EQ(copies(1), "none");
}

TEST_F(JoinCarriedTest, WhatIsReceivedIsCopied) {
  uint32_t feed = add(Kind::Feed, 1);
  graph.arguments.push_back({"x", feed, /*isStepped=*/false, /*from=*/0});
  uint32_t x = write(feed), received = write(move(write(gang({}))).second);
  carry(x, received);
  EXPECT_EQ(copies(), "its next value is the result of a movement");
}

TEST_F(JoinCarriedTest, AnArgumentNobodyReadsIsOverwritten) {
  uint32_t x = carried(), feed = graph.buffers[x].writer;
  uint32_t writer = gang({}), y = write(writer);
  carry(x, y);
  EXPECT_EQ(copies(), "none");
  EXPECT_THAT(derive(),
              Contains(PlanEdge{feed, writer, 0, proto::REUSE, proto::SAME}));
}

} // namespace
} // namespace mlir::pathways
