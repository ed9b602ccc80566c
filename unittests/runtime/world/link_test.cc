//===- link_test.cc - Links cost the same in every world ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/world/sim_world.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAreArray;

constexpr Placement kHost0{0, 0, 0}, kHost1{1, 0, 0}, kHost2{2, 0, 1},
    kHost3{3, 0, 1}, kController{-1, 0, -1};

TEST(LinkTest, AWireCarriesOneMessageAtATime) {
  LinkModels models;
  models.ici = {100, 1e9, 0};  // a byte takes 1 ns
  LinkTable table(models);
  Wire& wire = table.Between(kHost0, kHost1);
  EXPECT_EQ(wire.Carry(0, 50, 0), 150);
  EXPECT_EQ(wire.Carry(10, 50, 0), 200);   // waits for the first one
  EXPECT_EQ(wire.Carry(500, 50, 0), 650);  // the wire was free
  // The opposite direction is a separate wire.
  EXPECT_EQ(table.Between(kHost1, kHost0).Carry(500, 50, 0), 650);
}

TEST(LinkTest, IslandsHaveLinksOfTheirOwn) {
  LinkModels models;
  models.ici = {1, 0, 0};
  models.ici_of = {{20, 0, 0}};
  models.dcn = {300, 0, 0};
  models.control = {4000, 0, 0};
  LinkTable table(models);
  EXPECT_EQ(table.Between(kHost0, kHost1).Carry(0, 9, 0), 20);
  EXPECT_EQ(table.Between(kHost2, kHost3).Carry(0, 9, 0), 1);
  EXPECT_EQ(table.Between(kHost1, kHost2).Carry(0, 9, 0), 300);
  EXPECT_EQ(table.Between(kController, kHost2).Carry(0, 9, 0), 4000);
  EXPECT_EQ(table.Between(kHost2, kController).Carry(0, 9, 0), 4000);
}

TEST(LinkTest, IslandsShareOneWireInEachDirection) {
  LinkModels models;
  models.dcn = {0, 1e9, 0};
  LinkTable table(models);
  EXPECT_EQ(table.Between(kHost0, kHost2).Carry(0, 100, 0), 100);
  EXPECT_EQ(table.Between(kHost1, kHost3).Carry(0, 100, 0), 200);
  EXPECT_EQ(table.Between(kHost3, kHost1).Carry(0, 100, 0), 100);
}

TEST(LinkTest, JitterKeepsOrder) {
  LinkModels models;
  models.ici = {100, 0, 1000};
  LinkTable table(models);
  Wire& wire = table.Between(kHost0, kHost1);
  wire.last_arrival = wire.Carry(0, 8, 900);
  EXPECT_EQ(wire.last_arrival, 1000);
  EXPECT_EQ(wire.Carry(10, 8, 0), 1000);
}

TEST(LinkTest, HugeTimesStayAtTheTop) {
  LinkModels models;
  models.ici = {kFarAway, 1e-300, 0};
  LinkTable table(models);
  EXPECT_EQ(table.Between(kHost0, kHost1).Carry(1, 1 << 20, 0), kFarAway);
  EXPECT_EQ(table.Between(kHost0, kHost1).Carry(2, 1 << 20, 5), kFarAway);
}

TEST(LinkTest, WrongNumbersAreRefusedByName) {
  ThreadOptions options;
  options.workers = 1;
  options.links.emplace();
  options.links->ici_of = {{}, {0, -2, 0}};
  EXPECT_EQ(ThreadWorld::Create(options).status(),
            absl::InvalidArgumentError(
                "link 'ici of island 1' carries -2 bytes per second, expected "
                "a finite number, 0 for no limit"));
  options.links->ici_of.clear();
  options.links->dcn.latency_ns = -1;
  EXPECT_EQ(ThreadWorld::Create(options).status(),
            absl::InvalidArgumentError("link 'dcn' has a latency of -1 ns, "
                                       "expected 0 to 2305843009213693951"));
  SimOptions sim;
  sim.ici_of = {{0, 0, -3}};
  EXPECT_EQ(SimWorld::Create(sim).status(),
            absl::InvalidArgumentError(
                "link 'ici of island 0' has a jitter of -3 ns, expected 0 to "
                "2305843009213693951"));
}

