//===- uplink_stage_test.cc - Batching of messages to other processes -----===//
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
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

constexpr ActorId kFar = 5'000'000;
constexpr char kText[] = "a payload";

// Records what handlers and stages do, in order.
class Events {
 public:
  void Add(std::string event) {
    MutexLock lock(&mutex_);
    all_.push_back(std::move(event));
  }
  std::vector<std::string> all() const {
    MutexLock lock(&mutex_);
    return all_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> all_ ABSL_GUARDED_BY(mutex_);
};

// Steps other than kAtOnce are staged.
constexpr uint64_t kAtOnce = 99;
class FakeStage final : public UplinkStage {
 public:
  explicit FakeStage(Events* events) : events_(*events) {}
  ~FakeStage() override { EXPECT_EQ(kept_, 0); }
  bool Send(ActorId, ActorId to, const WireMessage& message, Payload) override {
    EXPECT_EQ(to, kFar);
    if (message.step == kAtOnce) {
      Flush();
      events_.Add("sent");
    } else {
      ++kept_;
      events_.Add(absl::StrCat("say ", message.step));
    }
    return kept_ > 0;
  }
  bool SendControl(ActorId, ActorId, std::string bytes) override {
    ++kept_;
    events_.Add("say " + bytes);
    return true;
  }
  void Flush() override {
    if (kept_ > 0) events_.Add("flush");
    kept_ = 0;
  }

 private:
  Events& events_;
  int kept_ = 0;
};

// A world of one worker, whose actors send on what they get.
class UplinkStageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ThreadOptions options;
    options.workers = 1;
    options.remote_channel.send = [this](ActorId, ActorId,
                                         const WireMessage& message, Payload) {
      events_.Add(absl::StrCat("outside ", message.step));
    };
    options.remote_channel.open_stage = [this] {
      return std::make_unique<FakeStage>(&events_);
    };
    options.remote_channel.poll = [this] {
      if (may_bring_) return bring_();
      const std::vector<std::string> before = events_.all();
      if (before.empty()) return false;
      EXPECT_NE(before.back().substr(0, 3), "say");
      polled_behind_ = true;
      return false;
    };
    auto world = ThreadWorld::Create(std::move(options));
    ASSERT_TRUE(world.ok()) << world.status();
    world_ = *std::move(world);
  }
  // Returns an actor that sends the number of each message on to kFar.
  TestActor& NewSpeaker() {
    TestActor& actor = actors_.emplace_back();
    actor.Join(*world_, 0, 0);
    actor.on_local = [this, &actor](const LocalMessage& message) {
      world_->Send(actor.id, kFar, Numbered(message.step));
    };
    actor.on_message = [this, &actor](ActorId, const WireMessage& message) {
      world_->Send(actor.id, kFar, Numbered(message.step));
    };
    actor.on_control = [this, &actor](ActorId, std::string_view bytes) {
      world_->SendControl(actor.id, kFar, std::string(bytes));
    };
    return actor;
  }
  // Runs `handler` on the worker, so that all its messages are queued at once,
  // and waits until the worker has handled them.
  void Run(std::function<void()> handler) {
    std::atomic<bool> done{false};
    TestActor& actor = actors_.emplace_back();
    TestActor& last = actors_.emplace_back();
    actor.Join(*world_, 0, 0);
    last.Join(*world_, 0, 0);
    actor.on_local = [&](const LocalMessage&) {
      handler();
      world_->SendLocal(actor.local_id(), last.local_id(), {});
    };
    last.on_local = [&](const LocalMessage&) {
      done = true;
      world_->Notify();
    };
    world_->SendLocal(kNobody, actor.local_id(), {});
    world_->RunUntil([&] { return done.load(); });
    world_->Stop();
  }
  void Notify(const TestActor& actor, uint64_t step) {
    world_->SendLocal(kNobody, actor.local_id(), LocalNumbered(step));
  }

  Events events_;
  std::atomic<bool> may_bring_{false};
  std::function<bool()> bring_;  // called by polls if may_bring_ is true
  std::atomic<bool> polled_behind_{false};  // a poll came after an event
  std::deque<TestActor> actors_;            // outlive the world
  std::unique_ptr<ThreadWorld> world_;
};

TEST_F(UplinkStageTest, WhatIsSaidInOneGoIsKeptTogether) {
  TestActor &speaker = NewSpeaker(), &other = NewSpeaker();
  Run([&] {
    for (uint64_t step = 1; step <= 3; ++step) Notify(speaker, step);
    Notify(other, 4);
  });
  EXPECT_THAT(events_.all(),
              ElementsAre("say 1", "say 2", "say 3", "say 4", "flush"));
}

TEST_F(UplinkStageTest, NothingWaitsForWhoSaysThatItTakesLong) {
  TestActor &speaker = NewSpeaker(), &other = actors_.emplace_back();
  other.Join(*world_, 0, 0);
  other.on_control = [&](ActorId, std::string_view bytes) {
    if (bytes == "slow") world_->batching().TakesLong();
    events_.Add(std::string(bytes));
  };
  Run([&] {
    Notify(speaker, 1);
    world_->PassControl(kNoActor, other.id, TestBody::New("quick"));
    Notify(speaker, 2);
    world_->PassControl(kNoActor, other.id, TestBody::New("slow"));
    Notify(speaker, 3);
  });
  EXPECT_THAT(events_.all(), ElementsAre("say 1", "quick", "say 2", "flush",
                                         "slow", "say 3", "flush"));
}

