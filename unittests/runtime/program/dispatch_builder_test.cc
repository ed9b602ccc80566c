//===- dispatch_builder_test.cc - Builder of a dispatch table -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/dispatch_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// An array moves from two devices of host 0 to two of host 1.
class DispatchBuilderTest : public ::testing::Test {
 protected:
  std::unique_ptr<DispatchTable> Build(int host,
                                       const DispatchOptions& options) {
    t_ = std::make_unique<TestTables>(
        "2x1x2", host, MovePlan("p", /*size=*/2, /*from=*/0, /*to=*/1));
    t_->dispatch = options;
    t_->LayOut();
    ArrivingPieces pieces(*t_->plan);
    return MakeDispatch(t_->in, t_->devices, &pieces);
  }

  std::unique_ptr<TestTables> t_;
};

TEST_F(DispatchBuilderTest, ThereIsNoTableIfTheHostPreparesNothing) {
  EXPECT_EQ(Build(0, {}), nullptr);
}

TEST_F(DispatchBuilderTest, ParallelDispatchHasNoSources) {
  const auto table = Build(0, {.host_work_ns = 10});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->window, 2u);
  // The feed, the first gang and the send are here, and the others are not.
  EXPECT_THAT(table->item_of, ElementsAre(0, 1, 2, -1, -1, -1));
  EXPECT_THAT(table->items, SizeIs(3));
  for (const DispatchTable::Item& item : table->items) {
    EXPECT_EQ(item.shards, 2u);
    EXPECT_THAT(item.devices, ElementsAre(0, 1));
    EXPECT_THAT(item.left, ElementsAre(2, 2));
    EXPECT_THAT(item.sources, SizeIs(0));
    EXPECT_THAT(item.followers, SizeIs(0));
  }
  EXPECT_THAT(table->remotes, SizeIs(0));
}

TEST_F(DispatchBuilderTest, SequentialDispatchFollowsDataEdges) {
  const auto sender = Build(0, {.sequential = true});
  ASSERT_THAT(sender->items, SizeIs(3));
  EXPECT_THAT(sender->items[0].sources, SizeIs(0));
  EXPECT_THAT(sender->items[0].followers, ElementsAre(1));
  ASSERT_THAT(sender->items[1].sources, SizeIs(1));
  EXPECT_FALSE(sender->items[1].sources[0].remote);
  EXPECT_EQ(sender->items[1].sources[0].index, 0u);
  EXPECT_THAT(sender->items[1].followers, ElementsAre(2));
  EXPECT_THAT(sender->items[2].followers, SizeIs(0));
  ASSERT_THAT(sender->items[2].elsewhere, SizeIs(1));
  EXPECT_EQ(sender->items[2].elsewhere[0].host, 1);

  const auto receiver = Build(1, {.sequential = true});
  EXPECT_THAT(receiver->item_of, ElementsAre(-1, -1, -1, 0, 1, 2));
  ASSERT_THAT(receiver->remotes, SizeIs(1));
  EXPECT_EQ(receiver->remotes[0].host, 0);
  EXPECT_EQ(receiver->remotes[0].item, 0u);
  EXPECT_EQ(receiver->remotes[0].edge, sender->items[2].elsewhere[0].edge);
  ASSERT_THAT(receiver->items[0].sources, SizeIs(1));
  EXPECT_TRUE(receiver->items[0].sources[0].remote);
  EXPECT_EQ(receiver->items[0].sources[0].index, 0u);
}

}  // namespace
}  // namespace pathways::testing
