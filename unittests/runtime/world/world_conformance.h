//===- world_conformance.h - What every world must do -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instantiate WorldConformance with a WorldCase for each world. Nothing here
// sleeps or measures time: a case moves its world's clock itself.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_WORLD_CONFORMANCE_H_
#define UNITTESTS_RUNTIME_WORLD_WORLD_CONFORMANCE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/protocol/wire_kind.h"
#include "runtime/world/fault.h"
#include "runtime/world/uplink.h"
#include "runtime/world/world.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {

struct MadeWorld {
  std::unique_ptr<World> world;
  // Lets this much of the world's time pass: what became due runs in a later
  // RunUntil at the latest.
  std::function<void(TimeNs)> advance;
};

struct Hooks {
  FaultHook fault;
  ControlFaultHook control_fault;
  Uplink uplink;
};

struct WorldCase {
  std::string name;
  std::function<MadeWorld(Hooks)> make;
  friend void PrintTo(const WorldCase& c, std::ostream* out) { *out << c.name; }
};

class WorldConformance : public testing::TestWithParam<WorldCase> {
 protected:
  void Make(FaultHook hook = nullptr, ControlFaultHook control = nullptr,
            Uplink uplink = {}) {
    MadeWorld made = GetParam().make(
        {std::move(hook), std::move(control), std::move(uplink)});
    advance_ = made.advance;
    world_ = std::move(made.world);
  }
  TestActor& Add(int host, int worker) {
    TestActor& actor = actors_.emplace_back();
    actor.Join(*world_, host, worker);
    return actor;
  }
  // Runs until `count` is `want`; each change must call Notify.
  bool RunTo(const std::atomic<int64_t>& count, int64_t want) {
    return world_->RunUntil([&] { return count.load() >= want; });
  }
  void Bump(std::atomic<int64_t>& count) {
    count.fetch_add(1);
    world_->Notify();
  }

  std::deque<TestActor> actors_;  // outlive the world
  std::unique_ptr<World> world_;
  std::function<void(TimeNs)> advance_;
};

TEST_P(WorldConformance, KeepsOrderOfEachPair) {
  Make();
  constexpr int kSenders = 6, kReceivers = 6, kEach = 2000;
  std::atomic<int64_t> received{0};
  std::vector<std::vector<uint64_t>> next(kReceivers,
                                          std::vector<uint64_t>(kSenders, 0));
  std::atomic<int64_t> wrong{0};
  std::vector<TestActor*> receivers;
  for (int r = 0; r < kReceivers; ++r) {
    // Every other one on another host and another worker.
    TestActor& actor = Add(r % 3, r);
    auto take = [&, r](uint64_t sender, uint64_t step) {
      if (next[r][sender]++ != step) wrong.fetch_add(1);
      if (received.fetch_add(1) + 1 == kSenders * kReceivers * kEach) {
        world_->Notify();
      }
    };
    actor.on_message = [take](ActorId, const WireMessage& message) {
      take(message.target, message.step);
    };
    actor.on_control = [take](ActorId, std::string_view bytes) {
      uint64_t words[2];
      ASSERT_EQ(bytes.size(), sizeof(words));
      std::memcpy(words, bytes.data(), sizeof(words));
      take(words[0], words[1]);
    };
    receivers.push_back(&actor);
  }
  for (int s = 0; s < kSenders; ++s) {
    TestActor& actor = Add(s % 2, s + 1);
    actor.on_message = [&, s](ActorId, const WireMessage& message) {
      if (message.step == kEach) return;
      for (TestActor* receiver : receivers) {
        // Hot and control messages keep one order.
        if (message.step % 7 == 3) {
          uint64_t words[2] = {static_cast<uint64_t>(s), message.step};
          world_->SendControl(
              actors_[kReceivers + s].id, receiver->id,
              std::string(reinterpret_cast<char*>(words), sizeof(words)));
        } else if (message.step % 7 == 5) {
          uint64_t words[2] = {static_cast<uint64_t>(s), message.step};
          world_->PassControl(
              actors_[kReceivers + s].id, receiver->id,
              TestBody::New(
                  std::string(reinterpret_cast<char*>(words), sizeof(words))));
        } else {
          WireMessage out = Numbered(message.step);
          out.target = s;
          world_->Send(actors_[kReceivers + s].id, receiver->id, out);
        }
      }
      ActorId self = actors_[kReceivers + s].id;
      world_->Send(self, self, Numbered(message.step + 1));
    };
  }
  for (int s = 0; s < kSenders; ++s) {
    world_->Send(kNoActor, actors_[kReceivers + s].id, Numbered(0));
  }
  EXPECT_TRUE(RunTo(received, kSenders * kReceivers * kEach));
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(TestBody::held.load(), 0);
}

