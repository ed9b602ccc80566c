//===- sim_world_faults_test.cc - Faults of a simulation --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unittests/runtime/world/sim_world_test_support.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Sorted {
  int received = 0, doubled = 0, overtaken = 0;
  SimStats stats;
};

Sorted SendMany(FaultRates rates, int count, bool control) {
  TestActor a, b;
  SimOptions options = FreeLinks();
  options.seed = 99;
  (control ? options.control_faults : options.faults) = rates;
  auto world = MakeSim(std::move(options));
  a.Join(*world, 0, 0);
  b.Join(*world, 1, 0);
  Sorted sorted;
  std::vector<int> seen(count, 0);
  int64_t highest = -1;
  auto take = [&](int64_t step) {
    ++sorted.received;
    if (seen[step]++ > 0) {
      ++sorted.doubled;
    } else if (step < highest) {
      ++sorted.overtaken;
    }
    highest = std::max(highest, step);
  };
  b.on_message = [&](ActorId, const WireMessage& m) { take(m.step); };
  b.on_control = [&](ActorId, std::string_view bytes) {
    take(std::stoll(std::string(bytes)));
  };
  a.on_message = [&](ActorId, const WireMessage&) {
    for (int i = 0; i < count; ++i) {
      if (control) {
        world->SendControl(a.id, b.id, std::to_string(i));
      } else {
        world->Send(a.id, b.id, Numbered(i));
      }
    }
  };
  world->Send(kNoActor, a.id, {});
  EXPECT_FALSE(world->RunUntil(Never));
  sorted.stats = world->stats();
  return sorted;
}

TEST(SimWorldTest, FaultRatesDoWhatTheySay) {
  constexpr int kCount = 10'000;
  for (bool control : {false, true}) {
    SCOPED_TRACE(control);
    Sorted none = SendMany({}, kCount, control);
    EXPECT_EQ(none.received, kCount);
    EXPECT_EQ(none.overtaken, 0);

    Sorted drop = SendMany({.drop = .3}, kCount, control);
    EXPECT_EQ(drop.received + drop.stats.dropped, uint64_t{kCount});
    EXPECT_NEAR(drop.received, .7 * kCount, 300);
    EXPECT_EQ(drop.overtaken, 0);

    Sorted twice = SendMany({.duplicate = .3}, kCount, control);
    EXPECT_EQ(twice.received, kCount + twice.doubled);
    EXPECT_EQ(uint64_t(twice.doubled), twice.stats.duplicated);
    EXPECT_NEAR(twice.doubled, .3 * kCount, 300);
    EXPECT_EQ(twice.overtaken, 0);  // the first copies are in order

    Sorted delay = SendMany({.delay = .3}, kCount, control);
    EXPECT_EQ(delay.received, kCount);
    EXPECT_NEAR(delay.stats.delayed, .3 * kCount, 300);
    EXPECT_EQ(delay.overtaken, 0);

    Sorted reorder = SendMany({.reorder = .3}, kCount, control);
    EXPECT_EQ(reorder.received, kCount);
    EXPECT_GT(reorder.overtaken, .2 * kCount);

    Sorted all = SendMany({.drop = 1}, kCount, control);
    EXPECT_EQ(all.received, 0);
  }
  // Rates of hot messages do not affect control messages, and vice versa.
  EXPECT_EQ(SendMany({.drop = 1}, 10, true).stats.dropped, 10u);
}

TEST(SimWorldTest, AHostStopsBeforeTheChosenControlMessage) {
  SimOptions options = FreeLinks();
  options.host_stops = {{1, 2}};
  TestActor near, far;
  auto world = MakeSim(std::move(options));
  near.Join(*world, 0, 0);
  far.Join(*world, 1, 0);
  std::vector<std::string> heard;
  near.on_control = [&](ActorId, std::string_view bytes) {
    heard.emplace_back(bytes);
  };
  far.on_control = [&](ActorId, std::string_view bytes) {
    heard.emplace_back(bytes);
    world->SendAfter(far.local_id(), far.local_id(), 10, LocalNumbered(0));
    world->SendControl(far.id, near.id, "sent before");
  };
  far.on_message = [&](ActorId, const WireMessage&) {
    heard.push_back("message");
  };
  far.on_local = [&](const LocalMessage&) { heard.push_back("timer"); };
  world->SendControl(kNoActor, near.id, "one");
  world->SendControl(kNoActor, far.id, "two");
  EXPECT_FALSE(world->RunUntil(Never));
  // The third delivered message is the answer of the host, which stops then.
  EXPECT_THAT(heard, ElementsAre("one", "two", "sent before"));
  EXPECT_EQ(world->stats().unheard, 1u);  // its timer
  world->SendControl(kNoActor, far.id, "late");
  world->Send(kNoActor, far.id, Numbered(0));
  world->SendControl(kNoActor, near.id, "others go on");
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_THAT(heard, ElementsAre("one", "two", "sent before", "others go on"));
  EXPECT_EQ(world->stats().unheard, 3u);
  EXPECT_EQ(world->stats().controls, 4u);
  EXPECT_EQ(world->events(), 4u);
}

