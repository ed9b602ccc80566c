//===- grant_order_test.cc - The one order of all grants ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/grant_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// One that decides by the default policy, by whom tests load programs on all
// devices of islands, two each.
class Order {
 public:
  explicit Order(TimeNs horizon_ns = kGrantHorizonNs,
                 TimeNs chunk_ns = kChunkNs, const char* policy = "priority")
      : order_(*MakePolicy(policy), horizon_ns, chunk_ns) {}

  void Load(uint32_t program, double cost_ns, std::vector<int64_t> devices,
            uint32_t client = 0) {
    std::vector<DeviceGroupTable::Device> on;
    for (int64_t device : devices) {
      on.push_back({static_cast<int32_t>(device / 2), device});
    }
    order_.Load(program, client, {cost_ns, cost_ns, fill_ns}, on);
    islands_[program].clear();
    for (int64_t device : devices) {
      std::vector<int32_t>& islands = islands_[program];
      const auto island = static_cast<int32_t>(device / 2);
      if (islands.empty() || islands.back() != island) {
        islands.push_back(island);
      }
    }
  }
  void Begin(uint64_t launch, uint32_t program, uint64_t steps,
             const Claim& claim = {}) {
    order_.Begin(launch, program, steps, islands_[program], claim, now);
  }
  // "program:first-end@ticket" of the grants that there are now.
  std::vector<std::string> Take() {
    std::vector<std::string> grants;
    while (const Grant* grant = order_.Next(now)) {
      grants.push_back(absl::StrCat(grant->program, ":", grant->first, "-",
                                    grant->end, "@", grant->ticket));
    }
    return grants;
  }
  // Runs one device time after another on one island, and what is granted
  // meanwhile, `rounds` grants; the time that each program had.
  std::map<uint32_t, double> Share(int rounds) {
    std::map<uint32_t, double> had;
    std::deque<uint64_t> queue;
    for (int i = 0; i < rounds; ++i) {
      while (const Grant* grant = order_.Next(now)) {
        queue.push_back(grant->ticket);
      }
      if (queue.empty()) break;
      const Grant& grant = *order_.Find(queue.front());
      const auto ns = static_cast<TimeNs>(grant.end - grant.first) * step_ns;
      now += ns;
      had[grant.program] += static_cast<double>(ns);
      order_.Done(queue.front(), 0, ns);
      queue.pop_front();
    }
    return had;
  }

  GrantOrder& operator*() { return order_; }
  GrantOrder* operator->() { return &order_; }

  TimeNs now = 0;
  TimeNs step_ns = 100'000;
  double fill_ns = 0;

 private:
  GrantOrder order_;
  std::map<uint32_t, std::vector<int32_t>> islands_;
};

TEST(GrantOrderTest, TicketsAreOneOrderAndIslandsMissNone) {
  Order order;
  order.Load(0, /*cost_ns=*/1, {0, 1, 2, 3});
  order.Load(1, 1, {2, 3});
  order.Load(2, 1, {});
  order.Load(3, 1, {0, 1, 2, 3, 4, 5});
  order.Begin(11, /*program=*/0, 5);
  const Grant* grant = order->Next(0);
  EXPECT_EQ(grant->ticket, 1u);
  EXPECT_THAT(grant->previous, ElementsAre(Pair(0, 0), Pair(1, 0)));
  order.Begin(12, 1, 1);
  EXPECT_THAT(order->Next(0)->previous, ElementsAre(Pair(1, 1)));
  order.Begin(13, 2, 1);
  EXPECT_THAT(order->Next(0)->previous, IsEmpty());
  order.Begin(14, 3, 1);
  grant = order->Next(0);
  EXPECT_EQ(grant->ticket, 4u);
  EXPECT_THAT(grant->previous, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 0)));
}

