//===- value_builder_test.cc - Builder of feeds and fetches ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/value_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class ValueBuilderTest : public ::testing::Test {
 protected:
  void Build(const std::string& topology, int host, proto::Plan plan) {
    t_ = std::make_unique<TestTables>(topology, host, std::move(plan));
    t_->LayOut();
    t_->AllocateDevices();
    t_->AllocateHost();
    values_ = std::make_unique<ValueBuilder>(*t_->plan, t_->devices);
    for (const auto& device : t_->devices) {
      if (device != nullptr) values_->MakeOps(t_->memory, device.get());
    }
  }
  const DeviceProgram& device(int d) const { return *t_->devices[d]; }

  std::unique_ptr<TestTables> t_;
  std::unique_ptr<ValueBuilder> values_;
};

// Four shards of two rows each, of which host 1 has the last two.
TEST_F(ValueBuilderTest, AHostHoldsTheBlocksOfItsShards) {
  Build("1x2x2", /*host=*/1,
        ChainBuilder({.slice = {.shards = 4}, .layout = Rows({7})})
            .Feed("u")
            .Gang("g")
            .Fetch("v")
            .Finish());
  EXPECT_THAT(values_->ArgumentBytes(), ElementsAre(3 * sizeof(float)));
  EXPECT_THAT(values_->ResultBytes(), ElementsAre(3 * sizeof(float)));
  ASSERT_THAT(device(1).feeds, SizeIs(1));
  const FeedOp& feed = device(1).feeds[0];
  EXPECT_EQ(feed.part.shard, 3);
  EXPECT_EQ(feed.part.offset, 2 * sizeof(float));
  EXPECT_EQ(feed.part.bytes, sizeof(float));
  EXPECT_THAT(feed.extent, ElementsAre(1));  // without the padding
  EXPECT_EQ(feed.bytes, 2 * sizeof(float));
  EXPECT_EQ(feed.to.base, t_->memory.RefOf(/*buffer=*/0, /*device=*/1, 0).base);
  // The argument is the same at each step, and alone in its memory.
  EXPECT_THAT(feed.placed, SizeIs(feed.to.credits));
  ASSERT_THAT(device(1).fetches, SizeIs(1));
  const FetchOp& fetch = device(1).fetches[0];
  EXPECT_TRUE(fetch.writes);
  EXPECT_EQ(fetch.part.shard, 3);
  EXPECT_EQ(fetch.from.base,
            t_->memory.RefOf(/*buffer=*/1, /*device=*/1, 0).base);
  // The feed is the first entry, and the fetch the last.
  EXPECT_THAT(device(1).feed_entries, ElementsAre(0));
  EXPECT_EQ(device(1).entries[2].op, 0u);
}

// All shards hold the whole array, and one of a host writes it.
TEST_F(ValueBuilderTest, OneShardWritesABlockThatSeveralHold) {
  Build("1x1x2", 0,
        ChainBuilder({.slice = {.shards = 2}, .layout = Whole({3})})
            .Feed("u", /*stepped=*/true)
            .Fetch("v")
            .Finish());
  EXPECT_THAT(values_->ResultBytes(), ElementsAre(3 * sizeof(float)));
  EXPECT_TRUE(device(0).fetches[0].writes);
  EXPECT_FALSE(device(1).fetches[0].writes);
  EXPECT_EQ(device(1).fetches[0].part.shard, 0);
  EXPECT_TRUE(device(1).feeds[0].stepped);
  EXPECT_THAT(device(1).feeds[0].placed, SizeIs(0));
}

TEST_F(ValueBuilderTest, ACarriedArgumentComesFromTheResult) {
  Build("1x1x1", 0,
        ChainBuilder({.slice = {.shards = 1}, .layout = Rows({2})})
            .Feed("u")
            .Gang("g")
            .Fetch("v")
            .CarryResult()
            .Finish());
  const FeedOp& feed = device(0).feeds[0];
  EXPECT_TRUE(feed.carried);
  EXPECT_EQ(feed.carried_from.base,
            t_->memory.RefOf(/*buffer=*/1, /*device=*/0, 0).base);
  EXPECT_THAT(feed.placed, SizeIs(0));
}

}  // namespace
}  // namespace pathways::testing
