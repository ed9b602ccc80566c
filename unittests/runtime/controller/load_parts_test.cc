//===- load_parts_test.cc - Loads, while hosts load their programs --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_parts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using Step = LoadParts::Step;

// A load of the programs 11 and 12, which is request 7 of client 1.
class LoadPartsTest : public ::testing::Test {
 protected:
  LoadPartsTest() {
    LoadQueue::Load load{kRequest, {}};
    load.programs.resize(2);
    parts_.Add(load, {11, 12});
  }
  Step Loaded(uint64_t handle) {
    ProgramNext next;
    next.request = kRequest;
    next.handle = handle;
    return parts_.Take(next);
  }
  Step Gone(uint64_t handle, absl::Status status = absl::OkStatus(),
            bool is_held = false) {
    ProgramNext next;
    next.request = kRequest;
    next.gone = handle;
    next.status = std::move(status);
    next.is_held = is_held;
    return parts_.Take(next);
  }

  static constexpr ClientRequest kRequest{1, 7};
  LoadParts parts_;
};

TEST_F(LoadPartsTest, ALoadEndsWhenAllItsProgramsAreLoaded) {
  EXPECT_TRUE(parts_.Has(kRequest));
  EXPECT_EQ(Loaded(12).kind, Step::kWait);
  const Step step = Loaded(11);
  EXPECT_EQ(step.kind, Step::kLoaded);
  EXPECT_THAT(step.handles, ElementsAre(11, 12));  // in their order
  EXPECT_FALSE(parts_.Has(kRequest));
  EXPECT_EQ(Loaded(11).kind, Step::kNoPart);
}

TEST_F(LoadPartsTest, IfOneIsRefusedTheOthersMustBeUnloaded) {
  parts_.SetBytes(kRequest, 12, /*host=*/3, 500);
  EXPECT_EQ(Loaded(11).kind, Step::kWait);
  Step step = Gone(12, absl::ResourceExhaustedError("no room"));
  EXPECT_EQ(step.kind, Step::kUnload);
  EXPECT_THAT(step.handles, ElementsAre(11));
  EXPECT_TRUE(parts_.Has(kRequest));
  step = Gone(11);
  EXPECT_EQ(step.kind, Step::kRefused);
  EXPECT_EQ(step.status, absl::ResourceExhaustedError("no room"));
  EXPECT_FALSE(step.is_held);
  ASSERT_EQ(step.load.programs.size(), 2u);
  EXPECT_TRUE(step.load.programs[0].on_hosts.empty());
  EXPECT_EQ(step.load.programs[1].on_hosts.at(3), 500u);
  EXPECT_FALSE(parts_.Has(kRequest));
}

TEST_F(LoadPartsTest, MemoryThatIsHeldIsReportedAtTheEnd) {
  EXPECT_EQ(Gone(11, absl::DeadlineExceededError("late"), true).kind,
            Step::kWait);
  const Step step = Gone(12, absl::ResourceExhaustedError("no room"));
  EXPECT_EQ(step.kind, Step::kRefused);
  EXPECT_TRUE(step.is_held);
  EXPECT_EQ(step.status, absl::DeadlineExceededError("late"));
}

TEST_F(LoadPartsTest, AClientThatLeavesTakesItsLoadsAlong) {
  parts_.Leave(2);
  EXPECT_TRUE(parts_.Has(kRequest));
  parts_.Leave(1);
  EXPECT_EQ(Loaded(11).kind, Step::kNoPart);
}

}  // namespace
}  // namespace pathways::testing