LinkModels SomeLinks() {
  LinkModels models;
  models.ici = {1'000, 1e9, 0};
  models.ici_of = {{700, 0.5e9, 0}};
  models.dcn = {5'000, 0.1e9, 0};
  models.control = {9'000, 0, 0};
  return models;
}

// Messages of actors 0 to 3 (on hosts 0 to 3 of two islands) and 4 (on the
// controller's host). No two are sent at the same time, so that wires see one
// order.
struct Sent {
  TimeNs time;
  uint32_t from, to;
  uint64_t bytes;
  bool control;
};
std::vector<Sent> RandomTraffic(uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<Sent> all;
  TimeNs time = 0;
  for (int i = 0; i < count; ++i) {
    time += 1 + static_cast<TimeNs>(random() % 900);
    const uint32_t from = random() % 5;
    const uint32_t to = (from + 1 + random() % 4) % 5;
    all.push_back(
        {time, from, to, random() % 3 ? random() % 200 : 0, random() % 4 == 0});
  }
  return all;
}

// Actors that send a list of messages and record the arrivals with their times.
class Traffic {
 public:
  struct Came {
    TimeNs time;
    uint32_t to;
    uint64_t number;  // index in the list of sent messages
    bool operator==(const Came& other) const = default;
    bool operator<(const Came& other) const {
      return std::tie(time, to, number) <
             std::tie(other.time, other.to, other.number);
    }
    friend void PrintTo(const Came& c, std::ostream* out) {
      *out << "#" << c.number << " to " << c.to << " at " << c.time;
    }
  };
  static constexpr uint16_t kTimer = 1, kPing = 2;

  Traffic(World& world, std::vector<Sent> sent)
      : world_(world), sent_(std::move(sent)), actors_(5) {
    const Placement places[] = {
        {0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {3, 1, 1}, {-1, 0, -1}};
    for (uint32_t a = 0; a < 5; ++a) {
      TestActor& actor = actors_[a];
      actor.Join(world, places[a]);
      actor.on_local = [this](const LocalMessage& message) {
        if (message.kind == kTimer) Send(message.step);
        if (message.kind == kPing) pings_.fetch_add(1), world_.Notify();
      };
      actor.on_message = [this, a](ActorId, const WireMessage& message) {
        Note(a, message.step);
      };
      actor.on_control = [this, a](ActorId, std::string_view bytes) {
        if (bytes.substr(0, 5) == "begin") return Begin(a);
        Note(a, std::stoull(std::string(bytes)));
      };
    }
  }
  void Start() {
    for (TestActor& actor : actors_) {
      world_.SendControl(kNoActor, actor.id, "begin");
    }
    world_.RunUntil([this] { return begun_.load() == 5; });
  }
  // Waits until all workers have looked at their timers after the call began:
  // the second ping is sent after the worker handled the first one.
  void Barrier() {
    for (int i = 0; i < 2; ++i) {
      pings_.store(0);
      for (TestActor& actor : actors_) {
        world_.SendLocal(kNobody, actor.local_id(), LocalNumbered(0, kPing));
      }
      world_.RunUntil([this] { return pings_.load() == 5; });
    }
  }
  bool Wait(size_t count) {
    return world_.RunUntil([&] { return this->count() >= count; });
  }
  size_t count() {
    MutexLock lock(&mutex_);
    return came_.size();
  }
  // Returns the arrivals by time, then in the order of arrival at each
  // receiver.
  std::vector<Came> came() {
    MutexLock lock(&mutex_);
    std::vector<Came> result = came_;
    std::stable_sort(result.begin(), result.end(),
                     [](const Came& a, const Came& b) {
                       return std::tie(a.time, a.to) < std::tie(b.time, b.to);
                     });
    return result;
  }

 private:
  void Begin(uint32_t a) {
    for (size_t i = 0; i < sent_.size(); ++i) {
      if (sent_[i].from != a) continue;
      world_.SendAfter(actors_[a].local_id(), actors_[a].local_id(),
                       sent_[i].time, LocalNumbered(i, kTimer));
    }
    begun_.fetch_add(1);
    world_.Notify();
  }
  void Send(uint64_t i) {
    const Sent& sent = sent_[i];
    const ActorId from = actors_[sent.from].id, to = actors_[sent.to].id;
    if (sent.control) {
      std::string bytes = std::to_string(i);
      bytes.resize(bytes.size() + sent.bytes, ' ');
      return world_.SendControl(from, to, std::move(bytes));
    }
    world_.Send(from, to, Numbered(i), {nullptr, sent.bytes});
  }
  void Note(uint32_t a, uint64_t number) {
    {
      MutexLock lock(&mutex_);
      came_.push_back({world_.Now(), a, number});
    }
    world_.Notify();
  }

  World& world_;
  const std::vector<Sent> sent_;
  std::deque<TestActor> actors_;
  Mutex mutex_;
  std::vector<Came> came_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> begun_{0}, pings_{0};
};

std::vector<Traffic::Came> InSimulation(const std::vector<Sent>& sent) {
  SimOptions options;
  options.local = {};
  const LinkModels links = SomeLinks();
  options.ici = links.ici;
  options.ici_of = links.ici_of;
  options.dcn = links.dcn;
  options.control = links.control;
  auto world = SimWorld::Create(std::move(options));
  EXPECT_TRUE(world.ok()) << world.status();
  Traffic traffic(**world, sent);
  traffic.Start();
  EXPECT_TRUE(traffic.Wait(sent.size()));
  return traffic.came();
}

// On threads the clock stops at each time at which a message was sent or, in
// the simulation, arrived. No message may arrive a nanosecond earlier.
TEST(LinkTest, BothWorldsDeliverAtTheSameTimes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Sent> sent = RandomTraffic(seed, 40);
    const std::vector<Traffic::Came> expected = InSimulation(sent);
    ASSERT_EQ(expected.size(), sent.size());

    auto clock = std::make_shared<ManualClock>();
    ThreadOptions options;
    options.workers = 2;
    options.clock = clock;
    options.links = SomeLinks();
    auto world = ThreadWorld::Create(std::move(options));
    ASSERT_TRUE(world.ok()) << world.status();
    Traffic traffic(**world, sent);
    traffic.Start();
    std::set<TimeNs> stops;
    for (const Sent& s : sent) stops.insert(s.time);
    for (const Traffic::Came& c : expected) stops.insert(c.time);
    for (TimeNs stop : stops) {
      clock->Advance(stop - 1 - clock->Now());
      traffic.Barrier();
      clock->Advance(1);
      traffic.Barrier();  // messages sent now are on their links
      traffic.Wait(
          std::count_if(expected.begin(), expected.end(),
                        [&](const auto& c) { return c.time <= stop; }));
    }
    EXPECT_THAT(traffic.came(), ElementsAreArray(expected));
    (*world)->Stop();
  }
}

// In real time, with several workers that send at once, messages of each pair
// stay in order, and none arrives before its latency has passed.
TEST(LinkTest, OrderOfSendersHoldsOnThreads) {
  ThreadOptions options;
  options.workers = 4;
  options.links.emplace();
  options.links->ici = {20'000, 50e6, 5'000};
  options.links->dcn = {50'000, 0, 0};
  auto made = ThreadWorld::Create(std::move(options));
  ASSERT_TRUE(made.ok()) << made.status();
  World& world = **made;
  constexpr int kActors = 4, kEach = 200;
  std::deque<TestActor> actors(kActors);
  std::atomic<int> received{0}, wrong{0}, early{0};
  std::vector<std::vector<uint64_t>> next(kActors,
                                          std::vector<uint64_t>(kActors, 0));
  for (int a = 0; a < kActors; ++a) {
    actors[a].Join(world, a, a, a / 2);
    auto take = [&, a](uint32_t from, uint64_t step, TimeNs at) {
      if (next[a][from]++ != step) wrong.fetch_add(1);
      const TimeNs latency =
          a / 2 == static_cast<int>(from) / 2 ? 20'000 : 50'000;
      if (world.Now() < at + latency) early.fetch_add(1);
      if (received.fetch_add(1) + 1 == kActors * (kActors - 1) * kEach) {
        world.Notify();
      }
    };
    actors[a].on_message = [&, a, take](ActorId, const WireMessage& message) {
      if (message.kind == 1) {
        return take(message.target, message.step,
                    static_cast<TimeNs>(message.sequence));
      }
      for (int i = 0; i < kEach; ++i) {
        for (int b = 0; b < kActors; ++b) {
          if (a == b) continue;
          if (i % 5 == 0) {
            world.SendControl(actors[a].id, actors[b].id,
                              std::to_string(a) + " " + std::to_string(i) +
                                  " " + std::to_string(world.Now()));
            continue;
          }
          WireMessage out = Numbered(i, 1);
          out.target = a;
          out.sequence = static_cast<uint64_t>(world.Now());
          world.Send(actors[a].id, actors[b].id, out);
        }
      }
    };
    actors[a].on_control = [take](ActorId, std::string_view bytes) {
      unsigned from = 0;
      unsigned long long step = 0;
      long long at = 0;
      std::sscanf(std::string(bytes).c_str(), "%u %llu %lld", &from, &step,
                  &at);
      take(from, step, at);
    };
  }
  for (TestActor& actor : actors) world.Send(kNoActor, actor.id, Numbered(0));
  EXPECT_TRUE(world.RunUntil(
      [&] { return received.load() == kActors * (kActors - 1) * kEach; }));
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(early.load(), 0);
  world.Stop();
}

// Messages on a link when the world stops are freed with it (the sanitizers
// check this).
TEST(LinkTest, StopDropsWhatIsUnderWay) {
  auto clock = std::make_shared<ManualClock>();
  ThreadOptions options;
  options.workers = 2;
  options.clock = clock;
  options.links = SomeLinks();
  options.fault_hook = [](ActorId, ActorId, const WireMessage& message) {
    return message.step % 2 ? Fault::Duplicate(10) : Fault::Deliver();
  };
  auto made = ThreadWorld::Create(std::move(options));
  ASSERT_TRUE(made.ok()) << made.status();
  World& world = **made;
  std::deque<TestActor> actors(2);
  std::atomic<int> came{0}, sent{0};
  const std::string payload(100, 'x');
  for (int a = 0; a < 2; ++a) {
    actors[a].Join(world, a, a);
    actors[a].on_control = [&](ActorId, std::string_view) {
      came.fetch_add(1);
    };
    actors[a].on_message = [&, a](ActorId, const WireMessage& message) {
      if (message.kind == 1) return void(came.fetch_add(1));
      for (int i = 0; i < 100; ++i) {
        world.Send(actors[a].id, actors[1 - a].id, Numbered(i, 1),
                   {payload.data(), payload.size()});
        world.SendControl(actors[a].id, actors[1 - a].id, payload);
      }
      sent.fetch_add(1);
      world.Notify();
    };
  }
  for (TestActor& actor : actors) world.Send(kNoActor, actor.id, Numbered(0));
  EXPECT_TRUE(world.RunUntil([&] { return sent.load() == 2; }));
  world.Stop();
  clock->Advance(1'000'000'000);
  EXPECT_EQ(came.load(), 0);
}

}  // namespace
}  // namespace pathways
