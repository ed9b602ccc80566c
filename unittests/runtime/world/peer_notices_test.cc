//===- peer_notices_test.cc - News of hosts for actors --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/peer_notices.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

struct PeerNoticesTest : ::testing::Test {
  LocalId Add(int host, int worker) {
    Placement place;
    place.host = host;
    place.worker = worker;
    return actors.Add(&actor, place, "actor", kNoActor);
  }
  // Takes the news posted to a worker: receiver, host, epoch and direction.
  std::vector<std::string> Take(int worker) {
    std::vector<std::string> taken;
    for (const Posted& posted : workers[worker].mailbox.TakePosted()) {
      EXPECT_EQ(posted.deadline, -1);
      EXPECT_EQ(posted.envelope.kind, Envelope::kPeer);
      const auto [peer, is_up] = posted.envelope.As<PeerWatch::News>();
      taken.push_back(std::to_string(posted.envelope.to) + ": " +
                      std::to_string(peer.host) + " " +
                      std::to_string(peer.epoch) + (is_up ? " up" : " down"));
    }
    return taken;
  }

  TestActor actor;
  ActorTable actors;
  WorkerSet workers{2, /*seed=*/1};
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  PeerNotices notices{&actors, &router};
};

using Strings = std::vector<std::string>;

TEST_F(PeerNoticesTest, WatchersOfOtherHostsGetNews) {
  const LocalId first = Add(/*host=*/0, /*worker=*/0);
  const LocalId other = Add(/*host=*/1, /*worker=*/1);
  notices.WatchPeers(first);
  notices.WatchPeers(other);
  notices.ReportPeerDown(/*host=*/1, /*epoch=*/1);
  EXPECT_EQ(Take(0), Strings{"0: 1 1 down"});
  EXPECT_EQ(Take(1), Strings());  // it is about the actor's own host
  notices.ReportPeerUp(/*host=*/2, /*epoch=*/2);
  EXPECT_EQ(Take(0), (Strings{"0: 2 1 down", "0: 2 2 up"}));
  EXPECT_EQ(Take(1), (Strings{"1: 2 1 down", "1: 2 2 up"}));
  notices.ReportPeerDown(/*host=*/2, /*epoch=*/1);  // known already
  EXPECT_EQ(Take(0), Strings());
}

TEST_F(PeerNoticesTest, ALaterWatcherGetsTheLastState) {
  notices.ReportPeerUp(/*host=*/2, /*epoch=*/1);
  notices.ReportPeerDown(/*host=*/2, /*epoch=*/1);
  notices.WatchPeers(Add(/*host=*/0, /*worker=*/1));
  EXPECT_EQ(Take(1), (Strings{"0: 2 1 up", "0: 2 1 down"}));
}

}  // namespace
}  // namespace pathways
