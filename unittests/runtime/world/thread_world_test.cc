//===- thread_world_test.cc - Workers, clocks and sleep ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/thread_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/world/await.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<ThreadWorld> Make(ThreadOptions options) {
  auto world = ThreadWorld::Create(std::move(options));
  EXPECT_TRUE(world.ok()) << world.status();
  return *std::move(world);
}

ThreadOptions Workers(int workers, TimeNs spin_ns = -1) {
  ThreadOptions options;
  options.workers = workers;
  options.spin_ns = spin_ns;
  return options;
}

TEST(ThreadWorldTest, BadOptionsAreRefused) {
  for (int workers : {-1, 257}) {
    auto world = ThreadWorld::Create(Workers(workers));
    EXPECT_EQ(world.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(
        world.status().message(),
        std::to_string(workers) +
            " workers were requested, expected 1 to 256, or 0 for one for "
            "each core");
  }
}

TEST(ThreadWorldTest, ZeroWorkersMeansOneForEachCore) {
  auto world = Make(Workers(0));
  EXPECT_GE(world->num_workers(), 1);
  EXPECT_EQ(world->num_workers(),
            std::clamp<int>(std::thread::hardware_concurrency(), 1, 256));
  EXPECT_FALSE(world->simulated());
}

TEST(ThreadWorldTest, ActorsStayOnTheirWorker) {
  std::deque<TestActor> actors(32);
  std::mutex mutex;
  std::set<std::pair<int, std::thread::id>> started;
  std::vector<std::set<std::thread::id>> ran(32);
  std::atomic<int> total{0};
  ThreadOptions options = Workers(4);
  options.on_worker_start = [&](int worker) {
    std::lock_guard<std::mutex> lock(mutex);
    started.emplace(worker, std::this_thread::get_id());
  };
  auto world = Make(std::move(options));
  for (int i = 0; i < 32; ++i) {
    // Numbers are taken modulo the number of workers, including negative ones.
    actors[i].Join(*world, 0, i - 16);
    actors[i].on_message = [&, i](ActorId, const WireMessage& message) {
      ran[i].insert(std::this_thread::get_id());
      if (message.step == 0) {
        if (total.fetch_add(1) == 31) world->Notify();
        return;
      }
      world->Send(actors[i].id, actors[message.step % 2 ? i : 31 - i].id,
                  Numbered(message.step - 1));
    };
    EXPECT_EQ(world->name(actors[i].local_id()), "test");
  }
  for (TestActor& actor : actors) {
    world->Send(kNoActor, actor.id, Numbered(50));
  }
  EXPECT_TRUE(world->RunUntil([&] { return total.load() == 32; }));
  world->Stop();
  ASSERT_EQ(started.size(), 4u);
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(ran[i].size(), 1u);
    EXPECT_EQ(started.count({i % 4, *ran[i].begin()}), 1u);
  }
}

// An actor that takes long turns one after another lets other messages through:
// those from elsewhere, and also bulk messages if turns are long.
TEST(ThreadWorldTest, OthersComeBetweenTurns) {
  constexpr uint64_t kTurns = 200;
  TestActor busy, other;
  auto world = Make(Workers(1));
  busy.Join(*world, 0, 0);
  other.Join(*world, 0, 0);
  std::atomic<bool> first{false}, sent{false}, over{false};
  uint64_t turns = 0, message_at = kTurns, bulk_at = kTurns;
  busy.on_local = [&](const LocalMessage& message) {
    if (++turns == 1) {
      first = true;
      Await([&] { return sent.load(); });
      world->Send(busy.id, other.id, Numbered(1, kBlockMessage));
    }
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(250);
    while (std::chrono::steady_clock::now() < end) {
    }
    if (turns == kTurns) {
      over = true;
      return world->Notify();
    }
    world->SendLocal(busy.local_id(), busy.local_id(), message);
  };
  other.on_message = [&](ActorId, const WireMessage& message) {
    (message.kind == kBlockMessage ? bulk_at : message_at) = turns;
  };
  LocalMessage turn;
  turn.flags = kTurn;
  world->SendLocal(kNobody, busy.local_id(), turn);
  std::thread outside([&] {
    Await([&] { return first.load(); });
    world->Send(kNoActor, other.id, Numbered(2));
    sent = true;
  });
  EXPECT_TRUE(world->RunUntil([&] { return over.load(); }));
  outside.join();
  world->Stop();
  EXPECT_LE(message_at, 3u);
  EXPECT_LE(bulk_at, 3u);
}

