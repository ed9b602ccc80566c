//===- local_actors_test.cc - The actors of a process ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/local_actors.h"

#include <set>

#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

class LocalActorsTest : public ::testing::Test {
 protected:
  LocalActorsTest() {
    context_.world = &world_;
    context_.topology = &topology_;
    context_.directory = DirectoryOf(topology_);
  }

  const Topology topology_ = *Topology::Create(MakeCluster("2x1x3"));
  RecordingWorld world_;
  RuntimeContext context_;
};

TEST_F(LocalActorsTest, AHostHasItsDevices) {
  LocalActors actors(&context_, {});
  ASSERT_EQ(actors.hosts().size(), 2u);
  std::set<LocalId> ids = {actors.controller()->local_id()};
  for (const LocalActors::Host& host : actors.hosts()) {
    EXPECT_EQ(host.devices.size(), 3u);
    EXPECT_EQ(host.actors.devices.size(), 3u);
    EXPECT_TRUE(ids.insert(host.actors.executor).second);
    for (size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(host.devices[d]->local_id(), host.actors.devices[d]);
      EXPECT_TRUE(ids.insert(host.actors.devices[d]).second);
    }
  }
}

// The controller and host 1 are here, host 0 is elsewhere.
TEST_F(LocalActorsTest, OfSeveralProcessesThoseOfOne) {
  std::vector<HostLocation> places(2);
  places[0].process = 1;
  places[1].epoch = 4;
  context_.directory = Directory({0, 1}, places);
  LocalActors here(&context_, {});
  EXPECT_NE(here.controller(), nullptr);
  ASSERT_EQ(here.hosts().size(), 1u);
  EXPECT_EQ(here.hosts()[0].number, 1);
  EXPECT_EQ(here.FindHost(0), nullptr);
  EXPECT_EQ(here.FindHost(1), &here.hosts()[0]);
  EXPECT_EQ(here.FindHost(2), nullptr);
  EXPECT_EQ(here.clients().size(), size_t{kMaxProcessClients});
  // A scheduler is where the controller is, also when its island is not.
  EXPECT_EQ(world_.places.at(context_.directory.scheduler(0)).host, -1);
  EXPECT_EQ(world_.places.at(context_.directory.scheduler(1)).host, 1);
  EXPECT_EQ(world_.places.at(context_.directory.executor(1)).epoch, 4u);

  RecordingWorld other;
  RuntimeContext context;
  context.world = &other;
  context.topology = &topology_;
  context.directory = context_.directory;
  context.process = 1;
  LocalActors there(&context, {}, {.first = 64, .count = 1});
  EXPECT_EQ(there.controller(), nullptr);
  ASSERT_EQ(there.hosts().size(), 1u);
  EXPECT_EQ(there.hosts()[0].number, 0);
  EXPECT_EQ(there.hosts()[0].devices.size(), 3u);
  ASSERT_EQ(there.clients().size(), 1u);
  EXPECT_EQ(there.clients()[0].index(), 64u);
  for (const auto& [address, place] : other.places) {
    EXPECT_TRUE(address == context.directory.executor(0) ||
                address == context.directory.client(64))
        << address;
  }
}

TEST_F(LocalActorsTest, DevicesOfAWorkerAreACohort) {
  world_.is_simulated = false;
  world_.workers = 2;
  LocalActors actors(&context_, {});
  for (const LocalActors::Host& host : actors.hosts()) {
    EXPECT_EQ(host.cohorts.size(), 2u);
    EXPECT_EQ(host.actors.cohorts[0], host.actors.cohorts[2]);
    EXPECT_NE(host.actors.cohorts[0], host.actors.cohorts[1]);
  }
}

// So that in a simulation more may come between them.
TEST_F(LocalActorsTest, EachIsOneWhenNobodyAskedForWorkers) {
  LocalActors alone(&context_, {});
  EXPECT_EQ(alone.hosts()[0].cohorts.size(), 3u);
}

TEST_F(LocalActorsTest, APlaceHasOneClientAtATime) {
  LocalActors actors(&context_, {});
  std::set<uint32_t> indices;
  ClientActor* first = actors.TakeClient("ann");
  ASSERT_NE(first, nullptr);
  indices.insert(first->index());
  for (uint32_t i = 1; i < kMaxProcessClients; ++i) {
    ClientActor* next = actors.TakeClient(absl::StrCat("client", i));
    ASSERT_NE(next, nullptr);
    EXPECT_TRUE(indices.insert(next->index()).second);
  }
  EXPECT_EQ(actors.TakeClient("late"), nullptr);
  EXPECT_TRUE(actors.LeavingClients("ann").empty());
  first->Detach(/*request=*/4);
  EXPECT_EQ(actors.LeavingClients("ann").size(), 1u);
  EXPECT_EQ(actors.LeavingClients("ann")[0], first);
  EXPECT_TRUE(actors.LeavingClients("bo").empty());
  EXPECT_EQ(actors.TakeClient("late"), nullptr);
  proto::Control control;
  control.set_client(first->index());
  control.mutable_answer()->set_request(4);
  first->OnControl(context_.directory.controller(),
                   control.SerializeAsString());
  EXPECT_EQ(actors.TakeClient("late"), first);
}

}  // namespace
}  // namespace pathways::testing
