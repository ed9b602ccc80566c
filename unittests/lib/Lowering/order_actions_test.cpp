//===- order_actions_test.cpp - One total order of the actions ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

namespace mlir::pathways {
namespace {

using OrderActionsTest = GraphTest;
using ::testing::ElementsAre;

TEST_F(OrderActionsTest, ALegalOrderStays) {
  uint32_t x = write(add(Kind::Feed));
  uint32_t made = write(gang({x}));
  write(move(made).second);
  fetch(write(gang({x, made})));
  EXPECT_EQ(*orderActions(graph), Numbers({0, 1, 2, 3, 4, 5}));
}

TEST_F(OrderActionsTest, WritersComeFirst) {
  uint32_t last = add(Kind::Fetch), middle = add(Kind::Gang),
           first = add(Kind::Feed);
  graph.addRead(middle, write(first));
  graph.addRead(last, write(middle));
  EXPECT_EQ(*orderActions(graph), Numbers({first, middle, last}));
}

TEST_F(OrderActionsTest, AFeedDoesNotWaitForWhatItTakesFromTheStepBefore) {
  uint32_t feed = add(Kind::Feed);
  graph.addRead(feed, write(gang({write(feed)})));
  EXPECT_EQ(*orderActions(graph), Numbers({0, 1}));
}

TEST_F(OrderActionsTest, ReadersComeBeforeWhatIsWrittenInPlace) {
  uint32_t x = write(add(Kind::Feed));
  uint32_t inPlace = gang({x});
  graph.addAlias(inPlace, x, write(inPlace));
  uint32_t reader = gang({x});
  EXPECT_EQ(*orderActions(graph), Numbers({0, reader, inPlace}));
}

TEST_F(OrderActionsTest, ControlIsObeyed) {
  uint32_t a = gang({}), b = gang({});
  graph.addControl(b, a);
  EXPECT_EQ(*orderActions(graph), Numbers({b, a}));
}

TEST_F(OrderActionsTest, ACircleIsNoOrder) {
  uint32_t a = gang({}), b = gang({});
  graph.addControl(a, b);
  graph.addControl(b, a);
  EXPECT_TRUE(failed(orderActions(graph)));
}

TEST_F(OrderActionsTest, NumbersFollowTheOrder) {
  uint32_t recv = add(Kind::Recv, 1), send = add(Kind::Send),
           feed = add(Kind::Feed);
  graph.actions[recv].peer = send;
  graph.actions[send].peer = recv;
  uint32_t source = write(feed), moved = write(recv);
  graph.addRead(send, source);
  graph.addControl(feed, recv);
  graph.arguments.push_back({"x", feed, /*isStepped=*/false});
  graph.results.push_back({"y", recv, /*isStepped=*/false});
  std::vector<uint32_t> order = *orderActions(graph);
  ASSERT_EQ(order, Numbers({feed, send, recv}));
  renumberActions(graph, order);
  EXPECT_EQ(graph.actions[0].kind, Kind::Feed);
  EXPECT_EQ(graph.actions[1].peer, 2u);
  EXPECT_EQ(graph.actions[2].peer, 1u);
  EXPECT_EQ(graph.buffers[source].writer, 0u);
  EXPECT_THAT(graph.buffers[source].readers, ElementsAre(1u));
  EXPECT_EQ(graph.buffers[moved].writer, 2u);
  EXPECT_THAT(graph.controls, ElementsAre(std::pair(0u, 2u)));
  EXPECT_EQ(graph.arguments[0].action, 0u);
  EXPECT_EQ(graph.results[0].action, 2u);
}

} // namespace
} // namespace mlir::pathways