// A chain of messages between actors of one worker waits for one turn, not for
// one turn per message.
TEST(ThreadWorldTest, AChainOfMessagesWaitsForOneTurn) {
  constexpr uint64_t kTurns = 100, kLinks = 20;
  TestActor busy, chain;
  auto world = Make(Workers(1));
  busy.Join(*world, 0, 0);
  chain.Join(*world, 0, 0);
  std::atomic<bool> over{false};
  uint64_t turns = 0, began_at = kTurns, ended_at = 0;
  busy.on_local = [&](const LocalMessage& message) {
    if (++turns == kTurns) {
      over = true;
      return world->Notify();
    }
    world->SendLocal(busy.local_id(), busy.local_id(), message);
    if (turns != 10) return;
    world->SendLocal(busy.local_id(), chain.local_id(), LocalNumbered(1));
  };
  chain.on_local = [&](const LocalMessage& message) {
    if (message.step == 1) began_at = turns;
    ended_at = turns;
    if (message.step == kLinks) return;
    world->SendLocal(chain.local_id(), chain.local_id(),
                     LocalNumbered(message.step + 1));
  };
  LocalMessage turn;
  turn.flags = kTurn;
  world->SendLocal(kNobody, busy.local_id(), turn);
  EXPECT_TRUE(world->RunUntil([&] { return over.load(); }));
  world->Stop();
  EXPECT_EQ(began_at, 10u);
  EXPECT_EQ(ended_at, 10u);
}

// A steady stream of short messages does not stop turns.
TEST(ThreadWorldTest, MessagesWithoutEndDoNotHoldUpTurns) {
  TestActor busy, chatty;
  auto world = Make(Workers(1));
  busy.Join(*world, 0, 0);
  chatty.Join(*world, 0, 0);
  std::atomic<bool> over{false};
  uint64_t turns = 0;
  busy.on_local = [&](const LocalMessage& message) {
    if (++turns == 50) {
      over = true;
      return world->Notify();
    }
    world->SendLocal(busy.local_id(), busy.local_id(), message);
  };
  chatty.on_local = [&](const LocalMessage& message) {
    if (over) return;
    world->SendLocal(chatty.local_id(), chatty.local_id(), message);
  };
  world->SendLocal(kNobody, chatty.local_id(), LocalNumbered(1));
  LocalMessage turn;
  turn.flags = kTurn;
  world->SendLocal(kNobody, busy.local_id(), turn);
  EXPECT_TRUE(world->RunUntil([&] { return over.load(); }));
  world->Stop();
  EXPECT_EQ(turns, 50u);
}

// Other messages overtake bulk messages, on the sender's worker or on another
// one.
TEST(ThreadWorldTest, BulkMessagesLetOthersPass) {
  for (int worker : {0, 1}) {
    TestActor from, to;
    auto world = Make(Workers(2));
    from.Join(*world, 0, 0);
    to.Join(*world, 0, worker);
    std::atomic<bool> sent{false}, over{false};
    std::vector<uint64_t> order;
    from.on_local = [&](const LocalMessage&) {
      world->SendLocal(from.local_id(), to.local_id(), LocalNumbered(0));
      for (uint64_t i = 1; i <= 5; ++i) {
        world->Send(from.id, to.id, Numbered(i, kBlockMessage));
      }
      world->Send(from.id, to.id, Numbered(6, kTokenMessage));
      world->SendControl(from.id, to.id, "7");
      sent = true;
    };
    to.on_local = [&](const LocalMessage& message) {
      Await([&] { return sent.load(); });
      order.push_back(message.step);
    };
    to.on_control = [&](ActorId, std::string_view bytes) {
      order.push_back(std::stoull(std::string(bytes)));
    };
    to.on_message = [&](ActorId, const WireMessage& message) {
      order.push_back(message.step);
      // A message sent meanwhile overtakes the remaining bulk messages too.
      if (message.step == 2) world->Send(to.id, to.id, Numbered(8));
      if (message.step != 5) return;
      over = true;
      world->Notify();
    };
    world->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
    EXPECT_TRUE(world->RunUntil([&] { return over.load(); }));
    world->Stop();
    EXPECT_THAT(order, ElementsAre(0, 6, 7, 1, 2, 8, 3, 4, 5));
    EXPECT_EQ(world->stats(worker).messages, worker == 0 ? 10u : 9u);
    EXPECT_EQ(world->stats(worker).remote, worker == 0 ? 0u : 8u);
  }
}

