//===- run_table_test.cc - Launches, as their client sees them ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunTableTest : public ::testing::Test {
 protected:
  // Adds a run with results 10 * id + 1 and 10 * id + 2.
  std::shared_ptr<RunState> Add(uint64_t id) {
    static const auto names =
        std::make_shared<const ProgramNames>(ProgramNames{"p", {"y", "z"}});
    auto run = std::make_shared<RunState>();
    run->id = id;
    run->names = names;
    run->results.resize(2);
    for (int r : {0, 1}) run->results[r].placed.object = 10 * id + r + 1;
    table_.Add(run);
    return run;
  }
  bool End(uint64_t id, bool completed, std::vector<uint32_t> poisoned = {}) {
    RunEnd end;
    if (!completed || !poisoned.empty()) {
      end.status = absl::InternalError("broke");
    }
    end.completed = completed;
    end.poisoned = poisoned;
    return table_.End(id, std::move(end), &objects_) != nullptr;
  }

  RunTable table_;
  ObjectList objects_;
};

TEST_F(RunTableTest, OneThatEndedIsThereUntilItIsReleased) {
  Add(1);
  EXPECT_TRUE(End(1, true));
  EXPECT_FALSE(End(1, true));
  EXPECT_TRUE(table_.Find(1).ok());
  EXPECT_THAT(objects_, IsEmpty());
  EXPECT_TRUE(table_.Release(1, &objects_).ok());
  EXPECT_THAT(objects_, ElementsAre(11, 12));
  EXPECT_EQ(table_.Find(1).status().message(),
            "run 1 does not exist or was released [PW6101]");
  EXPECT_EQ(table_.Release(1, &objects_).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(RunTableTest, OneThatWasReleasedGoesWhenItEnds) {
  Add(1);
  EXPECT_TRUE(table_.Release(1, &objects_).ok());
  EXPECT_THAT(objects_, IsEmpty());
  EXPECT_FALSE(table_.Find(1).ok());
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_TRUE(End(1, true));
  EXPECT_THAT(objects_, ElementsAre(11, 12));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(RunTableTest, OneThatDidNotCompleteHoldsNothing) {
  const std::shared_ptr<RunState> run = Add(1);
  EXPECT_TRUE(End(1, false));
  EXPECT_THAT(objects_, ElementsAre(11, 12));
  EXPECT_EQ(run->CheckResult(0).message(), "broke");
  objects_.clear();
  EXPECT_TRUE(table_.Release(1, &objects_).ok());
  EXPECT_THAT(objects_, IsEmpty());
}

TEST_F(RunTableTest, ResultsThatNoFailureFedAreGood) {
  const std::shared_ptr<RunState> run = Add(1);
  EXPECT_TRUE(End(1, true, {1, 77}));
  EXPECT_TRUE(run->CheckResult(0).ok());
  EXPECT_EQ(run->CheckResult(1).message(), "broke");
}

TEST_F(RunTableTest, ResultsAreKnownByNumberAndName) {
  const std::shared_ptr<RunState> run = Add(1);
  EXPECT_TRUE(run->CheckIndex(1).ok());
  EXPECT_EQ(run->CheckIndex(-1).message(),
            "program 'p' has 2 results, but result -1 is asked for [PW6108]");
  EXPECT_EQ(*run->IndexOf("z"), 1);
  EXPECT_EQ(run->IndexOf("w").status().message(),
            "program 'p' has no result 'w'; it has 'y', 'z' [PW6108]");
}

TEST_F(RunTableTest, ThoseThatHaveNotEndedAreCounted) {
  EXPECT_EQ(table_.Oldest(), nullptr);
  const std::shared_ptr<RunState> first = Add(1), second = Add(2);
  Add(3);
  EXPECT_EQ(table_.unended(), 3u);
  EXPECT_EQ(table_.Oldest(), first);
  EXPECT_EQ(first->Describe(), "a run of program 'p'");
  End(1, true);
  End(3, true);
  EXPECT_EQ(table_.unended(), 1u);
  EXPECT_EQ(table_.Oldest(), second);
  EXPECT_EQ(table_.size(), 3u);
}

}  // namespace
}  // namespace pathways