// Also when they come in all kinds, between two actors of a host.
TEST_P(WorldConformance, KindsOfMessagesKeepOneOrder) {
  Make();
  constexpr uint64_t kCount = 3000;
  std::atomic<int64_t> received{0};
  uint64_t next = 0, wrong = 0;
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  auto take = [&](uint64_t step) {
    if (next++ != step) ++wrong;
    Bump(received);
  };
  to.on_message = [&](ActorId, const WireMessage& m) { take(m.step); };
  to.on_local = [&](const LocalMessage& m) { take(m.step); };
  to.on_control = [&](ActorId, std::string_view bytes) {
    take(std::stoull(std::string(bytes)));
  };
  from.on_local = [&](const LocalMessage&) {
    for (uint64_t i = 0; i < kCount; ++i) {
      switch (i * i % 11 % 4) {
        case 0:
          world_->SendLocal(from.local_id(), to.local_id(), LocalNumbered(i));
          break;
        case 1:
          world_->Send(from.id, to.id, Numbered(i));
          break;
        case 2:
          world_->PassControl(from.id, to.id, TestBody::New(std::to_string(i)));
          break;
        default:
          world_->SendControl(from.id, to.id, std::to_string(i));
      }
    }
  };
  world_->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(received, kCount));
  EXPECT_EQ(wrong, 0u);
}

// Bulk messages keep an order of their own, wherever they come from; the others
// keep theirs.
TEST_P(WorldConformance, BulkMessagesKeepTheirOwnOrder) {
  // Those that cross hosts, one of each kind twice.
  Make([](ActorId, ActorId, const WireMessage& message) {
    return message.step == 100 ? Fault::Duplicate() : Fault::Deliver();
  });
  constexpr uint64_t kCount = 1000;
  std::atomic<int64_t> received{0}, wrong{0};
  TestActor& near = Add(0, 0);
  TestActor& far = Add(1, 1);
  struct Counts {
    uint64_t bulk = 0, other = 0;
  };
  std::vector<Counts> next(3);  // by sender: far, near, outside
  const uint64_t bytes[] = {17, 23};
  near.on_message = [&](ActorId from, const WireMessage& message) {
    const bool is_bulk = IsBulk(message.kind);
    Counts& counts = next[from == far.id ? 0 : from == near.id ? 1 : 2];
    uint64_t& want = is_bulk ? counts.bulk : counts.other;
    if (is_bulk && (near.payload.bytes != sizeof(bytes) ||
                    std::memcmp(near.payload.data, bytes, sizeof(bytes)))) {
      wrong.fetch_add(1);
    }
    if (message.step == 100 && want > 100) return;  // again
    if (message.step != want++) wrong.fetch_add(1);
    Bump(received);
  };
  auto send = [&](ActorId from) {
    for (uint64_t i = 0; i < kCount; ++i) {
      world_->Send(from, near.id, Numbered(i, kBlockMessage),
                   {bytes, sizeof(bytes)});
      world_->Send(from, near.id, Numbered(i, kTokenMessage));
    }
  };
  near.on_local = [&](const LocalMessage&) { send(near.id); };
  far.on_local = [&](const LocalMessage&) { send(far.id); };
  world_->SendLocal(kNobody, near.local_id(), LocalNumbered(0));
  world_->SendLocal(kNobody, far.local_id(), LocalNumbered(0));
  send(kNoActor);
  const bool all = RunTo(received, 6 * kCount);
  // Those that come twice are not counted: one may be under way.
  world_->Stop();
  ASSERT_TRUE(all);
  EXPECT_EQ(wrong.load(), 0);
}