TEST(SimWorldTest, WatchersHearOfAHostThatStops) {
  for (TimeNs tell_after : {TimeNs{-1}, TimeNs{0}, TimeNs{500}}) {
    SCOPED_TRACE(tell_after);
    SimOptions options = FreeLinks();
    options.host_stops = {{1, 0, tell_after}};
    auto world = MakeSim(std::move(options));
    TestActor near, far, late;
    near.Join(*world, 0, 0);
    far.Join(*world, {1, 0, 0, /*epoch=*/7});
    std::vector<std::string> heard;
    auto hears = [&](TestActor* actor, std::string name) {
      actor->on_peer_down = [&heard, &world, name](int32_t host,
                                                   uint32_t epoch) {
        heard.push_back(name + " " + std::to_string(host) + "." +
                        std::to_string(epoch) + " at " +
                        std::to_string(world->Now()));
      };
      world->peers().WatchPeers(actor->local_id());
    };
    hears(&near, "near");
    hears(&far, "far");  // gets no news of its own host
    world->SendControl(kNoActor, near.id, "the first one");
    EXPECT_FALSE(world->RunUntil(Never));
    late.Join(*world, 2, 0);
    hears(&late, "late");  // notified at once
    EXPECT_FALSE(world->RunUntil(Never));
    if (tell_after < 0) {
      EXPECT_THAT(heard, ElementsAre());
      // A component that learned of it by other means may report it.
      world->peers().ReportPeerDown(1, 7);
      world->peers().ReportPeerDown(1, 7);
      EXPECT_FALSE(world->RunUntil(Never));
      EXPECT_THAT(heard,
                  UnorderedElementsAre("near 1.7 at 0", "late 1.7 at 0"));
    } else {
      const std::string at = " at " + std::to_string(tell_after);
      EXPECT_THAT(heard, ElementsAre("near 1.7" + at, "late 1.7" + at));
    }
  }
}

// Messages to a suspended host are kept and arrive in order when the host
// resumes, even in an epoch that another one has followed.
TEST(SimWorldTest, AHostMayStandStill) {
  auto world = MakeSim(FreeLinks());
  TestActor near, again;
  TestActor far;
  near.Join(*world, 0, 0);
  far.Join(*world, {1, 0, 0, 1});
  std::vector<std::string> heard;
  far.on_control = [&](ActorId, std::string_view bytes) {
    heard.emplace_back(bytes);
    if (bytes != "one") return;
    world->SendAfter(far.local_id(), far.local_id(), 10, LocalNumbered(0));
  };
  far.on_local = [&](const LocalMessage&) { heard.push_back("timer"); };
  again.on_control = [&](ActorId, std::string_view bytes) {
    heard.push_back("again " + std::string(bytes));
  };
  world->SendControl(kNoActor, far.id, "one");
  EXPECT_TRUE(world->RunUntil([&] { return heard.size() == 1; }));
  world->SuspendHost(1);
  world->SendControl(kNoActor, far.id, "two");
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_THAT(heard, ElementsAre("one"));
  again.id = far.id;
  world->Register(&again, {1, 0, 0, 2}, "again", again.id);
  world->SendControl(kNoActor, far.id, "three");
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_THAT(heard, ElementsAre("one", "again three"));
  world->ResumeHost(1);
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_THAT(heard,
              UnorderedElementsAre("one", "again three", "two", "timer"));
  // Messages kept when the world ends are freed with it.
  world->SuspendHost(1);
  world->SendControl(kNoActor, far.id, "four");
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(heard.size(), 4u);
}

// Actors of a new epoch have the addresses of the old ones, and get no messages
// that were sent to the old ones.
TEST(SimWorldTest, AHostMayStartAgain) {
  SimOptions options = FreeLinks();
  options.ici = {100, 0, 0};
  auto world = MakeSim(std::move(options));
  TestActor near, again;
  auto far = std::make_unique<TestActor>();
  near.Join(*world, 0, 0);
  far->Join(*world, {1, 0, 0, 1});
  std::vector<std::string> heard;
  again.on_control = [&](ActorId, std::string_view bytes) {
    heard.emplace_back(bytes);
  };
  near.on_control = [&](ActorId, std::string_view bytes) {
    world->SendControl(near.id, again.id, std::string(bytes));
  };
  again.id = far->id;
  world->SendControl(kNoActor, near.id, "for the first life");
  EXPECT_TRUE(world->RunUntil([&] { return world->stats().controls == 1; }));
  world->StopHost(1, 0);
  far.reset();
  world->Register(&again, {1, 0, 0, 2}, "again", again.id);
  world->SendControl(kNoActor, near.id, "for the second");
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_THAT(heard, ElementsAre("for the second"));
  EXPECT_EQ(world->stats().unheard, 1u);
}

