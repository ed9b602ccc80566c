//===- load_queue_test.cc - Loads that wait for memory --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/load_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One device of 16384 bytes to a host; a plan of n elements, a multiple of 32,
// has 32 n of them.
class LoadQueueTest : public ::testing::Test {
 protected:
  static Topology Small(int hosts) {
    proto::Cluster cluster;
    proto::Island* island = cluster.add_islands();
    for (int h = 0; h < hosts; ++h) {
      island->add_hosts()->add_devices()->set_memory_bytes(16384);
    }
    absl::StatusOr<Topology> topology = Topology::Create(cluster);
    EXPECT_TRUE(topology.ok()) << topology.status();
    return *std::move(topology);
  }
  static std::string Name(uint32_t client) { return absl::StrCat("c", client); }
  LoadQueue::Load Make(uint32_t client, int64_t elements, int64_t device = 0) {
    const std::string name = absl::StrCat("p", ++last_);
    LoadQueue::Load load{{client, last_}, {}};
    load.programs.push_back(
        {{},
         Prepare(MovePlan(name, 1, 0, 0, /*base=*/device, elements), wide_)});
    load.need = admission_.NeedOf(*load.programs[0].plan);
    return load;
  }
  // Submits a load as the controller does. Returns "" if it was granted and "-"
  // if it waits.
  std::string Ask(LoadQueue::Load load) {
    if (queue_.MayPass(load) && Grant(load).ok()) {
      queue_.Passed(load);
      return "";
    }
    std::string why;
    const absl::Status waits = queue_.Add(load, Name, &why);
    return waits.ok() ? "-" : std::string(waits.message());
  }
  absl::Status Grant(const LoadQueue::Load& load) {
    const absl::Status admitted =
        admission_.Admit(load.request.id, *load.programs[0].plan,
                         load.request.client, Name(load.request.client));
    if (admitted.ok()) granted_.push_back(load.request.id);
    return admitted;
  }
  // Gives a program back; those that are granted then.
  std::vector<uint64_t> Release(uint64_t id) {
    admission_.Release(id);
    granted_.clear();
    queue_.Retry([this](const LoadQueue::Load& load) { return Grant(load); });
    return granted_;
  }

  Topology topology_ = Small(3);
  Topology wide_ = MakeTopology("1x3x1");  // any of the plans fits here
  Admission admission_{topology_};
  LoadQueue queue_{&admission_};
  std::vector<uint64_t> granted_;
  uint64_t last_ = 0;
};

TEST_F(LoadQueueTest, WaitsAndSaysForWhom) {
  EXPECT_EQ(Ask(Make(1, 416)), "");
  EXPECT_EQ(Ask(Make(2, 192)), "-");
  EXPECT_EQ(queue_.loads().front().why,
            "program 'p2' needs 6144 of 16384 bytes of island0/host0/device0, "
            "held by program 'p1' of client 'c1' (13312)");
  EXPECT_THAT(Release(1), ElementsAre(2));
  EXPECT_TRUE(queue_.empty());
}

TEST_F(LoadQueueTest, WhatWaitsForItselfIsRefused) {
  EXPECT_EQ(Ask(Make(1, 416)), "");
  EXPECT_EQ(Ask(Make(1, 192)),
            "program 'p2' needs 6144 of 16384 bytes of island0/host0/device0, "
            "held by program 'p1' of client 'c1' (13312); its own client holds "
            "that memory and cannot release it while it waits [PW3204]");
  EXPECT_EQ(Ask(Make(2, 608)).substr(0, 26), "program 'p3' needs 19456 o");
  EXPECT_TRUE(queue_.empty());
}

TEST_F(LoadQueueTest, ACircleIsRefusedAndNamed) {
  for (uint32_t c : {1, 2, 3}) EXPECT_EQ(Ask(Make(c, 416, c - 1)), "");
  EXPECT_EQ(Ask(Make(1, 192, 1)), "-");
  EXPECT_EQ(Ask(Make(2, 192, 2)), "-");
  EXPECT_EQ(Ask(Make(3, 192, 0)),
            "program 'p6' needs 6144 of 16384 bytes of island0/host0/device0, "
            "held by program 'p1' of client 'c1' (13312); the wait would "
            "deadlock, because these clients wait for each other: 'c3' for "
            "program 'p6', 'c1' for program 'p4', "
            "'c2' for program 'p5' [PW3203]");
  // The others still get what they wait for.
  EXPECT_THAT(Release(3), ElementsAre(5));
  admission_.Release(5);
  EXPECT_THAT(Release(2), ElementsAre(4));
}