TEST(GrantOrderTest, FiringsOfAProgramAreAdjacent) {
  Order order;
  for (uint32_t program : {0, 1}) order.Load(program, 1, {program * 2});
  EXPECT_EQ(order->next_firing(0), 0u);
  order.Begin(1, 0, 5);
  EXPECT_THAT(order.Take(), ElementsAre("0:0-5@1"));
  order.Begin(2, 1, 2);
  EXPECT_THAT(order.Take(), ElementsAre("1:0-2@2"));
  order.Begin(3, 0, 7);
  EXPECT_THAT(order.Take(), ElementsAre("0:5-12@3"));
  EXPECT_EQ(order->FindLaunch(3)->first, 5u);
  EXPECT_EQ(order->next_firing(0), 12u);
  EXPECT_EQ(order->next_firing(1), 2u);
  for (uint64_t launch : {1, 3}) order->Forget(launch);
  order->Unload(0);
  order.Load(0, 1, {0});
  order.Begin(4, 0, 1);
  EXPECT_THAT(order.Take(), ElementsAre("0:0-1@4"));
}

TEST(GrantOrderTest, NobodyIsGrantedBeyondTheHorizon) {
  Order order(/*horizon_ns=*/1000);
  order.Load(0, /*cost_ns=*/100, {0, 2});
  order.Begin(1, 0, 1'000'000);
  // Half of the horizon each.
  EXPECT_THAT(order.Take(), ElementsAre("0:0-5@1", "0:5-10@2"));
  EXPECT_FALSE(order->Done(1, 0, 2500));
  EXPECT_FALSE(order->Done(1, 0, 2500));  // a second copy
  EXPECT_THAT(order.Take(), IsEmpty());
  EXPECT_TRUE(order->Done(1, 1, 100));
  // Its firings took 500 ns, on the slower island.
  EXPECT_THAT(order.Take(), ElementsAre("0:10-11@3"));
  EXPECT_FALSE(order->Done(1, 1, 100));
  EXPECT_FALSE(order->Done(2, 1, 50));
  EXPECT_TRUE(order->Done(2, 0, 50));
  EXPECT_TRUE(order->Done(3, 0, 10) || order->Done(3, 1, 10));
  // They took 10 ns of late, 284 on average.
  EXPECT_THAT(order.Take(), ElementsAre("0:11-12@4", "0:12-13@5", "0:13-14@6"));
}

TEST(GrantOrderTest, AFiringLongerThanTheHorizonIsAGrant) {
  Order order(1000);
  order.Load(0, 1'000'000, {0});
  order.Begin(1, 0, 5);
  EXPECT_THAT(order.Take(), ElementsAre("0:0-1@1", "0:1-2@2"));
}

