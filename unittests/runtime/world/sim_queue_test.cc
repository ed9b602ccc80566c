//===- sim_queue_test.cc - The order of events ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/world/mix.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

Envelope LocalTo(uint32_t to, uint64_t step = 0, uint16_t flags = 0) {
  LocalMessage message = LocalNumbered(step);
  message.flags = flags;
  return Envelope::Of(Envelope::kLocal, message, kNoActor, LocalId{to});
}

Envelope WireTo(uint32_t to, const std::string& payload) {
  return Envelope::Of(Envelope::kWire,
                      WireBody{Numbered(0), {payload.data(), payload.size()}},
                      7, LocalId{to});
}

Payload PayloadOf(const SimQueue::Event& event) {
  return event.envelope.As<WireBody>().payload;
}

std::string_view BytesOf(const SimQueue::Event& event) {
  const Payload payload = PayloadOf(event);
  return {static_cast<const char*>(payload.data), payload.bytes};
}

// Takes out all events and returns their steps.
std::vector<uint64_t> StepsOf(SimQueue& queue) {
  std::vector<uint64_t> steps;
  while (!queue.empty()) {
    const SimQueue::Due due = queue.Pop();
    steps.push_back(queue.At(due.slot).envelope.As<LocalMessage>().step);
    queue.Free(due.slot);
  }
  return steps;
}

TEST(SimQueueTest, EventsComeOutByTime) {
  SimQueue queue(1);
  for (TimeNs time : {30, 10, 40, 20}) {
    queue.Push(time, LocalId{0}, LocalTo(1, static_cast<uint64_t>(time)));
  }
  EXPECT_EQ(queue.next_time(), 10);
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_THAT(StepsOf(queue), ElementsAre(10, 20, 30, 40));
}

// More events than a block holds, at few times and between few actors, come out
// by time, and those of one pair at one time in the order put in.
TEST(SimQueueTest, PairsKeepTheirOrder) {
  constexpr uint64_t kSeed = 11, kEvents = 5000;
  SCOPED_TRACE(kSeed);
  SplitMix random(kSeed);
  SimQueue queue(kSeed);
  for (uint64_t i = 0; i < kEvents; ++i) {
    const TimeNs time = static_cast<TimeNs>(random.UpTo(50));
    const LocalId from{static_cast<uint32_t>(random.UpTo(3))};
    queue.Push(time, from, LocalTo(random.UpTo(3), i));
  }
  std::map<std::pair<LocalId, LocalId>, std::pair<TimeNs, uint64_t>> last;
  TimeNs now = 0;
  for (uint64_t i = 0; i < kEvents; ++i) {
    const SimQueue::Due due = queue.Pop();
    EXPECT_GE(due.time, now);
    now = due.time;
    const SimQueue::Event& event = queue.At(due.slot);
    const std::pair of_event(due.time, event.envelope.As<LocalMessage>().step);
    auto [it, is_new] =
        last.try_emplace(std::pair(event.from, event.to()), of_event);
    if (!is_new) EXPECT_LT(it->second, of_event);
    it->second = of_event;
    queue.Free(due.slot);
  }
  EXPECT_TRUE(queue.empty());
}

// Events are put in while others come out: before, between and after those that
// are sorted already.
TEST(SimQueueTest, WhatIsPutInLaterMayComeFirst) {
  constexpr uint64_t kSeed = 12;
  SCOPED_TRACE(kSeed);
  SplitMix random(kSeed);
  SimQueue queue(kSeed);
  // The order of events of one pair: by time, then in the order put in.
  std::set<std::pair<TimeNs, uint64_t>> expected;
  TimeNs now = 0;
  const auto put_in = [&](uint64_t i) {
    const TimeNs time = now + static_cast<TimeNs>(random.UpTo(40));
    queue.Push(time, LocalId{0}, LocalTo(1, i));
    expected.emplace(time, i);
  };
  for (uint64_t i = 0; i < 20'000; ++i) {
    // The queue grows far above the number of sorted events and shrinks below
    // it.
    const bool grows = i / 300 % 2 == 0;
    if (random.UpTo(3) < (grows ? 3 : 1)) put_in(i);
    if (expected.empty()) continue;
    EXPECT_EQ(queue.next_time(), expected.begin()->first);
    SimQueue::Slot ahead = 0;
    for (size_t n = 0; n < std::min(SimQueue::kAhead, expected.size()); ++n) {
      ASSERT_TRUE(queue.Peek(n, &ahead));
      EXPECT_EQ(queue.At(ahead).envelope.As<LocalMessage>().step,
                std::next(expected.begin(), static_cast<ptrdiff_t>(n))->second);
    }
    EXPECT_EQ(queue.Peek(SimQueue::kAhead, &ahead), false);
    if (random.UpTo(3) >= (grows ? 1 : 3)) continue;
    const SimQueue::Due due = queue.Pop();
    now = due.time;
    EXPECT_EQ(queue.At(due.slot).envelope.As<LocalMessage>().step,
              expected.begin()->second);
    expected.erase(expected.begin());
    queue.Free(due.slot);
    EXPECT_EQ(queue.size(), expected.size());
  }
}

