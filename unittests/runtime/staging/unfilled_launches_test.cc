//===- unfilled_launches_test.cc - Launches that wait for arguments -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/staging/unfilled_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class UnfilledLaunchesTest : public ::testing::Test {
 protected:
  UnfilledLaunchesTest() {
    for (HostStore::Ref& object : objects_) {
      object = store_.Create(++last_id_, /*bytes=*/8, "an array");
      object->filled = false;
    }
    programs_[0].program = 0;
    programs_[1].program = 1;
  }

  void Fill(int object) { objects_[object]->filled = true; }
  std::vector<uint32_t> Told() {
    std::vector<uint32_t> told;
    unfilled_.Update(
        [&](const HostProgram& program) { told.push_back(program.program); });
    return told;
  }

  Arena arena_{"host memory", 1 << 20, /*backed=*/true};
  HostStore store_{&arena_};
  uint64_t last_id_ = 0;
  HostStore::Ref objects_[3];
  HostProgram programs_[2];
  HostLaunch launches_[2];
  UnfilledLaunches unfilled_;
};

TEST_F(UnfilledLaunchesTest, TellsOnceOfWhatWasFilled) {
  launches_[0].values.arguments = {objects_[0], nullptr, objects_[1]};
  launches_[1].values.arguments = {objects_[1], objects_[2]};
  unfilled_.Add(&programs_[0], &launches_[0]);
  unfilled_.Add(&programs_[1], &launches_[1]);
  EXPECT_THAT(Told(), IsEmpty());
  Fill(0);
  EXPECT_THAT(Told(), ElementsAre(0));
  EXPECT_THAT(Told(), IsEmpty());
  Fill(1);
  EXPECT_THAT(Told(), ElementsAre(0, 1));
  // The first launch misses nothing, so it may end.
  launches_[0].values.arguments = {objects_[2]};
  Fill(2);
  EXPECT_THAT(Told(), ElementsAre(1));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(UnfilledLaunchesTest, ForgetsWhatMissesNothing) {
  unfilled_.Add(&programs_[0], &launches_[0]);
  launches_[0].values.arguments = {objects_[0]};
  Fill(0);
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(UnfilledLaunchesTest, ForgetsThoseOfAProgram) {
  launches_[0].values.arguments = launches_[1].values.arguments = {objects_[0]};
  unfilled_.Add(&programs_[0], &launches_[0]);
  unfilled_.Add(&programs_[1], &launches_[1]);
  unfilled_.Remove(&programs_[0]);
  Fill(0);
  EXPECT_THAT(Told(), ElementsAre(1));
}

}  // namespace
}  // namespace pathways
