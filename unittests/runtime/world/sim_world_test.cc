//===- sim_world_test.cc - Time, links, seeds and faults --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::unique_ptr<SimWorld> Make(SimOptions options) {
  auto world = SimWorld::Create(std::move(options));
  EXPECT_TRUE(world.ok()) << world.status();
  return *std::move(world);
}

// Links that cost nothing, to be filled in.
SimOptions Free() {
  SimOptions options;
  options.local = options.ici = options.dcn = options.control = {};
  return options;
}

bool Never() { return false; }

constexpr int kHosts = 6;

struct Outcome {
  uint64_t hash = 0;
  uint64_t events = 0;
  std::vector<uint32_t> order;  // receivers
  SimStats stats;
};

// Actors on six hosts of two islands that pass messages on at random.
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
  auto world = Make(std::move(options));
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

// Two senders, one receiver, no jitter at all: the tie alone decides, and both
// outcomes are seen.
TEST(SimWorldTest, SeedBreaksTies) {
  int first[2] = {0, 0};
  for (uint64_t seed = 0; seed < 64; ++seed) {
    TestActor a, b, to;
    SimOptions options = Free();
    options.seed = seed;
    auto world = Make(std::move(options));
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
    auto world = Make(Free());
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
  // Addresses are not part of it.
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
  auto world = Make(Free());
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
  // It runs as long as something else is under way.
  world->SendAfter(kNobody, actor.local_id(), 1050, LocalNumbered(0));
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(beats, 10);
  EXPECT_EQ(real, 1);
  EXPECT_EQ(world->Now(), 1050);
  EXPECT_EQ(world->pending(), 1u);
  // And when asked to.
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
  auto world = Make(Free());
  actor.Join(*world, 0, 0);
  for (int i = 0; i < 10; ++i) world->Send(kNoActor, actor.id, Numbered(i));
  EXPECT_TRUE(world->RunUntil([&] { return world->events() == 4; }));
  EXPECT_EQ(world->pending(), 6u);
  EXPECT_EQ(world->stats().messages, 4u);
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_FALSE(world->RunOne());
  EXPECT_EQ(world->events(), 10u);
}

// Sends `count` messages of `bytes` from host `from` to host `to` at time 0
// and returns when each arrives.
std::vector<TimeNs> Arrivals(SimOptions options, Placement from, Placement to,
                             int count, uint64_t bytes, bool control = false) {
  TestActor a, b;
  auto world = Make(std::move(options));
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
  SimOptions options = Free();
  options.local.latency_ns = 3;
  options.ici = {100, 1e9, 0};  // a byte takes 1 ns
  options.dcn = {5000, 0.5e9, 0};
  options.control = {7, 0.25e9, 0};
  // 64 bytes of header each; one at a time between hosts.
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
  // So slow that it never arrives, rather than overflow.
  options.ici.bytes_per_second = 1e-300;
  EXPECT_THAT(Arrivals(options, {0, 0, 0}, {1, 0, 0}, 2, UINT64_MAX - 64),
              ElementsAre(INT64_MAX / 4, INT64_MAX / 4));
}

// Hosts of an island share the wire to another island, in one direction.
TEST(SimWorldTest, CrossingsTellTheWayOfMessages) {
  SimOptions options = Free();
  options.ici = {50, 1e9, 0};  // a byte takes 1 ns
  std::vector<SimCrossing> crossings;
  options.on_crossing = [&](const SimCrossing& c) { crossings.push_back(c); };
  options.fault_hook = [](ActorId, ActorId, const WireMessage& message) {
    return Fault{message.sequence == 3 ? Fault::kDrop : Fault::kDeliver, 0};
  };
  auto world = Make(std::move(options));
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
  EXPECT_EQ(crossings[0].bytes, 100u);  // with the message itself
  EXPECT_EQ(crossings[0].sequence, 1u);
  EXPECT_EQ(crossings[0].begin, crossings[0].sent);
  EXPECT_EQ(crossings[0].end, crossings[0].begin + 100);
  EXPECT_EQ(crossings[0].arrival, crossings[0].end + 50);
  // Behind the first, and the one that was lost, on the same wire.
  EXPECT_EQ(crossings[1].sequence, 0u);
  EXPECT_EQ(crossings[1].begin, crossings[1].sent + 200);
  EXPECT_EQ(crossings[1].end, crossings[1].begin + 74);
  EXPECT_THAT(arrivals,
              ElementsAre(crossings[0].arrival, crossings[1].arrival));
}

TEST(SimWorldTest, BusyDcnIsSharedByDirection) {
  std::deque<TestActor> actors(4);
  SimOptions options = Free();
  options.dcn = {0, 1e9, 0};
  auto world = Make(std::move(options));
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
    SimOptions options = Free();
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
  auto world = Make({});
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
  // A cost without content stays one.
  payload.data = nullptr;
  world->Send(kNoActor, a.id, {});
  EXPECT_FALSE(world->RunUntil(Never));
  EXPECT_EQ(far_address, nullptr);
}

struct Sorted {
  int received = 0, doubled = 0, overtaken = 0;
  SimStats stats;
};

Sorted SendMany(FaultRates rates, int count, bool control) {
  TestActor a, b;
  SimOptions options = Free();
  options.seed = 99;
  (control ? options.control_faults : options.faults) = rates;
  auto world = Make(std::move(options));
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
  // The rates of one kind leave the other alone.
  EXPECT_EQ(SendMany({.drop = 1}, 10, true).stats.dropped, 10u);
}

TEST(SimWorldTest, AHostStopsBeforeTheChosenControlMessage) {
  SimOptions options = Free();
  options.host_stops = {{1, 2}};
  TestActor near, far;
  auto world = Make(std::move(options));
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
  // The third one to be delivered is the answer of the host that stops then.
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
    SimOptions options = Free();
    options.host_stops = {{1, 0, tell_after}};
    auto world = Make(std::move(options));
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
      world->WatchPeers(actor->local_id());
    };
    hears(&near, "near");
    hears(&far, "far");  // not of itself
    world->SendControl(kNoActor, near.id, "the first one");
    EXPECT_FALSE(world->RunUntil(Never));
    late.Join(*world, 2, 0);
    hears(&late, "late");  // at once
    EXPECT_FALSE(world->RunUntil(Never));
    if (tell_after < 0) {
      EXPECT_THAT(heard, ElementsAre());
      // What found out by other means may say so.
      world->ReportPeerDown(1, 7);
      world->ReportPeerDown(1, 7);
      EXPECT_FALSE(world->RunUntil(Never));
      EXPECT_THAT(heard,
                  UnorderedElementsAre("near 1.7 at 0", "late 1.7 at 0"));
    } else {
      const std::string at = " at " + std::to_string(tell_after);
      EXPECT_THAT(heard, ElementsAre("near 1.7" + at, "late 1.7" + at));
    }
  }
}

// Actors of another life have the addresses of those before, and get nothing
// that was for them.
TEST(SimWorldTest, AHostMayStartAgain) {
  SimOptions options = Free();
  options.ici = {100, 0, 0};
  auto world = Make(std::move(options));
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

TEST(SimWorldTest, CountsWhatWasNotReserved) {
  TestActor a, b;
  auto world = Make(Free());
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
            "host -1 stops, expected a host from 0 on");
  EXPECT_EQ(error([](SimOptions& o) { o.faults.max_extra_ns = -1; }),
            "the longest delay of messages is -1 ns, expected 0 to "
            "2305843009213693951");
}

// As large as the clusters to come: 4096 devices on 512 hosts.
TEST(SimWorldTest, ManyActors) {
  constexpr int kDevices = 4096;
  std::deque<TestActor> actors(kDevices);
  auto world = Make({});
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

}  // namespace
}  // namespace pathways
