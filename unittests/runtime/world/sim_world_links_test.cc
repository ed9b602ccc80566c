//===- sim_world_links_test.cc - Link costs in a simulation -----*- C++ -*-===//
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
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unittests/runtime/world/sim_world_test_support.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

// Sends `count` messages of `bytes` bytes from host `from` to host `to` at time
// 0 and returns their arrival times.
std::vector<TimeNs> Arrivals(SimOptions options, Placement from, Placement to,
                             int count, uint64_t bytes, bool control = false) {
  TestActor a, b;
  auto world = MakeSim(std::move(options));
  a.Join(*world, from);
  b.Join(*world, to);
  std::vector<TimeNs> times;
  b.on_message = [&](ActorId, const WireMessage&) {
    times.push_back(world->Now());
  };
  b.on_control = [&](ActorId, std::string_view) {
    times.push_back(world->Now());
  };
  a.on_local = [&](const LocalMessage&) {
    for (int i = 0; i < count; ++i) {
      if (control) {
        world->SendControl(a.id, b.id, std::string(bytes, 'c'));
      } else {
        world->Send(a.id, b.id, WireMessage(), {nullptr, bytes});
      }
    }
  };
  // A timer, which costs nothing.
  world->SendAfter(kNobody, a.local_id(), 0, LocalNumbered(0));
  EXPECT_FALSE(world->RunUntil(Never));
  return times;
}

TEST(SimWorldTest, LinksCostLatencyAndBandwidth) {
  SimOptions options = FreeLinks();
  options.local.latency_ns = 3;
  options.ici = {100, 1e9, 0};  // a byte takes 1 ns
  options.dcn = {5000, 0.5e9, 0};
  options.control = {7, 0.25e9, 0};
  // Each message has a header of 64 bytes. Between hosts, one message is on the
  // wire at a time.
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {0, 1, 0}, 2, 936),
              ElementsAre(3, 3));
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {1, 0, 0}, 3, 936),
              ElementsAre(1100, 2100, 3100));
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {1, 0, 1}, 2, 936),
              ElementsAre(7000, 9000));
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {-1, 0, -1}, 2, 936),
              ElementsAre(4007, 8007));
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {1, 0, 0}, 2, 136, true),
              ElementsAre(300, 500));
  // A message on a very slow link never arrives; its time does not overflow.
  options.ici.bytes_per_second = 1e-300;
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {1, 0, 0}, 2, UINT64_MAX - 64),
              ElementsAre(INT64_MAX / 4, INT64_MAX / 4));
}

// Hosts of an island share one wire to another island in each direction.
TEST(SimWorldTest, CrossingsTellTheWayOfMessages) {
  SimOptions options = FreeLinks();
  options.ici = {50, 1e9, 0};  // a byte takes 1 ns
  std::vector<SimCrossing> crossings;
  options.on_crossing = [&](const SimCrossing& c) { crossings.push_back(c); };
  options.fault_hook = [](ActorId, ActorId, const WireMessage& message) {
    return Fault{message.sequence == 3 ? Fault::kDrop : Fault::kDeliver, 0};
  };
  auto world = MakeSim(std::move(options));
  TestActor a, b, c;
  a.Join(*world, 0, 0);
  b.Join(*world, 1, 0);
  c.Join(*world, 0, 0);
  std::vector<TimeNs> arrivals;
  b.on_message = [&](ActorId, const WireMessage&) {
    arrivals.push_back(world->Now());
  };
  b.on_control = [&](ActorId, std::string_view) {
    arrivals.push_back(world->Now());
  };
  a.on_message = [&](ActorId, const WireMessage&) {
    world->Send(a.id, c.id, Numbered(0));  // stays on the host
    for (uint64_t sequence : {1, 3}) {
      WireMessage message = Numbered(0);
      message.sequence = sequence;
      world->Send(a.id, b.id, message, {nullptr, 36});
    }
    world->SendControl(a.id, b.id, "0123456789");
  };
  world->Send(kNoActor, a.id, Numbered(0));
  world->RunUntil(Never);
  ASSERT_EQ(crossings.size(), 2u);
  EXPECT_EQ(crossings[0].from, a.local_id());
  EXPECT_EQ(crossings[0].to, b.local_id());
  EXPECT_EQ(crossings[0].bytes, 100u);  // including the message itself
  EXPECT_EQ(crossings[0].sequence, 1u);
  EXPECT_EQ(crossings[0].begin, crossings[0].sent);
  EXPECT_EQ(crossings[0].end, crossings[0].begin + 100);
  EXPECT_EQ(crossings[0].arrival, crossings[0].end + 50);
  // It waits on the same wire for the first message and for the lost one.
  EXPECT_EQ(crossings[1].sequence, 0u);
  EXPECT_EQ(crossings[1].begin, crossings[1].sent + 200);
  EXPECT_EQ(crossings[1].end, crossings[1].begin + 74);
  EXPECT_THAT(arrivals,
              ElementsAre(crossings[0].arrival, crossings[1].arrival));
}