// Returns the steps and arrival times of ten messages sent at 0, 1, ... us.
std::vector<std::pair<uint64_t, TimeNs>> SendTen(
    const std::function<void(SimWorld&, int64_t step)>& before) {
  TestActor a, b;
  auto world = MakeSim(FreeLinks());
  a.Join(*world, 0, 0);
  b.Join(*world, 1, 0);
  std::vector<std::pair<uint64_t, TimeNs>> seen;
  b.on_message = [&](ActorId, const WireMessage& m) {
    seen.emplace_back(m.step, world->Now());
  };
  for (int64_t i = 0; i < 10; ++i) {
    before(*world, i);
    world->Send(a.id, b.id, Numbered(i));
    world->RunFor(1'000);
  }
  world->RunFor(1'000'000);
  return seen;
}

TEST(SimWorldTest, LinksSufferUntilItEnds) {
  int number = 0;
  LinkFault fault;
  fault.some = {1};
  fault.cut = LinkFault::kLoses;
  const auto lost = SendTen([&](SimWorld& world, int64_t step) {
    if (step == 3) number = world.Begin(fault);
    if (step == 7) world.End(number);
  });
  std::vector<uint64_t> steps;
  for (const auto& [step, time] : lost) steps.push_back(step);
  EXPECT_THAT(steps, ElementsAre(0, 1, 2, 7, 8, 9));
  // The fault does not affect other hosts.
  fault.some = {2};
  EXPECT_EQ(SendTen([&](SimWorld& world, int64_t step) {
              if (step == 0) world.Begin(fault);
            }).size(),
            10u);
}

TEST(SimWorldTest, WhatALinkHoldsComesInOrder) {
  LinkFault fault;
  fault.some = {0};
  fault.others = {1};
  fault.cut = LinkFault::kHolds;
  fault.until = 5'000;
  int number = 0;
  const auto held = SendTen([&](SimWorld& world, int64_t step) {
    if (step == 1) number = world.Begin(fault);
    if (step == 5) world.End(number);
  });
  ASSERT_EQ(held.size(), 10u);
  for (uint64_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(held[i].first, i);
    EXPECT_EQ(held[i].second, i >= 1 && i < 5 ? 5'000 : TimeNs(i) * 1'000);
  }
}

TEST(SimWorldTest, SlowActorsTakeLonger) {
  TestActor a;
  auto world = MakeSim(FreeLinks());
  a.Join(*world, 0, 0);
  const std::string name = world->name(a.local_id());
  EXPECT_EQ(world->kernels().CostNow(a.local_id(), 100), 100);
  world->SlowDown(name, 2.5);
  EXPECT_EQ(world->kernels().CostNow(a.local_id(), 100), 250);
  world->SlowDown(name, 1);
  EXPECT_EQ(world->kernels().CostNow(a.local_id(), 100), 100);
}

TEST(SimWorldTest, DeliveriesAreChangedLeftOutAndDoubled) {
  TestActor a, b;
  SimOptions options = FreeLinks();
  options.mutation = [](SimDelivery& delivery) {
    if (delivery.wire == nullptr) return 1;
    delivery.wire->step += 10;
    return static_cast<int>(delivery.wire->step % 3);
  };
  auto world = MakeSim(std::move(options));
  a.Join(*world, 0, 0);
  b.Join(*world, 1, 0);
  std::vector<uint64_t> steps;
  b.on_message = [&](ActorId, const WireMessage& m) {
    steps.push_back(m.step);
  };
  for (int64_t i = 0; i < 3; ++i) world->Send(a.id, b.id, Numbered(i));
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_THAT(steps, ElementsAre(10, 11, 11));
}

TEST(SimWorldTest, BadLinkFaultsAreRefused) {
  LinkFault fault;
  EXPECT_TRUE(CheckLinkFault(fault).ok());
  fault.wire_factor = 0.5;
  EXPECT_EQ(CheckLinkFault(fault),
            absl::InvalidArgumentError(
                "a link is 0.5 times as slow, expected 1 to 1e6"));
  fault.wire_factor = 1;
  fault.controls.drop = 2;
  EXPECT_EQ(CheckLinkFault(fault),
            absl::InvalidArgumentError("the probability to drop control "
                                       "messages is 2, expected 0 to 1"));
}

}  // namespace
}  // namespace pathways
