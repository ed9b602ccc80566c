//===- strangers_test.cc - Eviction of unknown connections ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/strangers.h"

#include <gtest/gtest.h>

#include <vector>

namespace pathways {
namespace {

TEST(StrangersTest, AnAddressHasNoPort) {
  EXPECT_EQ(StrangerAddress("tcp:10.0.0.1:4711"), "tcp:10.0.0.1");
  EXPECT_EQ(StrangerAddress("tcp:[::1]:4711"), "tcp:[::1]");
  EXPECT_EQ(StrangerAddress("a process of this machine"),
            "a process of this machine");
}

TEST(StrangersTest, TheOldestSilentOneOfTheMostCrowdedAddressGivesWay) {
  EXPECT_EQ(WhoGivesWay({{"a", true}}), 0u);
  EXPECT_EQ(WhoGivesWay({{"a", false}, {"a", false}}), 0u);
  EXPECT_EQ(WhoGivesWay({{"a", true}, {"a", true}}), 0u);
  // Silence counts for more than the address, and that for more than age.
  EXPECT_EQ(WhoGivesWay({{"a", true}, {"a", true}, {"b", false}}), 2u);
  EXPECT_EQ(WhoGivesWay({{"b", false}, {"a", false}, {"a", false}}), 1u);
  EXPECT_EQ(WhoGivesWay({{"b", true}, {"a", true}, {"a", true}}), 1u);
}

TEST(StrangersTest, NoFloodDisplacesOneOfAnotherAddress) {
  std::vector<Stranger> strangers = {{"friend", false}};
  for (int i = 0; i < 64; ++i) strangers.push_back({"foe", i % 2 == 0});
  for (int i = 0; i < 1000; ++i) {
    const size_t chosen = WhoGivesWay(strangers);
    ASSERT_EQ(strangers[chosen].address, "foe");
    strangers.erase(strangers.begin() + static_cast<ptrdiff_t>(chosen));
    strangers.push_back({"foe", false});
  }
}

}  // namespace
}  // namespace pathways
