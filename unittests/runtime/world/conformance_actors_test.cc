//===- conformance_actors_test.cc - Actors in every world -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/world/remote_channel.h"
#include "unittests/runtime/world/world_conformance.h"

namespace pathways {

// A message to an address without an actor has no effect except on the count.
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

// Messages to actors of other processes go to the remote_channel, and messages
// from there are handled with their sender's address.
TEST_P(WorldHookConformance, OtherProcessesAreReachedThroughTheUplink) {
  std::vector<std::string> up;
  RemoteChannel remote_channel;
  remote_channel.send = [&](ActorId from, ActorId to,
                            const WireMessage& message, Payload payload) {
    up.push_back(
        std::to_string(to - from) + " " + std::to_string(message.step) + " " +
        std::string(static_cast<const char*>(payload.data), payload.bytes));
  };
  remote_channel.send_control = [&](ActorId from, ActorId to,
                                    std::string bytes) {
    up.push_back(std::to_string(to - from) + " " + bytes);
  };
  Make(nullptr, nullptr, std::move(remote_channel));
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
    // The payload is overwritten and freed before the message is handled.
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
    world_->peers().WatchPeers(a.local_id());
    Bump(watching);
  };
  b.on_local = [&](const LocalMessage&) {
    world_->peers().WatchPeers(b.local_id());
    Bump(watching);
  };
  world_->SendLocal(kNobody, a.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(watching, 1));
  world_->peers().ReportPeerDown(1, 3);
  world_->peers().ReportPeerDown(1, 3);
  world_->peers().ReportPeerDown(2, 1);
  world_->peers().ReportPeerDown(1, 4);
  ASSERT_TRUE(RunTo(heard, 3));
  // A later watcher, which is on one of the lost hosts itself.
  world_->SendLocal(kNobody, b.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(heard, 4));
  world_->Stop();
  using testing::Pair;
  EXPECT_THAT(first, testing::ElementsAre(Pair(1, 3), Pair(2, 1), Pair(1, 4)));
  EXPECT_THAT(second, testing::ElementsAre(Pair(2, 1)));
}

// Watchers get down and up in the order of epochs, whatever the order of
// reports. "host-epoch" is down, "host+epoch" up.
TEST_P(WorldConformance, WatchersHearOfEachLifeOnce) {
  Make();
  std::atomic<int64_t> heard{0}, watching{0};
  std::vector<std::string> first, late, on_the_host;
  const auto hears = [&](TestActor& actor, std::vector<std::string>& into) {
    actor.on_peer_down = [&](int32_t host, uint32_t epoch) {
      into.push_back(std::to_string(host) + "-" + std::to_string(epoch));
      Bump(heard);
    };
    actor.on_peer_up = [&](int32_t host, uint32_t epoch) {
      into.push_back(std::to_string(host) + "+" + std::to_string(epoch));
      Bump(heard);
    };
    actor.on_local = [&](const LocalMessage&) {
      world_->peers().WatchPeers(actor.local_id());
      Bump(watching);
    };
  };
  TestActor& a = Add(0, 0);
  TestActor& b = Add(0, 1);
  TestActor& c = Add(1, 2);
  hears(a, first);
  hears(b, late);
  hears(c, on_the_host);
  world_->SendLocal(kNobody, a.local_id(), LocalNumbered(0));
  world_->SendLocal(kNobody, c.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(watching, 2));
  // There is no epoch before the first, and known news are not repeated.
  world_->peers().ReportPeerUp(1, 1);
  world_->peers().ReportPeerUp(1, 1);
  // Epoch 2 implies that epoch 1 is over, so the later report has no effect.
  world_->peers().ReportPeerUp(1, 2);
  world_->peers().ReportPeerDown(1, 1);
  // An epoch that is over, or older than the current one, does not begin.
  world_->peers().ReportPeerDown(1, 2);
  world_->peers().ReportPeerUp(1, 2);
  world_->peers().ReportPeerUp(1, 3);
  world_->peers().ReportPeerUp(1, 2);
  world_->peers().ReportPeerDown(1, 2);
  // If epochs were missed, only the last one counts.
  world_->peers().ReportPeerUp(3, 7);
  world_->peers().ReportPeerDown(3, 7);
  world_->peers().ReportPeerDown(4, 1);
  ASSERT_TRUE(RunTo(heard, 13));
  world_->SendLocal(kNobody, b.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(heard, 19));
  world_->peers().ReportPeerUp(4, 2);
  ASSERT_TRUE(RunTo(heard, 22));
  world_->Stop();
  using testing::ElementsAre;
  EXPECT_THAT(first, ElementsAre("1+1", "1-1", "1+2", "1-2", "1+3", "3-6",
                                 "3+7", "3-7", "4-1", "4+2"));
  EXPECT_THAT(on_the_host, ElementsAre("3-6", "3+7", "3-7", "4-1", "4+2"));
  EXPECT_THAT(late,
              ElementsAre("1-2", "1+3", "3-6", "3+7", "3-7", "4-1", "4+2"));
}

// All watchers get the reports of two threads in the same order.
TEST_P(WorldConformance, ReportsOfTwoThreadsKeepTheOrderOfLives) {
  Make();
  constexpr uint32_t kEpochs = 200;
  std::atomic<int64_t> heard{0}, watching{0}, wrong{0};
  // Twice the epoch, plus 1 if it is down.
  std::vector<uint32_t> last(3);
  for (int i = 0; i < 3; ++i) {
    TestActor& actor = Add(0, i);
    const auto hear = [&, i](uint32_t now) {
      if (now != last[i] + 1) Bump(wrong);
      last[i] = now;
      Bump(heard);
    };
    actor.on_peer_down = [=](int32_t, uint32_t epoch) { hear(2 * epoch + 1); };
    actor.on_peer_up = [=](int32_t, uint32_t epoch) { hear(2 * epoch); };
    last[i] = 1;
    actor.on_local = [&](const LocalMessage&) {
      world_->peers().WatchPeers(actor.local_id());
      Bump(watching);
    };
    world_->SendLocal(kNobody, actor.local_id(), LocalNumbered(0));
  }
  ASSERT_TRUE(RunTo(watching, 3));
  const auto report = [&] {
    for (uint32_t life = 1; life <= kEpochs; ++life) {
      world_->peers().ReportPeerUp(1, life);
      if (life < kEpochs) world_->peers().ReportPeerDown(1, life);
    }
  };
  std::thread other(report);
  report();
  other.join();
  // The last epoch is not reported down.
  EXPECT_TRUE(RunTo(heard, 3 * (2 * kEpochs - 1)));
  world_->Stop();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(WorldConformance, NoHandlerRunsInsideAnother) {
  Make();
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> nested{0};
  // All actors are on one worker, so only one handler runs at a time.
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
  world_->Stop();                  // control messages may be left
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
  // The delays differ by milliseconds, more than clock errors, and no two are
  // equal.
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
  // Threads outside the world can set such timers too.
  world_->SendAfter(kNobody, from.local_id(), 500, LocalNumbered(1));
  advance_(500);
  ASSERT_TRUE(RunTo(set, 2));
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
  world_->Stop();  // before the children are destroyed
}

TEST_P(WorldConformance, WhoRetiresHearsNothingMore) {
  Make();
  std::atomic<int64_t> handled{0}, done{0};
  TestActor& actor = Add(0, 0);
  TestActor& far = Add(1, 0);
  actor.on_message = [&](ActorId, const WireMessage&) {
    // A retired actor may still send in its last handler.
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

}  // namespace pathways
