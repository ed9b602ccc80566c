//===- sim_world_test.cc - One seed, one history --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unittests/runtime/world/sim_world_test_support.h"

namespace pathways {
namespace {

using ::testing::HasSubstr;

constexpr int kHosts = 6;

struct Outcome {
  uint64_t hash = 0;
  uint64_t events = 0;
  std::vector<uint32_t> order;  // receivers
  SimStats stats;
};

// Runs actors on six hosts of two islands that pass messages on at random.
Outcome Gossip(uint64_t seed, FaultRates faults = {}, int lives = 40) {
  std::deque<TestActor> actors(24);
  SimOptions options;
  options.seed = seed;
  options.faults = faults;
  Outcome outcome;
  options.observer = [&](const SimEvent& event) {
    EXPECT_EQ(event.number, outcome.order.size());
    outcome.order.push_back(IndexOf(event.to));
  };
  auto world = MakeSim(std::move(options));
  std::vector<char> bytes(200, 'p');
  for (size_t i = 0; i < actors.size(); ++i) {
    int host = static_cast<int>(i) % kHosts;
    actors[i].Join(*world, host, 0, host / 3);
    auto pass_on = [&, i](uint64_t step) {
      if (step == 0) return;
      TestActor& from = actors[i];
      TestActor& to = actors[world->Random() % actors.size()];
      if (world->placement(to.local_id()).host ==
              world->placement(from.local_id()).host &&
          step % 2 == 0) {
        world->SendLocal(from.local_id(), to.local_id(),
                         LocalNumbered(step - 1));
      } else {
        world->Send(from.id, to.id, Numbered(step - 1),
                    {bytes.data(), world->Random() % bytes.size()});
      }
      if (step % 5 == 0) {
        world->SendAfter(from.local_id(), from.local_id(), 700,
                         LocalNumbered(step - 1));
        world->SendControl(from.id, to.id, "control");
      }
    };
    actors[i].on_message = [pass_on](ActorId, const WireMessage& message) {
      pass_on(message.step);
    };
    actors[i].on_local = [pass_on](const LocalMessage& message) {
      pass_on(message.step);
    };
  }
  for (TestActor& actor : actors) {
    world->Send(kNoActor, actor.id, Numbered(lives));
  }
  EXPECT_FALSE(world->RunUntil(Never));
  outcome.hash = world->event_hash();
  outcome.events = world->events();
  outcome.stats = world->stats();
  EXPECT_EQ(world->pending(), 0u);
  return outcome;
}

TEST(SimWorldTest, OneSeedOneHistory) {
  Outcome first = Gossip(
      7, {.drop = .01, .duplicate = .01, .delay = .1, .reorder = .1}, 12);
  EXPECT_GT(first.events, 200u);
  for (int i = 0; i < 100; ++i) {
    Outcome again = Gossip(
        7, {.drop = .01, .duplicate = .01, .delay = .1, .reorder = .1}, 12);
    ASSERT_EQ(again.hash, first.hash);
    ASSERT_EQ(again.events, first.events);
    ASSERT_EQ(again.order, first.order);
  }
}

TEST(SimWorldTest, SeedsDiffer) {
  std::set<uint64_t> hashes;
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Outcome outcome = Gossip(seed, {}, 4);
    hashes.insert(outcome.hash);
    orders.insert(outcome.order);
  }
  EXPECT_EQ(hashes.size(), 100u);
  EXPECT_EQ(orders.size(), 100u);
}

// Two senders send to one receiver without jitter. Only the tie decides the
// order, and both orders occur.
TEST(SimWorldTest, SeedBreaksTies) {
  int first[2] = {0, 0};
  for (uint64_t seed = 0; seed < 64; ++seed) {
    TestActor a, b, to;
    SimOptions options = FreeLinks();
    options.seed = seed;
    auto world = MakeSim(std::move(options));
    a.Join(*world, 0, 0);
    b.Join(*world, 0, 0);
    to.Join(*world, 0, 0);
    std::vector<ActorId> order;
    to.on_message = [&](ActorId from, const WireMessage&) {
      order.push_back(from);
    };
    a.on_message = b.on_message = [&](ActorId, const WireMessage& message) {
      ActorId self = message.target;
      world->Send(self, to.id, Numbered(0));
      world->Send(self, to.id, Numbered(1));
    };
    for (TestActor* actor : {&a, &b}) {
      WireMessage message;
      message.target = actor->id;
      world->Send(kNoActor, actor->id, message);
    }
    EXPECT_FALSE(world->RunUntil(Never));
    ASSERT_EQ(order.size(), 4u);
    ++first[order[0] == a.id ? 0 : 1];
    EXPECT_EQ(world->Now(), 0);
  }
  EXPECT_GT(first[0], 10);
  EXPECT_GT(first[1], 10);
}

TEST(SimWorldTest, HashCoversEveryFieldAndTheContentOfThePayload) {
  char bytes[2][16] = {"same content", "same content"};
  auto hash = [&](const WireMessage& message, Payload payload,
                  std::string control, const LocalMessage& local) {
    TestActor a, b;
    auto world = MakeSim(FreeLinks());
    a.Join(*world, 0, 0);
    b.Join(*world, 1, 0);
    a.on_control = [&](ActorId, std::string_view) {
      world->Send(a.id, b.id, message, payload);
      world->SendControl(a.id, b.id, control);
      world->SendLocal(a.local_id(), a.local_id(), local);
    };
    world->SendControl(kNoActor, a.id, "");
    EXPECT_FALSE(world->RunUntil(Never));
    EXPECT_EQ(world->events(), 4u);
    return world->event_hash();
  };
  const WireMessage plain;
  const Payload payload{bytes[0], sizeof(bytes[0])}, moved{bytes[1], 16};
  const LocalMessage local;
  uint64_t base = hash(plain, payload, "c", local);
  // The hash does not cover addresses.
  EXPECT_EQ(hash(plain, moved, "c", local), base);
  LocalMessage pointing;
  pointing.payload = bytes;
  EXPECT_EQ(hash(plain, payload, "c", pointing), base);
  bytes[1][11] = 'T';
  std::set<uint64_t> all{base, hash(plain, moved, "c", local),
                         hash(plain, {bytes[0], 15}, "c", local),
                         hash(plain, payload, "d", local),
                         hash(plain, payload, "", local)};
  for (size_t byte = 0; byte < sizeof(WireMessage); ++byte) {
    WireMessage m;
    reinterpret_cast<char*>(&m)[byte] = 1;
    all.insert(hash(m, payload, "c", local));
  }
  const std::vector<std::function<void(LocalMessage&)>> changes = {
      [](LocalMessage& m) { m.kind = 1; },
      [](LocalMessage& m) { m.flags = 1; },
      [](LocalMessage& m) { m.program = 1; },
      [](LocalMessage& m) { m.incarnation = 1; },
      [](LocalMessage& m) { m.target = 1; },
      [](LocalMessage& m) { m.shard = 1; },
      [](LocalMessage& m) { m.item = 1; },
      [](LocalMessage& m) { m.step = 1; },
      [](LocalMessage& m) { m.payload_bytes = 1; },
      [](LocalMessage& m) { m.extra = 1; }};
  for (const auto& change : changes) {
    LocalMessage m;
    change(m);
    all.insert(hash(plain, payload, "c", m));
  }
  EXPECT_EQ(all.size(), 5 + sizeof(WireMessage) + changes.size());
}

TEST(SimWorldTest, BackgroundAloneDoesNotKeepTheWorldGoing) {
  TestActor actor;
  auto world = MakeSim(FreeLinks());
  actor.Join(*world, 0, 0);
  int beats = 0, real = 0;
  actor.on_local = [&](const LocalMessage& message) {
    if (message.flags & kBackground) {
      ++beats;
      return world->SendAfter(actor.local_id(), actor.local_id(), 100, message);
    }
    ++real;
  };
  LocalMessage beat;
  beat.flags = kBackground;
  world->SendAfter(kNobody, actor.local_id(), 100, beat);
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(beats, 0);
  // Background messages run as long as another message is under way.
  world->SendAfter(kNobody, actor.local_id(), 1050, LocalNumbered(0));
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(beats, 10);
  EXPECT_EQ(real, 1);
  EXPECT_EQ(world->Now(), 1050);
  EXPECT_EQ(world->pending(), 1u);
  // RunOne and RunFor run them too.
  EXPECT_TRUE(world->RunOne());
  EXPECT_EQ(beats, 11);
  world->RunFor(1000);
  EXPECT_EQ(beats, 21);
  EXPECT_EQ(world->Now(), 2100);
  world->RunFor(-5);
  EXPECT_EQ(world->Now(), 2100);
}

TEST(SimWorldTest, RunUntilStopsAtTheEvent) {
  TestActor actor;
  auto world = MakeSim(FreeLinks());
  actor.Join(*world, 0, 0);
  for (int i = 0; i < 10; ++i) world->Send(kNoActor, actor.id, Numbered(i));
  EXPECT_TRUE(world->RunUntil([&] { return world->events() == 4; }));
  EXPECT_EQ(world->pending(), 6u);
  EXPECT_EQ(world->stats().messages, 4u);
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_FALSE(world->RunOne());
  EXPECT_EQ(world->events(), 10u);
}

TEST(SimWorldTest, CountsWhatWasNotReserved) {
  TestActor a, b;
  auto world = MakeSim(FreeLinks());
  a.Join(*world, 0, 0);
  b.Join(*world, 0, 0);
  world->Reserve(a.local_id(), 1);
  world->Reserve(b.local_id(), 3);
  a.on_message = [&](ActorId, const WireMessage& message) {
    for (uint64_t i = 0; i < message.step; ++i) {
      if (i == 0) {
        world->Send(a.id, b.id, {});
      } else {
        world->SendLocal(a.local_id(), b.local_id(), {});
      }
    }
    world->SendAfter(a.local_id(), b.local_id(), 0, {});  // not counted
  };
  world->Send(kNoActor, a.id, Numbered(3));
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(world->stats().over_reserved, 0u);
  world->Reserve(b.local_id(), -1);
  world->Send(kNoActor, a.id, Numbered(4));
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(world->stats().over_reserved, 2u);
}

TEST(SimWorldTest, BadOptionsAreRefused) {
  auto error = [](auto change) {
    SimOptions options;
    change(options);
    auto world = SimWorld::Create(std::move(options));
    EXPECT_EQ(world.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(world.status().message());
  };
  EXPECT_EQ(error([](SimOptions& o) { o.workers = 0; }),
            "a simulation of 0 workers, expected at least 1");
  EXPECT_EQ(error([](SimOptions& o) { o.dcn.latency_ns = -5; }),
            "link 'dcn' has a latency of -5 ns, expected 0 to "
            "2305843009213693951");
  EXPECT_EQ(error([](SimOptions& o) { o.local.jitter_ns = -1; }),
            "link 'local' has a jitter of -1 ns, expected 0 to "
            "2305843009213693951");
  EXPECT_EQ(error([](SimOptions& o) { o.ici.bytes_per_second = -2; }),
            "link 'ici' carries -2 bytes per second, expected a "
            "finite number, 0 for no limit");
  EXPECT_THAT(error([](SimOptions& o) { o.control.bytes_per_second = NAN; }),
              HasSubstr("'control' carries nan"));
  EXPECT_EQ(error([](SimOptions& o) { o.faults.drop = 1.5; }),
            "the probability to drop messages is 1.5, expected 0 to 1");
  EXPECT_EQ(error([](SimOptions& o) { o.control_faults.reorder = -.5; }),
            "the probability to reorder control messages is -0.5, expected 0 "
            "to 1");
  EXPECT_THAT(error([](SimOptions& o) { o.faults.duplicate = NAN; }),
              HasSubstr("to duplicate messages is nan"));
  EXPECT_EQ(error([](SimOptions& o) { o.host_stops = {{1, 0}, {-1, 5}}; }),
            "the host of a host stop is -1, expected at least 0");
  EXPECT_EQ(error([](SimOptions& o) { o.faults.max_extra_ns = -1; }),
            "the longest delay of messages is -1 ns, expected 0 to "
            "2305843009213693951");
}

// A simulation of 4096 devices on 512 hosts.
TEST(SimWorldTest, ManyActors) {
  constexpr int kDevices = 4096;
  std::deque<TestActor> actors(kDevices);
  auto world = MakeSim({});
  for (int i = 0; i < kDevices; ++i) {
    actors[i].Join(*world, i / 8, i % 8);
    actors[i].on_message = [&, i](ActorId, const WireMessage& message) {
      if (message.step == 0) return;
      world->Send(actors[i].id, actors[(i + 1) % kDevices].id,
                  Numbered(message.step - 1));
    };
  }
  for (TestActor& actor : actors) {
    world->Send(kNoActor, actor.id, Numbered(100));
  }
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(world->events(), uint64_t{kDevices} * 101);
}

// Two receivers on one worker get messages of one sender in the order sent. If
// each has a worker of its own, the seed decides.
TEST(SimWorldTest, WorkersKeepOrder) {
  for (bool keep : {true, false}) {
    int swapped = 0;
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      TestActor a, b, c;
      SimOptions options = FreeLinks();
      options.seed = seed;
      options.workers = 2;
      options.workers_keep_order = keep;
      auto world = MakeSim(std::move(options));
      a.Join(*world, 0, 0);
      b.Join(*world, 0, 1);
      c.Join(*world, 0, 1);
      std::vector<int> heard;
      b.on_local = [&](const LocalMessage&) { heard.push_back(1); };
      c.on_local = [&](const LocalMessage&) { heard.push_back(2); };
      a.on_local = [&](const LocalMessage&) {
        world->SendLocal(a.local_id(), b.local_id(), LocalNumbered(0));
        world->SendLocal(a.local_id(), c.local_id(), LocalNumbered(0));
      };
      world->SendLocal(kNobody, a.local_id(), LocalNumbered(0));
      EXPECT_FALSE(world->RunUntil(Never));
      ASSERT_EQ(heard.size(), 2u);
      swapped += heard[0] == 2 ? 1 : 0;
    }
    EXPECT_EQ(swapped > 0, !keep);
  }
}

}  // namespace
}  // namespace pathways
