//===- action_graph_test.cpp - Facts that a growing graph records ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

namespace mlir::pathways {
namespace {

using ActionGraphTest = GraphTest;
using ::testing::ElementsAre;

TEST_F(ActionGraphTest, EqualLayoutsAreOneOnAnySlice) {
  uint32_t here = graph.addBuffer("a", 0, arrayOf(8));
  uint32_t there = graph.addBuffer("b", 1, arrayOf(8, 1));
  uint32_t other = graph.addBuffer("c", 0, arrayOf(9));
  EXPECT_EQ(graph.buffers[here].layout, graph.buffers[there].layout);
  EXPECT_NE(graph.buffers[here].layout, graph.buffers[other].layout);
  EXPECT_EQ(graph.layouts.size(), 2u);
}

TEST_F(ActionGraphTest, BytesAreThoseOfAFullShard) {
  EXPECT_EQ(graph.buffers[graph.addBuffer("a", 0, arrayOf(9))].bytes, 5u * 4);
  EXPECT_EQ(graph.buffers[graph.addBuffer("b", 1, arrayOf(9, 1))].bytes,
            3u * 4);
  EXPECT_EQ(graph.buffers[graph.addBuffer("c", 0, arrayOf(0))].bytes, 0u);
}

TEST_F(ActionGraphTest, ReadersAreAscendingAndThereOnce) {
  uint32_t feed = add(Kind::Feed);
  uint32_t made = write(gang({write(feed)}));
  uint32_t reader = gang({made, made});
  graph.addRead(feed, made); // the feed of a carried argument does this
  EXPECT_THAT(graph.buffers[made].readers, ElementsAre(feed, reader));
  EXPECT_THAT(graph.actions[reader].operands, ElementsAre(made));
}

TEST_F(ActionGraphTest, WhoWritesABufferIsNoReaderOfIt) {
  uint32_t action = add(Kind::Gang);
  uint32_t temp = write(action);
  graph.addRead(action, temp);
  EXPECT_TRUE(graph.buffers[temp].readers.empty());
}

TEST_F(ActionGraphTest, WhatIsMovedIsEnteredByItsSend) {
  uint32_t source = write(add(Kind::Feed));
  auto [send, recv] = move(source);
  uint32_t moved = write(recv);
  EXPECT_TRUE(graph.isMoved(moved));
  EXPECT_EQ(graph.getEntry(moved), send);
  EXPECT_FALSE(graph.isMoved(source));
  EXPECT_EQ(graph.getEntry(source), 0u);
}

} // namespace
} // namespace mlir::pathways
