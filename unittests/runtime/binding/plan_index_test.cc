//===- plan_index_test.cc - Plans of a process, by content ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_index.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

class PlanIndexTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const PreparedPlan> Make(const std::string& name) {
    return Prepare(MovePlan(name, 1), MakeTopology("1x1x1"));
  }
  // With a size of 100.
  static PlanName NameFor(const std::string& name) {
    return {HashOf(absl::string_view(name)), 100};
  }
  void Keep(const std::string& name) {
    index_.Keep(NameFor(name), Make(name), nullptr);
  }
  bool Has(const std::string& name) {
    return index_.Find(NameFor(name).hash) != nullptr;
  }

  PlanIndex index_{/*max_unused_bytes=*/250};
};

TEST_F(PlanIndexTest, OneOfThisProcessLivesAsLongAsItIsUsed) {
  std::shared_ptr<const PreparedPlan> plan =
      index_.Put(NameFor("p"), Make("p"));
  EXPECT_EQ(index_.Find(NameFor("p").hash), plan);
  // One that is there is used again.
  EXPECT_EQ(index_.Put(NameFor("p"), Make("p")), plan);
  plan.reset();
  EXPECT_FALSE(Has("p"));
  index_.Trim();
  plan = index_.Put(NameFor("p"), Make("p"));
  EXPECT_TRUE(Has("p"));
}

TEST_F(PlanIndexTest, WhatCameIsKeptUpToABound) {
  Keep("a");
  Keep("b");
  EXPECT_TRUE(Has("a"));
  Keep("c");  // the one that was used longest ago goes
  EXPECT_FALSE(Has("b"));
  EXPECT_TRUE(Has("a"));
  EXPECT_TRUE(Has("c"));
}

TEST_F(PlanIndexTest, WhatIsUsedStays) {
  Keep("a");
  std::shared_ptr<const PreparedPlan> used = index_.Find(NameFor("a").hash);
  for (const char* name : {"b", "c", "d", "e"}) Keep(name);
  EXPECT_TRUE(Has("a"));
  EXPECT_FALSE(Has("c"));
  EXPECT_TRUE(Has("d"));
  EXPECT_TRUE(Has("e"));
  used.reset();
  index_.Trim();
  EXPECT_FALSE(Has("a"));
}

// A caller that waits for a plan larger than the bound gets the plan.
TEST_F(PlanIndexTest, TheLastOneStays) {
  index_.Keep({NameFor("big").hash, 1000}, Make("big"), nullptr);
  EXPECT_TRUE(Has("big"));
  Keep("a");
  EXPECT_FALSE(Has("big"));
}

TEST_F(PlanIndexTest, WhatCameMovesToAnotherInItsOrder) {
  std::shared_ptr<const PreparedPlan> own =
      index_.Put(NameFor("own"), Make("own"));
  Keep("b");
  Keep("a");
  EXPECT_TRUE(Has("b"));
  std::vector<KeptPlan> kept = index_.TakeKept();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].name.hash, NameFor("a").hash);
  EXPECT_EQ(kept[1].name.hash, NameFor("b").hash);
  EXPECT_EQ(kept[1].plan->name(), "b");
  EXPECT_TRUE(Has("own"));
  EXPECT_FALSE(Has("a"));
  EXPECT_TRUE(index_.TakeKept().empty());
}

TEST_F(PlanIndexTest, GivesWhatItHasWhole) {
  const std::shared_ptr<const PreparedPlan> plan =
      Prepare(MovePlan("p", 1), MakeTopology("1x1x1"));
  const PlanName name = *NameOf(plan->data());
  EXPECT_EQ(
      index_.Source(name.hash).status(),
      absl::NotFoundError("plan " + name.hash.Text() + " is not in the index"));
  index_.Put(name, plan);
  const auto source = index_.Source(name.hash);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), name);
  EXPECT_EQ(*index_.Source(name.hash), *source);
  // A plan that was sent for this process alone lacks some code.
  Keep("a");
  EXPECT_EQ(index_.Source(NameFor("a").hash).status().code(),
            absl::StatusCode::kNotFound);
  index_.Keep(NameFor("b"), Make("b"), *source);
  EXPECT_EQ(*index_.Source(NameFor("b").hash), *source);
}

TEST_F(PlanIndexTest, CountsWhatMoves) {
  index_.CountSent(3);
  index_.CountSent(4);
  index_.CountReceived(5);
  EXPECT_EQ(index_.sent(), 7u);
  EXPECT_EQ(index_.received(), 5u);
}

}  // namespace
}  // namespace pathways::testing