TEST(GrantOrderTest, WhatACostSaysIsTrustedForShortGrantsOnly) {
  Order order;
  order.Load(0, 1, {0});
  order.Begin(1, 0, 1'000'000'000);
  EXPECT_EQ(order->Next(0)->end, 64u);
  EXPECT_TRUE(order->Done(1, 0, 64));
  EXPECT_EQ(order->Next(0)->end, 64u + 5'000'000);
}

// Otherwise a program that costs nothing would have a grant for each 64 ns of
// the horizon.
TEST(GrantOrderTest, WhatWasNeverMeasuredHasFewFiringsOpen) {
  Order order;
  order.Load(0, /*cost_ns=*/0, {0});
  order.Begin(1, 0, 1'000'000'000);
  EXPECT_THAT(order.Take(), ElementsAre("0:0-64@1", "0:64-128@2"));
  order->Forget(1);
  for (uint64_t launch = 2; launch < 300; ++launch) {
    order.Begin(launch, 0, 1);
    if (order.Take().empty()) break;
  }
  EXPECT_EQ(order->next_firing(0), 128 + 128u);
  EXPECT_TRUE(order->IsWaiting(0) || order->Done(3, 0, 1));
  EXPECT_FALSE(order.Take().empty());
}

TEST(GrantOrderTest, ShortLaunchesFillTheHorizonTogether) {
  Order order(1000);
  order.Load(0, 100, {0});
  for (uint64_t launch = 1; launch <= 10; ++launch) {
    order.Begin(launch, 0, 1);
    EXPECT_EQ(order.Take().size(), 1u) << launch;
  }
  order.Begin(11, 0, 1);
  EXPECT_THAT(order.Take(), IsEmpty());
  EXPECT_TRUE(order->Done(1, 0, 100));
  EXPECT_THAT(order.Take(), ElementsAre("0:10-11@11"));
}

TEST(GrantOrderTest, WhatIsForgottenIsNotAwaited) {
  Order order(1000);
  order.Load(0, 100, {0});
  order.Begin(1, 0, 100);
  EXPECT_EQ(order.Take().size(), 2u);
  EXPECT_THAT(order->FindLaunch(1)->tickets, ElementsAre(1, 2));
  order->Forget(1);
  EXPECT_EQ(order->Find(1), nullptr);
  EXPECT_EQ(order->FindLaunch(1), nullptr);
  EXPECT_THAT(order.Take(), IsEmpty());
  EXPECT_FALSE(order->Done(1, 0, 100));
  order->Forget(1);
  order.Begin(2, 0, 3);
  EXPECT_THAT(order.Take(), ElementsAre("0:10-13@3"));
}

TEST(GrantOrderTest, ALaunchIsCutShortByOneGrantMore) {
  Order order(1000);
  order.Load(0, 100, {0});
  order.Begin(1, 0, 100);
  EXPECT_EQ(order.Take().size(), 2u);
  order->CutShort(1, 2);
  order->CutShort(1, 50);
  EXPECT_THAT(order.Take(), IsEmpty());
  EXPECT_TRUE(order->Done(1, 0, 500));
  EXPECT_THAT(order.Take(), ElementsAre("0:10-12@3"));
  EXPECT_TRUE(order->FindLaunch(1)->cut_short);
  EXPECT_EQ(order->FindLaunch(1)->end, 12u);
  order.Begin(2, 0, 1);
  order->CutShort(1, 2);  // it has all
  EXPECT_TRUE(order->Done(2, 0, 500));
  EXPECT_THAT(order.Take(), ElementsAre("0:12-13@4"));
  order->CutShort(2, 2);
  EXPECT_FALSE(order->FindLaunch(2)->cut_short);
}

// Its launches may be forgotten after it.
TEST(GrantOrderTest, AProgramThatGoesLeavesRoom) {
  Order order(1000, 100);
  for (uint32_t p : {0, 1}) order.Load(p, 100, {0}, /*client=*/p);
  order.Begin(1, 0, 100);
  EXPECT_THAT(order.Take(), ElementsAre("0:0-1@1", "0:1-2@2"));
  order.Begin(2, 1, 1);
  EXPECT_THAT(order.Take(), IsEmpty());
  order->Unload(0);
  EXPECT_FALSE(order->Done(1, 0, 100));
  order->Forget(1);
  EXPECT_EQ(order->Find(2), nullptr);
  EXPECT_THAT(order.Take(), ElementsAre("1:0-1@3"));
}

// A program of another client on the same devices makes grants short, so that
// it soon gets its turn when it has work; on other devices it does not.
TEST(GrantOrderTest, GrantsAreShortWhereOthersMayCome) {
  Order order(/*horizon_ns=*/1000, /*chunk_ns=*/200);
  order.Load(0, 10, {0, 1});
  order.Begin(1, 0, 1000);
  EXPECT_THAT(order.Take(), ElementsAre("0:0-50@1", "0:50-100@2"));
  order.Load(1, 10, {1}, /*client=*/1);
  EXPECT_THAT(order.Take(), IsEmpty());
  EXPECT_TRUE(order->Done(1, 0, 500));
  EXPECT_THAT(order.Take(), ElementsAre("0:100-110@3"));
  EXPECT_TRUE(order->Done(2, 0, 500));
  EXPECT_THAT(order.Take(), ElementsAre("0:110-120@4"));
  order->Unload(1);
  order.Load(1, 10, {2}, 1);
  EXPECT_TRUE(order->Done(3, 0, 100));
  EXPECT_THAT(order.Take(), ElementsAre("0:120-170@5"));
}

// All programs together are granted no more than a chunk, or two grants.
TEST(GrantOrderTest, AGroupHasOneChunkForAllPrograms) {
  Order order(1000, 200);
  for (uint32_t program : {0, 1, 2}) {
    order.Load(program, 10, {0}, /*client=*/program);
    order.Begin(program + 1, program, 1000);
  }
  // Each grant has 8 firings, since nothing is measured.
  EXPECT_THAT(order.Take(), ElementsAre("0:0-8@1", "1:0-8@2"));
  EXPECT_TRUE(order->Done(1, 0, 80));
  EXPECT_THAT(order.Take(), ElementsAre("2:0-8@3"));
}

// One that others do not wait for is granted beside them, and who is on several
// groups when its turn has come on one.
TEST(GrantOrderTest, GroupsAreDecidedIndependently) {
  Order order(1000, 100);
  order.Load(0, 50, {0}, 0);
  order.Load(1, 50, {1}, 1);
  order.Load(2, 50, {0, 1}, 2);
  order.Begin(1, 0, 1000);
  order.Begin(2, 1, 1000);
  std::vector<std::string> grants = order.Take();
  EXPECT_THAT(grants,
              UnorderedElementsAre("0:0-1@3", "0:1-2@4", "1:0-1@1", "1:1-2@2"));
  order.Begin(3, 2, 1000);
  EXPECT_THAT(order.Take(), IsEmpty());
  // It begins where the others are, who came before.
  EXPECT_TRUE(order->Done(1, 0, 50));
  EXPECT_THAT(order.Take(), ElementsAre("1:2-3@5"));
  EXPECT_TRUE(order->Done(3, 0, 50));
  EXPECT_THAT(order.Take(), ElementsAre("0:2-3@6"));
  // The grant is on the second group only.
  EXPECT_TRUE(order->Done(2, 0, 50));
  EXPECT_THAT(order.Take(), ElementsAre("2:0-1@7"));
}

TEST(GrantOrderTest, AProgramThatFillsSlowlyHasLongerGrants) {
  Order order(100'000, 200);
  order.fill_ns = 100;
  for (uint32_t program : {0, 1}) {
    order.Load(program, 10, {0}, /*client=*/program);
    order.Begin(program + 1, program, 100'000);
  }
  EXPECT_EQ(order.Take().size(), 2u);
  EXPECT_TRUE(order->Done(1, 0, 80));
  // Ten times 100 ns.
  EXPECT_THAT(order.Take(), ElementsAre("0:8-108@3"));
}

TEST(GrantOrderTest, SharesFollowWeights) {
  for (const std::vector<double>& weights :
       {std::vector<double>{1, 1, 1, 1}, {1, 2, 4, 8}}) {
    Order order;
    double all = 0;
    for (uint32_t p = 0; p < weights.size(); ++p) {
      order.Load(p, 100'000, {0}, /*client=*/p);
      order.Begin(p + 1, p, 1'000'000, {weights[p]});
      all += weights[p];
    }
    std::map<uint32_t, double> had = order.Share(2000);  // about a second
    for (uint32_t p = 0; p < weights.size(); ++p) {
      EXPECT_NEAR(had[p] / static_cast<double>(order.now), weights[p] / all,
                  0.02 * weights[p] / all)
          << p;
    }
  }
}

// An idle program does not save up device time.
TEST(GrantOrderTest, ANewcomerBeginsWhereOthersAre) {
  Order order;
  for (uint32_t p : {0, 1}) order.Load(p, 100'000, {0}, /*client=*/p);
  order.Begin(1, 0, 1'000'000);
  order.Share(1000);
  order.Begin(2, 1, 1'000'000);
  std::map<uint32_t, double> had = order.Share(100);
  EXPECT_NEAR(had[0], had[1], 3e6);
}

TEST(GrantOrderTest, ProgramsOfAClientTakeTurns) {
  Order order;
  for (uint32_t p : {0, 1, 2}) {
    order.Load(p, 100'000, {0}, /*client=*/p == 2 ? 1 : 0);
    order.Begin(p + 1, p, 1'000'000);
  }
  std::map<uint32_t, double> had = order.Share(1000);
  EXPECT_NEAR(had[0], had[1], 2e6);
  EXPECT_NEAR(had[0] + had[1], had[2], 3e6);
}

TEST(GrantOrderTest, AHigherPriorityWaitsForOneChunkAtMost) {
  Order order;
  for (uint32_t p : {0, 1}) order.Load(p, 100'000, {0}, /*client=*/p);
  order.Begin(1, 0, 1'000'000);
  order.Share(1000);
  order.Begin(2, 1, 5, {.weight = 1, .priority = 3});
  const TimeNs before = order.now;
  while (order->FindLaunch(2)->first + 5 > order->next_firing(1) ||
         !order->FindLaunch(2)->tickets.empty()) {
    order.Share(1);
  }
  EXPECT_LE(order.now - before, 5 * order.step_ns + kChunkNs);
}

// Nobody waits for ever, however busy those of a higher priority are.
TEST(GrantOrderTest, WhoWaitsAges) {
  Order order;
  for (uint32_t p : {0, 1}) order.Load(p, 100'000, {0}, /*client=*/p);
  order.Begin(1, 0, 1'000'000, {.weight = 1, .priority = 4});
  order.Begin(2, 1, 1'000'000);
  std::map<uint32_t, double> had = order.Share(20'000);  // ten seconds
  // A grant each half a second.
  EXPECT_NEAR(had[1] / 5e5, static_cast<double>(order.now) / 5e8, 2);
}

TEST(GrantOrderTest, WhoIsWaitedForIsAsUrgent) {
  Order order;
  for (uint32_t p : {0, 1, 2}) {
    order.Load(p, 100'000, {0}, /*client=*/p);
    order.Begin(p + 1, p, 1'000'000, {.weight = 1, .priority = p == 2 ? 1 : 0});
  }
  EXPECT_EQ(order.Share(100)[0], 0);
  order->Inherit(1, {.weight = 1, .priority = 2});
  EXPECT_GT(order.Share(100)[0], 4e6);
}

// Grants that end in any order, launches given up, programs that come and go:
// what is granted stays within bounds, nobody waits where there is room, and in
// the end nothing is left.
TEST(GrantOrderTest, RandomProgramsLeaveNothingBehind) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    Order order(10'000, 1'000, kPolicyNames[pick(4)]);
    struct Open {
      uint64_t ticket;
      int32_t island;
    };
    std::vector<Open> open;
    std::map<uint32_t, uint64_t> launch_of;  // by program
    uint64_t launches = 0;
    for (int i = 0; i < 300; ++i) {
      order.now += pick(1000);
      const uint32_t p = pick(6);
      const bool loaded = launch_of.count(p) > 0;
      if (!loaded) {
        std::vector<int64_t> devices;
        for (int64_t d = 0; d < 8; ++d) {
          if (pick(3) == 0) devices.push_back(d);
        }
        order.Load(p, 1 + pick(3000), devices, /*client=*/p % 4);
        launch_of[p] = 0;
      } else if (launch_of[p] == 0) {
        order.Begin(launch_of[p] = ++launches, p, 1 + pick(50),
                    {1.0 + pick(3), static_cast<int32_t>(pick(3)),
                     order.now + pick(9999)});
      } else if (pick(8) == 0) {
        order->Forget(std::exchange(launch_of[p], 0));
        if (pick(2) == 0) {
          order->Unload(p);
          launch_of.erase(p);
        }
      }
      while (const Grant* grant = order->Next(order.now)) {
        for (const auto& [island, previous] : grant->previous) {
          open.push_back({grant->ticket, island});
        }
      }
      while (!open.empty() && pick(3) != 0) {
        std::swap(open[pick(static_cast<uint32_t>(open.size()))], open.back());
        order->Done(open.back().ticket, open.back().island, pick(5000));
        open.pop_back();
      }
    }
    // All that waits is granted when what runs is over.
    for (int i = 0; i < 100'000; ++i) {
      while (const Grant* grant = order->Next(order.now)) {
        for (const auto& [island, previous] : grant->previous) {
          open.push_back({grant->ticket, island});
        }
      }
      if (open.empty()) break;
      order.now += 100;
      order->Done(open.front().ticket, open.front().island, 100);
      open.erase(open.begin());
    }
    for (const auto& [program, launch] : launch_of) {
      EXPECT_FALSE(order->IsWaiting(program)) << program;
      if (launch == 0) continue;
      EXPECT_EQ(order->FindLaunch(launch)->end, order->next_firing(program));
    }
  }
}

}  // namespace
}  // namespace pathways
