//===- dispatch_table_test.cc - Next action of a host ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/program/dispatch.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

// Item 1 follows item 0 with one token, and edge 5 from host 3 with none.
DispatchTable TwoItems() {
  DispatchTable table;
  table.window = 2;
  table.items.resize(2);
  table.items[1].sources = {{/*remote=*/false, 0, /*tokens=*/1},
                            {/*remote=*/true, 0, /*tokens=*/0}};
  table.remotes = {{/*host=*/3, /*edge=*/5, /*item=*/1, /*enqueued=*/0}};
  return table;
}

TEST(DispatchTableTest, AnItemIsReadyWhenAllItsSourcesWereEnqueued) {
  DispatchTable table = TwoItems();
  EXPECT_TRUE(table.Ready(table.items[0], /*granted=*/1));
  EXPECT_FALSE(table.Ready(table.items[0], /*granted=*/0));
  // A token stands for the source's firing before the first.
  EXPECT_EQ(table.Missing(table.items[1]), &table.items[1].sources[1]);
  table.remotes[0].enqueued = 1;
  EXPECT_TRUE(table.Ready(table.items[1], 4));
  table.items[1].prepared = 1;
  table.remotes[0].enqueued = 9;
  EXPECT_EQ(table.Missing(table.items[1]), &table.items[1].sources[0]);
  table.items[0].prepared = 1;
  EXPECT_EQ(table.Missing(table.items[1]), nullptr);
}

TEST(DispatchTableTest, AnItemIsNoMoreThanAWindowAheadOfItsDevices) {
  DispatchTable table = TwoItems();
  DispatchTable::Item& item = table.items[0];
  item.prepared = 2;
  EXPECT_FALSE(table.Ready(item, 9));
  item.fired = 1;
  EXPECT_TRUE(table.Ready(item, 9));
  item.working = true;
  EXPECT_FALSE(table.Ready(item, 9));
}

TEST(DispatchTableTest, FindsASourceByItsEdgeAndHost) {
  DispatchTable table;
  table.remotes = {{0, 5, 0, 0}, {3, 5, 0, 0}, {1, 7, 0, 0}};
  EXPECT_EQ(table.FindRemote(5, 3), &table.remotes[1]);
  EXPECT_EQ(table.FindRemote(7, 1), &table.remotes[2]);
  EXPECT_EQ(table.FindRemote(7, 3), nullptr);
  EXPECT_EQ(table.FindRemote(6, 0), nullptr);
  EXPECT_EQ(table.FindRemote(UINT32_MAX, 0), nullptr);
}

TEST(HostWorkTest, TakesWhatComesFirstInTheOrderOfTheQueues) {
  HostWork work;
  auto add = [&](uint64_t place, uint64_t firing, uint32_t item,
                 uint32_t program) {
    work.Add({place, firing, item, program, /*incarnation=*/1, 0});
  };
  add(2, 0, 0, 10);
  add(1, 1, 0, 11);
  add(1, 0, 5, 12);
  add(1, 0, 4, 13);
  add(1, 0, 9, 14);
  work.Drop(14, /*incarnation=*/2);  // another load of it
  work.Drop(12, 1);
  std::vector<uint32_t> programs;
  while (!work.empty()) programs.push_back(work.Take().program);
  EXPECT_THAT(programs, ElementsAre(13, 14, 11, 10));
}

TEST(HostWorkTest, WorksWithoutABreak) {
  HostWork work;
  auto add = [&](uint64_t place, TimeNs since) {
    work.Add({place, 0, 0, 0, /*incarnation=*/1, since});
  };
  add(1, 100);
  HostWork::Turn turn = work.Begin(/*cost=*/30);
  EXPECT_EQ(turn.piece.place, 1u);
  EXPECT_EQ(turn.begin, 100);
  EXPECT_EQ(turn.end, 130);
  const uint64_t first = turn.number;
  EXPECT_TRUE(work.busy() && work.IsIn(first));
  work.End();
  EXPECT_FALSE(work.busy() || work.IsIn(first));
  // It could be done meanwhile, so the host went on to it, though it is told
  // late.
  add(2, 120);
  turn = work.Begin(10);
  EXPECT_EQ(turn.begin, 130);
  EXPECT_EQ(turn.end, 140);
  EXPECT_TRUE(work.IsIn(turn.number) && !work.IsIn(first));
  work.End();
  // Then it had nothing to do.
  add(3, 200);
  EXPECT_EQ(work.Begin(10).end, 210);
}

}  // namespace
}  // namespace pathways