TEST(SimWorldTest, BusyDcnIsSharedByDirection) {
  std::deque<TestActor> actors(4);
  SimOptions options = FreeLinks();
  options.dcn = {0, 1e9, 0};
  auto world = MakeSim(std::move(options));
  std::vector<TimeNs> times(4, -1);
  for (int i = 0; i < 4; ++i) {
    actors[i].Join(*world, i, 0, i / 2);
    actors[i].on_message = [&, i](ActorId from, const WireMessage&) {
      if (from != kNoActor) {
        times[i] = world->Now();
        return;
      }
      world->Send(actors[i].id, actors[(i + 2) % 4].id, WireMessage(),
                  {nullptr, 936});
    };
  }
  for (TestActor& actor : actors) world->Send(kNoActor, actor.id, {});
  EXPECT_FALSE(world->RunUntil(Never));
  std::sort(times.begin(), times.end());
  EXPECT_THAT(times, ElementsAre(1000, 1000, 2000, 2000));
}

TEST(SimWorldTest, JitterKeepsOrderButMovesTime) {
  std::set<TimeNs> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SimOptions options = FreeLinks();
    options.seed = seed;
    options.ici = {100, 0, 1000};
    std::vector<TimeNs> times = Arrivals(options, {0, 0, 0}, {1, 0, 0}, 5, 0);
    ASSERT_EQ(times.size(), 5u);
    EXPECT_GE(times.front(), 100);
    EXPECT_LE(times.back(), 1100);
    seen.insert(times.front());
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(SimWorldTest, PayloadThatCrossesHostsIsCopied) {
  TestActor a, near, far;
  auto world = MakeSim({});
  a.Join(*world, 0, 0);
  near.Join(*world, 0, 0);
  far.Join(*world, 1, 0);
  std::string bytes = "before";
  const void *near_address = nullptr, *far_address = nullptr;
  std::string far_bytes;
  near.on_message = [&](ActorId, const WireMessage&) {
    near_address = near.payload.data;
  };
  far.on_message = [&](ActorId, const WireMessage&) {
    far_address = far.payload.data;
    if (far.payload.bytes > 0 && far_address != nullptr) {
      far_bytes.assign(static_cast<const char*>(far_address),
                       far.payload.bytes);
    }
  };
  Payload payload{bytes.data(), bytes.size()};
  a.on_message = [&](ActorId, const WireMessage&) {
    world->Send(a.id, near.id, WireMessage(), payload);
    world->Send(a.id, far.id, WireMessage(), payload);
  };
  world->Send(kNoActor, a.id, {});
  EXPECT_TRUE(world->RunOne());
  bytes = "after.";
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(near_address, bytes.data());
  EXPECT_NE(far_address, bytes.data());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(far_address) % 128, 0u);
  EXPECT_EQ(far_bytes, "before");
  // A payload without data keeps its cost.
  payload.data = nullptr;
  world->Send(kNoActor, a.id, {});
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(far_address, nullptr);
}

}  // namespace
}  // namespace pathways
