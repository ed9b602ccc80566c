//===- token_builder_test.cc - Builder of outgoing tokens -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/token_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class TokenBuilderTest : public ::testing::Test {
 protected:
  void Begin(const std::string& topology, int host, proto::Plan plan,
             std::vector<uint32_t> cohorts = {}) {
    t_ = std::make_unique<TestTables>(topology, host, std::move(plan),
                                      std::move(cohorts));
    t_->LayOut();
    pieces_ = std::make_unique<ArrivingPieces>(*t_->plan);
    tokens_ = std::make_unique<TokenBuilder>(t_->in, t_->bases, t_->self_bases,
                                             pieces_.get());
  }
  // Returns the only edge of that kind and relation.
  uint32_t EdgeOf(proto::EdgeKind kind, proto::Relation relation) const {
    uint32_t found = kNoEntry;
    for (uint32_t e = 0; e < t_->plan->edges().size(); ++e) {
      const PreparedEdge& edge = t_->plan->edges()[e];
      if (edge.kind != kind || edge.relation != relation) continue;
      EXPECT_EQ(found, kNoEntry) << "edges " << found << " and " << e;
      found = e;
    }
    EXPECT_NE(found, kNoEntry);
    return found;
  }
  // Returns the only edge of relation all that begins at `action`.
  HostAllEdge AllEdgeFrom(uint32_t action) const {
    HostAllEdge found;
    int count = 0;
    for (HostAllEdge& all : MakeAllEdges(t_->in, t_->devices, t_->bases)) {
      if (t_->plan->edges()[all.edge].from != action) continue;
      found = std::move(all);
      ++count;
    }
    EXPECT_EQ(count, 1);
    return found;
  }

  std::unique_ptr<TestTables> t_;
  std::unique_ptr<ArrivingPieces> pieces_;
  std::unique_ptr<TokenBuilder> tokens_;
};

// An array moves from device 0 to all devices of two hosts.
TEST_F(TokenBuilderTest, TheTypeOfATokenFollowsFromWhereItGoes) {
  Begin("1x2x3", 0,
        TransferPlan({.slice = {.shards = 1}, .layout = Rows({6})},
                     {.shards = 6}),
        /*cohorts=*/{0, 0, 1});
  t_->reach.is_far = [](int host) { return host == 1; };
  const uint32_t edge = EdgeOf(proto::DATA, proto::PIECES);
  std::vector<OutToken> to;
  for (int shard = 0; shard < 4; ++shard) {
    to.push_back(tokens_->TokenTo(*t_->devices[0], edge, shard));
  }
  EXPECT_EQ(to[0].type, OutToken::kSameDevice);
  EXPECT_EQ(to[1].type, OutToken::kSameWorker);
  EXPECT_EQ(to[1].where, 1u);
  EXPECT_EQ(to[2].type, OutToken::kSameHost);
  EXPECT_EQ(to[2].where, IndexOf(t_->actors.devices[2]));
  for (uint32_t d = 0; d < 3; ++d) {
    EXPECT_EQ(to[d].target, t_->bases.At(edge, d));
  }
  EXPECT_EQ(to[3].type, OutToken::kOtherProcess);
  EXPECT_EQ(to[3].where, 1u);
  EXPECT_EQ(to[3].target, edge);
  EXPECT_EQ(to[3].shard, 3u);
  t_->reach.is_far = nullptr;
  EXPECT_EQ(tokens_->TokenTo(*t_->devices[0], edge, 3).type,
            OutToken::kOtherHost);
}

TEST_F(TokenBuilderTest, EachEntryHasItsTokensInARow) {
  Begin("1x1x1", 0, MovePlan("p", 1));
  t_->dispatch.sequential = true;
  DeviceProgram& device = *t_->devices[0];
  tokens_->MakeTokens(&device);
  uint32_t next = 0;
  for (const Entry& entry : device.entries) {
    EXPECT_EQ(entry.out_begin, next);
    ASSERT_GT(entry.out_end, entry.out_begin);
    // The last one notifies the host, which prepares actions.
    EXPECT_EQ(device.out[entry.out_end - 1].type, OutToken::kHostAction);
    EXPECT_EQ(device.out[entry.out_end - 1].target, entry.action);
    for (uint32_t t = entry.out_end; t < entry.poison_end; ++t) {
      EXPECT_TRUE(device.out[t].poisons);
      EXPECT_EQ(device.out[t].tokens, 0u);
    }
    next = entry.poison_end;
  }
  EXPECT_THAT(device.out, SizeIs(next));
}

// Device 1 of the destination has only padding, so no sender waits for its
// credit.
TEST_F(TokenBuilderTest, AShardWithoutPiecesReturnsCreditsToItsOwnRecv) {
  Begin("2x1x2", /*host=*/1,
        MovePlan("p", 2, /*from=*/0, /*to=*/1, 0, /*elements=*/1));
  const uint32_t edge = EdgeOf(proto::CREDIT, proto::PIECES);
  const uint32_t from = t_->plan->edges()[edge].from;
  std::vector<OutToken> credits;
  for (const auto& device : t_->devices) {
    tokens_->MakeTokens(device.get());
    const Entry& entry = device->entries[device->first_entry[from]];
    for (uint32_t t = entry.out_begin; t < entry.out_end; ++t) {
      const OutToken& token = device->out[t];
      if (token.leaves_host() ||
          token.target == t_->self_bases.At(edge, device->device)) {
        credits.push_back(token);
      }
    }
  }
  ASSERT_THAT(credits, SizeIs(2));
  EXPECT_EQ(credits[0].type, OutToken::kOtherHost);
  EXPECT_EQ(credits[0].target, edge);
  EXPECT_EQ(credits[1].type, OutToken::kSameDevice);
}

// All shards of "first", on hosts 0 and 1, precede those of "second", on hosts
// 2 and 3.
TEST_F(TokenBuilderTest, AControlEdgeIsOneMessageForAHost) {
  ChainBuilder b({.slice = {.shards = 4}});
  const uint32_t first = b.Gang("first").last_action();
  b.Fetch("u");
  b.Begin({.shards = 4, .island = 1}).Gang("second");
  b.AddControl(first, b.last_action());
  const proto::Plan plan = b.Fetch("v").Finish();

  Begin("2x2x2", /*host=*/1, plan);
  const HostAllEdge from = AllEdgeFrom(first);
  EXPECT_EQ(from.own_sources, 2u);
  EXPECT_EQ(from.all_sources, 4u);
  EXPECT_THAT(from.target_hosts, ElementsAre(2, 3));
  EXPECT_THAT(from.targets, SizeIs(0));
  EXPECT_THAT(from.left, ElementsAre(2, 2));

  Begin("2x2x2", /*host=*/2, plan);
  const HostAllEdge to = AllEdgeFrom(first);
  EXPECT_EQ(to.own_sources, 0u);
  EXPECT_EQ(to.all_sources, 4u);
  EXPECT_THAT(to.target_hosts, SizeIs(0));
  ASSERT_THAT(to.targets, SizeIs(2));
  EXPECT_EQ(to.targets[1].device, 1u);
  EXPECT_EQ(to.targets[1].in_edge, t_->bases.At(to.edge, 1));
}

}  // namespace
}  // namespace pathways::testing
