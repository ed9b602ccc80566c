//===- sim_links_test.cc - Arrival times in a simulation --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_links.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace pathways {
namespace {

constexpr LinkModel kLocal{100, 0, 1000};
constexpr LinkModel kIci{1000, 1e9, 5000};  // a byte takes a ns

constexpr Placement kNear{0, 0, 0}, kFar{1, 0, 0};

LinkModels Ici(const LinkModel& ici) {
  LinkModels models;
  models.ici = ici;
  return models;
}

LinkModel Steady(LinkModel model) {
  model.jitter_ns = 0;
  return model;
}

TEST(SimLinksTest, MessagesWaitForTheWireBetweenHostsAlone) {
  SimLinks links(Steady(kLocal), Ici(Steady(kIci)), 1);
  EXPECT_EQ(links.InHost(LocalId{0}, 50, 1'000'000), 150);
  EXPECT_EQ(links.InHost(LocalId{0}, 50, 10), 150);
  const SimLinks::Way first = links.BetweenHosts(kNear, kFar, 50, 300, {});
  EXPECT_EQ(first.begin, 50);
  EXPECT_EQ(first.end, 350);
  EXPECT_EQ(first.arrival, 1350);
  const SimLinks::Way second = links.BetweenHosts(kNear, kFar, 60, 10, {});
  EXPECT_EQ(second.begin, 350);
  EXPECT_EQ(second.end, 360);
  EXPECT_EQ(second.arrival, 1360);
  // The opposite direction is free.
  EXPECT_EQ(links.BetweenHosts(kFar, kNear, 60, 10, {}).begin, 60);
}

TEST(SimLinksTest, JitterLeavesTheOrderOfASender) {
  SimLinks links(kLocal, Ici(kIci), 3);
  TimeNs last_local = 0, last_outside = 0, last_far = 0;
  std::set<TimeNs> delays;
  for (TimeNs now = 0; now < 20'000; now += 100) {
    const TimeNs local = links.InHost(LocalId{7}, now, 1);
    EXPECT_GE(local, last_local);
    EXPECT_GE(local, now + 100);
    EXPECT_LE(local, now + 1100);
    last_local = local;
    delays.insert(local - now);
    const TimeNs outside = links.InHost(kNobody, now, 1);
    EXPECT_GE(outside, last_outside);
    last_outside = outside;
    const TimeNs far = links.BetweenHosts(kNear, kFar, now, 1, {}).arrival;
    EXPECT_GE(far, last_far);
    last_far = far;
  }
  EXPECT_GT(delays.size(), 20u);
}

// A sender's message waits for its own earlier messages, but not for those of
// other senders.
TEST(SimLinksTest, SendersOfAHostDoNotWaitForEachOther) {
  SimLinks links({100, 1, 0}, {}, 1);  // a byte takes a second
  const TimeNs long_one = links.InHost(LocalId{0}, 0, 5);
  EXPECT_EQ(links.InHost(LocalId{0}, 10, 0), long_one);
  EXPECT_EQ(links.InHost(LocalId{1}, 10, 0), 110);
  EXPECT_EQ(links.InHost(kNobody, 10, 0), 110);
}

TEST(SimLinksTest, TheSeedDecides) {
  const auto times = [](uint64_t seed) {
    SimLinks links(kLocal, Ici(kIci), seed);
    std::vector<TimeNs> all;
    for (TimeNs now = 0; now < 100'000; now += 10'000) {
      all.push_back(links.InHost(LocalId{0}, now, 1));
      all.push_back(links.BetweenHosts(kNear, kFar, now, 1, {}).arrival);
    }
    return all;
  };
  EXPECT_EQ(times(5), times(5));
  EXPECT_NE(times(5), times(6));
}

TEST(SimLinksTest, OutcomesDecideWhoWaitsForWhom) {
  SimLinks links(kLocal, Ici(Steady(kIci)), 1);
  const auto arrival = [&](TimeNs now, const FaultOutcome& outcome) {
    return links.BetweenHosts(kNear, kFar, now, 1, outcome).arrival;
  };
  EXPECT_EQ(arrival(0, {.overtaken = true, .extra_ns = 7000}), 8001);
  EXPECT_EQ(arrival(10, {}), 1011);  // overtakes the earlier message
  EXPECT_EQ(arrival(20, {.extra_ns = 7000}), 8021);
  EXPECT_EQ(arrival(30, {}), 8021);  // does not overtake
  // A dropped message takes time on the wire, but no message waits for its
  // arrival.
  EXPECT_EQ(arrival(10'000, {.dropped = true, .extra_ns = 7000}), 18'001);
  EXPECT_EQ(arrival(10'000, {}), 11'002);
}

}  // namespace
}  // namespace pathways