// After a message from another worker, bulk messages wait for some rounds
// without any message, each of which ends with a look for work. More messages
// may follow.
TEST(ThreadWorldTest, BulkMessagesWaitUntilItIsQuiet) {
  TestActor from, to;
  auto world = Make(Workers(2));
  from.Join(*world, 0, 0);
  to.Join(*world, 0, 1);
  std::atomic<bool> sent{false}, over{false};
  uint64_t spins = 0;
  from.on_local = [&](const LocalMessage&) {
    world->SendLocal(from.local_id(), to.local_id(), LocalNumbered(0));
    world->Send(from.id, to.id, Numbered(1, kBlockMessage));
    sent = true;
  };
  to.on_local = [&](const LocalMessage&) {
    Await([&] { return sent.load(); });
    spins = world->stats(1).spins;
  };
  to.on_message = [&](ActorId, const WireMessage&) {
    spins = world->stats(1).spins - spins;
    over = true;
    world->Notify();
  };
  world->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  EXPECT_TRUE(world->RunUntil([&] { return over.load(); }));
  world->Stop();
  EXPECT_GE(spins, 20u);
  EXPECT_LE(spins, 64u);
}

// A worker that always has other work handles bulk messages too.
TEST(ThreadWorldTest, BulkMessagesComeThrough) {
  TestActor actor;
  auto world = Make(Workers(1));
  actor.Join(*world, 0, 0);
  std::atomic<bool> over{false};
  actor.on_message = [&](ActorId, const WireMessage& message) {
    if (message.kind == kBlockMessage) {
      over = true;
      return world->Notify();
    }
    if (!over) world->Send(actor.id, actor.id, message);
  };
  actor.on_local = [&](const LocalMessage&) {
    world->Send(actor.id, actor.id, Numbered(0, kBlockMessage));
    world->Send(actor.id, actor.id, Numbered(1, kTokenMessage));
  };
  world->SendLocal(kNobody, actor.local_id(), LocalNumbered(0));
  EXPECT_TRUE(world->RunUntil([&] { return over.load(); }));
}

// Bulk messages take long, so the worker looks at its timers after each one.
TEST(ThreadWorldTest, TimersDoNotWaitForManyBulkMessages) {
  TestActor actor;
  auto clock = std::make_shared<ManualClock>();
  ThreadOptions options = Workers(1);
  options.clock = clock;
  auto world = Make(std::move(options));
  actor.Join(*world, 0, 0);
  std::atomic<uint64_t> handled{0};
  uint64_t before = 0;
  constexpr uint64_t kCount = 100;
  actor.on_message = [&](ActorId, const WireMessage&) {
    clock->Advance(10);
    if (handled.fetch_add(1) + 1 == kCount) world->Notify();
  };
  actor.on_local = [&](const LocalMessage& message) {
    if (message.step == 1) {
      before = handled;
      return;
    }
    world->SendAfter(actor.local_id(), actor.local_id(), 25, LocalNumbered(1));
    for (uint64_t i = 0; i < kCount; ++i) {
      world->Send(actor.id, actor.id, Numbered(i, kBlockMessage));
    }
  };
  world->SendLocal(kNobody, actor.local_id(), LocalNumbered(0));
  EXPECT_TRUE(world->RunUntil([&] { return handled == kCount; }));
  world->Stop();
  EXPECT_EQ(before, 3u);
}

