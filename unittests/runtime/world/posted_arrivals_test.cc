//===- posted_arrivals_test.cc - Messages from other processes ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/posted_arrivals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/world/envelope_body.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

// Actor 0 is on worker 0, actors 1 and 2 are on worker 1.
struct PostedArrivalsTest : ::testing::Test {
  PostedArrivalsTest() {
    for (int worker : {0, 1, 1}) {
      Placement place;
      place.worker = worker;
      actors.Add(&actor, place, "actor", next++);
    }
  }
  ~PostedArrivalsTest() override { workers.DropAll(); }
  static Arrival To(ActorId to, uint64_t step) {
    return {/*from=*/9, to, Numbered(step), {}};
  }
  // Takes the steps of the messages posted to a worker.
  std::vector<uint64_t> Take(int worker) {
    std::vector<uint64_t> steps;
    for (const Posted& posted : workers[worker].mailbox.TakePosted()) {
      steps.push_back(posted.envelope.As<WireBody>().message.step);
      DropEnvelope(posted.envelope);
    }
    return steps;
  }

  ActorId next = 0;
  TestActor actor;
  ActorTable actors;
  WorkerSet workers{2, /*seed=*/1};
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  Uplink uplink{RemoteChannel()};
  PostedArrivals arrivals{&actors, &workers, &router, &uplink};
};

TEST_F(PostedArrivalsTest, MessagesKeepTheirOrder) {
  arrivals.SendAll({To(1, 1), To(2, 2), To(0, 3), To(1, 4), To(7, 5)});
  EXPECT_EQ(Take(0), std::vector<uint64_t>{3});
  EXPECT_EQ(Take(1), (std::vector<uint64_t>{1, 2, 4}));
  EXPECT_EQ(uplink.undelivered(), 1u);  // no actor has address 7
}

TEST_F(PostedArrivalsTest, ManyMessagesArrive) {
  std::vector<Arrival> many;
  std::vector<uint64_t> steps;
  for (uint64_t step = 0; step < 300; ++step) {
    many.push_back(To(1, step));
    steps.push_back(step);
  }
  arrivals.SendAll(many);
  EXPECT_EQ(Take(1), steps);
}

TEST_F(PostedArrivalsTest, APayloadIsCopied) {
  const char payload = 'a';
  arrivals.SendAll({{9, 0, Numbered(1), {&payload, 1}}});
  const std::vector<Posted>& posted = workers[0].mailbox.TakePosted();
  ASSERT_EQ(posted.size(), 1u);
  ASSERT_EQ(posted[0].envelope.kind, Envelope::kOwned);
  EXPECT_EQ(posted[0].envelope.from, 9u);
  EXPECT_NE(posted[0].envelope.As<WireBody>().payload.data, &payload);
  DropEnvelope(posted[0].envelope);
}

TEST_F(PostedArrivalsTest, AnOfferNeedsAReceiver) {
  EXPECT_FALSE(arrivals.Offer(9, 7, Numbered(1), 100, /*offer=*/5));
  EXPECT_TRUE(arrivals.Offer(9, 0, Numbered(1), 100, /*offer=*/5));
  const std::vector<Posted>& posted = workers[0].mailbox.TakePosted();
  ASSERT_EQ(posted.size(), 1u);
  ASSERT_EQ(posted[0].envelope.kind, Envelope::kOffer);
  const Payload offered = posted[0].envelope.As<WireBody>().payload;
  EXPECT_EQ(offered.bytes, 100u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(offered.data), 5u);
}

}  // namespace
}  // namespace pathways
