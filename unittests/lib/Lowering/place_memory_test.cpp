//===- place_memory_test.cpp - Places of buffers in memory ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

#include "runtime/base/buffer_bytes.h"

namespace mlir::pathways {
namespace {

struct PlaceMemoryTest : public GraphTest {
  using Turn = ::pathways::MemoryTurn;
  MemoryPlan place(uint32_t credits = 2) {
    return *placeMemory(graph, assignCredits(graph, credits));
  }
  std::vector<Turn> turns() {
    return ::pathways::FindTurns(emit(/*credits=*/2, /*stepsInFlight=*/2));
  }
  /// Receives `count` buffers one after the other over a link that takes
  /// `linkNs`, each with a gang of `costNs` that reads it.
  std::vector<uint32_t> receiveInTurn(int count, uint64_t linkNs,
                                      uint64_t costNs) {
    std::vector<uint32_t> moved;
    for (int i = 0; i < count; ++i) {
      uint32_t recv = move(write(gang({}))).second;
      graph.actions[recv].messageNs = linkNs;
      moved.push_back(write(recv));
      uint32_t user = add(Kind::Gang, 1);
      graph.addRead(user, moved.back());
      graph.actions[user].costNs = costNs;
    }
    return moved;
  }
  /// Bytes that a buffer of 64 f32 takes on two devices.
  static constexpr uint64_t kBytes = ::pathways::kBufferAlignment;
};

TEST_F(PlaceMemoryTest, GangsTakeTurnsInBytes) {
  uint32_t a = write(gang({})), b = write(gang({a})), c = write(gang({b}));
  MemoryPlan plan = place();
  EXPECT_EQ(plan.places[a].offset, plan.places[c].offset);
  EXPECT_NE(plan.places[a].offset, plan.places[b].offset);
  EXPECT_THAT(turns(), ::testing::ElementsAre(Turn{a, c},
                                              Turn{c, a, /*is_later=*/true}));
}

TEST_F(PlaceMemoryTest, TheSmallestPlaceThatFitsIsTaken) {
  uint32_t large = write(gang({}), 640), small = write(gang({}), 64);
  gang({large, small});
  uint32_t next = write(gang({}), 64);
  MemoryPlan plan = place();
  EXPECT_EQ(plan.places[next].offset, plan.places[small].offset);
}

TEST_F(PlaceMemoryTest, APlaceGrowsWhenNoneIsLargeEnough) {
  uint32_t small = write(gang({}), 64);
  gang({small});
  uint32_t large = write(gang({}), 640);
  MemoryPlan plan = place();
  EXPECT_EQ(plan.places[small].offset, plan.places[large].offset);
  EXPECT_GE(plan.places[large].stride, 320u * 4);
}

TEST_F(PlaceMemoryTest, SeveralTakeTheBytesOfOne) {
  uint32_t large = write(gang({}), 640);
  gang({large});
  uint32_t a = write(gang({}), 128), b = write(gang({}), 128);
  gang({a, b});
  MemoryPlan plan = place();
  EXPECT_NE(plan.places[a].offset, plan.places[b].offset);
  EXPECT_EQ(plan.places[large].stride, 320u * 4);
  EXPECT_THAT(turns(),
              ::testing::ElementsAre(Turn{large, a}, Turn{large, b},
                                     Turn{a, large, /*is_later=*/true},
                                     Turn{b, large, /*is_later=*/true}));
}

TEST_F(PlaceMemoryTest, WhatIsFedHasItsOwn) {
  uint32_t x = write(add(Kind::Feed)), y = write(add(Kind::Feed));
  uint32_t z = write(gang({x}));
  fetch(z);
  gang({y});
  MemoryPlan plan = place();
  EXPECT_TRUE(turns().empty());
  EXPECT_EQ(plan.places[x].stride, 3 * kBytes);
  EXPECT_EQ(plan.places[y].offset, kBytes);
  EXPECT_EQ(plan.places[z].offset, 2 * kBytes);
}

TEST_F(PlaceMemoryTest, AnAliasLiesWhereItsOperandDoes) {
  uint32_t x = write(add(Kind::Feed));
  uint32_t inPlace = gang({x}), y = write(inPlace);
  graph.addAlias(inPlace, x, y);
  MemoryPlan plan = place();
  EXPECT_EQ(plan.places[x].offset, plan.places[y].offset);
  EXPECT_EQ(plan.places[x].stride, plan.places[y].stride);
  EXPECT_THAT(turns(), ::testing::ElementsAre(Turn{x, y},
                                              Turn{y, x, /*is_later=*/true}));
}

TEST_F(PlaceMemoryTest, FramesOfOtherCreditsLieBehind) {
  uint32_t x = write(add(Kind::Feed)), inner = write(gang({x}));
  MemoryPlan plan = place(/*credits=*/3);
  // One slot comes first, then three.
  EXPECT_EQ(plan.places[inner].offset, 0u);
  EXPECT_EQ(plan.places[x].offset, kBytes);
  EXPECT_EQ(plan.places[x].stride, kBytes);
}

TEST_F(PlaceMemoryTest, SlicesHaveMemoryOfTheirOwn) {
  uint32_t source = write(gang({}));
  uint32_t moved = write(move(source).second);
  MemoryPlan plan = place();
  EXPECT_EQ(plan.places[source].offset, 0u);
  EXPECT_EQ(plan.places[moved].offset, 0u);
}

/// A transfer runs in parallel to the gang that uses the previous buffer, so
/// two places are enough for any number of buffers.
TEST_F(PlaceMemoryTest, WhatIsReceivedInTurnTakesTwoPlaces) {
  std::vector<uint32_t> moved = receiveInTurn(8, /*linkNs=*/0, /*costNs=*/1);
  MemoryPlan plan = place();
  for (int i = 2; i < 8; ++i)
    EXPECT_EQ(plan.places[moved[i]].offset, plan.places[moved[i - 2]].offset);
  EXPECT_NE(plan.places[moved[0]].offset, plan.places[moved[1]].offset);
  EXPECT_EQ(plan.places[moved[0]].stride, 2 * kBytes);
  EXPECT_THAT(turns(), ::testing::Contains(Turn{moved[0], moved[2]}));
  EXPECT_THAT(turns(),
              ::testing::Contains(Turn{moved[7], moved[1], /*is_later=*/true}));
}

/// A short gang counts as 1 us, so a transfer of 3.9 us runs in parallel to
/// four.
TEST_F(PlaceMemoryTest, WhatIsReceivedOverASlowLinkTakesMorePlaces) {
  std::vector<uint32_t> moved =
      receiveInTurn(12, /*linkNs=*/3900, /*costNs=*/1);
  MemoryPlan plan = place();
  for (int i = 5; i < 12; ++i)
    EXPECT_EQ(plan.places[moved[i]].offset, plan.places[moved[i - 5]].offset);
  EXPECT_EQ(plan.places[moved[0]].stride, 5 * kBytes);
}

/// One gang takes longer than a transfer.
TEST_F(PlaceMemoryTest, LongGangsNeedTwoPlacesOverASlowLink) {
  std::vector<uint32_t> moved =
      receiveInTurn(8, /*linkNs=*/3900, /*costNs=*/4000);
  EXPECT_EQ(place().places[moved[0]].stride, 2 * kBytes);
}

/// A received buffer is live from its send on, not from its recv on.
TEST_F(PlaceMemoryTest, WhatIsReceivedIsThereFromItsSendOn) {
  auto [send, recv] = move(write(gang({})));
  uint32_t between = write(add(Kind::Gang, 1));
  uint32_t moved = write(recv);
  // The order of the table is: the send, the gang, the recv.
  std::vector<uint32_t> order = {0, send, 3, recv};
  renumberActions(graph, order);
  MemoryPlan plan = place(/*credits=*/1);
  EXPECT_NE(plan.places[moved].offset, plan.places[between].offset);
}

TEST_F(PlaceMemoryTest, MoreThanAPlanCanSayIsAnError) {
  std::string said;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { said = diagnostic.str(); });
  for (int i = 0; i < 1 << 13; ++i) {
    uint32_t buffer = write(add(Kind::Feed), int64_t{1} << 48);
    graph.buffers[buffer].bytes = uint64_t{1} << 49;
  }
  EXPECT_TRUE(failed(placeMemory(graph, assignCredits(graph, 1024))));
  EXPECT_EQ(said, "slice 's' needs more than 2^62 bytes on a device");
}

} // namespace
} // namespace mlir::pathways
