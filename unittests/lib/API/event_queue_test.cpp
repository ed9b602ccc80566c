//===- event_queue_test.cpp - Ends of runs as events ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/lib/API/api_test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <poll.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace pathways {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventQueueTest : public ::testing::Test {
protected:
  EventQueueTest()
      : queue(take(EventQueue::create())),
        plan(take(compile(runningSum(), {.topology = "1x1x2"})).plan) {}

  pathways::Run launch(Executable &executable) {
    return take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
  }
  bool isReadable(int timeoutMs = 0) {
    pollfd file = {queue.descriptor(), POLLIN, 0};
    return poll(&file, 1, timeoutMs) == 1;
  }

  EventQueue queue;
  Plan plan;
};

TEST_F(EventQueueTest, EndsComeInOrderAndMakeTheDescriptorReadable) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(plan));
  EXPECT_GE(queue.descriptor(), 0);
  EXPECT_FALSE(isReadable());
  EXPECT_THAT(queue.take(), IsEmpty());
  EXPECT_FALSE(take(queue.wait(0)).has_value());
  EXPECT_FALSE(take(queue.wait(1000)).has_value());
  for (uint64_t tag = 0; tag < 20; ++tag) {
    pathways::Run run = launch(executable);
    EXPECT_TRUE(run.notify(queue, tag));
    // The event comes even though the run is destroyed here.
  }
  for (uint64_t tag = 0; tag < 20; ++tag) {
    EXPECT_TRUE(isReadable(/*timeoutMs=*/60'000));
    const auto event = take(queue.wait());
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->tag, tag);
    EXPECT_TRUE(event->status);
  }
  EXPECT_FALSE(isReadable());

  // A run that has ended gives its event at once, and as often as asked.
  pathways::Run run = launch(executable);
  ASSERT_TRUE(run.await());
  EXPECT_TRUE(run.notify(queue, 7));
  EXPECT_TRUE(run.notify(queue, 7));
  EXPECT_TRUE(isReadable());
  EXPECT_THAT(queue.take(), SizeIs(2));
  EXPECT_FALSE(isReadable());
}

TEST_F(EventQueueTest, AnEventHasTheErrorOfItsRun) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(plan));
  // The second launch waits for the first, so it is still cancelled in time.
  pathways::Run first = take(
      executable.launch({{"x", floats({20'000, 2}, std::vector<float>(40'000))},
                         {"start", floats({2}, {0, 0})}},
                        20'000));
  pathways::Run second = launch(executable);
  ASSERT_TRUE(second.notify(queue, 2));
  ASSERT_TRUE(second.cancel());
  const auto event = take(queue.wait());
  ASSERT_TRUE(event.has_value());
  const Status awaited = second.await();
  ASSERT_EQ(bool(event->status), bool(awaited));
  if (!awaited) {
    EXPECT_EQ(event->status.error().code, ErrorCode::kRunFailed);
    EXPECT_EQ(event->status.error().message, awaited.error().message);
  }
}

TEST_F(EventQueueTest, TheEndOfASessionIsAnEnd) {
  std::set<uint64_t> tags;
  {
    auto session = take(Session::open({.topology = "1x1x2"}));
    auto executable = take(session.load(plan));
    for (uint64_t tag = 0; tag < 10; ++tag)
      ASSERT_TRUE(launch(executable).notify(queue, tag));
    // Everything is destroyed with launches in flight.
  }
  while (auto event = take(queue.wait(0)))
    tags.insert(event->tag);
  EXPECT_THAT(tags, SizeIs(10));
}

TEST_F(EventQueueTest, ManySessionsShareAQueueThatAThreadWaitsFor) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto other = take(session.another("other"));
  auto here = take(session.load(plan)), there = take(other.load(plan));
  std::set<uint64_t> tags;
  std::thread waiter([&] {
    while (tags.size() < 40)
      tags.insert(take(queue.wait())->tag);
  });
  for (uint64_t tag = 0; tag < 20; ++tag) {
    EXPECT_TRUE(launch(here).notify(queue, 2 * tag));
    EXPECT_TRUE(launch(there).notify(queue, 2 * tag + 1));
  }
  waiter.join();
  EXPECT_THAT(tags, SizeIs(40));
}

TEST_F(EventQueueTest, WaitingRunsASimulation) {
  auto session = take(
      Session::open({.topology = "1x1x2", .run = {.world = RunOptions::kSim}}));
  auto executable = take(session.load(plan));
  for (uint64_t tag = 0; tag < 5; ++tag)
    ASSERT_TRUE(launch(executable).notify(queue, tag));
  for (uint64_t tag = 0; tag < 5; ++tag) {
    const auto event = take(queue.wait(tag % 2 ? 0 : -1));
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->tag, tag);
    EXPECT_TRUE(event->status);
  }
  EXPECT_FALSE(take(queue.wait(0)).has_value());
}

TEST_F(EventQueueTest, EmptyQueuesAreErrors) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(plan));
  pathways::Run run = launch(executable);
  EventQueue none;
  EXPECT_EQ(none.descriptor(), -1);
  EXPECT_THAT(none.take(), IsEmpty());
  const auto waited = none.wait();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().message, "the event queue is empty");
  const Status noted = run.notify(none, 1);
  ASSERT_FALSE(noted);
  EXPECT_EQ(noted.error().code, ErrorCode::kInvalidArgument);
  pathways::Run moved = std::move(run);
  EXPECT_THAT(run.notify(queue, 1).error().message, HasSubstr("empty"));
  EXPECT_TRUE(moved.notify(queue, 1));
  EXPECT_EQ(take(queue.wait())->tag, 1u);
}

} // namespace
} // namespace pathways