// An address without an actor: nothing happens but for the count.
TEST_P(WorldConformance, NobodyIsThere) {
  Make();
  std::atomic<int64_t> sent{0};
  TestActor& from = Add(0, 0);
  from.on_local = [&](const LocalMessage&) {
    for (ActorId nobody : {from.id + 1000, kNoActor - 1, kNoActor}) {
      world_->Send(from.id, nobody, Numbered(0), {&sent, sizeof(sent)});
      world_->SendControl(from.id, nobody, "hello");
      world_->PassControl(from.id, nobody, TestBody::New("hello"));
    }
    Bump(sent);
  };
  world_->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(sent, 1));
  EXPECT_EQ(world_->undelivered(), 9u);
  EXPECT_EQ(TestBody::held.load(), 0);
}

// What was not delivered is given back when the world stops.
TEST_P(WorldConformance, BodiesAreGivenBackAtTheStop) {
  Make();
  std::atomic<int64_t> stopped{0};
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  to.on_control = [&](ActorId, std::string_view) { world_->Stop(); };
  from.on_local = [&](const LocalMessage&) {
    for (int i = 0; i < 100; ++i) {
      world_->PassControl(from.id, to.id, TestBody::New("stop"));
    }
    Bump(stopped);
  };
  world_->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  RunTo(stopped, 1);
  world_->Stop();
  world_.reset();
  EXPECT_EQ(TestBody::held.load(), 0);
}

// What is for an actor of another process goes up, and what comes from one is
// handled with its number.
TEST_P(WorldConformance, OtherProcessesAreReachedThroughTheUplink) {
  std::vector<std::string> up;
  Uplink uplink;
  uplink.send = [&](ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) {
    up.push_back(
        std::to_string(to - from) + " " + std::to_string(message.step) + " " +
        std::string(static_cast<const char*>(payload.data), payload.bytes));
  };
  uplink.send_control = [&](ActorId from, ActorId to, std::string bytes) {
    up.push_back(std::to_string(to - from) + " " + bytes);
  };
  Make(nullptr, nullptr, std::move(uplink));
  std::atomic<int64_t> got{0};
  TestActor& actor = Add(0, 0);
  const ActorId far = actor.id + 1000;
  std::string down;
  actor.on_message = [&](ActorId from, const WireMessage& message) {
    EXPECT_EQ(from, far);
    EXPECT_EQ(message.step, 8u);
    down.assign(static_cast<const char*>(actor.payload.data),
                actor.payload.bytes);
    Bump(got);
  };
  actor.on_control = [&](ActorId from, std::string_view bytes) {
    EXPECT_EQ(from, far);
    EXPECT_EQ(bytes, "answer");
    Bump(got);
  };
  actor.on_local = [&](const LocalMessage&) {
    world_->Send(actor.id, far, Numbered(7), {"bytes", 5});
    world_->SendControl(actor.id, far, "request");
    world_->PassControl(actor.id, far, TestBody::New("body"));
    Bump(got);
  };
  world_->SendLocal(kNobody, actor.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(got, 1));
  EXPECT_THAT(
      up, testing::ElementsAre("1000 7 bytes", "1000 request", "1000 body"));
  EXPECT_EQ(world_->undelivered(), 0u);
  {
    // Gone when the message is handled.
    std::string buffer = "from afar";
    world_->Send(far, actor.id, Numbered(8), {buffer.data(), buffer.size()});
    buffer.assign(buffer.size(), '?');
  }
  world_->SendControl(far, actor.id, "answer");
  ASSERT_TRUE(RunTo(got, 3));
  EXPECT_EQ(down, "from afar");
}

TEST_P(WorldConformance, WatchersHearOfEachPeerOnce) {
  Make();
  std::atomic<int64_t> heard{0}, watching{0};
  std::vector<std::pair<int32_t, uint32_t>> first, second;
  TestActor& a = Add(0, 0);
  TestActor& b = Add(1, 1);
  a.on_peer_down = [&](int32_t host, uint32_t epoch) {
    first.emplace_back(host, epoch);
    Bump(heard);
  };
  b.on_peer_down = [&](int32_t host, uint32_t epoch) {
    second.emplace_back(host, epoch);
    Bump(heard);
  };
  a.on_local = [&](const LocalMessage&) {
    world_->WatchPeers(a.local_id());
    Bump(watching);
  };
  b.on_local = [&](const LocalMessage&) {
    world_->WatchPeers(b.local_id());
    Bump(watching);
  };
  world_->SendLocal(kNobody, a.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(watching, 1));
  world_->ReportPeerDown(1, 3);
  world_->ReportPeerDown(1, 3);
  world_->ReportPeerDown(2, 1);
  world_->ReportPeerDown(1, 4);
  ASSERT_TRUE(RunTo(heard, 3));
  // One that comes later, and is on one of them.
  world_->SendLocal(kNobody, b.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(heard, 4));
  world_->Stop();
  using testing::Pair;
  EXPECT_THAT(first, testing::ElementsAre(Pair(1, 3), Pair(2, 1), Pair(1, 4)));
  EXPECT_THAT(second, testing::ElementsAre(Pair(2, 1)));
}

