//===- router_test.cc - Way of a message to its worker --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/router.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

struct RouterTest : ::testing::Test {
  RouterTest() {
    for (int worker : {0, 1}) {
      Placement place;
      place.worker = worker;
      ids.push_back(actors.Add(&actor, place, "actor", kNoActor));
    }
  }
  static Envelope For(LocalId to, uint64_t step) {
    return Envelope::Of(Envelope::kLocal, LocalNumbered(step), kNoActor, to);
  }
  // Takes the steps of the messages in a queue of a worker.
  std::vector<uint64_t> Take(int worker, int from) {
    std::vector<uint64_t> steps;
    Mailbox& mailbox = workers[worker].mailbox;
    while (Envelope* envelope = mailbox.Front(kDirectQueue, from)) {
      steps.push_back(envelope->As<LocalMessage>().step);
      mailbox.Pop(kDirectQueue, from);
    }
    return steps;
  }

  TestActor actor;
  ActorTable actors;
  WorkerSet workers{2, /*seed=*/1};
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  std::vector<LocalId> ids;  // an actor of each worker
};

TEST_F(RouterTest, AMessageGoesToTheWorkerOfItsReceiver) {
  const WorkerScope scope(&workers[0]);
  router.Route(workers[0], kDirectQueue, Envelope::kLocal, LocalNumbered(1),
               kNoActor, ids[0]);
  workers[1].mailbox.LieDown();
  router.Route(workers[0], For(ids[1], 2));
  EXPECT_FALSE(workers[1].mailbox.asleep());
  router.Route(workers[0], For(ids[1], 3));
  EXPECT_EQ(Take(0, 0), std::vector<uint64_t>{1});
  EXPECT_EQ(Take(1, 0), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(workers.stats(0).wakes, 1u);
}

TEST_F(RouterTest, APostWakesTheWorkerUnlessTheThreadIsInACall) {
  Mailbox& mailbox = workers[1].mailbox;
  mailbox.LieDown();
  calls.Begin();
  router.Post(-1, For(ids[1], 1));
  EXPECT_TRUE(mailbox.has_posted());
  EXPECT_TRUE(mailbox.asleep());
  EXPECT_TRUE(calls.End());
  router.Post(5, For(ids[1], 2));
  EXPECT_FALSE(mailbox.asleep());
  const std::vector<Posted>& posted = mailbox.TakePosted();
  ASSERT_EQ(posted.size(), 2u);
  EXPECT_EQ(posted[0].deadline, -1);
  EXPECT_EQ(posted[1].deadline, 5);
}

TEST_F(RouterTest, PostsAreDroppedOnceTheWorldStops) {
  ControlBody* const one = TestBody::New("one");
  ControlBody* const other = TestBody::New("other");
  stopping = true;
  router.Post(-1, Envelope::Of(Envelope::kBody, one, kNoActor, ids[0]));
  router.Arrive(Envelope::Of(Envelope::kBody, other, kNoActor, ids[1]));
  EXPECT_EQ(TestBody::held.load(), 0);
  EXPECT_FALSE(workers[0].mailbox.has_posted());
  EXPECT_FALSE(workers[1].mailbox.has_posted());
}

TEST_F(RouterTest, APollingWorkerKeepsTheOrderOfArrivals) {
  const WorkerScope scope(&workers[0]);
  workers[0].polls = true;
  router.Arrive(For(ids[0], 1));
  EXPECT_EQ(Take(0, 0), std::vector<uint64_t>{1});
  EXPECT_EQ(workers.stats(0).outside, 1u);
  // Another worker's messages go through its inbox.
  router.Arrive(For(ids[1], 2));
  EXPECT_TRUE(workers[1].mailbox.has_posted());
  // A message in the inbox must not be overtaken.
  router.Post(-1, For(ids[0], 3));
  router.Arrive(For(ids[0], 4));
  EXPECT_EQ(Take(0, 0), std::vector<uint64_t>());
  const std::vector<Posted>& posted = workers[0].mailbox.TakePosted();
  ASSERT_EQ(posted.size(), 2u);
  EXPECT_EQ(posted[0].envelope.As<LocalMessage>().step, 3u);
  EXPECT_EQ(posted[1].envelope.As<LocalMessage>().step, 4u);
}

TEST_F(RouterTest, ARequestWakesTheNextWorkerToo) {
  workers[1].mailbox.LieDown();
  router.Rouse(0);  // this worker is awake
  EXPECT_TRUE(workers[1].mailbox.asleep());
  workers[0].mailbox.LieDown();
  router.Rouse(0);
  EXPECT_FALSE(workers[0].mailbox.asleep());
  EXPECT_FALSE(workers[1].mailbox.asleep());
}

}  // namespace
}  // namespace pathways