TEST_F(UplinkStageTest, NothingWaitsForALongMessage) {
  TestActor& speaker = NewSpeaker();
  static char memory[64 << 10] = {};
  const std::string long_control(8 << 10, 'x');
  Run([&] {
    Notify(speaker, 1);
    world_->Send(kNoActor, speaker.id, Numbered(2), {memory, 16});
    world_->Send(kNoActor, speaker.id, Numbered(3), {memory, sizeof memory});
    world_->SendControl(kNoActor, speaker.id, "control");
    world_->SendControl(kNoActor, speaker.id, long_control);
    Notify(speaker, 4);
  });
  EXPECT_THAT(events_.all(),
              ElementsAre("say 1", "say 2", "flush", "say 3", "say control",
                          "flush", "say " + long_control, "say 4", "flush"));
}

TEST_F(UplinkStageTest, NothingWaitsForAKernel) {
  TestActor& speaker = NewSpeaker();
  KernelGate* const* gate = world_->kernels().kernel_gate(0);
  speaker.on_local = [&](const LocalMessage& message) {
    world_->Send(speaker.id, kFar, Numbered(message.step));
    (*gate)->Announce(KernelGate::Place(0, 0), 1, 0);
    (*gate)->Enter(0, 0);
    events_.Add("kernel");
    (*gate)->Leave();
    world_->Send(speaker.id, kFar, Numbered(message.step + 1));
  };
  Run([&] { Notify(speaker, 1); });
  EXPECT_THAT(events_.all(),
              ElementsAre("say 1", "flush", "kernel", "say 2", "flush"));
}

// Staged messages do not wait for more messages either: the worker may be
// waiting for the answer to one of them.
TEST_F(UplinkStageTest, AWorkerHasSentAllBeforeItPolls) {
  TestActor& speaker = NewSpeaker();
  Notify(speaker, 1);
  while (!polled_behind_.load()) std::this_thread::yield();
  world_->Stop();
  EXPECT_THAT(events_.all(), ElementsAre("say 1", "flush"));
}

// Messages that arrive together are handled together, so their answers go
// together.
TEST_F(UplinkStageTest, ArrivalsAreAnsweredInOneGo) {
  TestActor& speaker = NewSpeaker();
  const std::vector<Arrival> arrivals = {
      {kFar, speaker.id, Numbered(1), {kText, sizeof kText}},
      {kFar, speaker.id, Numbered(2), {}},
      {kFar, kFar, Numbered(9), {}},  // no actor of this world
      {kFar, speaker.id, Numbered(3), {kText, sizeof kText}}};
  world_->arrivals()->SendAll(arrivals);
  auto all = events_.all();
  while (all.empty() || all.back() != "flush") all = events_.all();
  world_->Stop();
  std::vector<std::string> events = events_.all();
  events.erase(std::find(events.begin(), events.end(), "outside 9"));
  EXPECT_THAT(events, ElementsAre("say 1", "say 2", "say 3", "flush"));
}

// Messages keep their order on whatever thread they arrive, one at a time or
// together.
TEST_F(UplinkStageTest, ArrivalsKeepTheirOrder) {
  constexpr uint64_t kMessages = 20'000;
  std::atomic<uint64_t> heard{0};
  TestActor& listener = actors_.emplace_back();
  listener.Join(*world_, 0, 0);
  listener.on_message = [&](ActorId, const WireMessage& message) {
    EXPECT_EQ(message.step, heard.load());
    ++heard;
    world_->Notify();
  };
  Mutex mutex;
  // Under the mutex, like a transport's calls for one peer.
  uint64_t brought = 0;
  auto bring = [&] {
    MutexLock lock(&mutex);
    if (brought >= kMessages) return false;
    std::vector<Arrival> some(1 + brought % 3);
    for (Arrival& one : some) {
      one = {kFar, listener.id, Numbered(brought++), {kText, sizeof kText}};
    }
    if (some.size() == 1) {
      world_->Send(kFar, listener.id, some[0].message, some[0].payload);
    } else {
      world_->arrivals()->SendAll(some);
    }
    return true;
  };
  bring_ = bring;
  may_bring_ = true;
  while (bring()) {
  }
  world_->RunUntil([&] { return heard.load() >= kMessages; });
  world_->Stop();
}

TEST_F(UplinkStageTest, WhatGoesAtOnceLeavesNothingToFlush) {
  TestActor& speaker = NewSpeaker();
  Run([&] {
    Notify(speaker, kAtOnce);
    Notify(speaker, 1);
    Notify(speaker, kAtOnce);
  });
  EXPECT_THAT(events_.all(), ElementsAre("sent", "say 1", "flush", "sent"));
}

TEST_F(UplinkStageTest, WhatTheLastHandlerSaysIsSent) {
  TestActor& speaker = NewSpeaker();
  speaker.on_local = [&](const LocalMessage& message) {
    world_->Send(speaker.id, kFar, Numbered(message.step));
    world_->Stop();
  };
  Notify(speaker, 1);
  world_->RunUntil([] { return false; });
  world_->Stop();
  EXPECT_THAT(events_.all(), ElementsAre("say 1", "flush"));
}

TEST_F(UplinkStageTest, OtherThreadsSendAtOnce) {
  world_->Send(kNoActor, kFar, Numbered(7));
  EXPECT_THAT(events_.all(), ElementsAre("outside 7"));
  world_->Stop();
}

}  // namespace
}  // namespace pathways