TEST_P(WorldConformance, NoHandlerRunsInsideAnother) {
  Make();
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> nested{0};
  // All on one worker, so never two at a time.
  int depth = 0;
  for (int i = 0; i < 3; ++i) Add(0, 0);
  for (int i = 0; i < 3; ++i) {
    actors_[i].on_message = [&, i](ActorId, const WireMessage& message) {
      if (depth++ != 0) nested.fetch_add(1);
      if (message.step < 8) {
        for (int to = 0; to < 3; ++to) {
          world_->Send(actors_[i].id, actors_[to].id,
                       Numbered(message.step + 1));
        }
        world_->SendControl(actors_[i].id, actors_[i].id, "x");
      }
      if (--depth != 0) nested.fetch_add(1);
      if (message.step == 8) Bump(done);
    };
    actors_[i].on_control = [&](ActorId, std::string_view) {
      if (depth != 0) nested.fetch_add(1);
    };
  }
  world_->Send(kNoActor, actors_[0].id, Numbered(0));
  EXPECT_TRUE(RunTo(done, 6561));  // 3^8
  EXPECT_EQ(nested.load(), 0);
}

TEST_P(WorldConformance, TimersFireInOrderOfTimeThenOfSending) {
  Make();
  std::atomic<int64_t> fired{0}, set{0};
  std::vector<uint64_t> order;
  std::vector<TimeNs> late;
  TestActor& actor = Add(0, 1);
  TimeNs begin = 0;
  actor.on_control = [&](ActorId, std::string_view) {
    const TimeNs delays[] = {5000, 1000, 3000, 1000, 4000, 3000, -7, 2000};
    uint64_t number = 0;
    begin = world_->Now();
    for (TimeNs delay : delays) {
      LocalMessage message = LocalNumbered(number++);
      message.extra = delay < 0 ? 0 : delay;
      world_->SendAfter(actor.local_id(), actor.local_id(), delay, message);
    }
    Bump(set);
  };
  actor.on_local = [&](const LocalMessage& message) {
    order.push_back(message.step);
    late.push_back(world_->Now() - begin - static_cast<TimeNs>(message.extra));
    Bump(fired);
  };
  world_->SendControl(kNoActor, actor.id, "go");
  ASSERT_TRUE(RunTo(set, 1));
  advance_(10'000);
  ASSERT_TRUE(RunTo(fired, 8));
  // The delays are milliseconds apart from clock error, none is doubled.
  EXPECT_THAT(order, testing::ElementsAre(6, 1, 3, 7, 2, 5, 4, 0));
  EXPECT_THAT(late, testing::Each(testing::Ge(0)));
}

TEST_P(WorldConformance, TimerReachesAnActorOnAnotherWorker) {
  Make();
  std::atomic<int64_t> fired{0}, set{0};
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  from.on_message = [&](ActorId, const WireMessage&) {
    world_->SendAfter(from.local_id(), to.local_id(), 1000, LocalNumbered(9));
    Bump(set);
  };
  from.on_local = [&](const LocalMessage&) { Bump(set); };
  to.on_local = [&](const LocalMessage& message) {
    EXPECT_EQ(message.step, 9u);
    Bump(fired);
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  ASSERT_TRUE(RunTo(set, 1));
  advance_(1000);
  EXPECT_TRUE(RunTo(fired, 1));
  // From outside too.
  world_->SendAfter(kNobody, from.local_id(), 500, LocalNumbered(1));
  advance_(500);
  ASSERT_TRUE(RunTo(set, 2));
}

TEST_P(WorldConformance, ControlBytesArriveWhole) {
  Make();
  std::atomic<int64_t> got{0};
  std::vector<std::string> all;
  TestActor& actor = Add(0, 0);
  actor.on_control = [&](ActorId from, std::string_view bytes) {
    EXPECT_EQ(from, kNoActor);
    all.emplace_back(bytes);
    Bump(got);
  };
  std::string large(1 << 20, 'x');
  large[77] = 'y';
  world_->SendControl(kNoActor, actor.id, "");
  world_->SendControl(kNoActor, actor.id, std::string("a\0b", 3));
  world_->SendControl(kNoActor, actor.id, large);
  ASSERT_TRUE(RunTo(got, 3));
  EXPECT_THAT(all, testing::ElementsAre("", std::string("a\0b", 3), large));
}

TEST_P(WorldConformance, MessageArrivesUnchanged) {
  Make();
  std::atomic<int64_t> got{0};
  std::vector<unsigned char> bytes(1001);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * 7;
  TestActor& from = Add(0, 0);
  auto expect = [&](TestActor& to) {
    return [&](ActorId sender, const WireMessage& m) {
      EXPECT_EQ(sender, from.id);
      EXPECT_EQ(m.kind, 11);
      EXPECT_EQ(m.flags, 12);
      EXPECT_EQ(m.program, 13u);
      EXPECT_EQ(m.incarnation, 14u);
      EXPECT_EQ(m.target, 15u);
      EXPECT_EQ(m.shard, 16u);
      EXPECT_EQ(m.item, 17u);
      EXPECT_EQ(m.from_epoch, 18u);
      EXPECT_EQ(m.to_epoch, 19u);
      EXPECT_EQ(m.step, uint64_t{1} << 40);
      EXPECT_EQ(m.sequence, uint64_t{1} << 41);
      ASSERT_EQ(to.payload.bytes, bytes.size());
      EXPECT_EQ(std::memcmp(to.payload.data, bytes.data(), bytes.size()), 0);
      Bump(got);
    };
  };
  TestActor& near = Add(0, 1);
  TestActor& far = Add(1, 1);
  near.on_message = expect(near);
  far.on_message = expect(far);
  int pointee = 0;
  near.on_local = [&](const LocalMessage& m) {
    EXPECT_EQ(m.kind, 21);
    EXPECT_EQ(m.flags, 22);
    EXPECT_EQ(m.program, 23u);
    EXPECT_EQ(m.incarnation, 24u);
    EXPECT_EQ(m.target, 25u);
    EXPECT_EQ(m.shard, 26u);
    EXPECT_EQ(m.item, 27u);
    EXPECT_EQ(m.step, uint64_t{1} << 43);
    EXPECT_EQ(m.payload, &pointee);
    EXPECT_EQ(m.payload_bytes, uint64_t{1} << 44);
    EXPECT_EQ(m.extra, uint64_t{1} << 45);
    Bump(got);
  };
  from.on_message = [&](ActorId, const WireMessage&) {
    const WireMessage m{11,
                        12,
                        13,
                        14,
                        15,
                        16,
                        17,
                        18,
                        19,
                        uint64_t{1} << 40,
                        uint64_t{1} << 41};
    const Payload payload{bytes.data(), bytes.size()};
    world_->Send(from.id, near.id, m, payload);
    world_->Send(from.id, far.id, m, payload);
    const LocalMessage local{21,
                             22,
                             23,
                             24,
                             25,
                             26,
                             27,
                             uint64_t{1} << 43,
                             &pointee,
                             uint64_t{1} << 44,
                             uint64_t{1} << 45};
    world_->SendLocal(from.local_id(), near.local_id(), local);
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  EXPECT_TRUE(RunTo(got, 3));
}

TEST_P(WorldConformance, HandlersRegisterAndReserve) {
  Make();
  constexpr int kMade = 3000;  // more than fit where the first ones are
  std::atomic<int64_t> born{0};
  std::deque<TestActor> children(kMade);
  TestActor& parent = Add(0, 0);
  parent.on_message = [&](ActorId, const WireMessage&) {
    for (int i = 0; i < kMade; ++i) {
      children[i].on_message = [&, i](ActorId, const WireMessage& message) {
        EXPECT_EQ(message.step, static_cast<uint64_t>(i));
        Bump(born);
      };
      children[i].Join(*world_, i % 4, i);
      world_->Reserve(children[i].local_id(), 2);
      world_->Send(parent.id, children[i].id, Numbered(i));
      world_->Reserve(children[i].local_id(), -2);
    }
  };
  world_->Send(kNoActor, parent.id, Numbered(0));
  EXPECT_TRUE(RunTo(born, kMade));
  world_->Stop();  // before the children go
}

TEST_P(WorldConformance, AnyThreadSendsFromOutside) {
  Make();
  constexpr int kThreads = 4, kEach = 5000;
  std::atomic<int64_t> got{0};
  std::vector<uint64_t> next(kThreads, 0);
  int64_t wrong = 0;
  TestActor& actor = Add(0, 1);
  actor.on_message = [&](ActorId from, const WireMessage& message) {
    if (from != kNoActor || next[message.target]++ != message.step) ++wrong;
    if (got.fetch_add(1) + 1 == kThreads * kEach) world_->Notify();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        WireMessage message = Numbered(i);
        message.target = t;
        world_->Send(kNoActor, actor.id, message);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(RunTo(got, kThreads * kEach));
  EXPECT_EQ(wrong, 0);
}

TEST_P(WorldConformance, BurstOfAMillionAcrossWorkers) {
  Make();
  constexpr int64_t kBurst = 1'000'000;
  std::atomic<int64_t> got{0};
  uint64_t next = 0;
  int64_t wrong = 0;
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  from.on_message = [&](ActorId, const WireMessage&) {
    for (int64_t i = 0; i < kBurst; ++i) {
      world_->Send(from.id, to.id, Numbered(i));
    }
  };
  to.on_message = [&](ActorId, const WireMessage& message) {
    if (next++ != message.step) ++wrong;
    if (got.fetch_add(1) + 1 == kBurst) world_->Notify();
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  EXPECT_TRUE(RunTo(got, kBurst));
  EXPECT_EQ(wrong, 0);
}

// Queues that wrap again and again while they are neither empty nor full.
TEST_P(WorldConformance, QueuesWrap) {
  Make();
  constexpr uint64_t kUnderWay = 45, kLast = 1000 * kUnderWay;
  std::atomic<int64_t> done{0}, wrong{0};
  uint64_t next[2] = {0, 0};
  TestActor& a = Add(0, 0);
  TestActor& b = Add(0, 1);
  a.on_message = [&](ActorId, const WireMessage& message) {
    if (next[0]++ != message.step) wrong.fetch_add(1);
    world_->Send(a.id, b.id, message);
  };
  b.on_message = [&](ActorId, const WireMessage& message) {
    if (next[1]++ != message.step) wrong.fetch_add(1);
    if (next[1] == kLast) Bump(done);
    uint64_t later = message.step + kUnderWay;
    if (later < kLast) world_->Send(b.id, a.id, Numbered(later));
  };
  // All at once, so that the first is not back before the last has left.
  b.on_control = [&](ActorId, std::string_view) {
    for (uint64_t i = 0; i < kUnderWay; ++i) {
      world_->Send(b.id, a.id, Numbered(i));
    }
  };
  world_->SendControl(kNoActor, b.id, "go");
  EXPECT_TRUE(RunTo(done, 1));
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(WorldConformance, RunUntilSeesEveryNotify) {
  Make();
  std::atomic<int64_t> count{0};
  TestActor& actor = Add(0, 0);
  actor.on_message = [&](ActorId, const WireMessage&) { Bump(count); };
  // True at once, with nothing to run.
  EXPECT_TRUE(world_->RunUntil([] { return true; }));
  for (int i = 0; i < 5000; ++i) {
    world_->Send(kNoActor, actor.id, Numbered(i));
    ASSERT_TRUE(RunTo(count, i + 1));
  }
}

TEST_P(WorldConformance, SeveralThreadsWait) {
  Make();
  constexpr int kThreads = 3, kEach = 500;
  std::vector<std::atomic<int64_t>> counts(kThreads);
  std::atomic<int64_t> failed{0};
  TestActor& actor = Add(0, 0);
  actor.on_message = [&](ActorId, const WireMessage& message) {
    Bump(counts[message.target]);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        WireMessage message = Numbered(i);
        message.target = t;
        world_->Send(kNoActor, actor.id, message);
        if (!RunTo(counts[t], i + 1)) failed.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
}

TEST_P(WorldConformance, StopDropsWhatIsQueued) {
  Make();
  std::atomic<int64_t> started{0}, handled{0};
  std::atomic<bool> stopped{false};
  std::atomic<int64_t> after{0};
  // Two that feed each other and themselves for ever, with strings to free.
  TestActor& a = Add(0, 0);
  TestActor& b = Add(1, 1);
  auto feed = [&](TestActor& me, TestActor& other) {
    me.on_message = [&](ActorId, const WireMessage& message) {
      if (stopped.load()) after.fetch_add(1);
      handled.fetch_add(1);
      world_->SendControl(me.id, other.id, std::string(100, 'q'));
      world_->SendAfter(me.local_id(), me.local_id(), 1'000'000'000'000, {});
      world_->Send(me.id, other.id, message);
      Bump(started);
    };
  };
  feed(a, b);
  feed(b, a);
  for (int i = 0; i < 10; ++i) world_->Send(kNoActor, a.id, Numbered(i));
  ASSERT_TRUE(RunTo(started, 1000));
  world_->Stop();
  stopped = true;
  int64_t before = handled.load();
  world_->Send(kNoActor, a.id, Numbered(0));
  world_->SendControl(kNoActor, a.id, "late");
  world_->SendAfter(kNobody, a.local_id(), 0, LocalNumbered(0));
  world_->SendLocal(kNobody, a.local_id(), LocalNumbered(0));
  EXPECT_FALSE(RunTo(started, INT64_MAX));
  EXPECT_TRUE(world_->RunUntil([] { return true; }));
  world_->Stop();
  EXPECT_EQ(handled.load(), before);
  EXPECT_EQ(after.load(), 0);
}

TEST_P(WorldConformance, AHandlerMayStop) {
  Make();
  std::atomic<int64_t> handled{0};
  TestActor& actor = Add(0, 0);
  actor.on_control = [&](ActorId, std::string_view bytes) {
    EXPECT_EQ(bytes, "stop");
    world_->Send(actor.id, actor.id, Numbered(0));
    world_->Stop();
    // The message at hand outlives the queue it came from.
    EXPECT_EQ(bytes, "stop");
  };
  actor.on_message = [&](ActorId, const WireMessage&) { handled.fetch_add(1); };
  world_->SendControl(kNoActor, actor.id, "stop");
  EXPECT_FALSE(world_->RunUntil([&] { return handled.load() > 0; }));
  world_->Stop();
  EXPECT_EQ(handled.load(), 0);
}

TEST_P(WorldConformance, WhoRetiresHearsNothingMore) {
  Make();
  std::atomic<int64_t> handled{0}, done{0};
  TestActor& actor = Add(0, 0);
  TestActor& far = Add(1, 0);
  actor.on_message = [&](ActorId, const WireMessage&) {
    // It may still send in its last handler.
    world_->Retire(actor.local_id());
    world_->Send(actor.id, far.id, Numbered(0));
    Bump(handled);
  };
  actor.on_control = [&](ActorId, std::string_view) { Bump(handled); };
  actor.on_local = [&](const LocalMessage&) { Bump(handled); };
  far.on_message = [&](ActorId, const WireMessage&) { Bump(done); };
  for (int i = 0; i < 3; ++i) world_->Send(kNoActor, actor.id, Numbered(i));
  world_->SendControl(kNoActor, actor.id, std::string(100, 'r'));
  world_->SendAfter(kNobody, actor.local_id(), 1'000, LocalNumbered(0));
  ASSERT_TRUE(RunTo(done, 1));
  advance_(1'000'000);
  world_->Send(kNoActor, far.id, Numbered(1));
  ASSERT_TRUE(RunTo(done, 2));
  EXPECT_EQ(handled.load(), 1);
}

TEST_P(WorldConformance, StopsWithoutAnyMessage) { Make(); }

TEST_P(WorldConformance, RandomNumbersDiffer) {
  Make();
  std::atomic<int64_t> got{0};
  TestActor& actor = Add(0, 0);
  std::vector<uint64_t> numbers;
  actor.on_message = [&](ActorId, const WireMessage&) {
    for (int i = 0; i < 100; ++i) numbers.push_back(world_->Random());
    Bump(got);
  };
  world_->Send(kNoActor, actor.id, Numbered(0));
  ASSERT_TRUE(RunTo(got, 1));
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// Drops 2, doubles 4, delays 6 past the end, of the hot ones; drops "b" and
// doubles "c" of the others. Only what crosses hosts is at risk.
TEST_P(WorldConformance, PlantedFaultsAreExact) {
  std::atomic<int64_t> asked{0};
  Make(
      [&](ActorId, ActorId, const WireMessage& message) {
        asked.fetch_add(1);
        switch (message.step) {
          case 2:
            return Fault::Drop();
          case 4:
            return Fault::Duplicate(1'000'000'000);
          case 6:
            return Fault::Delay(2'000'000'000);
          default:
            return Fault::Deliver();
        }
      },
      [&](ActorId, ActorId, std::string_view bytes) {
        if (bytes == "b") return Fault::Drop();
        if (bytes == "c") return Fault::Duplicate(3'000'000'000);
        if (bytes == "d") return Fault::Delay(4'000'000'000);
        return Fault::Deliver();
      });
  std::atomic<int64_t> got{0};
  std::vector<uint64_t> near_steps, far_steps;
  std::string far_control;
  TestActor& from = Add(0, 0);
  TestActor& near = Add(0, 1);
  TestActor& far = Add(1, 1);
  std::vector<char> buffer(64);
  std::vector<char> content;
  near.on_message = [&](ActorId, const WireMessage& message) {
    near_steps.push_back(message.step);
    Bump(got);
  };
  far.on_message = [&](ActorId, const WireMessage& message) {
    far_steps.push_back(message.step);
    content.push_back(*static_cast<const char*>(far.payload.data));
    Bump(got);
  };
  far.on_control = [&](ActorId, std::string_view bytes) {
    far_control += bytes;
    Bump(got);
  };
  std::atomic<int64_t> rewritten{0};
  from.on_message = [&](ActorId, const WireMessage& message) {
    if (message.kind == 1) {
      // Consumed, so far as the sender knows: the memory is used again.
      std::fill(buffer.begin(), buffer.end(), '?');
      return Bump(rewritten);
    }
    for (int i = 0; i < 8; ++i) {
      buffer[i] = 'A' + i;
      world_->Send(from.id, near.id, Numbered(i));
      world_->Send(from.id, far.id, Numbered(i), {&buffer[i], 1});
    }
    for (const char* bytes : {"a", "b", "c", "d", "e"}) {
      world_->SendControl(from.id, far.id, bytes);
    }
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  // In order: 8 near, then 0 1 3 4 5 7 and a c e.
  auto count = [&] { return got.load() >= 8 + 6 + 3; };
  ASSERT_TRUE(world_->RunUntil(count));
  world_->Send(kNoActor, from.id, Numbered(0, /*kind=*/1));
  ASSERT_TRUE(RunTo(rewritten, 1));
  advance_(5'000'000'000);
  ASSERT_TRUE(RunTo(got, 8 + 6 + 3 + 2 + 2));
  EXPECT_THAT(near_steps, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(far_steps, testing::ElementsAre(0, 1, 3, 4, 5, 7, 4, 6));
  // The late ones carry what was sent, not what the memory holds by now.
  EXPECT_EQ(std::string(content.begin(), content.end()), "ABDEFHEG");
  EXPECT_EQ(far_control, "acecd");
  EXPECT_EQ(asked.load(), 8);
}

// What a fault still holds is freed when the world ends.
TEST_P(WorldConformance, StopsWithDelayedMessages) {
  Make([](ActorId, ActorId,
          const WireMessage&) { return Fault::Delay(1'000'000'000); },
       [](ActorId, ActorId, std::string_view) {
         return Fault::Duplicate(1'000'000'000);
       });
  std::atomic<int64_t> got{0};
  TestActor& from = Add(0, 0);
  TestActor& far = Add(1, 1);
  char byte = 1;
  from.on_message = [&](ActorId, const WireMessage&) {
    world_->Send(from.id, far.id, WireMessage(), {&byte, 1});
    world_->SendControl(from.id, far.id, std::string(1000, 'z'));
  };
  far.on_control = [&](ActorId, std::string_view) { Bump(got); };
  world_->Send(kNoActor, from.id, Numbered(0));
  ASSERT_TRUE(RunTo(got, 1));
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_WORLD_CONFORMANCE_H_