TEST(SimQueueTest, TheSeedOrdersPairs) {
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<uint64_t> order;
    for (int again = 0; again < 2; ++again) {
      SimQueue queue(seed);
      for (uint32_t from : {0, 1, 2}) {
        queue.Push(5, LocalId{from}, LocalTo(3, from));
      }
      const std::vector<uint64_t> steps = StepsOf(queue);
      if (again > 0) EXPECT_EQ(steps, order) << seed;
      order = steps;
    }
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(SimQueueTest, BackgroundIsTold) {
  SimQueue queue(1);
  queue.Push(1, LocalId{0}, LocalTo(1, 0, kBackground));
  EXPECT_FALSE(queue.has_foreground());
  queue.Push(2, LocalId{0}, LocalTo(1));
  EXPECT_TRUE(queue.has_foreground());
  queue.Free(queue.Pop().slot);
  EXPECT_TRUE(queue.has_foreground());
  const SimQueue::Slot kept = queue.Pop().slot;
  EXPECT_FALSE(queue.has_foreground());
  queue.PutBack(3, kept);
  EXPECT_TRUE(queue.has_foreground());
  queue.Clear();
  EXPECT_FALSE(queue.has_foreground());
  EXPECT_TRUE(queue.empty());
}

// A handler reads its message while it sends more than the queue has room for.
TEST(SimQueueTest, AnEventStaysWhereItIs) {
  SimQueue queue(1);
  queue.Push(1, LocalId{0}, LocalTo(1, 42));
  const SimQueue::Due due = queue.Pop();
  const SimQueue::Event& event = queue.At(due.slot);
  for (int i = 0; i < 3000; ++i) queue.Push(2, LocalId{0}, LocalTo(1));
  EXPECT_EQ(&queue.At(due.slot), &event);
  EXPECT_EQ(event.envelope.As<LocalMessage>().step, 42u);
  queue.Free(due.slot);
}

TEST(SimQueueTest, WhatIsPutBackComesAfterItsPair) {
  SimQueue queue(1);
  queue.Push(1, LocalId{0}, LocalTo(1, 1));
  const SimQueue::Due due = queue.Pop();
  queue.Push(5, LocalId{0}, LocalTo(1, 2));
  queue.PutBack(5, due.slot);
  EXPECT_THAT(StepsOf(queue), ElementsAre(2, 1));
}

TEST(SimQueueTest, PayloadsAreCopiedOnlyWhereAskedFor) {
  std::string bytes = "payload";
  SimQueue queue(1);
  const SimQueue::Event& borrowed = queue.Push(1, LocalId{0}, WireTo(1, bytes));
  const SimQueue::Event& copied =
      queue.PushCopy(2, LocalId{0}, WireTo(1, bytes));
  const SimQueue::Event& again = queue.PushAgain(3, copied);
  EXPECT_EQ(PayloadOf(borrowed).data, bytes.data());
  EXPECT_EQ(PayloadOf(again).data, PayloadOf(copied).data);
  bytes = "changed";
  EXPECT_EQ(BytesOf(borrowed), "changed");
  EXPECT_EQ(BytesOf(copied), "payload");
  queue.Free(queue.Pop().slot);
  queue.Free(queue.Pop().slot);
  // The copy exists until the last event that shares it is freed.
  EXPECT_EQ(BytesOf(again), "payload");
  EXPECT_EQ(again.from, LocalId{0});
  EXPECT_FALSE(again.is_counted);
}

// A payload without data only costs time, and is not copied.
TEST(SimQueueTest, APayloadMayHaveNoBytes) {
  SimQueue queue(1);
  const WireBody body{Numbered(0), {nullptr, 100}};
  const Envelope envelope = Envelope::Of(Envelope::kWire, body, 7, LocalId{1});
  const SimQueue::Event& event = queue.PushCopy(1, LocalId{0}, envelope);
  EXPECT_EQ(PayloadOf(event).data, nullptr);
  EXPECT_EQ(PayloadOf(event).bytes, 100u);
  EXPECT_EQ(PayloadOf(queue.PushAgain(2, event)).bytes, 100u);
}

// Events in the queue at its end are freed with what they own, as a leak
// checker verifies.
TEST(SimQueueTest, OwnsControlMessagesAndCopies) {
  SimQueue queue(1);
  for (int i = 0; i < 3; ++i) {
    queue.Push(1, LocalId{0},
               Envelope::Of(Envelope::kControl,
                            new std::string("a control message, not short"), 7,
                            LocalId{1}));
    queue.PushAgain(2, queue.PushCopy(1, LocalId{0}, WireTo(1, "payload")));
  }
  const SimQueue::Due due = queue.Pop();
  queue.Free(due.slot);
}

}  // namespace
}  // namespace pathways