TEST(ThreadWorldTest, StatsCountWhatWorkersDid) {
  TestActor a, b;
  auto world = Make(Workers(2));
  a.Join(*world, 0, 0);
  b.Join(*world, 0, 1);
  // The last messages of the two workers, in either order.
  std::atomic<int> last{0};
  auto count = [&] {
    ++last;
    world->Notify();
  };
  b.on_message = [&](ActorId, const WireMessage&) {};
  b.on_control = [&](ActorId, std::string_view) { count(); };
  a.on_local = [&](const LocalMessage& message) {
    if (message.step == 3) count();
  };
  a.on_message = [&](ActorId, const WireMessage& message) {
    if (message.step == 0) {
      for (int i = 1; i <= 3; ++i) {
        world->SendLocal(a.local_id(), a.local_id(), LocalNumbered(i));
      }
      for (int i = 0; i < 5; ++i) world->Send(a.id, b.id, Numbered(i));
      world->SendControl(a.id, b.id, "end");
    }
  };
  world->Send(kNoActor, a.id, Numbered(0));
  ASSERT_TRUE(world->RunUntil([&] { return last.load() == 2; }));
  world->Stop();
  EXPECT_EQ(world->stats(0).messages, 4u);
  EXPECT_EQ(world->stats(0).outside, 1u);
  EXPECT_EQ(world->stats(0).remote, 0u);
  EXPECT_EQ(world->stats(0).controls, 0u);
  EXPECT_EQ(world->stats(1).messages, 6u);
  EXPECT_EQ(world->stats(1).outside, 0u);
  EXPECT_EQ(world->stats(1).remote, 6u);
  EXPECT_EQ(world->stats(1).controls, 1u);
  EXPECT_EQ(world->faults(), 0u);
}

