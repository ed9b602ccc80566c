//===- derive_edges_test.cpp - Edges between actions ----------------------===//
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
using ::testing::ElementsAre;
using ::testing::Not;

using DeriveEdgesTest = GraphTest;

TEST_F(DeriveEdgesTest, CreditsRunBack) {
  uint32_t feed = add(Kind::Feed), reader = gang({write(feed)});
  EXPECT_THAT(
      derive(3),
      ElementsAre(PlanEdge{feed, reader, 0, proto::DATA, proto::SAME},
                  PlanEdge{reader, feed, 3, proto::CREDIT, proto::SAME}));
}

TEST_F(DeriveEdgesTest, WhatIsCarriedComesOneFiringLate) {
  uint32_t feed = add(Kind::Feed);
  uint32_t writer = gang({write(feed)});
  graph.addRead(feed, write(writer));
  std::vector<PlanEdge> edges = derive(2);
  EXPECT_THAT(edges,
              Contains(PlanEdge{writer, feed, 1, proto::DATA, proto::SAME}));
  EXPECT_THAT(edges,
              Contains(PlanEdge{feed, writer, 1, proto::CREDIT, proto::SAME}));
}

TEST_F(DeriveEdgesTest, AMovementGoesInPieces) {
  uint32_t writer = gang({});
  auto [send, recv] = move(write(writer));
  write(recv);
  EXPECT_THAT(
      derive(2),
      ElementsAre(PlanEdge{writer, send, 0, proto::DATA, proto::SAME},
                  PlanEdge{send, writer, 2, proto::CREDIT, proto::SAME},
                  PlanEdge{send, recv, 0, proto::DATA, proto::PIECES},
                  PlanEdge{recv, send, 2, proto::CREDIT, proto::PIECES}));
}

TEST_F(DeriveEdgesTest, TheNextInTurnWaitsForAFetch) {
  uint32_t first = gang({}), a = write(first);
  uint32_t read = fetch(a);
  uint32_t second = gang({}), b = write(second);
  uint32_t readAgain = fetch(b);
  std::vector<PlanEdge> edges = derive(2);
  EXPECT_THAT(edges,
              Contains(PlanEdge{read, second, 0, proto::REUSE, proto::SAME}));
  EXPECT_THAT(edges, Contains(PlanEdge{readAgain, first, 2, proto::REUSE,
                                       proto::SAME}));
}

/// A send lets the next value overwrite another one.
TEST_F(DeriveEdgesTest, ASendWaitsForTheUsersOfItsPlace) {
  std::vector<uint32_t> sends, recvs, users;
  for (int i = 0; i < 3; ++i) {
    auto [send, recv] = move(write(gang({})));
    uint32_t buffer = write(recv);
    sends.push_back(send);
    recvs.push_back(recv);
    users.push_back(add(Kind::Gang, 1));
    graph.addRead(users.back(), buffer);
  }
  std::vector<PlanEdge> edges = derive(2);
  EXPECT_THAT(edges, Contains(PlanEdge{users[0], sends[2], 0, proto::REUSE,
                                       proto::PIECES}));
  // The way back is ordered by the queue of the gangs.
  EXPECT_THAT(edges, Not(Contains(PlanEdge{recvs[2], users[0], 2, proto::REUSE,
                                           proto::SAME})));
  EXPECT_THAT(edges, Contains(PlanEdge{users[2], sends[0], 2, proto::REUSE,
                                       proto::PIECES}));
}

TEST_F(DeriveEdgesTest, ASendWaitsForTheSendsFromItsPlace) {
  std::vector<uint32_t> sends, recvs, further;
  for (int i = 0; i < 3; ++i) {
    auto [send, recv] = move(write(gang({})));
    uint32_t buffer = write(recv);
    sends.push_back(send);
    recvs.push_back(recv);
    uint32_t on = add(Kind::Send, 1), end = add(Kind::Recv, 0);
    graph.actions[on].peer = end;
    graph.actions[end].peer = on;
    graph.addRead(on, buffer);
    write(end);
    further.push_back(on);
  }
  std::vector<PlanEdge> edges = derive(2);
  EXPECT_THAT(edges, Contains(PlanEdge{further[0], sends[2], 0, proto::REUSE,
                                       proto::PIECES}));
  EXPECT_THAT(edges, Contains(PlanEdge{recvs[2], further[0], 2, proto::REUSE,
                                       proto::SAME}));
  EXPECT_THAT(edges, Contains(PlanEdge{further[2], sends[0], 2, proto::REUSE,
                                       proto::PIECES}));
  EXPECT_THAT(edges, Contains(PlanEdge{recvs[0], further[2], 0, proto::REUSE,
                                       proto::SAME}));
}

TEST_F(DeriveEdgesTest, GangsInTurnNeedNoEdge) {
  uint32_t a = write(gang({})), b = write(gang({a}));
  write(gang({b}));
  for (const PlanEdge &edge : derive())
    EXPECT_NE(edge.kind, proto::REUSE);
}

TEST_F(DeriveEdgesTest, ControlIsBoundedByStepsInFlight) {
  uint32_t from = gang({}), to = gang({});
  graph.addControl(from, to);
  graph.addControl(from, to);
  EXPECT_THAT(derive(4),
              ElementsAre(PlanEdge{from, to, 0, proto::CONTROL, proto::ALL},
                          PlanEdge{to, from, 4, proto::CREDIT, proto::ALL}));
}

TEST_F(DeriveEdgesTest, WhoReadsTwoBuffersOfOneWriterWaitsOnce) {
  uint32_t writer = gang({}), a = write(writer), b = write(writer);
  gang({a, b});
  EXPECT_EQ(derive().size(), 2u);
}

} // namespace
} // namespace mlir::pathways
