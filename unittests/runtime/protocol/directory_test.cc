//===- directory_test.cc - Numbers are a function of the cluster ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

namespace pathways {
namespace {

// Two islands: host 0, and hosts 1 and 2. Host 2 has started again.
Directory Cluster() {
  return Directory({0, 1}, {{0, 1}, {1, 1}, {2, 5}}, {9, 3});
}

TEST(DirectoryTest, NumbersAreDenseAndSayWhoHasThem) {
  const Directory directory = Cluster();
  EXPECT_EQ(directory.controller(), 0u);
  EXPECT_EQ(directory.scheduler(1), 2u);
  EXPECT_EQ(directory.executor(0), 3u);
  EXPECT_EQ(directory.executor(2), 5u);
  EXPECT_THAT(directory.processes(), ::testing::ElementsAre(0, 1, 2, 9));
  EXPECT_EQ(directory.reporter(0), 6u);
  EXPECT_EQ(directory.reporter(9), 15u);
  EXPECT_EQ(directory.client(0), 16u);
  EXPECT_EQ(directory.Find(0), (Address{Role::kController, 0, 3}));
  EXPECT_EQ(directory.Find(2), (Address{Role::kScheduler, 1, 1}));
  EXPECT_EQ(directory.Find(5), (Address{Role::kExecutor, 2, 5}));
  EXPECT_EQ(directory.Find(15), (Address{Role::kReporter, 9, 0}));
  EXPECT_EQ(directory.Find(1000), (Address{Role::kClient, 984, 0}));
  EXPECT_EQ(directory.Find(kNoActor), std::nullopt);
  EXPECT_EQ(directory.Find(directory.client(kMaxClients)), std::nullopt);
}

TEST(DirectoryTest, OnlyExecutorsAreHosts) {
  const Directory directory = Cluster();
  for (ActorId id = 0; id < 20; ++id) {
    const bool is_executor = id >= 3 && id < 6;
    EXPECT_EQ(directory.HostOfExecutor(id),
              is_executor ? static_cast<int32_t>(id) - 3 : -1)
        << id;
  }
  EXPECT_EQ(directory.HostOfExecutor(kNoActor), -1);
  EXPECT_EQ(Directory().HostOfExecutor(0), -1);
  EXPECT_EQ(Directory().HostOfExecutor(1), -1);
}

TEST(DirectoryTest, HostsOfAnIslandFollowItsFirst) {
  const Directory directory = Cluster();
  EXPECT_EQ(directory.IslandOf(0), 0u);
  EXPECT_EQ(directory.IslandOf(1), 1u);
  EXPECT_EQ(directory.IslandOf(2), 1u);
}

TEST(DirectoryTest, PlacesAreThoseOfTheTable) {
  const Directory directory = Cluster();
  EXPECT_EQ(directory.place(2).process, 2u);
  EXPECT_EQ(directory.place(2).epoch, 5u);
  EXPECT_EQ(directory.place(-1).process, 9u);
}

TEST(AddressTest, RolesHaveNames) {
  std::set<std::string> names;
  for (Role role : {Role::kController, Role::kScheduler, Role::kExecutor,
                    Role::kClient, Role::kReporter}) {
    EXPECT_TRUE(names.insert(RoleName(role)).second);
  }
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(RoleName(Role{0}), "unknown");
}

}  // namespace
}  // namespace pathways
