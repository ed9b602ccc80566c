//===- actor_table_test.cc - Numbers, addresses and places ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/actor_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

TEST(ActorTableTest, KeepsWhatItWasTold) {
  ActorTable table;
  TestActor actors[2];
  EXPECT_EQ(table.Find(7), kNobody);
  const LocalId first = table.Add(&actors[0], {3, 1, 2}, "first", 7);
  const LocalId second = table.Add(&actors[1], {-1, 0, -1}, "second", kNoActor);
  EXPECT_EQ(IndexOf(first), 0u);
  EXPECT_EQ(IndexOf(second), 1u);
  EXPECT_EQ(table.Find(7), first);
  EXPECT_EQ(table.Find(8), kNobody);
  EXPECT_EQ(table.hot(0).actor, &actors[0]);
  EXPECT_EQ(table.hot(0).worker, 1);
  const Placement place = table.PlaceOf(first);
  EXPECT_EQ(place.host, 3);
  EXPECT_EQ(place.worker, 1);
  EXPECT_EQ(place.island, 2);
  EXPECT_EQ(table.PlaceOf(second).host, -1);
  EXPECT_EQ(table.name(second), "second");
}

TEST(ActorTableTest, AnAddressIsTheLastOnes) {
  ActorTable table;
  TestActor actor;
  table.Add(&actor, {}, "old", 5);
  const LocalId young = table.Add(&actor, {}, "young", 5);
  EXPECT_EQ(table.Find(5), young);
}

TEST(ActorTableTest, ARetiredActorGetsNoMessage) {
  ActorTable table;
  TestActor actor;
  int received = 0;
  actor.on_local = [&](const LocalMessage&) { ++received; };
  const LocalId id = table.Add(&actor, {3, 1, 2}, "one", 7);
  table.hot(IndexOf(id)).actor->OnLocal(LocalNumbered(1));
  EXPECT_EQ(received, 1);
  table.Retire(id);
  table.hot(IndexOf(id)).actor->OnLocal(LocalNumbered(2));
  EXPECT_EQ(received, 1);
  // Messages to the address still find the actor's worker.
  EXPECT_EQ(table.Find(7), id);
  EXPECT_EQ(table.hot(IndexOf(id)).worker, 1);
}

TEST(ActorTableTest, RefusesAnAddressThatIsTooLarge) {
  ActorTable table;
  TestActor actor;
  EXPECT_EQ(table.Add(&actor, {}, "far", kMaxActors + 1), kNobody);
  EXPECT_EQ(table.Find(kMaxActors + 1), kNobody);
  // The actor was not added.
  EXPECT_EQ(IndexOf(table.Add(&actor, {}, "near", kMaxActors)), 0u);
  EXPECT_EQ(table.Find(kMaxActors), LocalId{0});
}

TEST(ActorTableTest, StaysWhereItIsWhileOthersAdd) {
  constexpr uint32_t kEach = 3000;  // more than one chunk has
  ActorTable table;
  TestActor actor;
  const LocalId first = table.Add(&actor, {}, "0", 0);
  const ActorTable::Hot* place = &table.hot(IndexOf(first));
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&table, &actor, t] {
      for (uint32_t i = 1; i <= kEach; ++i) {
        const ActorId address = 2 * i + t;
        const LocalId id =
            table.Add(&actor, {static_cast<int32_t>(address), 0, 0},
                      absl::StrCat(address), address);
        EXPECT_EQ(table.Find(address), id);
        EXPECT_EQ(table.Find(0), LocalId{0});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(&table.hot(IndexOf(first)), place);
  for (ActorId address = 2; address < 2 * kEach + 2; ++address) {
    const LocalId id = table.Find(address);
    ASSERT_NE(id, kNobody);
    EXPECT_EQ(table.PlaceOf(id).host, static_cast<int32_t>(address));
    EXPECT_EQ(table.name(id), absl::StrCat(address));
  }
}

}  // namespace
}  // namespace pathways