// In an idle world each worker sleeps, and none wakes by itself.
TEST(ThreadWorldTest, IdleWorkersSleep) {
  auto world = Make(Workers(3));
  Await([&] {
    for (int i = 0; i < 3; ++i) {
      if (world->stats(i).sleeps == 0) return false;
    }
    return true;
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(world->stats(i).messages, 0u);
}

// A client's message to a sleeping worker wakes the next worker as well.
TEST(ThreadWorldTest, AClientGetsTwoSleepersUp) {
  TestActor actor;
  auto world = Make(Workers(3));
  actor.Join(*world, 0, 2);
  auto sleeps = [&](int worker) { return world->stats(worker).sleeps; };
  Await([&] { return sleeps(0) > 0 && sleeps(1) > 0 && sleeps(2) > 0; });
  const uint64_t before = sleeps(0), other = sleeps(1);
  world->PassControl(kNoActor, actor.id, TestBody::New("ask"));
  Await([&] { return sleeps(0) > before; });
  EXPECT_EQ(world->stats(0).messages, 0u);
  EXPECT_EQ(sleeps(1), other);
}

// Every message finds the other worker asleep or about to sleep.
TEST(ThreadWorldTest, NoWakeUpIsLost) {
  constexpr int kRounds = 20'000;
  TestActor a, b;
  auto world = Make(Workers(2, /*spin_ns=*/0));
  a.Join(*world, 0, 0);
  b.Join(*world, 0, 1);
  std::atomic<bool> done{false};
  a.on_message = [&](ActorId, const WireMessage& message) {
    if (message.step == kRounds) {
      done = true;
      return world->Notify();
    }
    world->Send(a.id, b.id, Numbered(message.step + 1));
  };
  b.on_message = [&](ActorId, const WireMessage& message) {
    world->Send(b.id, a.id, message);
  };
  world->Send(kNoActor, a.id, Numbered(0));
  EXPECT_TRUE(world->RunUntil([&] { return done.load(); }));
  world->Stop();
  EXPECT_GT(world->stats(0).sleeps + world->stats(1).sleeps, 0u);
}

TEST(ThreadWorldTest, ManualClockWakesSleepersAndNothingIsEarly) {
  TestActor actor;
  ThreadOptions options = Workers(1, /*spin_ns=*/0);
  auto clock = std::make_shared<ManualClock>();
  clock->Advance(12345);  // the world's time starts at 0 nevertheless
  options.clock = clock;
  auto world = Make(std::move(options));
  actor.Join(*world, 0, 0);
  std::atomic<int> fired{0}, echoed{0};
  TimeNs fired_at = -1;
  actor.on_local = [&](const LocalMessage& message) {
    if (message.kind == 0) {
      fired_at = world->Now();
      ++fired;
    } else {
      ++echoed;
    }
    world->Notify();
  };
  EXPECT_EQ(world->Now(), 0);
  world->SendAfter(kNobody, actor.local_id(), 1000, LocalNumbered(0, 0));
  for (int i = 1; i <= 50; ++i) {
    clock->Advance(i == 1 ? 999 : 0);
    // After two messages through the worker, it has looked at its timers.
    for (int k = 0; k < 2; ++k) {
      int want = echoed + 1;
      world->SendLocal(kNobody, actor.local_id(), LocalNumbered(0, 1));
      ASSERT_TRUE(world->RunUntil([&] { return echoed.load() == want; }));
    }
    ASSERT_EQ(fired.load(), 0);
  }
  uint64_t sleeps = world->stats(0).sleeps;
  Await([&] { return world->stats(0).sleeps > sleeps || sleeps > 0; });
  clock->Advance(1);
  EXPECT_TRUE(world->RunUntil([&] { return fired.load() == 1; }));
  EXPECT_EQ(fired_at, 1000);
  EXPECT_EQ(world->stats(0).timers, 1u);
}

TEST(ThreadWorldTest, RealTimersFire) {
  TestActor actor;
  auto world = Make(Workers(1));
  actor.Join(*world, 0, 0);
  std::atomic<TimeNs> fired_at{-1};
  actor.on_local = [&](const LocalMessage&) {
    fired_at = world->Now();
    world->Notify();
  };
  TimeNs set_at = world->Now();
  world->SendAfter(kNobody, actor.local_id(), 2'000'000, {});
  EXPECT_TRUE(world->RunUntil([&] { return fired_at.load() >= 0; }));
  EXPECT_GE(fired_at.load(), set_at + 2'000'000);
  // A timer that is never due does not keep the world from stopping.
  world->SendAfter(kNobody, actor.local_id(), INT64_MAX, {});
}

// A message goes from worker to worker, and workers without messages sleep. The
// world is at rest once the last message was handled, and never before.
TEST(ThreadWorldTest, RestsOnlyWhenNothingIsUnderWay) {
  constexpr uint64_t kHops = 300;
  for (uint64_t round = 0; round < 20; ++round) {
    std::deque<TestActor> actors(3);
    std::atomic<bool> entered{false}, held{true};
    auto clock = std::make_shared<ManualClock>();
    ThreadOptions options = Workers(3, /*spin_ns=*/0);
    options.clock = clock;
    std::atomic<uint64_t> handled{0};
    auto world = Make(std::move(options));
    for (int i = 0; i < 3; ++i) {
      actors[i].Join(*world, 0, i);
      actors[i].on_message = [&, i](ActorId, const WireMessage& message) {
        if (message.step + 1 < kHops) {
          const uint64_t next = (i + 1 + (message.step + round) % 2) % 3;
          world->Send(actors[i].id, actors[next].id,
                      Numbered(message.step + 1));
        }
        ++handled;
      };
    }
    world->Send(kNoActor, actors[0].id, Numbered(0));
    while (!world->AtRest()) std::this_thread::yield();
    EXPECT_EQ(handled.load(), kHops);
    // A timer that is not due does not keep the world from rest. A timer that
    // is due, or a running handler, does.
    actors[1].on_local = [&](const LocalMessage&) {
      entered = true;
      while (held) std::this_thread::yield();
    };
    world->SendAfter(kNobody, actors[1].local_id(), 1000, {});
    while (!world->AtRest()) std::this_thread::yield();
    EXPECT_FALSE(entered.load());
    clock->Advance(1000);
    Await([&] { return entered.load(); });
    EXPECT_FALSE(world->AtRest());
    held = false;
  }
}

// A worker that always has work of its own still handles messages of others and
// its timers.
TEST(ThreadWorldTest, BusyWorkerIsFair) {
  TestActor busy, other, timed;
  auto world = Make(Workers(2));
  busy.Join(*world, 0, 0);
  timed.Join(*world, 0, 0);
  other.Join(*world, 0, 1);
  std::atomic<int> heard{0};
  busy.on_message = [&](ActorId from, const WireMessage& message) {
    if (from == other.id) {
      heard.fetch_or(1);
      return world->Notify();
    }
    if (message.step == 0) {
      world->SendAfter(busy.local_id(), timed.local_id(), 1000, {});
    }
    world->Send(busy.id, busy.id, Numbered(1));
  };
  busy.on_control = [&](ActorId, std::string_view) {
    heard.fetch_or(4);
    world->Notify();
  };
  timed.on_local = [&](const LocalMessage&) {
    heard.fetch_or(2);
    world->Notify();
  };
  other.on_message = [&](ActorId, const WireMessage&) {
    world->Send(other.id, busy.id, {});
  };
  world->Send(kNoActor, busy.id, Numbered(0));
  world->Send(kNoActor, other.id, {});
  world->SendControl(kNoActor, busy.id, "outside");
  EXPECT_TRUE(world->RunUntil([&] { return heard.load() == 7; }));
}

// The world stops repeatedly while messages are under way from all sides.
TEST(ThreadWorldTest, StopsInTheMiddleOfWork) {
  for (int round = 0; round < 30; ++round) {
    std::deque<TestActor> actors(6);
    auto world = Make(Workers(3));
    std::atomic<int> handled{0};
    for (int i = 0; i < 6; ++i) {
      actors[i].Join(*world, i, i);
      actors[i].on_message = [&, i](ActorId, const WireMessage& message) {
        handled.fetch_add(1);
        world->Notify();
        world->Send(actors[i].id, actors[(i + 1) % 6].id, message);
        if (message.step % 3 == 0) {
          world->SendControl(actors[i].id, actors[(i + 2) % 6].id, "text");
        }
      };
    }
    std::atomic<bool> quit{false};
    std::thread outside([&] {
      for (uint64_t i = 0; !quit.load(); ++i) {
        world->SendControl(kNoActor, actors[i % 6].id, "outside");
        world->Send(kNoActor, actors[i % 6].id, Numbered(i));
        if (i > 100) std::this_thread::yield();
      }
    });
    EXPECT_TRUE(world->RunUntil([&] { return handled.load() > 100; }));
    std::thread second([&] { world->Stop(); });
    world->Stop();
    int after = handled.load();
    second.join();
    quit = true;
    outside.join();
    EXPECT_EQ(handled.load(), after);
  }
}

// A very large reservation does not allocate everything in advance, and can be
// undone.
TEST(ThreadWorldTest, HugeReservationIsCapped) {
  TestActor actor;
  auto world = Make(Workers(2));
  actor.Join(*world, 0, 0);
  world->Reserve(actor.local_id(), int64_t{1} << 60);
  world->Reserve(actor.local_id(), -(int64_t{1} << 60));
  std::atomic<bool> done{false};
  actor.on_message = [&](ActorId, const WireMessage&) {
    done = true;
    world->Notify();
  };
  world->Send(kNoActor, actor.id, {});
  EXPECT_TRUE(world->RunUntil([&] { return done.load(); }));
}

TEST(ThreadWorldTest, RandomFollowsTheSeed) {
  auto draw = [](uint64_t seed) {
    TestActor actor;
    ThreadOptions options = Workers(1);
    options.seed = seed;
    auto world = Make(std::move(options));
    actor.Join(*world, 0, 0);
    std::atomic<bool> done{false};
    uint64_t number = 0;
    actor.on_message = [&](ActorId, const WireMessage&) {
      number = world->Random();
      done = true;
      world->Notify();
    };
    world->Send(kNoActor, actor.id, {});
    EXPECT_TRUE(world->RunUntil([&] { return done.load(); }));
    return number;
  };
  EXPECT_EQ(draw(5), draw(5));
  EXPECT_NE(draw(5), draw(6));
}

}  // namespace
}  // namespace pathways
