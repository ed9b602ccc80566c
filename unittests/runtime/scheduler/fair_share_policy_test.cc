//===- fair_share_policy_test.cc - Device time by weight ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/fair_share_policy.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace pathways {
namespace {

// Clients that always have work take `rounds` grants of 1 ms.
std::map<uint32_t, double> Serve(FairSharePolicy& policy, uint32_t group,
                                 const std::map<uint32_t, double>& weights,
                                 int rounds) {
  std::map<uint32_t, double> had;
  for (int i = 0; i < rounds; ++i) {
    std::vector<Candidate> candidates;
    for (const auto& [client, weight] : weights) {
      candidates.push_back({.client = client, .order = client});
    }
    const uint32_t client =
        candidates[policy.Choose(group, 0, candidates)].client;
    policy.Charge(group, client, weights.at(client), 1e6);
    had[client] += 1e6;
  }
  return had;
}

TEST(FairSharePolicyTest, TimeGoesByWeight) {
  FairSharePolicy policy;
  const std::map<uint32_t, double> weights = {{3, 1}, {4, 2}, {7, 5}};
  for (const auto& [client, weight] : weights) policy.Begin(0, client);
  const std::map<uint32_t, double> had = Serve(policy, 0, weights, 800);
  for (const auto& [client, weight] : weights) {
    EXPECT_NEAR(had.at(client), weight * 1e8, 1e6) << client;
  }
}

TEST(FairSharePolicyTest, WhatWasEstimatedIsMadeGood) {
  FairSharePolicy policy;
  for (uint32_t client : {0, 1}) policy.Begin(0, client);
  policy.Charge(0, 0, 1, 10);
  policy.Charge(0, 1, 1, 15);
  EXPECT_EQ(policy.Choose(0, 0, {{.client = 0}, {.client = 1}}), 0u);
  policy.Charge(0, 0, 1, 990);  // it took 1000
  EXPECT_EQ(policy.Choose(0, 0, {{.client = 0}, {.client = 1}}), 1u);
}

TEST(FairSharePolicyTest, ToBeIdleSavesNothingAndForgivesNothing) {
  FairSharePolicy policy;
  const std::map<uint32_t, double> both = {{0, 1}, {1, 1}};
  policy.Begin(0, 0);
  policy.Begin(0, 1);
  Serve(policy, 0, both, 10);
  policy.End(0, 1);
  Serve(policy, 0, {{0, 1}}, 100);
  policy.Begin(0, 1);
  EXPECT_NEAR(Serve(policy, 0, both, 100)[1], 50e6, 1e6);
  // A client that has had more than its share still owes that after a pause.
  policy.Charge(0, 1, 1, 20e6);
  policy.End(0, 1);
  policy.Begin(0, 1);
  EXPECT_NEAR(Serve(policy, 0, both, 20)[1], 0, 1e6);
}

TEST(FairSharePolicyTest, GroupsCountSeparatelyAndBothContinueAfterASplit) {
  FairSharePolicy policy;
  for (uint32_t client : {0, 1}) policy.Begin(2, client);
  policy.Charge(2, 0, 1, 100);
  EXPECT_EQ(policy.Choose(2, 0, {{.client = 0}, {.client = 1}}), 1u);
  EXPECT_EQ(policy.Choose(5, 0, {{.client = 0}, {.client = 1}}), 0u);
  policy.Split(2, 6);
  for (uint32_t group : {2, 6}) {
    EXPECT_EQ(policy.Choose(group, 0, {{.client = 0}, {.client = 1}}), 1u);
  }
}

TEST(FairSharePolicyTest, AnotherClientOfTheSameNumberBeginsAnew) {
  FairSharePolicy policy;
  for (uint32_t client : {0, 1, 2}) policy.Begin(0, client);
  policy.Charge(0, 0, 1, 1000);
  policy.Charge(0, 1, 1, 500);
  policy.End(0, 0);
  policy.Forget(0);
  policy.Charge(0, 2, 1, 700);
  policy.Begin(0, 0);
  EXPECT_EQ(policy.Choose(0, 0,
                          {{.client = 2, .order = 1},
                           {.client = 1, .order = 2},
                           {.client = 0, .order = 3}}),
            1u);
  policy.Charge(0, 1, 1, 100);
  EXPECT_EQ(policy.Choose(0, 0,
                          {{.client = 2, .order = 1},
                           {.client = 1, .order = 2},
                           {.client = 0, .order = 3}}),
            2u);
}

}  // namespace
}  // namespace pathways