TEST_F(LoadQueueTest, SmallOnesPassALargeOneSoOftenAndNoMore) {
  EXPECT_EQ(Ask(Make(1, 192)), "");
  EXPECT_EQ(Ask(Make(2, 500)), "-");
  uint64_t passed = 0;
  std::string said;
  while ((said = Ask(Make(3, 10))).empty()) {
    ++passed;
    admission_.Release(last_);
  }
  EXPECT_EQ(said, "-");
  EXPECT_EQ(passed, LoadQueue::kMaxPassed);
  EXPECT_EQ(queue_.loads().back().why,
            absl::StrCat("program 'p", last_,
                         "' needs memory that another load already waits for"));
  // Elsewhere it is not in the way; and who has what the large one waits for
  // is not to wait for that.
  EXPECT_EQ(Ask(Make(4, 10, 1)), "");
  EXPECT_EQ(Ask(Make(1, 10)), "");
  const uint64_t own = last_;
  admission_.Release(own);
  EXPECT_THAT(Release(1), ElementsAre(2));
}

// Only what was granted has passed anybody.
TEST_F(LoadQueueTest, WhatDoesNotFitPassesNobody) {
  EXPECT_EQ(Ask(Make(1, 192)), "");
  EXPECT_EQ(Ask(Make(2, 480)), "-");
  for (uint32_t i = 0; i < 2 * LoadQueue::kMaxPassed; ++i) {
    const LoadQueue::Load load = Make(3, 512);
    EXPECT_TRUE(queue_.MayPass(load) && !Grant(load).ok());
  }
  EXPECT_EQ(queue_.loads().front().passed, 0u);
  EXPECT_EQ(Ask(Make(3, 32)), "");
}

TEST_F(LoadQueueTest, ThoseThatGoAreNotServed) {
  EXPECT_EQ(Ask(Make(1, 500)), "");
  for (uint32_t c : {2, 3, 4}) {
    LoadQueue::Load load = Make(c, 500);
    load.deadline = c * 10;
    EXPECT_EQ(Ask(load), "-");
  }
  EXPECT_EQ(queue_.NextDeadline(), 20);
  EXPECT_THAT(queue_.TakeLate(19), IsEmpty());
  EXPECT_EQ(queue_.TakeLate(20).size(), 1u);
  queue_.RemoveAll(3);
  EXPECT_TRUE(queue_.Remove({4, 4}));
  EXPECT_FALSE(queue_.Remove({4, 4}));
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.NextDeadline(), kNoDeadline);
}

TEST_F(LoadQueueTest, TellsAnotherReasonAndPassesOnPriorities) {
  EXPECT_EQ(Ask(Make(1, 256)), "");
  EXPECT_EQ(Ask(Make(2, 192)), "");
  LoadQueue::Load load = Make(3, 288);
  load.priority = 7;
  EXPECT_EQ(Ask(load), "-");
  EXPECT_THAT(queue_.Explain(Name), IsEmpty());
  EXPECT_EQ(queue_.PriorityOver(2, 6), 7);
  EXPECT_EQ(queue_.PriorityOver(2, 7), std::nullopt);
  EXPECT_EQ(queue_.PriorityOver(3, 6), std::nullopt);
  EXPECT_THAT(Release(2), IsEmpty());
  EXPECT_EQ(queue_.Explain(Name).size(), 1u);
  EXPECT_EQ(queue_.PriorityOver(2, 6), std::nullopt);
}

// Clients that load up to three programs each, which they give back when they
// have all, in any order: each ends with all, or is refused and gives up what
// it has. Nobody waits for ever.
TEST_F(LoadQueueTest, RandomOrdersAllEnd) {
  int refused = 0, waited = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    struct State {
      uint32_t wants = 0;
      std::vector<uint64_t> has;
      bool waits = false;
    };
    std::map<uint32_t, State> clients;
    for (uint32_t c = 0; c < 4; ++c) clients[c].wants = 1 + pick(3);
    auto give_back = [&](uint32_t client) {
      std::vector<uint64_t> has = std::move(clients[client].has);
      clients.erase(client);
      for (uint64_t id : has) {
        admission_.Release(id);
        queue_.Retry([&](const LoadQueue::Load& load) {
          const absl::Status status = Grant(load);
          if (status.ok()) {
            State& state = clients[load.request.client];
            state.waits = false;
            state.has.push_back(load.request.id);
            --state.wants;
          }
          return status;
        });
      }
    };
    for (int i = 0; i < 1000 && !clients.empty(); ++i) {
      auto at = std::next(clients.begin(),
                          pick(static_cast<uint32_t>(clients.size())));
      const uint32_t client = at->first;
      State& state = at->second;
      if (state.waits) continue;
      if (state.wants == 0) {
        give_back(client);
        continue;
      }
      // More than half of a device.
      const std::string said = Ask(Make(client, 257 + pick(250), pick(3)));
      if (said.empty()) {
        --state.wants;
        state.has.push_back(last_);
      } else if (said == "-") {
        ++waited;
        state.waits = true;
      } else {
        ++refused;
        give_back(client);
      }
    }
    EXPECT_TRUE(clients.empty()) << queue_.loads().size() << " wait";
    EXPECT_TRUE(queue_.empty());
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(waited, 300);
}

}  // namespace
}  // namespace pathways::testing
