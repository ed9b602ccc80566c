//===- run_watchers_test.cc - Callbacks for ends of runs ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_watchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunWatchersTest : public ::testing::Test {
 protected:
  void Add(uint64_t owner, uint64_t run, const std::string& name) {
    watchers_.Add(owner, run, [this, name](const absl::Status& status) {
      called_.push_back(name + " " + std::string(status.message()));
    });
  }
  std::vector<std::string> Call(
      const std::vector<RunWatchers::Callback>& callbacks) {
    called_.clear();
    CallAll(callbacks, absl::CancelledError("ended"));
    return called_;
  }

  RunWatchers watchers_;
  std::vector<std::string> called_;
};

TEST_F(RunWatchersTest, EachCallbackIsTakenOnce) {
  EXPECT_THAT(Call(watchers_.Take(1, 5)), IsEmpty());
  Add(1, 5, "a");
  Add(1, 5, "b");
  Add(1, 6, "c");
  Add(2, 5, "d");
  EXPECT_THAT(Call(watchers_.Take(1, 7)), IsEmpty());
  EXPECT_THAT(Call(watchers_.Take(1, 5)), ElementsAre("a ended", "b ended"));
  EXPECT_THAT(Call(watchers_.Take(1, 5)), IsEmpty());
  EXPECT_THAT(Call(watchers_.TakeAll()), ElementsAre("c ended", "d ended"));
  EXPECT_THAT(Call(watchers_.TakeAll()), IsEmpty());
}

TEST_F(RunWatchersTest, AClientsCallbacksAreTakenTogether) {
  Add(1, 1, "before");
  Add(2, UINT64_MAX, "last");
  Add(2, 0, "first");
  Add(3, 0, "behind");
  EXPECT_THAT(Call(watchers_.TakeOf(2)),
              ElementsAre("first ended", "last ended"));
  EXPECT_THAT(Call(watchers_.TakeAll()),
              ElementsAre("before ended", "behind ended"));
}

}  // namespace
}  // namespace pathways
